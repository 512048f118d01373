# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import types

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import constants, fleet_line, say


def status(state="running", **progress):
    return host(log=volume(state, **progress))


def volume(state="running", **progress):
    return {"state": state, "progress": progress}


def host(**volumes):
    states = {each["state"] for each in volumes.values()}
    return {"state": "unknown" if "unknown" in states else "running", "volumes": volumes}


def test_a_line_says_how_far_the_fleet_is():
    line = fleet_line({"a": status("finished"), "b": status(percent="50", latency_p99_ns="4200000")}, 35.2)
    assert line == "logdisk: 1/2 hosts done, 75 %, 36 s left, worst p99 so far 4.2 ms on b"


def test_hosts_that_did_not_answer_are_counted():
    assert "1 did not answer" in fleet_line({"a": status("unknown"), "b": status()}, 1)


def test_volumes_are_counted_if_a_host_has_several():
    statuses = {"a": status("finished"), "b": host(log1=volume("dead"), log2=volume(percent="50", latency_p99_ns="4200000"), log3=volume("unknown"))}
    assert fleet_line(statuses, 0) == "logdisk: 2/4 volumes done, 62 %, finishing, 1 did not answer, worst p99 so far 4.2 ms on b/log2"


@pytest.mark.parametrize("progress", [None, "x", {"percent": "nan", "latency_p99_ns": "inf"}, {"percent": [], "latency_p99_ns": "1e9x"}])
def test_what_a_host_says_cannot_break_the_line(progress):
    assert fleet_line({"a": host(log={"state": "running", "progress": progress})}, 0) == "logdisk: 0/1 hosts done, 0 %, finishing"


@pytest.mark.parametrize(
    "name, expected",
    [
        ("json", True),
        ("ansible.posix.json", True),
        ("ansible.posix.jsonl", True),
        ("ndjson", True),
        ("default", False),
        ("ansible.builtin.default", False),
        ("awx_display", False),
        ("community.general.yaml", False),
        (None, False),
    ],
)
def test_nothing_is_said_where_json_is_printed(monkeypatch, name, expected):
    said = []
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", name)
    say(types.SimpleNamespace(display=lambda text, color: said.append(text)), "text")
    assert said == ([] if expected else ["text"])
