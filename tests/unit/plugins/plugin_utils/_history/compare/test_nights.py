# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nights: which volume was slower than usual, and when the whole class was."""

from __future__ import annotations

import datetime
import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import nights
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.nights import Figure, watch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

USUAL = [0.0, 0.01, -0.01, 0.02, 0.0, -0.02]
"""Logarithms of unremarkable certificates."""
DELTA = math.log(1.1)


def alone(values, alike=(), margin=0.1):
    """Watch a volume by itself, after others of its class were certified on other nights."""
    others = [{f"other{place}": {0: Figure(value)}} for place, own in enumerate(alike) for value in own]
    watched = watch([*others, *({"v": {0: Figure(value)}} for value in values)], margin=margin)
    return [night - len(others) for night in watched.conspicuous.get(("v", 0), [])], watched.limits.get(("v", 0))


def conspicuous(values, alike=(), margin=0.1):
    return alone(values, alike, margin)[0]


# One volume.


def limit_of(deviation, degrees, correlation, count=8):
    """Return the control limit after that many certificates, from the promise that it keeps: two certificates in a row
    are beyond it as rarely as the mean of two independent ones is out by the same number of deviations."""
    reference = 1 / count + 2 * sum((1 - lag / count) * correlation**lag for lag in range(1, count)) / count
    quantile = stats.t.ppf(1 - 2.35e-5, degrees)
    return max(DELTA, quantile * max(0.02, deviation) * math.sqrt((1 + correlation) * (0.5 + reference)))


EVEN = [0.01 * (place % 2) for place in range(21)]
"""20 differences of successive certificates, which are known to be hardly correlated: 0.5 x 20 / (19 + 20) at most."""


def test_the_control_limit_is_drawn_by_the_certificates_before():
    limit = limit_of(0.02, 13, 0.26)
    assert limit > DELTA
    assert [conspicuous([*EVEN, 0.005 + limit + more]) for more in (-1e-6, 1e-6)] == [[], [21]]
    assert alone([*EVEN, 0.0])[1] == pytest.approx((0.005, 0.005 + limit))
    assert alone(EVEN[:4])[1] is None


def test_the_limit_is_never_tighter_than_the_margin():
    assert [conspicuous([*EVEN, 0.005 + math.log1p(0.3) + more], margin=0.3) for more in (-1e-6, 1e-6)] == [[], [21]]


def test_the_reference_does_not_follow_a_slow_decline():
    """A mean and a scatter of all earlier certificates would grow with it."""
    creeping = [value + 0.01 * place for place, value in enumerate(EVEN * 3)]
    assert 15 < conspicuous(creeping)[0] < 25


def test_an_accepted_certificate_begins_a_new_reference():
    nights_of = [{"v": {0: Figure(0.3 * (place >= 12), 0, int(place >= 12))}} for place in range(30)]
    watched = watch(nights_of, margin=0.1)
    assert (watched.conspicuous, watched.references) == ({}, {("v", 0): pytest.approx(0.3)})


@pytest.mark.parametrize("slower", [0.2, 0.4])
def test_like_weekdays_are_compared_once_there_are_four(slower):
    """A volume of eight is slower on two days of the week."""
    first = datetime.date(2026, 1, 1)
    values = [slower * (place % 7 in (2, 3)) for place in range(90)]
    rng = random.Random("weekdays")
    course = [
        {f"v{other}": {0: Figure(rng.gauss(0, 0.03) + value * (other == 0))} for other in range(8)} for value in values
    ]
    days = [first + datetime.timedelta(days=place) for place in range(90)]
    assert [night for night in watch(course, margin=0.1, days=days).conspicuous.get(("v0", 0), ()) if night > 32] == []
    assert watch(course, margin=0.1).limits["v0", 0][1] > watch(course, margin=0.1, days=days).limits["v0", 0][1]
    course[80]["v0"] = {0: Figure(values[80] + 1.0)}
    assert watch(course, margin=0.1, days=days).conspicuous["v0", 0][-1] == 80


def test_the_noise_of_each_volume_counts():
    """Seven volumes are calm. The eighth varies so much that what is a finding for them is none for it."""
    rng = random.Random("noise")
    course = [
        {f"v{other}": {0: Figure(rng.gauss(0, 0.2 if other == 0 else 0.02))} for other in range(8)} for _ in range(40)
    ]
    course.append({f"v{other}": {0: Figure(0.25 * (other < 2))} for other in range(8)})
    assert [key for key, found in watch(course, margin=0.1).conspicuous.items() if 40 in found] == [("v1", 0)]


def test_fewer_than_four_earlier_certificates_draw_no_limit():
    assert conspicuous([0.0, 0.0, 0.0, 4.0]) == []
    assert conspicuous([0.0, 0.0, 0.0, 0.0, 4.0]) == [4]
    assert conspicuous([0.0, 0.0, 0.0, 0.0, -4.0]) == []  # becoming faster is not a problem


