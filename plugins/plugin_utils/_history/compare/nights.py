# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The certificates of a class of similar volumes, night by night: which volume was slower than usual, and on which
nights the whole class was slower.

A night that is slow for all volumes provides no information about a single volume. Therefore, the common change is
subtracted before a volume is compared with its own usual certificates, and a slow night is one finding about the fleet.
Figures are logarithms, and higher means worse. Later nights do not change the result of a night. Conspicuous
certificates are never considered usual. Otherwise, the first of two slow nights would hide the second.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median, stdev
from typing import NamedTuple

from ..._numerics import student_t
from ..._numerics.likeness import FEWEST_ALIKE

FEWEST_EARLIER = 4
"""The number of usual certificates, or nights, that must precede the certificate or night that is compared with
them."""
IN_A_ROW = 2
"""The number of consecutive conspicuous certificates, or slow nights, that stop the gate."""

_CONFIDENCE = 0.998
_LEAST_DEVIATION = 0.02
"""The smallest variation that is assumed between certificates of one volume, or between nights, even if a few of them
vary less."""

Row = Hashable


class Figure(NamedTuple):
    """The logarithm of a figure, and the change points of its row before and after it. They prevent a permanent change
    from being mistaken for scatter."""

    value: float
    segment: int = 0


Volume = Hashable
Night = Mapping[Volume, Mapping[Row, Figure]]


@dataclass
class Scatter:
    """The variation of some values around their mean."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> float:
        """Add a value and return by how much the sum of squares grew."""
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        grown = off * (value - self.mean)
        self.squares += grown
        return grown


@dataclass
class Common:
    """The variation of the certificates of a row around the means of their volumes, over all volumes of the class."""

    squares: float = 0.0
    degrees: int = 0


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

    ``fleet`` contains the nights on which enough volumes could be compared with their usual certificates.
    """

    conspicuous: dict[tuple[Volume, Row], list[int]] = field(default_factory=dict)
    limits: dict[tuple[Volume, Row], tuple[float, float]] = field(default_factory=dict)
    fleet: dict[int, FleetNight] = field(default_factory=dict)

    @property
    def gates(self) -> bool:
        """Whether the whole class was slow on so many of the newest nights in a row that the gate fails."""
        newest = [self.fleet[number].slow for number in sorted(self.fleet)[-IN_A_ROW:]]
        return len(newest) == IN_A_ROW and all(newest)


def watch(nights: Sequence[Night], *, margin: float) -> Watched:
    """Return the results for a class after some nights, oldest first. ``margin`` is the change that matters, as a
    share."""
    state, watched = _State(math.log1p(margin)), Watched()
    for number, night in enumerate(nights):
        off = state.off_the_usual(night)
        common = state.common(off)
        change = _middle(off)
        if change is not None:
            watched.fleet[number] = FleetNight(change, *state.judge_night(change))
        slow = change is not None and watched.fleet[number].slow
        usual = []
        for volume, rows in night.items():
            for row, figure in rows.items():
                watched.limits.pop((volume, row), None)
                if row in off.get(volume, ()):
                    limit = common.get(row, 0.0) + state.control_limit(volume, row)
                    watched.limits[volume, row] = (
                        figure.value - off[volume][row],
                        figure.value - off[volume][row] + limit,
                    )
                    if off[volume][row] > limit:
                        watched.conspicuous.setdefault((volume, row), []).append(number)
                        continue
                usual.append((volume, row, figure))
        # All volumes of a night are compared with the earlier nights before the night is added to these.
        for each in () if slow else usual:
            state.add(*each)
        if change is not None and not slow:
            state.nights.append(change)
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


def control_limit(common: Common, earlier: int, delta: float) -> float:
    """Return how far a new value may be above the mean of the given number of earlier values."""
    deviation = max(_LEAST_DEVIATION, math.sqrt(common.squares / common.degrees))
    return max(delta, student_t.quantile(_CONFIDENCE, common.degrees) * deviation * math.sqrt(1 + 1 / earlier))


def _middle(off: Mapping[Volume, Mapping[Row, float]]) -> float | None:
    """Return the change that the volumes of a night have in common, or None if there are too few volumes."""
    return median(fmean(rows.values()) for rows in off.values()) if len(off) >= FEWEST_ALIKE else None


class _State:
    """The state of a class before a night: the usual certificates of each volume and row, and the usual nights."""

    def __init__(self, delta: float) -> None:
        self.nights: list[float] = []
        self._delta = delta
        self._usual: dict[tuple[Volume, Row], Scatter] = {}
        self._segments: dict[tuple[Volume, Row, int], Scatter] = {}
        self._common: dict[Row, Common] = {}

    def off_the_usual(self, night: Night) -> dict[Volume, dict[Row, float]]:
        """Return how far each figure is from its usual ones, for the volumes and rows that have enough of them."""
        found = {}
        for volume, rows in night.items():
            off = {
                row: figure.value - usual.mean
                for row, figure in rows.items()
                if (usual := self._usual.get((volume, row))) and usual.count >= FEWEST_EARLIER
            }
            if off:
                found[volume] = off
        return found

    def common(self, off: Mapping[Volume, Mapping[Row, float]]) -> dict[Row, float]:
        """Return how much slower than usual each row of the class is, for the rows that enough volumes have. The result
        is never below 0."""
        by_row: dict[Row, list[float]] = {}
        for rows in off.values():
            for row, value in rows.items():
                by_row.setdefault(row, []).append(value)
        return {row: max(0.0, median(values)) for row, values in by_row.items() if len(values) >= FEWEST_ALIKE}

    def judge_night(self, change: float) -> tuple[float, bool]:
        return is_slow(change, self.nights, self._delta)

    def control_limit(self, volume: Volume, row: Row) -> float:
        return control_limit(self._common[row], self._usual[volume, row].count, self._delta)

    def add(self, volume: Volume, row: Row, figure: Figure) -> None:
        """Add a usual figure."""
        self._usual.setdefault((volume, row), Scatter()).add(figure.value)
        segment = self._segments.setdefault((volume, row, figure.segment), Scatter())
        common = self._common.setdefault(row, Common())
        common.degrees += segment.count > 0
        common.squares += segment.add(figure.value)
