# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Variances of similar items, each estimated from few values and then moved towards the common estimate (Smyth 2004).

How far they are moved depends on how much they differ beyond chance. If they do not differ, all have the same variance;
if they differ much, each keeps its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, median

from .polygamma import digamma, inverse_trigamma, trigamma

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
