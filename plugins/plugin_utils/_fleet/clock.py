# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines the offset of a host's clock from the controller's, with one call of a module."""

from __future__ import annotations

from typing import Any


def clock_facts(time_epoch_s: Any, received_epoch_s: float, error_s: float) -> dict[str, float]:
    """Return the offset of a host's clock and a bound of its error. They follow from the time that a module read at its
    end on the host, and the time at which its answer arrived.

    The end of the call is closer to the time of reading than its beginning, because Python is started before it, but
    only the transfer of the answer follows it. The duration of the call is a bound of the error.
    """
    return {
        "clock_offset_s": round(float(time_epoch_s) - received_epoch_s, 3),
        "clock_offset_error_s": round(error_s, 3),
    }
