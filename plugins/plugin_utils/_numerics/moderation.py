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
from statistics import fmean, median, variance

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
    return [_drawn(spread, common) for spread in spreads]


def _drawn(spread: Spread, common: Spread) -> Spread:
    degrees = common.degrees + spread.degrees
    return Spread((common.degrees * common.variance + spread.degrees * spread.variance) / degrees, degrees)


def _common(known: Sequence[Spread], things: int) -> Spread:
    """Return the common variance and its degrees of freedom."""
    most_degrees = fmean(spread.degrees for spread in known) * (things - 1)
    least = _LEAST_OF_MEDIAN * median(spread.variance for spread in known)
    if not least > 0 or len(known) < 2:
        return Spread(fmean(spread.variance for spread in known), most_degrees)
    logarithms = [
        math.log(max(least, spread.variance)) - digamma(spread.degrees / 2) + math.log(spread.degrees / 2)
        for spread in known
    ]
    beyond_chance = variance(logarithms) - fmean(trigamma(spread.degrees / 2) for spread in known)
    if beyond_chance <= 0:
        return Spread(fmean(max(least, spread.variance) for spread in known), most_degrees)
    degrees = 2 * inverse_trigamma(beyond_chance)
    return Spread(
        math.exp(fmean(logarithms) + digamma(degrees / 2) - math.log(degrees / 2)), min(degrees, most_degrees)
    )
