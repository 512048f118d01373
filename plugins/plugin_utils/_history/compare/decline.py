# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether a class of similar volumes became slower together, slowly or at once, since its reference.

The level of a week is the median over the volumes: how far each volume is, in the mean over its rows and the nights of
the week, above its own reference. Weeks end with the newest night, so that patterns within a week cancel out. If the
volumes are certified less often, for example each in another month, a week is as long as a volume usually waits for its
next certificate, so that it contains the whole class. The reference does not follow the level, and the variation is
estimated from differences between successive weeks, which a trend does not increase. Levels are logarithms, and higher
means worse.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean, median
from typing import NamedTuple

from ..._numerics import student_t
from ..._numerics.correlation import variance_of_mean
from ..._numerics.likeness import MAD_TO_DEVIATION
from .nights import MOST_IN_REFERENCE, Night, Row, Volume

FEWEST_VOLUMES = 3
FEWEST_WEEKS = 6
MOST_WEEKS = 104
NEWEST_WEEKS = 4
"""The number of weeks whose mean is the present level."""

_CONFIDENCE = 0.998
_BEYOND_CHANCE = 2.878
"""The quantile of the normal distribution for this confidence."""
_LEAST_DEVIATION = 0.01
_FARTHEST = 3.0
"""Differences between weeks count up to this number of standard deviations, so that a step is not mistaken for
variation."""
_MOST_CORRELATION = 0.9
_DAYS_PER_MONTH = 30.44


class Week(NamedTuple):
    """A week in which volumes of a class were certified: its mean day and its first one (ordinals), its number of
    nights, and its level."""

    day: float
    first: int
    nights: int
    level: float


@dataclass(frozen=True)
class Decline:
    """A class that became slower than its reference: by how much (a logarithm), since when, and by how much per month.
    The latter is None if it became slower at once. ``volumes`` is the number of volumes in the newest week."""

    level: float
    since: datetime.date
    per_month: float | None
    volumes: int


