# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The first derivatives of the logarithm of the gamma function, for arguments above 0,
and the inverse of the second one."""

from __future__ import annotations

import math

_LARGE = 12
"""From this argument on, the asymptotic series is exact."""
_BERNOULLI = ((2, 1 / 6), (4, -1 / 30), (6, 1 / 42), (8, -1 / 30), (10, 5 / 66))


def digamma(x: float) -> float:
    """Return the first derivative."""
    below = 0.0
    while x < _LARGE:
        below -= 1 / x
        x += 1
    return below + math.log(x) - 1 / (2 * x) - sum(number / (order * x**order) for order, number in _BERNOULLI)


def trigamma(x: float) -> float:
    """Return the second derivative."""
    below = 0.0
    while x < _LARGE:
        below += 1 / x**2
        x += 1
    return below + 1 / x + 1 / (2 * x**2) + sum(number / x ** (order + 1) for order, number in _BERNOULLI)


def inverse_trigamma(value: float) -> float:
    """Return the argument at which the second derivative has a given value above 0 (Newton's method, which approaches
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
