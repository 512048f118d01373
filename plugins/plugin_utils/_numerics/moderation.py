# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variances of similar items, each estimated from few values and then moderated by the variances of all, with the
derivatives of the logarithm of the gamma function that this needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median

_LARGE = 12
"""From this argument on, the asymptotic series is exact."""
_BERNOULLI = ((2, 1 / 6), (4, -1 / 30), (6, 1 / 42), (8, -1 / 30), (10, 5 / 66))


def digamma(x: float) -> float:
    """Return the first derivative of the logarithm of the gamma function."""
    below = 0.0
    while x < _LARGE:
        below -= 1 / x
        x += 1
    return below + math.log(x) - 1 / (2 * x) - sum(number / (order * x**order) for order, number in _BERNOULLI)


def trigamma(x: float) -> float:
    """Return the second derivative of the logarithm of the gamma function."""
    below = 0.0
    while x < _LARGE:
        below += 1 / x**2
        x += 1
    return below + 1 / x + 1 / (2 * x**2) + sum(number / x ** (order + 1) for order, number in _BERNOULLI)


def inverse_trigamma(value: float) -> float:
    """Return the argument at which ``trigamma`` has a given value above 0 (Newton's method, which approaches
    from below)."""
    x = 0.5 + 1 / value
    while True:
        at = trigamma(x)
        step = at * (1 - at / value) / _tetragamma(x)
        x += step
        if abs(step) < 1e-12 * x:
            return x


def _tetragamma(x: float) -> float:
    below = 0.0
    while x < _LARGE:
        below -= 2 / x**3
        x += 1
    return below - 1 / x**2 - 1 / x**3 - sum((order + 1) * number / x ** (order + 2) for order, number in _BERNOULLI)


_LEAST_OF_MEDIAN = 1e-4
"""Variances below this share of the median are replaced with it, because their logarithms would have too much
influence."""


@dataclass(frozen=True)
class Spread:
    """A variance and its degrees of freedom, which need not be a whole number."""

    variance: float
    degrees: float


def moderated(spreads: Sequence[Spread], things: int) -> list[Spread]:
    """Return the variances, moved towards each other. Variances without a degree of freedom are replaced with the
    common variance.

    ``things`` is the number of independent items (the rows of a host are not independent of each other). It limits the
    degrees of freedom of the common variance.
    """
    known = [spread for spread in spreads if spread.degrees > 0]
    if not known:
        raise ValueError("None of the variances has a degree of freedom.")
    common = _common(known, things)
    return [drawn(spread, common) for spread in spreads]


def drawn(spread: Spread, common: Spread) -> Spread:
    """Return a variance, moved towards the common one."""
    degrees = common.degrees + spread.degrees
    return Spread((common.degrees * common.variance + spread.degrees * spread.variance) / degrees, degrees)


def _common(known: Sequence[Spread], things: int) -> Spread:
    """Return the common variance and its degrees of freedom."""
    pool, least = Pool(), _LEAST_OF_MEDIAN * median(spread.variance for spread in known)
    if not least > 0 or len(known) < 2:
        return Spread(
            fmean(spread.variance for spread in known), fmean(spread.degrees for spread in known) * (things - 1)
        )
    for spread in known:
        pool.add(Spread(max(least, spread.variance), spread.degrees))
    return pool.common(things)


@dataclass
class Pool:
    """The sums over some variances from which their common variance follows, so that one of them can be replaced
    without looking at all the others. The variances must be above 0."""

    count: int = 0
    degrees: float = 0.0
    variances: float = 0.0
    logarithms: float = 0.0
    squares: float = 0.0
    chance: float = 0.0

    def add(self, spread: Spread, times: int = 1) -> None:
        """Add a variance or, with -1 ``times``, remove one that was added."""
        psi, chance = _of_degrees(spread.degrees)
        logarithm = math.log(spread.variance) - psi
        self.count += times
        self.degrees += times * spread.degrees
        self.variances += times * spread.variance
        self.logarithms += times * logarithm
        self.squares += times * logarithm * logarithm
        self.chance += times * chance

    def common(self, things: int) -> Spread:
        """Return the common variance and its degrees of freedom. There must be at least one variance."""
        most_degrees, mean = self.degrees / self.count * (things - 1), self.logarithms / self.count
        beyond_chance = (self.squares - self.count * mean * mean) / max(1, self.count - 1) - self.chance / self.count
        if beyond_chance <= 0:
            return Spread(self.variances / self.count, most_degrees)
        degrees = 2 * inverse_trigamma(beyond_chance)
        return Spread(math.exp(mean + digamma(degrees / 2) - math.log(degrees / 2)), min(degrees, most_degrees))


@lru_cache(maxsize=4096)
def _of_degrees(degrees: float) -> tuple[float, float]:
    """Return the mean and the variance of the logarithm of a variance with these degrees of freedom, if the true
    variance is 1."""
    return digamma(degrees / 2) - math.log(degrees / 2), trigamma(degrees / 2)
