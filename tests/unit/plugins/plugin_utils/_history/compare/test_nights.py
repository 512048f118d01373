# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Nights: which volume was slower than usual, and when the whole class was."""

from __future__ import annotations

import math

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


def test_the_control_limit_is_drawn_by_the_certificates_before():
    usual = USUAL[:5]
    deviation = max(0.02, stats.tstd(usual))
    limit = max(DELTA, stats.t.ppf(0.998, 4) * deviation * math.sqrt(1 + 1 / 5))
    assert limit > DELTA
    assert [conspicuous([*usual, sum(usual) / 5 + limit + more]) for more in (-1e-6, 1e-6)] == [[], [5]]
    assert alone([*usual, 0.0])[1] == pytest.approx((sum(usual) / 5, sum(usual) / 5 + limit))
    assert alone(usual[:4])[1] is None


def test_the_limit_is_never_tighter_than_the_margin():
    even = [0.0] * 9
    spread = stats.t.ppf(0.998, 8) * 0.02 * math.sqrt(1 + 1 / 9)
    assert spread < DELTA
    assert [conspicuous([*even, DELTA + more]) for more in (-1e-6, 1e-6)] == [[], [9]]
    assert [conspicuous([*even, spread + more], margin=0.01) for more in (-1e-6, 1e-6)] == [
        [],
        [9],
    ]  # at least 2 % of deviation


def test_fewer_than_four_earlier_certificates_draw_no_limit():
    assert conspicuous([0.0, 0.0, 0.0, 1.0]) == []
    assert conspicuous([0.0, 0.0, 0.0, 0.0, 1.0]) == [4]
    assert conspicuous([0.0, 0.0, 0.0, 0.0, -1.0]) == []  # becoming faster is not a problem


def test_like_volumes_tell_how_much_certificates_differ():
    """Similar volumes may have different levels, but their variation counts. A permanent change does not count as
    variation."""
    wild = [[level + 0.1, level - 0.1, level + 0.1, level - 0.1] for level in (-3.0, 0.0, 3.0)]
    calm = [[level] * 4 for level in (-3.0, 0.0, 3.0)]
    assert [conspicuous([0.0] * 4 + [0.2], alike) for alike in ((), calm, wild, [[], [5.0]])] == [[4], [4], [], [4]]
    squares, degrees = 12 * 0.01, 3 + 9
    limit = stats.t.ppf(0.998, degrees) * math.sqrt(squares / degrees) * math.sqrt(1 + 1 / 4)
    assert [conspicuous([0.0] * 4 + [limit + more], wild) for more in (-1e-6, 1e-6)] == [[], [4]]
    moved = [{"other": {0: Figure(-0.4 * (night >= 5), int(night >= 5))}} for night in range(10)]
    assert watch([*moved, *({"v": {0: Figure(value)}} for value in (0, 0, 0, 0, 0.15))], margin=0.1).conspicuous == {
        ("v", 0): [14]
    }


@pytest.mark.parametrize(
    ("later", "found"), [([0.3], [6]), ([0.3, 0.3], [6, 7]), ([0.3, 0.0], [6]), ([0.3, 0.0, 0.3], [6, 8])]
)
def test_what_is_conspicuous_never_becomes_usual(later, found):
    assert conspicuous(USUAL + later) == found


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
    middle, beyond = watched.limits["v7", 0]
    assert f"{beyond - middle - change:.12f}" == "0.107445096721"
    assert watched.conspicuous == {("v7", 0): [5]}


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
