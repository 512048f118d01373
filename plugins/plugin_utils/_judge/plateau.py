# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The suspicion that a volume ran out of a burst allowance: from some second on, its rate is lower, and so steady that
only a rate limit can be the cause."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from .._run.columns import COMMITS, Row
from .._run.findings import PLATEAU, Finding
from .._run.table_reader import TablesError
from .._run.tables import Tables

MIN_BEFORE_S = 5
MIN_AFTER_S = 10
"""The number of whole seconds that are required before and after the second in which the rate falls."""
SHARE_BELOW = 0.8
VARIATION_BELOW = 0.02


@dataclass(frozen=True)
class Plateau:
    """From second ``from_second`` on (counted from 1), the mean rate was ``share`` times the mean rate before. The
    coefficient of variation of the rate was ``variation``."""

    from_second: int
    share: float
    variation: float


def find_plateau(rates: Sequence[int]) -> Plateau | None:
    """Return the plateau with which the rates end, or None. There is one rate for each whole second.

    Two constants are fitted by least squares. The second in which the rate falls belongs to neither.
    """
    if len(rates) < MIN_BEFORE_S + MIN_AFTER_S:
        return None
    sums, squares = ([0, *accumulate(values)] for values in (rates, (rate * rate for rate in rates)))

    def residual(first: int, end: int) -> float:
        count, total = end - first, sums[end] - sums[first]
        return (
            count * (squares[end] - squares[first]) - total * total
        ) / count  # whole numbers up to here, so cancellation does not lose any digits

    knee = min(range(1, len(rates) - 1), key=lambda second: residual(0, second) + residual(second + 1, len(rates)))
    before, after = statistics.fmean(rates[:knee]), statistics.fmean(rates[knee + 1 :])
    if knee < MIN_BEFORE_S or len(rates) - knee - 1 < MIN_AFTER_S or not after or after >= SHARE_BELOW * before:
        return None
    variation = statistics.pstdev(rates[knee + 1 :]) / after
    if variation >= VARIATION_BELOW:
        return None
    reached = abs(rates[knee] - after) < VARIATION_BELOW * after
    return Plateau(knee + 1 if reached else knee + 2, after / before, variation)


def plateaus(tables: Tables) -> list[Finding]:
    """Return a finding for each step and stream whose rate ends in a plateau. Commits are left out, because they depend
    on the writes that contain them."""
    return [_finding(row, plateau) for row, rates in _rates(tables) if (plateau := find_plateau(rates))]


def _rates(tables: Tables) -> Iterator[tuple[Row, list[int]]]:
    try:
        seconds = [row for row in tables.intervals if not row["partial"] and row["stream"] != COMMITS]
    except TablesError:
        return  # the report already says that they cannot be shown
    streams: dict[tuple[Any, ...], list[Row]] = {}
    for row in seconds:
        streams.setdefault((row["step"], row["stream"], row["operation"]), []).append(row)
    for rows in streams.values():
        yield rows[0], [row["bytes"] for row in rows]


def _finding(row: Row, plateau: Plateau) -> Finding:
    where = {key: row[key] for key in ("block_size_bytes", "load_point", "stream", "operation")}
    return {
        "kind": PLATEAU,
        "verdict": None,
        **where,
        "from_second": plateau.from_second,
        "share": plateau.share,
        "variation": plateau.variation,
    }
