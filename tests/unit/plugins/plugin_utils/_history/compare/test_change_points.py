# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Change points, compared with the results of otava and scipy, and tested with properties that hold for every input."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import change_points as drift
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change_points import change_points
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from otava.analysis import compute_change_points
from scipy import stats

USUAL = [0.0, 0.01, -0.01, 0.02, 0.0, -0.02]
"""Logarithms of unremarkable certificates."""


def figures_of(logarithms):
    return [400_000 * math.exp(value) for value in logarithms]


def places(logarithms, margin=0.1):
    return [point.place for point in change_points(figures_of(logarithms), margin=margin)]


# Change points.


def in_steps(rng, length, deviation=0.05):
    """Return logarithms of that many certificates, with up to three steps among them."""
    steps = {rng.randrange(3, length - 2): rng.choice((-1, 1)) * rng.uniform(0.1, 0.4) for _ in range(rng.randrange(4))}
    level, values = 0.0, []
    for place in range(length):
        level += steps.get(place, 0.0)
        values.append(level + rng.gauss(0, deviation))
    return values


def test_change_points_lie_at_the_same_places_as_otavas():
    """This holds for series with at most one step. Otava looks for several steps at a time, with shorter sides and
    another deviation, so series with more steps differ more often."""
    rng, agree, moved = random.Random("otava"), 0, 0
    for series in range(150):
        length = rng.randrange(10, 40)
        step, place = (0, 0.2, 0.3)[series % 3], rng.randrange(4, length - 4)
        values = [rng.gauss(step * (certificate >= place), 0.05) for certificate in range(length)]
        # A list, because otava fails in the later windows of an array.
        theirs = compute_change_points(list(values), window_len=200, max_pvalue=0.001, min_magnitude=0.0)[0]
        ours = places(values, margin=0)
        agree, moved = agree + (ours == [point.index for point in theirs]), moved + bool(ours)
    print(f"{agree} of 150 series agree, {moved} of them with a change")
    assert (moved > 75, agree >= 147) == (True, True)


def exact_difference(values, cut):
    """Return q as it is defined, pair by pair."""
    before, after = values[:cut], values[cut:]
    n1, n2 = len(before), len(after)
    between = math.fsum(abs(x - y) for x in before for y in after)
    within = [math.fsum(abs(x - y) for x, y in combinations(side, 2)) for side in (before, after)]
    return (
        n1
        * n2
        / (n1 + n2)
        * (2 * between / (n1 * n2) - 2 * within[0] / (n1 * (n1 - 1)) - 2 * within[1] / (n2 * (n2 - 1)))
    )


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=10, max_size=40))
def test_the_first_cut_is_the_one_with_the_greatest_difference(values):
    """The first cut is accepted by scipy's t-test, and all other cuts are inside its two sides."""
    differences = [exact_difference(values, cut) for cut in range(3, len(values) - 2)]
    assume(sorted(differences)[-1] - sorted([*differences, -1])[-2] > 1e-9)
    best = differences.index(max(differences)) + 3
    before, after = values[:best], values[best:]
    test = stats.ttest_ind(before, after)
    change = abs(math.fsum(after) / len(after) - math.fsum(before) / len(before))
    assume(abs(test.pvalue - 0.001) > 1e-9 and abs(change - math.log(1.1)) > 1e-9)
    found = {point.place: point for point in change_points(figures_of(values), margin=0.1)}
    assert (best in found) == bool(found) == (test.pvalue <= 0.001 and change >= math.log(1.1))
    if found:
        assert found[best].p_value == pytest.approx(test.pvalue, rel=1e-6, abs=1e-12)
        assert abs(math.log1p(found[best].change)) == pytest.approx(change)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(10, 60), st.floats(-10, 10))
def test_parts_are_not_shorter_than_three_and_the_unit_does_not_matter(seed, length, unit):
    values = in_steps(random.Random(seed), length)
    found = places(values)
    cuts = [0, *found, length]
    assert all(end - start >= 3 for start, end in zip(cuts, cuts[1:]))
    assert places([value + unit for value in values]) == found
    backwards = [length - place for place in reversed(places(values[::-1]))]
    assert backwards == found


def test_both_parts_of_a_history_are_searched():
    values = [noise + level for level in (0.0, 0.3, 0.1) for noise in USUAL]
    assert places(values) == [6, 12]
    assert [point.change > 0 for point in change_points(figures_of(values), margin=0.1)] == [True, False]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([0.0] * 12, []),
        ([0.0] * 5 + [1.0] * 5, [5]),
        ([0.0] * 5 + [1.0] * 4, []),  # nine certificates
        ([0.0] * 10 + [1.0] * 3, [10]),
        ([0.0] * 10 + [1.0] * 2, []),
        (USUAL + [1.0] + USUAL, []),  # a spike
        (USUAL + [value + 0.09 for value in USUAL], []),  # beyond chance, but below the margin
        (USUAL + [value - 0.11 for value in USUAL], [6]),
    ],
)
def test_what_is_a_change_point(values, found):
    assert places(values) == found


def test_a_change_point_is_preliminary_until_six_certificates_follow():
    """A spike among the last three of 40 certificates often looks like a change, but rarely once further certificates
    follow."""
    for later, preliminary in ((3, True), (5, True), (6, False), (9, False)):
        (point,) = change_points(figures_of([0.0] * 10 + [1.0] * later), margin=0.1)
        assert point.preliminary is preliminary
    rng, confirmed, seen = random.Random("spike"), 0, 0
    for trial in range(300):
        values = [rng.gauss(0, 0.05) for dummy in range(40)]
        values[39 - trial % 3] += 0.7
        seen += bool(change_points(figures_of(values), margin=0.1))
        values += [rng.gauss(0, 0.05) for dummy in range(5)]
        confirmed += any(not point.preliminary for point in change_points(figures_of(values), margin=0.1))
    assert (seen >= 30, confirmed <= 6) == (True, True)


def test_the_first_of_equal_cuts_is_taken():
    """A step up and a step down, in whole numbers, so that both differ by exactly the same amount: neither alone is
    beyond chance."""
    distances = [
        [sum(abs(value - other) for other in values[:count]) for count in range(10)]
        for values in [[0] * 3 + [1] * 3 + [0] * 3]
        for value in values
    ]
    assert drift._best_cut(distances, 0, 9) == 3


def test_only_the_last_two_hundred_certificates_are_looked_at():
    assert places([0.0] * 3 + [1.0] * 200) == []
    assert places([0.0] * 100 + [1.0] * 150) == [100]
