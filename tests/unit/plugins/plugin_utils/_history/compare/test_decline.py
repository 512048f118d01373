# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Classes that became slower together, slowly or at once, since their reference."""

from __future__ import annotations

import datetime
import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.decline import class_decline
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.nights import Figure, watch

FIRST = datetime.date(2026, 1, 4)


def decline(level, nights, *, every=7, volumes=8, period=lambda night: 0, seed="decline"):
    """Judge a class whose level on a night, in weeks from the first one, is given by a function."""
    rng = random.Random(seed)
    course = [
        {
            volume: {0: Figure(volume + level(night * every / 7) + rng.gauss(0, 0.03), 0, period(night))}
            for volume in range(volumes)
        }
        for night in range(nights)
    ]
    days = [FIRST + datetime.timedelta(days=every * night) for night in range(nights)]
    return class_decline(course, days, watch(course, margin=0.1, days=days).references, margin=0.1)


def by_week(share):
    return lambda week: week * math.log1p(share)


def step_at(first, share=0.15):
    return lambda week: math.log1p(share) * (week >= first)


@pytest.mark.parametrize("volumes", [3, 8, 20])
@pytest.mark.parametrize(("share", "weeks"), [(0.005, 30), (0.01, 20), (0.02, 16)])
def test_a_class_that_declines_slowly_is_found_with_its_rate(share, weeks, volumes):
    found = decline(by_week(share), weeks, volumes=volumes)
    assert found.per_month == pytest.approx(30.44 / 7 * math.log1p(share), rel=0.35)
    assert (found.since - FIRST).days <= 7 * weeks / 2
    assert found.volumes == volumes


def test_a_decline_of_two_years_is_still_one():
    assert decline(by_week(0.01), 104).level == pytest.approx(97 * math.log(1.01), abs=0.03)
    assert decline(by_week(0.01), 300).level == pytest.approx(293 * math.log(1.01), abs=0.03)


def test_a_step_is_told_with_its_day_and_without_a_rate():
    found = decline(step_at(12), 20)
    assert (found.since, found.per_month) == (FIRST + datetime.timedelta(weeks=12), None)
    assert found.level == pytest.approx(math.log(1.15), abs=0.02)


@pytest.mark.parametrize("level", [by_week(0), by_week(-0.01), step_at(12, 0.04), step_at(0, 0.5)])
def test_a_class_that_is_not_slower_than_its_reference_is_not_named(level):
    assert decline(level, 40) is None


def test_too_few_volumes_or_weeks_say_nothing():
    assert decline(by_week(0.02), 30, volumes=2) is None
    assert decline(step_at(3, 0.5), 5) is None


def test_an_accepted_level_is_the_new_reference():
    slower = step_at(12, 0.5)
    assert decline(slower, 40) is not None
    assert decline(slower, 40, period=lambda night: int(night >= 12)) is None


@pytest.mark.parametrize(("volumes", "weeks"), [(20, 10), (20, 13), (3, 3)])
def test_a_class_whose_volumes_are_certified_in_turn_is_judged_by_the_time_that_this_takes(volumes, weeks):
    """Each volume is certified every few weeks, so a week has fewer than three of them."""

    def in_turn(rate):
        rng = random.Random("in turn")
        course = [
            {
                volume: {0: Figure(volume + rate * week + rng.gauss(0, 0.03))}
                for volume in range(week % weeks, volumes, weeks)
            }
            for week in range(104)
        ]
        days = [FIRST + datetime.timedelta(weeks=week) for week in range(104)]
        return class_decline(course, days, watch(course, margin=0.1, days=days).references, margin=0.1)

    found = in_turn(0.01)
    assert (found.volumes, found.per_month) == (volumes, pytest.approx(0.01 * 30.44 / 7, rel=0.1))
    assert in_turn(0) is None


def test_the_volumes_of_a_decline_are_those_of_the_newest_week_that_counts():
    """Today only one volume was certified, and the others more than a week before."""
    course = [
        {volume: {0: Figure(volume + 0.02 * night)} for volume in range(8 if night < 20 else 1)} for night in range(21)
    ]
    days = [FIRST + datetime.timedelta(weeks=night) for night in range(21)]
    assert class_decline(course, days, watch(course, margin=0.1).references, margin=0.1).volumes == 8


def test_a_pattern_within_the_week_is_no_decline():
    """The reference contains one weekend, and each week another one."""
    assert decline(lambda week: 0.3 * (week % 1 > 0.7), 80, every=1) is None
    assert decline(lambda week: 0.3 * (week % 1 > 0.7) + 0.01 * week, 140, every=1) is not None
