# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.command import agreed_settings, check_not_of_hosts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import SettingsError

DIR = "gate_report_dir"


@pytest.mark.parametrize(
    "of_play, of_hosts, inventory, expected",
    [
        ({}, {"a": {}, "b": {}}, ["a", "b"], ""),
        ({}, {"a": {DIR: "/r"}, "b": {DIR: "/r"}}, ["a", "b"], "/r"),
        ({DIR: "/p"}, {"a": {DIR: "/a"}, "b": {}}, ["a", "b"], "/p"),
        # If the inventory does not contain the controller, the controller has only the variables of the group all.
        ({}, {"localhost": {}, "a": {DIR: "/r"}}, ["a"], "/r"),
        ({}, {"localhost": {DIR: "/all"}, "a": {DIR: "/r"}}, ["a"], "/r"),
        ({}, {"localhost": {}, "a": {DIR: "/r"}}, ["a", "localhost"], "/r"),
        ({}, {"localhost": {DIR: "/r"}}, [], "/r"),
    ],
)
def test_an_option_of_the_command_has_one_value(of_play, of_hosts, inventory, expected):
    assert agreed_settings([DIR], of_play, of_hosts, inventory) == {DIR: expected}


@pytest.mark.parametrize(
    "name, of_hosts, said",
    [
        (
            DIR,
            {"a": {DIR: "/x"}, "b": {}},
            "gate_report_dir differs between hosts: '/x' on a; '' on b. A command needs a single value",
        ),
        (DIR, {"a": {}, "localhost": {DIR: "/x"}}, "'' on a; '/x' on localhost"),
        (
            "report_runs",
            {"a": {"report_runs": ["R1"]}, "b": {"report_runs": ["R2"]}},
            "report_runs differs between hosts: ['R1'] on a; ['R2'] on b",
        ),
        ("stop_run_id", {"a": {"stop_run_id": "R1"}, "b": {}}, "stop_run_id differs between hosts: 'R1' on a; '' on b"),
        ("gate_expected_count", {"a": {"gate_expected_count": "x"}}, "gate_expected_count: 'x' (of a) cannot be used"),
    ],
)
def test_hosts_that_disagree_are_named(name, of_hosts, said):
    with pytest.raises(SettingsError) as raised:
        agreed_settings([name], {}, of_hosts, list(of_hosts))
    assert said in str(raised.value)


def test_what_nobody_sets_and_has_no_default_is_empty():
    of_hosts = {"a": {"compare_before": " "}, "b": {"compare_before": None}, "c": {}}
    assert agreed_settings(
        ["compare_before", "status_today"], {"status_today": "2026-01-01"}, of_hosts, ["a", "b", "c"]
    ) == {
        "compare_before": "",
        "status_today": "2026-01-01",
    }


def test_no_inventory_decides_what_kind_of_run_it_is():
    of_hosts = {"a": {"certify_preflight": True}, "b": {"certify_preflight": True}}
    names = ["certify_preflight", "logdisk_sliced"]
    check_not_of_hosts(names, of_hosts, {"certify_preflight": True})
    check_not_of_hosts(names, {"a": {}}, {})
    check_not_of_hosts([], of_hosts, {})
    with pytest.raises(
        SettingsError,
        match=(
            r"^certify_preflight is a variable of a, b, but it would decide for every host: remove "
            r"it there, and set it with -e"
        ),
    ):
        check_not_of_hosts(names, of_hosts, {})
