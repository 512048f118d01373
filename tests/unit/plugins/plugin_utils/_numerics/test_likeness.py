# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which volumes are unlike the others of their class: tests at the limit, and properties that hold for every input."""

from __future__ import annotations

import math

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.likeness import likeness
from hypothesis import given
from hypothesis import strategies as st


def figures_of(logarithms):
    return [400_000 * math.exp(value) for value in logarithms]


def class_of(deviations):
    return {f"h{host}": figures_of([value - 0.5, value + 0.5]) for host, value in enumerate(deviations)}


def test_an_unlike_device_is_conspicuous_in_either_direction():
    spread = [0.0, 0.04, -0.04] * 4
    limit = (4.2 + 30 / 13) * 1.4826 * 0.04
    for side in (-1, 1):
        assert likeness(class_of([*spread, side * (limit - 1e-6)]), margin=0.1).conspicuous == {}
        unlike = likeness(class_of([*spread, side * (limit + 1e-6)]), margin=0.1)
        assert unlike.conspicuous == {"h12": pytest.approx(math.expm1(side * limit), abs=1e-5)}
    assert (unlike.lowest, unlike.middle, unlike.highest) == pytest.approx(
        tuple(figures_of([-0.04, 0, limit])), rel=1e-5
    )


def test_alike_devices_may_differ_by_the_margin_and_by_some_of_two_percent():
    for margin, limit in ((0.2, math.log(1.2)), (0.01, (4.2 + 30 / 9) * 0.02)):
        assert [
            set(likeness(class_of([0.0] * 8 + [limit + more]), margin=margin).conspicuous) for more in (-1e-6, 1e-6)
        ] == [set(), {"h8"}]


def test_below_eight_devices_there_is_a_range_alone():
    alike = likeness(class_of([0.0] * 6 + [1.0]), margin=0.1)
    assert (alike.conspicuous, alike.highest) == ({}, pytest.approx(400_000 * math.e))
    assert set(likeness(class_of([0.0] * 7 + [1.0]), margin=0.1).conspicuous) == {"h7"}


@given(st.lists(st.floats(-1, 1), min_size=8, max_size=30))
def test_most_devices_are_alike(deviations):
    alike = likeness(class_of(deviations), margin=0.1)
    assert len(alike.conspicuous) < len(deviations) / 2
    assert alike.lowest <= alike.middle * (1 + 1e-12) <= alike.highest * (1 + 1e-11)
