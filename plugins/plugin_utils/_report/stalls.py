# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether the slowest writes of a step occurred at regular intervals."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from ...module_utils._units import format_duration
from .._run.columns import COMMITS, Row
from .._run.table_reader import TablesError
from .._run.tables import Tables
from .series import at_text

FEWEST = 5
SHORTEST_SHARE = 1 / 3
"""Writes that took at least this share of the longest one are considered stalls."""
REGULAR = 1.3
"""Up to this ratio of the longest to the shortest gap, stalls are considered regular. Five random stalls are regular in
fewer than 1 % of all cases."""
ONE_STALL_NS = 100_000_000
"""Slow writes that begin within this time belong to one stall, because a stall affects every queue manager."""


def stall_period(tables: Tables) -> str:
    """Return the interval at which stalls occurred, for the first step in which they were regular; empty if there is no
    such step."""
    steps: dict[tuple[Any, ...], list[Row]] = {}
    try:
        for row in tables.stalls:
            if row["operation"] != COMMITS:  # commits wait for the same writes
                steps.setdefault((row["step"], row["stream"], row["operation"]), []).append(row)
    except TablesError:
        return ""  # the interval is only an explanation
    for rows in steps.values():
        period = period_of([(row["start_offset_ns"], row["latency_ns"]) for row in rows])
        if period:
            return (
                f"about every {format_duration(period[0], 2)}, {period[1]} "
                f"times{at_text(tables.words, tables.layout.step_of(rows[0]))}"
            )
    return ""


def period_of(writes: Sequence[tuple[float, float]]) -> tuple[float, int] | None:
    """Return the interval in nanoseconds and the number of stalls among slow writes, given as (start, latency);
    None if they are not regular."""
    longest = max((latency for start, latency in writes), default=0)
    starts: list[float] = []
    for start in sorted(start for start, latency in writes if latency >= SHORTEST_SHARE * longest):
        if not starts or start - starts[-1] > ONE_STALL_NS:
            starts.append(start)
    gaps = [later - earlier for earlier, later in zip(starts, starts[1:])]
    if len(starts) < FEWEST or max(gaps) > REGULAR * min(gaps):
        return None
    return statistics.fmean(gaps), len(starts)
