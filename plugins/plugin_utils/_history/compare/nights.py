# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificates of a class of similar volumes, night by night: which volume was slower than usual, and on which
nights the whole class was slower.

A volume is compared with its reference: its first usual certificates, or the first ones from an accepted certificate
on. The reference does not follow the volume, so a slow decline does not become usual. A night that is slow for all
volumes provides no information about a single volume. Therefore, the common change is subtracted before a volume is
compared, and a slow night is one finding about the fleet. Figures are logarithms, and higher means worse. Later nights
do not change the result of a night. Conspicuous certificates are never considered usual.
"""

from __future__ import annotations

import datetime
import math
from collections import deque
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev
from typing import NamedTuple

from ..._numerics import student_t
from ..._numerics.correlation import variance_of_mean
from ..._numerics.likeness import FEWEST_ALIKE
from ..._numerics.moderation import Pool, Spread, drawn

FEWEST_EARLIER = 4
"""The number of usual certificates, or nights, that must precede the certificate or night that is compared with
them."""
IN_A_ROW = 2
"""The number of consecutive conspicuous certificates, or slow nights, that stop the gate."""
FEWEST_IN_REFERENCE = 3
MOST_IN_REFERENCE = 8
"""How many certificates form the reference of a volume."""
DAYS_OF_REFERENCE = 182
"""After this time, a reference is complete with the certificates that are needed for a comparison. Otherwise, that of a
volume that is rarely certified would follow a slow decline for years."""

_CONFIDENCE = 0.998
_MEAN_OF_TWO = 2.35e-5
"""The probability that the mean of two independent values is beyond the limit that each of them exceeds with a
probability of 0.2 %."""
_LEAST_DEVIATION = 0.02
"""The smallest variation that is assumed between certificates of one volume, or between nights, even if a few of them
vary less."""
_LEAST_VARIANCE = 1e-6
_FARTHEST_LIMIT = math.log(1e6)
"""A limit that is farther from the reference says only that too little is known."""
_FEWEST_OF_WEEKDAY = 4
_MOST_OF_WEEKDAY = 12
_FEWEST_OF_WEEK = 3
"""How many earlier certificates of a weekday are used to learn how it differs from the other days, and how many of the
seven days before it must have one."""
_OF_MEDIAN = 1.8
"""The variance of a median of differences from the mean of seven days, times their number."""
_MOST_CORRELATION = 0.9
_FEW_PAIRS = 20
"""The number of pairs of certificates with which the correlation is half known."""
_DEGREES_OF_PAIR = 2 / 3
"""The degrees of freedom of a difference of successive values, which shares a value with the next difference."""

Row = Hashable


class Figure(NamedTuple):
    """The logarithm of a figure, the number of change points of its row before it, which prevent a permanent change
    from being mistaken for scatter, and the number of accepted certificates of its volume up to it, each of which
    begins a new reference."""

    value: float
    segment: int = 0
    period: int = 0


Volume = Hashable
Night = Mapping[Volume, Mapping[Row, Figure]]


@dataclass(frozen=True)
class FleetNight:
    """A night of a class: how much slower than usual its volumes were, taken together, the limit for this change, and
    whether the night is a finding."""

    change: float
    limit: float
    slow: bool


@dataclass
class Watched:
    """The results for a class. ``conspicuous`` holds the numbers of the conspicuous nights by volume and row, and
    ``limits`` the usual value and the limit with which the newest certificate was compared.

    ``fleet`` contains the nights on which enough volumes could be compared with their references, and ``references``
    the present reference of each volume and row.
    """

    conspicuous: dict[tuple[Volume, Row], list[int]] = field(default_factory=dict)
    limits: dict[tuple[Volume, Row], tuple[float, float]] = field(default_factory=dict)
    fleet: dict[int, FleetNight] = field(default_factory=dict)
    references: dict[tuple[Volume, Row], float] = field(default_factory=dict)

    @property
    def gates(self) -> bool:
        """Whether the whole class was slow on so many of the newest nights in a row that the gate fails."""
        newest = [self.fleet[number].slow for number in sorted(self.fleet)[-IN_A_ROW:]]
        return len(newest) == IN_A_ROW and all(newest)


def watch(nights: Sequence[Night], *, margin: float, days: Sequence[datetime.date] = ()) -> Watched:
    """Return the results for a class after some nights, oldest first. ``margin`` is the change that matters, as a
    share. ``days`` are the days of the nights; without them, weekdays are not distinguished."""
    state, watched = _State(math.log1p(margin)), Watched()
    for number, night in enumerate(nights):
        looks = state.look(night, days[number].toordinal() if days else None)
        off = _off_the_reference(looks)
        common, limits = _common(off), state.control_limits()
        change = _middle(off)
        if change is not None:
            watched.fleet[number] = FleetNight(change, *is_slow(change, state.nights, state.delta))
        slow = change is not None and watched.fleet[number].slow
        usual = []
        for key, look in looks.items():
            watched.limits.pop(key, None)
            limit = None if look.off is None else limits.of(look)
            if look.off is not None and limit is not None:
                limit += max(0.0, common.get(key[1], 0.0))
                expected = look.figure.value - look.off
                watched.limits[key] = (expected, expected + limit)
                if look.off > limit:
                    watched.conspicuous.setdefault(key, []).append(number)
                    continue
            usual.append((look, common.get(key[1], 0.0)))
        # All volumes of a night are compared with the earlier nights before the night is added to these.
        for each in () if slow else usual:
            state.add(*each)
        if change is not None and not slow:
            state.nights.append(change)
    watched.references = state.references()
    return watched


def is_slow(change: float, nights: Sequence[float], delta: float) -> tuple[float, bool]:
    """Return the limit for the change that the volumes of a class have in common on a night, and whether the change
    exceeds it. The limit is calculated from earlier usual nights."""
    count = len(nights)
    if count < FEWEST_EARLIER:
        return delta, change >= delta
    deviation = max(_LEAST_DEVIATION, stdev(nights))
    limit = max(delta, student_t.quantile(_CONFIDENCE, count - 1) * deviation * math.sqrt(1 + 1 / count))
    return fmean(nights) + limit, change - fmean(nights) > limit


def _off_the_reference(looks: Mapping[tuple[Volume, Row], _Look]) -> dict[Volume, dict[Row, float]]:
    """Return how far each figure is from its reference, for the volumes and rows that have one."""
    found: dict[Volume, dict[Row, float]] = {}
    for (volume, row), look in looks.items():
        if look.off is not None:
            found.setdefault(volume, {})[row] = look.off
    return found


def _common(off: Mapping[Volume, Mapping[Row, float]]) -> dict[Row, float]:
    """Return how much slower than usual each row of the class is, for the rows that enough volumes have."""
    by_row: dict[Row, list[float]] = {}
    for rows in off.values():
        for row, value in rows.items():
            by_row.setdefault(row, []).append(value)
    return {row: median(values) for row, values in by_row.items() if len(values) >= FEWEST_ALIKE}


def _middle(off: Mapping[Volume, Mapping[Row, float]]) -> float | None:
    """Return the change that the volumes of a night have in common, or None if there are too few volumes."""
    return median(fmean(rows.values()) for rows in off.values()) if len(off) >= FEWEST_ALIKE else None


@dataclass(slots=True)
class _Course:
    """What is known about a row of a volume: its reference (``count`` certificates with a mean), how much successive
    usual certificates of one segment differ, and its days.

    Half of the mean square of these differences is the variance. A slow decline does not increase it.
    """

    volume: Volume
    period: int
    began: int = 0
    day: int = 0
    count: int = 0
    mean: float = 0.0
    segment: int = -1
    common: float = 0.0
    squares: float = 0.0
    pairs: int = 0
    spread: Spread | None = None
    last: tuple[float, ...] = ()
    week: list[tuple[int, float]] = field(default_factory=list)
    weekdays: dict[int, deque[float]] = field(default_factory=dict)

    @property
    def completes_reference(self) -> bool:
        """Whether the certificate of this day becomes a part of the reference if it is usual."""
        most = MOST_IN_REFERENCE if self.day - self.began <= DAYS_OF_REFERENCE else FEWEST_EARLIER
        return self.count < most

    def of_weekday(self, day: int, value: float, least: float) -> tuple[float, int]:
        """Return how much slower than during the seven days before a row usually is on this weekday, and the number of
        earlier certificates that say so; or 0 if fewer than three quarters of them differ by at least ``least`` and by
        the deviation of the row. The value of this day is kept for later days. Conspicuous certificates count as well.
        Otherwise, a pattern could not be learned.
        """
        week = self.week
        while week and week[0][0] < day - 7:
            del week[0]
        change, count = 0.0, 0
        if len(week) >= _FEWEST_OF_WEEK:
            known = self.weekdays.setdefault(day % 7, deque(maxlen=_MOST_OF_WEEKDAY))
            if len(known) >= _FEWEST_OF_WEEKDAY:
                ordered, quarter = sorted(known), len(known) // 4
                least = max(least, math.sqrt(self.spread.variance)) if self.spread else least
                if ordered[quarter] > least or ordered[-1 - quarter] < -least:
                    change, count = median(ordered), len(ordered)
            known.append(value - math.fsum(each for _day, each in week) / len(week))
        week.append((day, value))
        return change, count


class _Look(NamedTuple):
    """A figure of a night: its course, how far it is from its reference (None if it has none), its value without the
    pattern of weekdays, and the number of certificates from which this pattern is known."""

    figure: Figure
    course: _Course
    off: float | None
    value: float
    like_days: int


class _Limits:
    """The control limits of a night, which depend on the class and on the course of a row."""

    def __init__(self, common: Spread, correlation: float, delta: float) -> None:
        self._common = common
        self._correlation = correlation
        self._delta = delta

    def of(self, look: _Look) -> float | None:
        """Return how far a value may be from the reference of its row, or None if it is not known how much its values
        vary."""
        course, correlation = look.course, self._correlation
        known = drawn(course.spread, self._common) if course.spread else self._common
        # Successive values that hang together differ less than others.
        deviation = max(_LEAST_DEVIATION, math.sqrt(known.variance / (1 - correlation)))
        # The limit is that of the mean of two certificates in a row, because these gate. They share the error of the
        # reference and of the deviation. If they hang together, the second one says less, and a reference that is off
        # by chance does so in longer spells.
        day = _OF_MEDIAN / look.like_days if look.like_days else 0.0
        error = math.sqrt((1 + correlation) * (0.5 + variance_of_mean(course.count, correlation)) + day)
        limit = max(self._delta, _quantile(known.degrees) * deviation * error)
        return limit if limit <= _FARTHEST_LIMIT else None


def _quantile(degrees: float) -> float:
    """Return how many standard deviations the mean of two certificates may be above the reference. The degrees of
    freedom are rounded down to two digits, because the quantile takes long to compute."""
    scale = 10 ** max(0, math.floor(math.log10(max(1.0, degrees))) - 1)
    return student_t.quantile(1 - _MEAN_OF_TWO, max(1, math.floor(degrees / scale) * scale))


class _State:
    """The state of a class before a night: the courses of its volumes and rows, and the usual nights."""

    def __init__(self, delta: float) -> None:
        self.nights: list[float] = []
        self.delta = delta
        self._courses: dict[tuple[Volume, Row], _Course] = {}
        self._varying: set[Volume] = set()
        self._pool = Pool()
        self._apart = [0.0, 0.0]
        self._pairs = [0, 0]

    def look(self, night: Night, day: int | None) -> dict[tuple[Volume, Row], _Look]:
        """Compare the figures of a night with their references."""
        found = {}
        for volume, rows in night.items():
            for row, figure in rows.items():
                key = volume, row
                course = self._courses.get(key)
                if course is None or course.period != figure.period:
                    if course and course.spread:
                        self._pool.add(course.spread, -1)
                    course = self._courses[key] = _Course(volume, figure.period, day or 0)
                course.day = day or 0
                change, like_days = (0.0, 0) if day is None else course.of_weekday(day, figure.value, self.delta / 2)
                value = figure.value - change
                off = value - course.mean if course.count >= FEWEST_EARLIER else None
                found[key] = _Look(figure, course, off, value, like_days)
        return found

    def control_limits(self) -> _Limits:
        common = (
            self._pool.common(max(len(self._varying), min(2, self._pool.count)))
            if self._pool.count
            else Spread(0.0, 0.0)
        )
        return _Limits(common, self._correlation(), self.delta)

    def _correlation(self) -> float:
        """Return the correlation of successive certificates. It follows from how much more values differ that are two
        places apart than neighbours. A trend hardly changes that. It is moved towards 0.5 if there are few pairs."""
        (near, far), (neighbours, pairs) = self._apart, self._pairs
        found = ((far / pairs) / (near / neighbours)) ** 2 - 1 if near and pairs else 0.0
        known = min(_MOST_CORRELATION, max(0.0, found))
        return round((known * pairs + 0.5 * _FEW_PAIRS) / (pairs + _FEW_PAIRS), 2)

    def references(self) -> dict[tuple[Volume, Row], float]:
        return {key: course.mean for key, course in self._courses.items() if course.count >= FEWEST_IN_REFERENCE}

    def add(self, look: _Look, common: float) -> None:
        """Add a usual figure. ``common`` is the change that its class shares on the night."""
        course, value = look.course, look.value - common
        if course.completes_reference:
            course.count += 1
            course.mean += (look.figure.value - course.mean) / course.count
        if course.segment != look.figure.segment or abs(common - course.common) > self.delta:
            course.last = ()  # a change, of the volume or of its class, is no variation
        course.segment, course.common = look.figure.segment, common
        for place, before in enumerate(course.last):
            self._apart[place] += abs(value - before)
            self._pairs[place] += 1
        if course.last:
            course.squares += (value - course.last[0]) ** 2 / 2
            course.pairs += 1
            self._replace(course)
        course.last = (value, *course.last[:1])

    def _replace(self, course: _Course) -> None:
        """Put the new variance of a course into the pool of the class."""
        if course.spread:
            self._pool.add(course.spread, -1)
        self._varying.add(course.volume)
        course.spread = Spread(max(_LEAST_VARIANCE, course.squares / course.pairs), _DEGREES_OF_PAIR * course.pairs)
        self._pool.add(course.spread)
