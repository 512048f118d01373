# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much the difference of two means varies if successive values resemble each other.

The values of a set are assumed to be correlated by r from one to the next, by r^2 to the one after it, and so on. Such
values differ little from their own mean, while the mean itself varies much. A variance that is estimated from the
differences within sets is therefore too small for the difference between two sets. The sets themselves are taken as
independent, which is the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from statistics import fmean

USUAL = 0.5
"""The correlation that is assumed as far as it is not known."""
_MOST = 0.99
_PART = 0.75
_NORMAL_AT_PART = 1.1503493803760079
"""The value that this part of the absolute values of normal noise does not exceed."""
_PAIRS_OF_USUAL = 20
"""How many pairs of successive values the assumed correlation is worth."""
_FEWEST_THINGS = 10
"""If this many things differ, the assumed correlation is not needed."""

Counts = Mapping[int, int]
"""How many sets there are of each number of values."""


def widening(before: int, after: int, within: Counts, correlation: float) -> float:
    """Return by what factor the variance of the difference of two means exceeds the one that is computed for
    independent values, from the variance within sets. 1 if no set has two values."""
    scatter = math.fsum(sets * _scatter(count, correlation) for count, sets in within.items())
    degrees = sum(sets * (count - 1) for count, sets in within.items())
    if not degrees:
        return 1.0
    means = sum(variance_of_mean(count, correlation) for count in (before, after))
    return means / (1 / before + 1 / after) * degrees / scatter


def correlation_of_differences(
    deviations: Iterable[float], before: int, after: int, within: Counts, things: int
) -> float:
    """Return the correlation that explains how much the differences of two means vary. Each is divided by the standard
    error that it would have if values were independent. Up to a quarter of them may be large for other reasons. The
    result is moved towards the usual correlation if fewer than ten independent things differ."""
    sizes = [abs(deviation) for deviation in deviations]
    found = _solved(lambda each: widening(before, after, within, each), _robust_variance(sizes))
    weight = min(1.0, things / _FEWEST_THINGS)
    return weight * found + (1 - weight) * USUAL


def correlation_of_successive(sets: Iterable[Sequence[float]]) -> tuple[float, bool]:
    """Return the correlation of successive values, estimated from sets with at least three values each and moved
    towards the usual one if there are few pairs. Also return whether the sets weigh more than the usual one."""
    long = [values for values in sets if len(values) > 2]
    steps = math.fsum((b - a) ** 2 for values in long for a, b in zip(values, values[1:])) / 2
    squares = math.fsum((value - fmean(values)) ** 2 for values in long for value in values)
    if not squares or not steps:
        return USUAL, False
    pairs = sum(len(values) - 2 for values in long)

    def ratio(correlation: float) -> float:
        scatter = math.fsum(_scatter(len(values), correlation) for values in long)
        return scatter / ((1 - correlation) * sum(len(values) - 1 for values in long))

    found = _solved(ratio, squares / steps)
    return (pairs * found + _PAIRS_OF_USUAL * USUAL) / (pairs + _PAIRS_OF_USUAL), pairs > _PAIRS_OF_USUAL


@lru_cache(maxsize=65536)
def variance_of_mean(count: int, correlation: float) -> float:
    """Return the variance of the mean of successive values with a variance of 1, if the correlation of values that are
    k places apart is the k-th power of ``correlation``."""
    return (1 + 2 * math.fsum((1 - lag / count) * correlation**lag for lag in range(1, count))) / count


def _scatter(count: int, correlation: float) -> float:
    """Return the expected sum of the squared deviations of successive values from their mean."""
    return count * (1 - variance_of_mean(count, correlation))


def _robust_variance(sizes: Sequence[float]) -> float:
    """Return the variance of normal values that have such a quantile of their absolute values."""
    place = _PART * (len(sizes) - 1)
    low, ordered = int(place), sorted(sizes)
    high = min(low + 1, len(ordered) - 1)
    return ((ordered[low] + (place - low) * (ordered[high] - ordered[low])) / _NORMAL_AT_PART) ** 2


def _solved(function: Callable[[float], float], wanted: float) -> float:
    """Return the correlation from 0 to 0.99 at which an increasing function has a value."""
    low, high = 0.0, _MOST
    if function(low) >= wanted:
        return low
    for _step in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < wanted else (low, middle)
    return high
