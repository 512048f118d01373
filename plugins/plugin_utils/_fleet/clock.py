# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines the offset of a host's clock from the controller's, with one call of a module."""

from __future__ import annotations

from typing import Any


def clock_facts(time_epoch_s: Any, received_epoch_s: float, error_s: float) -> dict[str, float]:
    """Return the offset of a host's clock and a bound on the error of this offset. A module reads the clock on the host
    just before it ends. The offset is the difference between that time and the time at which the module's answer
    arrives. The end of the call is closer to the time of reading than the beginning: Python has to start before the
    clock can be read, but only the transfer of the answer follows the reading. The duration of the call is a bound on
    the error.
    """
    return {
        "clock_offset_s": round(float(time_epoch_s) - received_epoch_s, 3),
        "clock_offset_error_s": round(error_s, 3),
    }
