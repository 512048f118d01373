# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parameters of a search for the capacity."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.loads import is_search, read_search


@pytest.mark.parametrize(
    ("given", "expected"), [("auto", True), (["auto"], True), ([], False), ([1, "auto"], False), ("1,auto", False)]
)
def test_only_the_word_alone_asks_for_a_search(given, expected):
    assert is_search(given) is expected


@pytest.mark.parametrize(
    ("variables", "first", "group", "rounds"),
    [
        ({}, 10, None, 24),
        ({"sweep_load_target": 33.4, "sweep_rounds": 5}, 33, None, 5),
        ({"sweep_load_target": 999}, 400, None, 24),
        ({"sweep_load_target": 0.1}, 1, None, 24),
        ({"sweep_climb": "together"}, 10, "", 24),
        ({"sweep_climb": "together", "sweep_pool": "array 1"}, 10, "array 1", 24),
        ({"sweep_climb": "each", "sweep_pool": "array 1", "sweep_rounds": "3"}, 10, None, 3),
    ],
)
def test_a_search_begins_with_the_target_or_else_with_the_workloads_own_load(variables, first, group, rounds):
    load, search = read_search(variables, 10, 400)
    assert (load, search["group"], search["rounds"], search["largest"]) == (first, group, rounds, 400)


@pytest.mark.parametrize(
    "variables", [{"sweep_climb": "all"}, {"sweep_rounds": 25}, {"sweep_rounds": -1}, {"sweep_rounds": "many"}]
)
def test_another_value_is_refused_with_its_variable(variables):
    with pytest.raises(OptionError, match=rf"^{next(iter(variables))} must be"):
        read_search(variables, 1, 10)
