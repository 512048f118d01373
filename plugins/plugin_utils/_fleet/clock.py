# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The offset of a host's clock from the controller's, measured with one call of a module."""

from __future__ import annotations

from typing import Any


def clock_facts(time_epoch_s: Any, received_epoch_s: float, error_s: float) -> dict[str, float]:
    """Return the offset of a host's clock and the bound of its error, from the last instant that a module read there
    and the time at which its answer came.

    The end of the call is closer to that instant than its beginning, because Python starts before it, and only one
    direction of the connection follows it. The duration of the call bounds the error.
    """
    return {
        "clock_offset_s": round(float(time_epoch_s) - received_epoch_s, 3),
        "clock_offset_error_s": round(error_s, 3),
    }
