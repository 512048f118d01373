# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How much correlated values widen the error of a difference, and how their correlation is found."""

from __future__ import annotations

import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.correlation import (
    USUAL,
    correlation_of_differences,
    correlation_of_successive,
    widening,
)


@pytest.mark.parametrize(
    ("before", "after", "within", "correlation", "factor"),
    [
        (2, 2, {2: 2}, 0.6, 4),  # the mean of two varies by (1 + r) / 2, and within them 1 - r is seen
        (3, 3, {3: 2}, 0.6, 2.04 / 0.48),
        (1, 1, {2: 1}, 0.6, 2.5),
        (5, 1, {5: 1, 1: 1}, 0.0, 1),
        (1, 1, {1: 2}, 0.6, 1),
    ],
)
def test_correlated_values_widen_the_error(before, after, within, correlation, factor):
    assert widening(before, after, within, correlation) == pytest.approx(factor)


def test_the_correlation_is_found_from_how_much_most_differences_vary():
    """Three of twenty are large for another reason."""
    rng = random.Random("differences")
    differences = [rng.gauss(0, 2) for _ in range(2000)]
    found = correlation_of_differences([*differences, *[50] * 100], 2, 2, {2: 2}, 20)
    assert found == pytest.approx(0.6, abs=0.07)
    assert correlation_of_differences([0.1] * 20, 2, 2, {2: 2}, 20) == 0
    assert correlation_of_differences([0.1] * 8, 2, 2, {2: 2}, 8) == pytest.approx(0.2 * USUAL)


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_correlation_is_found_from_successive_values(correlation):
    rng, sets = random.Random("successive"), []
    for _ in range(300):
        values = [rng.gauss(0, 1)]
        for _ in range(7):
            values.append(correlation * values[-1] + math.sqrt(1 - correlation**2) * rng.gauss(0, 1))
        sets.append(values)
    assert correlation_of_successive(sets) == (pytest.approx(correlation, abs=0.06), True)


def test_few_values_leave_the_usual_correlation():
    assert correlation_of_successive([[0.0, 1.0]] * 50) == (USUAL, False)
    few, known = correlation_of_successive([[0.0, 1.0, 0.0]] * 3)
    assert (USUAL - 0.1 < few < USUAL, known) == (True, False)
