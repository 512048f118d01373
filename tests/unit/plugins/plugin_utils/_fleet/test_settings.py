# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import (
    SettingsError,
    agreed,
    array_settings,
    same_problem_once,
    targets,
)


@pytest.mark.parametrize(
    "name, values, expected",
    [
        ("gate_report_only", ["true", True, 1], True),
        ("gate_fail_on", ["fail, error", ["fail", "error"]], ["fail", "error"]),
        ("sweep_poll_interval", [30, "30", 30.0], 30.0),
        ("sweep_start_at", ["2026-11-22T02:00:00Z", 1795312800, "1795312800.0"], 1795312800.0),
        ("gate_baseline", ["none", "", None, []], []),
        ("gate_baseline", ["last", ["last"]], ["last"]),
        ("gate_baseline", ["1ff4d5, R2", ["1ff4d5", "R2"]], ["1ff4d5", "R2"]),
        ("gate_margin", ["10 %", "10%", 0.1, "0.1"], 0.1),
    ],
)
def test_the_same_value_in_another_way_is_the_same(name, values, expected):
    assert agreed(name, {f"h{index}": value for index, value in enumerate(values)}) == expected


@pytest.mark.parametrize(
    "name, values, said",
    [
        (
            "gate_report_only",
            {"b": True, "a": False, "c": True},
            "gate_report_only differs between hosts: False on a; True on b, c.",
        ),
        (
            "sweep_mode",
            {f"h{index}": "isolated" if index else "together" for index in range(9)},
            "'isolated' on h1, h2, h3, h4, h5 and 3 more",
        ),
        ("gate_report_only", {"a": "maybe"}, "gate_report_only: 'maybe' (of a) cannot be used"),
        ("gate_baseline", {"a": "last, R2"}, "none and last cannot be combined with anything else"),
        (
            "sweep_start_at",
            {"a": "tonight"},
            "sweep_start_at: 'tonight' (of a) cannot be used: it must be a time in UTC such as ",
        ),
        ("gate_margin", {"a": 10}, "it must be from 1 % to 100 %"),
    ],
)
def test_what_differs_names_hosts_and_values(name, values, said):
    with pytest.raises(SettingsError) as raised:
        agreed(name, values)
    assert said in str(raised.value)


def test_the_same_problem_is_told_once():
    problems = {"b": ["no\nnumber"], "a": ["no number", "no mode"], "c": ["no size"], "d": []}
    assert same_problem_once(problems) == ["a, b: no number", "a: no mode", "c: no size"]


def test_the_settings_of_an_array_are_a_line_whatever_the_order_of_their_keys():
    values = {
        "a": {"pool": "gold1", "cache": 64, "mirror": None},
        "b": {"cache": "64", "mirror": "", "pool": "gold1"},
        "c": " fs9200,\n pool  gold1 ",
        "d": "",
        "e": {},
    }
    assert array_settings(values) == {
        "a": "cache=64, mirror=, pool=gold1",
        "b": "cache=64, mirror=, pool=gold1",
        "c": "fs9200, pool gold1",
    }


@pytest.mark.parametrize(
    "value, reason",
    [
        ("a\x1b[31m", "cannot be printed"),
        ("x" * 501, "at most 500"),
        (["a"], "string, or"),
        ({"a": ["b"]}, "string, or"),
    ],
)
def test_settings_of_an_array_that_cannot_be_shown_are_refused(value, reason):
    with pytest.raises(SettingsError, match=f"^a, b: gate_array_settings .*{reason}"):
        array_settings({"b": value, "a": value, "c": "fine"})


def test_targets_are_facts_of_the_hosts_that_have_one():
    values = {"a": {"message_size": "2K", "messages_per_s": 5000, "clients": "60"}, "b": {}, "c": "", "d": None}
    assert targets(values) == {
        "a": {"target_message_bytes": 2048, "target_messages_per_s": 5000.0, "target_clients": 60}
    }


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("2K", "must be a dictionary with the keys message_size, messages_per_s, clients"),
        ({"message_size": "2K", "rate": 5000, "clients": 60}, "unknown key rate"),
        ({"message_size": "2K", "messages_per_s": 5000}, "lacks the key clients"),
        (
            {"message_size": "2K", "messages_per_s": "5000 MB/s", "clients": 60},
            "messages_per_s: '5000 MB/s' .*: write a number without a unit",
        ),
        (
            {"message_size": "200M", "messages_per_s": 1, "clients": 60},
            "message_size, which must be above 0 and at most 104,857,600",
        ),
        ({"message_size": "2K", "messages_per_s": 1, "clients": 1.5}, "clients: 1.5 is not a count"),
    ],
)
def test_targets_are_read_strictly(value, reason):
    with pytest.raises(SettingsError, match=f"^b, c: sweep_target .*{reason}"):
        targets({"b": value, "c": value, "d": {}})
