# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import datetime

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import read_start_at, shown, start_problem

AT = 1795312800.0
"""2026-11-22T02:00:00Z"""


@pytest.mark.parametrize("value", ["", " ", None])
def test_no_instant_need_be_given(value):
    assert read_start_at(value) == 0.0
    assert start_problem(0.0, AT, 60) == ""


@pytest.mark.parametrize(
    "value",
    [
        "2026-11-22T02:00:00Z",
        " 2026-11-22 02:00:00\n",
        "2026-11-22T02:00z",
        "2026-11-22T04:00:00+02:00",
        "1795312800",
        1795312800,
        1795312800.0,
        # YAML reads an unquoted time as a timestamp.
        datetime.datetime(2026, 11, 22, 2, tzinfo=datetime.timezone.utc),
        datetime.datetime(2026, 11, 22, 2),
    ],
)
def test_an_instant_has_several_spellings(value):
    assert read_start_at(value) == AT
    assert shown(AT) == "2026-11-22T02:00:00Z"


def test_a_fraction_of_a_second_is_kept():
    assert read_start_at("2026-11-22T02:00:00.250Z") == AT + 0.25
    assert shown(AT + 0.25) == "2026-11-22T02:00:00.250Z"


@pytest.mark.parametrize("value", ["tonight", "2026-11-22T25:00:00Z", "nan", "inf", -5, "1e300", ["2026-11-22"]])
def test_what_is_not_an_instant_is_refused(value):
    with pytest.raises(ValueError, match="it must be a time"):
        read_start_at(value)


@pytest.mark.parametrize("now, least_s", [(AT - 60, 60), (AT - 24 * 3600, 60)])
def test_an_instant_that_can_be_kept_is_accepted(now, least_s):
    assert start_problem(AT, now, least_s) == ""


@pytest.mark.parametrize(
    "now, least_s, words",
    [
        (
            AT - 30,
            45.5,
            (
                "which is only 30 s away, but the hosts need about 46 s: the earliest time "
                "possible is 2026-11-22T02:00:16Z."
            ),
        ),
        (
            AT + 300,
            32.5,
            "which is 5 min ago: the earliest time possible is 2026-11-22T02:05:33Z. Give all slices a later time",
        ),
        (AT - 24 * 3600 - 1, 60, "which is more than 24 h away: correct the date"),
    ],
)
def test_an_instant_that_cannot_be_kept_says_which_one_could(now, least_s, words):
    problem = start_problem(AT, now, least_s)
    assert problem.startswith("sweep_start_at is 2026-11-22T02:00:00Z, ") and words in problem
