# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Student's t distribution, calculated with the incomplete beta function; degrees of freedom need not be whole."""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_MOST_TERMS = 100_000


def upper_tail(t: float, degrees: float) -> float:
    """Return the probability that a t-distributed value is greater than t."""
    half = incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t)) / 2
    return half if t >= 0 else 1 - half


@lru_cache(maxsize=4096)
def quantile(probability: float, degrees: float) -> float:
    """Return the quantile of the t distribution for a probability above 0 and below 1."""
    if probability < 0.5:
        return -quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while upper_tail(high, degrees) > 1 - probability:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return middle
        if upper_tail(middle, degrees) > 1 - probability:
            low = middle
        else:
            high = middle


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularized incomplete beta function I_x(a, b)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast only on the other side
        return 1 - incomplete_beta(b, a, 1 - x)
    front = a * math.log(x) + b * math.log1p(-x) + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(front) / a / _continued_fraction(a, b, x)


def _continued_fraction(a: float, b: float, x: float) -> float:
    """Return 1 + d1/(1 + d2/(1 + ...)) of the incomplete beta function, by Lentz's method."""
    value, upper, lower = 1.0, 1.0, 0.0
    for term in range(1, _MOST_TERMS):
        i, odd = divmod(term, 2)
        numerator = (
            -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1))
            if odd
            else i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i))
        )
        lower = 1 / (1 + numerator * lower or _TINY)
        upper = 1 + numerator / upper or _TINY
        value *= upper * lower
        if abs(upper * lower - 1) < 1e-16:
            break
    return value