def class_decline(
    nights: Sequence[Night],
    days: Sequence[datetime.date],
    references: Mapping[tuple[Volume, Row], float],
    *,
    margin: float,
) -> Decline | None:
    """Return by how much a class is slower than its reference, or None if it is not, or if chance can explain it.

    It is if its level exceeds the margin beyond chance, or half of the margin, provided that a trend is beyond chance
    or that the level is beyond chance even above half of the margin.
    """
    weeks, volumes = _weeks(nights, days, references)
    if len(weeks) < FEWEST_WEEKS:
        return None
    levels = [week.level for week in weeks]
    level, half = fmean(levels[-NEWEST_WEEKS:]), math.log1p(margin / 2)
    if level < half:
        return None
    course = _course([week.day for week in weeks], levels)
    correlation = _correlation(course.rest)
    # The differences of successive weeks overlap, so three of them say as much as two that do not.
    quantile = student_t.quantile(_CONFIDENCE, (len(weeks) - 1) * 2 // 3)
    by_chance = quantile * _error(levels, correlation, _weeks_of_reference(weeks))
    if level - by_chance < half and level < max(math.log1p(margin), by_chance) and not _is_trend(levels, correlation):
        return None
    return Decline(
        level,
        datetime.date.fromordinal(weeks[course.first].first),
        _rise_per_day(weeks[course.first - 1 :]) * _DAYS_PER_MONTH if course.rises else None,
        volumes,
    )


def _weeks(
    nights: Sequence[Night], days: Sequence[datetime.date], references: Mapping[tuple[Volume, Row], float]
) -> tuple[list[Week], int]:
    """Return the weeks of the present period of each volume that enough volumes have, oldest first, and the number of
    volumes in the newest of them."""
    if not nights:
        return [], 0
    newest, length = days[-1].toordinal(), _days_of_week(nights, days)
    present: dict[Volume, int] = {}
    by_week: dict[int, list[int]] = {}
    off: dict[int, dict[Volume, list[float]]] = {}
    for night, date in zip(reversed(nights), reversed(days)):
        day = date.toordinal()
        number = (newest - day) // length
        if number not in off and len(off) == MOST_WEEKS:
            break
        by_week.setdefault(number, []).append(day)
        levels = off.setdefault(number, {})
        for volume, rows in night.items():
            known = [
                figure.value - references[volume, row]
                for row, figure in rows.items()
                if (volume, row) in references and present.setdefault(volume, figure.period) == figure.period
            ]
            if known:
                levels.setdefault(volume, []).append(fmean(known))
    full = [(number, levels) for number, levels in sorted(off.items(), reverse=True) if len(levels) >= FEWEST_VOLUMES]
    weeks = [
        Week(fmean(by_week[number]), min(by_week[number]), len(by_week[number]), median(map(fmean, levels.values())))
        for number, levels in full
    ]
    return weeks, len(full[-1][1]) if full else 0


def _days_of_week(nights: Sequence[Night], days: Sequence[datetime.date]) -> int:
    last: dict[Volume, datetime.date] = {}
    waits = []
    for night, day in zip(nights, days):
        waits += [(day - last[volume]).days for volume in night if volume in last]
        last.update(dict.fromkeys(night, day))
    return 7 * max(1, round(median(waits) / 7)) if waits else 7


def _weeks_of_reference(weeks: Sequence[Week]) -> int:
    return max(1, round(MOST_IN_REFERENCE / fmean(week.nights for week in weeks)))


class _Course(NamedTuple):
    """The course that fits the levels best: they do not change before week number ``first``, and from there on they are
    constant or rise steadily. ``rest`` is what the course leaves unexplained."""

    first: int
    rises: bool
    rest: Sequence[float]


def _course(days: Sequence[float], levels: Sequence[float]) -> _Course:
    found = (_fitted(first, rises, days, levels) for first in range(1, len(levels)) for rises in (False, True))
    return min(found, key=lambda course: _sum_of_products(course.rest, course.rest))


def _fitted(first: int, rises: bool, days: Sequence[float], levels: Sequence[float]) -> _Course:
    shape = [0.0] * first + [day - days[first - 1] if rises else 1.0 for day in days[first:]]
    mean, middle = fmean(levels), fmean(shape)
    # The reference may lie within a rise, so the levels before it need not be 0.
    off, steps = [level - mean for level in levels], [part - middle for part in shape]
    scale = _sum_of_products(steps, off) / _sum_of_products(steps, steps)
    return _Course(first, rises, [level - scale * step for level, step in zip(off, steps)])


def _correlation(rest: Sequence[float]) -> float:
    """Return the correlation of successive weeks, corrected for what a short series and the fit take away from it."""
    mean, count = fmean(rest), len(rest)
    off = [value - mean for value in rest]
    squares = _sum_of_products(off, off)
    found = _sum_of_products(off, off[1:]) / squares if squares else 0.0
    return min(_MOST_CORRELATION, max(0.0, found + (1 + 3 * found) / count))


def _error(levels: Sequence[float], correlation: float, weeks_of_reference: int) -> float:
    """Return the standard error of the present level, which includes that of the reference."""
    steps = [abs(after - before) for before, after in pairwise(levels)]
    most = _FARTHEST * MAD_TO_DEVIATION * median(steps)
    variance = max(_LEAST_DEVIATION**2, fmean(min(step, most) ** 2 for step in steps) / 2)
    means = variance_of_mean(NEWEST_WEEKS, correlation) + variance_of_mean(weeks_of_reference, correlation)
    # Successive levels that hang together differ less than others.
    return math.sqrt(variance / (1 - correlation) * means)


def _is_trend(levels: Sequence[float], correlation: float) -> bool:
    """Return whether more later levels are above earlier ones than chance explains (Kendall's test)."""
    count = len(levels)
    above = sum((later > earlier) - (later < earlier) for earlier, later in combinations(levels, 2))
    variance = count * (count - 1) * (2 * count + 5) / 18 * (1 + correlation) / (1 - correlation)
    return above - 1 >= _BEYOND_CHANCE * math.sqrt(variance)


def _rise_per_day(weeks: Sequence[Week]) -> float:
    """Return the median of the slopes between all pairs of weeks (Theil and Sen)."""
    return median(
        (later.level - earlier.level) / (later.day - earlier.day) for earlier, later in combinations(weeks, 2)
    )


def _sum_of_products(values: Sequence[float], others: Sequence[float]) -> float:
    return math.fsum(value * other for value, other in zip(values, others))
