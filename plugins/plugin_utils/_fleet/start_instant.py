# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The time at which the hosts of several runs start together (sweep_start_at). Parses it, and checks whether the hosts
can be ready by then."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from ...module_utils import _units
from .._run.moment import MOMENT

PREPARATION_S = 20.0
"""The shortest time from opening a run until the slowest host is ready to write its files: this is needed to connect
and to install the tester."""
MOST_AHEAD_S = 24 * 3600.0
"""A time that is further ahead is considered a mistake."""
OPTION = "sweep_start_at"
_UTC = datetime.timezone.utc
_LATEST_EPOCH_S = 4102444800.0  # the year 2100, as for the tester


def read_start_at(value: Any) -> float:
    """Return a time in seconds since the epoch, or 0 if none is given. Raises ValueError."""
    text = str("" if value is None else value).strip()
    if not text:
        return 0.0
    try:
        epoch_s = float(text)
    except ValueError:
        epoch_s = _of_iso_8601(text)
    if not (math.isfinite(epoch_s) and 0 < epoch_s < _LATEST_EPOCH_S):
        raise ValueError("it must be a time from 1970 to 2100")
    return epoch_s


def _of_iso_8601(text: str) -> float:
    try:
        moment = datetime.datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text))
    except ValueError:
        raise ValueError("it must be a time in UTC such as 2026-11-22T02:00:00Z, or seconds since 1970") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=_UTC)).timestamp()


def start_problem(start_at: float, now: float, least_s: float) -> str:
    """Return the reason why hosts that need ``least_s`` from now on cannot all start at ``start_at``. It is empty if
    they can, or if no start time is requested (0)."""
    earliest = now + least_s
    if not start_at or earliest <= start_at <= now + MOST_AHEAD_S:
        return ""
    if start_at > now + MOST_AHEAD_S:
        return f"{OPTION} is {shown(start_at)}, which is more than {_duration(MOST_AHEAD_S)} away: correct the date"
    when = (
        f"{_duration(now - start_at)} ago"
        if start_at <= now
        else f"only {_duration(start_at - now)} away, but the hosts need about {_duration(least_s)}"
    )
    return (
        f"{OPTION} is {shown(start_at)}, which is {when}: the earliest time possible is {shown(math.ceil(earliest))}. "
        "Give all slices a later time"
    )


def shown(epoch_s: float) -> str:
    """Return a time in the format of run directories, with its fraction of a second, if any."""
    moment = datetime.datetime.fromtimestamp(epoch_s, _UTC)
    fraction = f"{moment.microsecond / 1e6:.3f}"[1:] if moment.microsecond else ""
    return moment.strftime(MOMENT).replace("Z", f"{fraction}Z")


def _duration(seconds: float) -> str:
    return _units.format_duration(seconds * 1e9, 2)
