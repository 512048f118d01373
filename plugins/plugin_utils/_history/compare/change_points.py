# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Detects when the figures of a volume changed in the course of its certificates.

Figures are given in the order of their certificates, and higher means worse (a rate is given as its reciprocal). Their
logarithms are compared. A margin is the change that matters: 0.1 is 10 %. If there are at least ten certificates,
change points are calculated, which show when the figures changed (E-divisive, Matteson and James, arXiv 1306.4933; with
a t-test in place of permutations, arXiv 2301.03034). They are only shown and never judged: if neighbouring certificates
are correlated, up to a third of histories have false ones. The part that can fail the gate is in nights.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import fmean

from ..._numerics import student_t

FEWEST_FOR_CHANGE_POINTS = 10
MOST_FOR_CHANGE_POINTS = 200
"""Only the newest certificates are searched."""
CONFIRMED_BY = 6
"""The number of certificates, from a change point on, that are needed to confirm it. A single spike among the last
three of 40 certificates appears as a change point in up to a sixth of histories while only four or five certificates
follow it. With at least six, it appears in at most 1 %."""
_FEWEST_ON_A_SIDE = 3
_SIGNIFICANT = 0.001


@dataclass(frozen=True)
class ChangePoint:
    """A point at which the figures changed: the index of the first certificate after the change, the change as a share,
    and the probability of such a change by chance.

    It is preliminary if so few certificates follow that it may be a spike.
    """

    place: int
    change: float
    p_value: float
    preliminary: bool = False


def change_points(figures: Sequence[float], *, margin: float) -> list[ChangePoint]:
    """Return, in order, the points at which the figures changed by at least the margin, up or down; none if there are
    too few certificates."""
    first = max(0, len(figures) - MOST_FOR_CHANGE_POINTS)
    values = [math.log(figure) for figure in figures[first:]]
    if len(values) < FEWEST_FOR_CHANGE_POINTS:
        return []
    # Running sums of the distances between values, from which the sum for any segment can be computed.
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


def _best_cut(distances: Sequence[Sequence[float]], start: int, end: int) -> int | None:
    """Return where the two sides of a segment differ most, measured by the distances between the sides minus the
    distances within each side. The result is None if the segment is too short to be divided."""
    best, cut = -math.inf, None
    within_left, between, within_right = 0.0, 0.0, math.fsum(row[end] - row[start] for row in distances[start:end]) / 2
    for place in range(start, end - _FEWEST_ON_A_SIDE):
        row = distances[place]
        to_left, to_right = row[place] - row[start], row[end] - row[place]
        within_left, between, within_right = (
            within_left + to_left,
            between + to_right - to_left,
            within_right - to_right,
        )
        left, right = place + 1 - start, end - place - 1
        if left < _FEWEST_ON_A_SIDE:
            continue
        apart = (
            2 * between / (left * right)
            - 2 * within_left / (left * (left - 1))
            - 2 * within_right / (right * (right - 1))
        )
        difference = left * right / (left + right) * apart
        if difference > best:
            best, cut = difference, place + 1
    return cut


def _t_test(before: Sequence[float], after: Sequence[float]) -> tuple[float, float]:
    """Return the difference of the means, and the probability of a difference of this size by chance, in either
    direction (pooled t-test)."""
    change = fmean(after) - fmean(before)
    degrees = len(before) + len(after) - 2
    squares = math.fsum(
        (value - mean) ** 2 for side, mean in ((before, fmean(before)), (after, fmean(after))) for value in side
    )
    error = math.sqrt(squares / degrees * (1 / len(before) + 1 / len(after)))
    if not error:
        return change, 0.0 if change else 1.0
    return change, 2 * student_t.upper_tail(abs(change) / error, degrees)
