# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a volume drifts over its certificates.

Figures are given in the order of their certificates, the higher the worse (of a rate the reciprocal), and are compared by their logarithms. A margin is the
change that matters: 0.1 is 10 %. With few certificates the newest is held against a control limit, and only that gates. From ten on, change points say when
the figures moved (E-divisive, Matteson and James, arXiv 1306.4933; with a t-test in place of permutations, arXiv 2301.03034). They are shown, no more:
if neighbouring certificates are correlated, up to a third of histories have false ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics import student_t

FEWEST_EARLIER = 4
"""Certificates that must lie before the one that is held against them."""
FEWEST_FOR_CHANGE_POINTS = 10
MOST_FOR_CHANGE_POINTS = 200
"""Only the last ones are searched."""
CONFIRMED_BY = 6
"""Certificates from a change point on that confirm it. One spike among the last three of 40 certificates shows as a change point in up to a sixth of histories,
as long as four or five of them come after it; from six on it is in at most 1 %."""
IN_A_ROW = 2
"""Conspicuous certificates in a row that gate."""

_CONTROL_CONFIDENCE = 0.995
_LEAST_DEVIATION = 0.02
"""Certificates of one volume differ at least so much, whatever a few of them say."""
_FEWEST_ON_A_SIDE = 3
_SIGNIFICANT = 0.001


@dataclass(frozen=True)
class ChangePoint:
    """Where the figures moved: the place of the first certificate afterwards, the change as a share, and how probable it is without cause.

    It is preliminary if so few certificates follow that it may be a spike.
    """

    place: int
    change: float
    p_value: float
    preliminary: bool = False


@dataclass(frozen=True)
class Scatter:
    """How much certificates differ from the mean of their volume: the sum of squares of their logarithms around it, and its degrees of freedom."""

    squares: float = 0.0
    degrees: int = 0

    def __add__(self, other: Scatter) -> Scatter:
        return Scatter(self.squares + other.squares, self.degrees + other.degrees)

    def __sub__(self, other: Scatter) -> Scatter:
        return Scatter(max(0.0, self.squares - other.squares), self.degrees - other.degrees)


UNKNOWN = Scatter()


def scatter_of(figures: Sequence[float]) -> Scatter:
    """Return how much the certificates of one volume differ."""
    return _scatter([math.log(figure) for figure in figures])


def conspicuous_certificates(figures: Sequence[float], *, margin: float, alike: Scatter = UNKNOWN) -> list[int]:
    """Return the places of certificates whose figure is beyond the control limit that the ones before them draw.

    Each is held against those before it that are not conspicuous themselves: else the first of two in a row would hide the second. alike is the scatter of
    the same row of the class's other hosts, which then tell as well how much certificates differ.
    """
    usual: list[float] = []
    found = []
    for place, value in enumerate(map(math.log, figures)):
        if len(usual) >= FEWEST_EARLIER and value - fmean(usual) > _control_limit(usual, alike, margin):
            found.append(place)
        else:
            usual.append(value)
    return found


def control_limit(figures: Sequence[float], conspicuous: Sequence[int], *, margin: float, alike: Scatter = UNKNOWN) -> tuple[float, float] | None:
    """Return the mean and the control limit that the newest certificate was held against, as figures; None if too few were before it."""
    usual = [math.log(figure) for place, figure in enumerate(figures[:-1]) if place not in conspicuous]
    if len(usual) < FEWEST_EARLIER:
        return None
    middle = fmean(usual)
    return math.exp(middle), math.exp(middle + _control_limit(usual, alike, margin))


def drift_gates(figures: Sequence[float], conspicuous: Sequence[int]) -> bool:
    """Whether the newest certificates are conspicuous, as many in a row as it takes to stop a gate."""
    return set(conspicuous).issuperset(range(len(figures) - IN_A_ROW, len(figures)))


def change_points(figures: Sequence[float], *, margin: float) -> list[ChangePoint]:
    """Return where the figures moved by at least the margin, up or down, in order; none if there are too few certificates to tell."""
    first = max(0, len(figures) - MOST_FOR_CHANGE_POINTS)
    values = [math.log(figure) for figure in figures[first:]]
    if len(values) < FEWEST_FOR_CHANGE_POINTS:
        return []
    # Sums of distances from each value to the first ones: every segment takes what it needs from them.
    distances = [list(accumulate((abs(value - other) for other in values), initial=0.0)) for value in values]
    delta, open_segments, found = math.log1p(margin), [(0, len(values))], []
    while open_segments:
        start, end = open_segments.pop()
        cut = _best_cut(distances, start, end)
        if cut is None:
            continue
        change, p_value = _t_test(values[start:cut], values[cut:end])
        if p_value <= _SIGNIFICANT and abs(change) >= delta:
            found.append(ChangePoint(first + cut, math.expm1(change), p_value, len(values) - cut < CONFIRMED_BY))
            open_segments += [(start, cut), (cut, end)]
    return sorted(found, key=lambda point: point.place)


def _control_limit(usual: Sequence[float], alike: Scatter, margin: float) -> float:
    """Return how far above the mean of the usual values a new one may lie."""
    scatter = alike + _scatter(usual)
    deviation = max(_LEAST_DEVIATION, math.sqrt(scatter.squares / scatter.degrees))
    return max(math.log1p(margin), student_t.quantile(_CONTROL_CONFIDENCE, scatter.degrees) * deviation * math.sqrt(1 + 1 / len(usual)))


def _scatter(values: Sequence[float]) -> Scatter:
    if not values:
        return UNKNOWN
    mean = fmean(values)
    return Scatter(math.fsum((value - mean) ** 2 for value in values), len(values) - 1)


def _best_cut(distances: Sequence[Sequence[float]], start: int, end: int) -> int | None:
    """Return where the sides of a segment differ most: by their distances to one another less those within. None if it is too short to be cut."""
    best, cut = -math.inf, None
    within_left, between, within_right = 0.0, 0.0, math.fsum(row[end] - row[start] for row in distances[start:end]) / 2
    for place in range(start, end - _FEWEST_ON_A_SIDE):
        row = distances[place]
        to_left, to_right = row[place] - row[start], row[end] - row[place]
        within_left, between, within_right = within_left + to_left, between + to_right - to_left, within_right - to_right
        left, right = place + 1 - start, end - place - 1
        if left < _FEWEST_ON_A_SIDE:
            continue
        apart = 2 * between / (left * right) - 2 * within_left / (left * (left - 1)) - 2 * within_right / (right * (right - 1))
        difference = left * right / (left + right) * apart
        if difference > best:
            best, cut = difference, place + 1
    return cut


def _t_test(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Return the difference of the means and how probable one as large is without cause, on either side (pooled t-test)."""
    change = fmean(after) - fmean(before)
    within = _scatter(before) + _scatter(after)
    error = math.sqrt(within.squares / within.degrees * (1 / len(before) + 1 / len(after)))
    if not error:
        return change, 0.0 if change else 1.0
    return change, 2 * student_t.upper_tail(abs(change) / error, within.degrees)