def test_like_volumes_tell_how_much_certificates_differ():
    """Similar volumes may have different levels, but their variation counts. A permanent change does not count as
    variation."""
    wild = [[level + 0.1, level - 0.1, level + 0.1, level - 0.1] for level in (-3.0, 0.0, 3.0)]
    calm = [[level] * 4 for level in (-3.0, 0.0, 3.0)]
    assert [conspicuous([0.0] * 4 + [0.25], alike) for alike in ((), calm, wild, [[], [5.0]])] == [[], [4], [], []]
    moved = [{"other": {0: Figure(-0.4 * (night >= 5), int(night >= 5))}} for night in range(10)]
    assert watch([*moved, *({"v": {0: Figure(value)}} for value in (*[0] * 8, 0.2))], margin=0.1).conspicuous == {
        ("v", 0): [18]
    }


@pytest.mark.parametrize(
    ("later", "found"), [([0.3], [12]), ([0.3, 0.3], [12, 13]), ([0.3, 0.0], [12]), ([0.3, 0.0, 0.3], [12, 14])]
)
def test_what_is_conspicuous_never_becomes_usual(later, found):
    assert conspicuous(USUAL * 2 + later) == found


# A class.

FIVE = (-0.04, 0.04, -0.02, 0.02, 0.0)
SLOW = (0.20, 0.21, 0.19, 0.22, 0.18, 0.20, 0.21, 0.35)


def fleet(*values):
    return {f"v{place}": {0: Figure(value)} for place, value in enumerate(values)}


@pytest.mark.parametrize(("less", "change", "slow"), [(0.0, 0.205, True), (0.12, 0.085, False)])
def test_a_night_that_is_slow_for_all_is_the_fleets(less, change, slow):
    earlier = (0.01, -0.01, 0, 0.02, -0.02, 0)
    limit, is_slow = nights.is_slow(change, earlier, DELTA)
    assert (f"{limit:.12f}", is_slow) == ("0.108665698797", slow)
    watched = watch([*(fleet(*[value] * 8) for value in FIVE), fleet(*(value - less for value in SLOW))], margin=0.1)
    assert watched.fleet[5].change == pytest.approx(change)
    assert watched.limits["v7", 0][1] > watched.limits["v7", 0][0] + change


def test_two_slow_nights_in_a_row_gate_as_fleet_and_never_become_usual():
    usual = [fleet(*[value] * 8) for value in FIVE]
    once = watch([*usual, fleet(*[0.2] * 8)], margin=0.1)
    assert (once.conspicuous, once.fleet[5].slow, once.gates) == ({}, True, False)
    twice = watch([*usual, *[fleet(*[0.2] * 8)] * 2], margin=0.1)
    assert (twice.conspicuous, [night.slow for night in twice.fleet.values()], twice.gates) == (
        {},
        [False, True, True],
        True,
    )
    again = watch([*usual, fleet(*[0.2] * 8), usual[4], fleet(*[0.2] * 8)], margin=0.1)
    assert ([night.slow for night in again.fleet.values()], again.gates) == ([False, True, False, True], False)


def test_fewer_than_eight_volumes_have_no_night_in_common():
    watched = watch([*(fleet(*[value] * 7) for value in FIVE), fleet(*[0.3] * 7)], margin=0.1)
    assert (watched.fleet, len(watched.conspicuous), watched.gates) == ({}, 7, False)


@given(st.lists(st.lists(st.floats(-1, 1), min_size=8, max_size=8), min_size=1, max_size=12), st.floats(-3, 3))
def test_levels_do_not_matter_and_nothing_later_changes_a_night(values, level):
    watched = watch([fleet(*night) for night in values], margin=0.1)
    moved = watch(
        [fleet(*(value + level * (place + 1) for place, value in enumerate(night))) for night in values], margin=0.1
    )
    assert {key: len(found) for key, found in moved.conspicuous.items()} == {
        key: len(found) for key, found in watched.conspicuous.items()
    }
    before = watch([fleet(*night) for night in values[:-1]], margin=0.1)
    last = len(values) - 1
    assert before.conspicuous == {
        key: kept for key, found in watched.conspicuous.items() if (kept := [night for night in found if night < last])
    }


def test_too_few_pairs_say_nothing_about_how_much_a_single_volume_varies():
    """After each change of the volume, the next certificate says nothing about its variation."""
    course = [{"v": {0: Figure(value, segment)}} for segment, value in enumerate([0.0, 0.8, 0.1, 0.7, 0.2])]
    two = [{"v": {0: Figure(value, min(place // 2, 1))}} for place, value in enumerate([0.0, 0.1, 1.7, 1.8, 1.6])]
    for nights_of_volume in (course, two):
        watched = watch(nights_of_volume, margin=0.1)
        assert (watched.limits, watched.conspicuous) == ({}, {})
