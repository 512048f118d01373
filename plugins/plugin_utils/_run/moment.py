# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats times for run directories."""

from __future__ import annotations

import datetime

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""The format of times: ISO 8601 in UTC, in whole seconds, with Z."""


CLOCK_TOLERANCE_S = 600
"""By how much clocks may differ before a date counts as wrong."""


def utc_now() -> str:
    """Return the current time in the format of run directories."""
    return datetime.datetime.now(datetime.timezone.utc).strftime(MOMENT)


def utc_text(epoch_s: float) -> str:
    """Return a time, given in seconds since 1970, in the format of run directories."""
    return datetime.datetime.fromtimestamp(epoch_s, datetime.timezone.utc).strftime(MOMENT)


def is_moment(text: str, form: str = MOMENT) -> bool:
    """Return whether a time is complete, so that times sort correctly as text."""
    try:
        return datetime.datetime.strptime(text, form).strftime(form) == text
    except ValueError:
        return False


def later(moment: str, seconds: float) -> str:
    """Return the moment this many seconds later, or earlier if they are negative."""
    try:
        then = datetime.datetime.strptime(moment, MOMENT) + datetime.timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return moment
    return f"{then.isoformat(timespec='seconds')}Z"


def seconds_between(first: str, second: str) -> float:
    """Return the seconds from one moment to another; negative if the second one is earlier."""
    begin, end = (datetime.datetime.strptime(each, MOMENT) for each in (first, second))
    return (end - begin).total_seconds()
