# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checking the structure of plain data: the error names the part that does not match."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.shapes import (
    PLAIN,
    Items,
    Keys,
    Maybe,
    Where,
    Within,
    as_dict,
    dicts_in,
    fits,
    misfit,
    named,
)

POINT = Keys({"load": int})
SHAPE = Keys(
    {
        "name": str,
        "value": (int, type(None)),
        "points": Maybe(Items(POINT)),
        "even": Maybe(Where(lambda value: value % 2 == 0)),
    },
    needed=("value",),
    every=Where(lambda value: value != "bad"),
)


@pytest.mark.parametrize(
    ("change", "unusable"),
    [
        ({}, None),
        ({"points": None, "even": 4, "other": []}, None),
        ({"points": [{"load": 1}, {"load": 2}]}, None),
        ({"name": None}, "name"),
        ({"value": "1"}, "value"),
        ({"points": {}}, "points"),
        ({"points": [{"load": 1}, {"load": "2"}]}, "points[1].load"),
        ({"points": [{}]}, "points[0].load"),
        ({"even": 3}, "even"),
        ({"other": "bad"}, "other"),
        ({"\x1b" + "x" * 200: "bad"}, "\\x1b" + "x" * 96),
    ],
)
def test_the_part_that_does_not_fit_is_named(change, unusable):
    found = misfit({"name": "x", "value": None, **change}, SHAPE)
    assert (found if found is None else named(found)) == unusable


def test_a_key_that_is_needed_is_not_absent_although_it_may_hold_nothing():
    assert misfit({"name": "x"}, SHAPE) == ".value"


@pytest.mark.parametrize("value", [None, [], "x", 1])
def test_what_is_not_an_object_has_no_keys(value):
    assert misfit(value, SHAPE) == ""


@pytest.mark.parametrize(
    ("value", "does"),
    [
        (None, True),
        ("x", True),
        (1 << 64, True),
        (-1.5, True),
        (1 << 65, False),
        (float("nan"), False),
        ([], False),
        ({}, False),
    ],
)
def test_plain_values_can_be_computed_with(value, does):
    assert fits(value, PLAIN) == does


@pytest.mark.parametrize(
    ("value", "is_number", "is_whole"),
    [
        (0, True, True),
        (9, True, True),
        (8.5, True, False),
        (-1, False, False),
        (10, False, False),
        (True, False, False),
        ("1", False, False),
    ]
    + [
        (None, False, False),
        (float("nan"), False, False),
        (float("inf"), False, False),
        (10**400, False, False),
        ([], False, False),
    ],
)
def test_a_number_is_in_a_range(value, is_number, is_whole):
    assert (fits(value, Within(0, 9)), fits(value, Within(0, 9, int))) == (is_number, is_whole)


@pytest.mark.parametrize("value, expected", [({"a": 1}, {"a": 1}), (None, {}), ([1], {}), ("x", {})])
def test_only_a_dict_is_a_dict(value, expected):
    assert as_dict(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [([{"a": 1}, 2, None, {}], [{"a": 1}, {}]), ({"a": 1}, []), ("x", []), (None, [])]
)
def test_only_objects_of_a_list_are_taken(value, expected):
    assert dicts_in(value) == expected
