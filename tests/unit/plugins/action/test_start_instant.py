# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Either all hosts of a job can keep the start time that its slices have in common, or the start time is refused for
all of them and the reason is reported."""

from __future__ import annotations

import time
import types

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.action import start
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import SettingsError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import DEFAULT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import schedule

NOW = 1795312800.0
PLAN = {"pool": "", "format_s": 10.0, "planned_s": 60.0, "deadline_s": 200.0, "searches": False}
READY = {
    "sweep_plan": PLAN,
    "tester_ready": {"called_s": [NOW - 2, NOW - 1]},
    "workspace_layout": {"volumes": [{"name": "log", "facts": {}}]},
}


def scheduled(monkeypatch, start_at):
    """Return the hosts' arguments, and the output on the screen."""
    plugin = schedule.Step.__new__(schedule.Step)
    said = []
    plugin._display = types.SimpleNamespace(display=lambda text, color: said.append(text))
    monkeypatch.setattr(schedule.time, "time", lambda: NOW)
    hostvars = dict.fromkeys(("a", "b"), READY)
    options = {"mode": "together", "hosts": list(hostvars), "loads": None, "run_path": "/r/R", "start_at": start_at}
    return plugin.answer(options, {"hostvars": hostvars}), said


@pytest.mark.parametrize("start_at", [NOW + 30, "2026-11-22T02:00:30Z"])
def test_all_hosts_start_at_the_common_instant(monkeypatch, start_at):
    told, said = scheduled(monkeypatch, start_at)
    assert {times["refusal"] for times in told["hosts"].values()} == {""} and said
    assert {times["start_epoch_s"] for times in told["hosts"].values()} == {NOW + 30}
    assert {times["give_up_epoch_s"] for times in told["hosts"].values()} == {NOW + 30 + 200 + 30}


def test_hosts_that_cannot_be_ready_are_not_started_late(monkeypatch):
    told, said = scheduled(monkeypatch, NOW + 12)
    (refusal,) = {times["refusal"] for times in told["hosts"].values()}
    assert "the earliest time possible is 2026-11-22T02:00:13Z" in refusal and said == []
    plugin = start.ActionModule.__new__(start.ActionModule)
    with pytest.raises(
        AnsibleActionFail,
        match="the hosts of this job were not ready in time: sweep_start_at is 2026-11-22T02:00:12Z, ",
    ):
        plugin.prepare({"refusal": refusal}, {})


def test_an_instant_that_is_too_near_is_refused_before_any_host_is_contacted():
    plans = {"a": {"format_s": 10.0}, "b": {"format_s": 40.0}}

    def check(start_at):
        DEFAULT.opening.check({"sweep_start_at": start_at}, plans)

    check(0.0)
    check(time.time() + 120)
    for start_at in (time.time() - 1, time.time() + 30):
        with pytest.raises(SettingsError, match="the earliest time possible is 2"):
            check(start_at)


@pytest.mark.parametrize(
    ("plan", "layout", "keeping"),
    [({}, {}, []), ({"searches": True}, {}, ["h7"]), ({}, {"privileged": True}, ["h7"])],
)
def test_directories_are_kept_for_a_search_and_for_root(plan, layout, keeping):
    host = {**READY, "sweep_plan": {**PLAN, **plan}, "workspace_layout": {**READY["workspace_layout"], **layout}}
    plugin = schedule.Step.__new__(schedule.Step)
    plugin._display = types.SimpleNamespace(display=lambda text, color: None)
    options = {"mode": "together", "hosts": ["h7", "h8"], "loads": None, "run_path": "/r/R", "start_at": ""}
    told = plugin.answer(options, {"hostvars": {"h7": host, "h8": {}}})
    assert (told["keeping"], list(told["hosts"])) == (keeping, ["h7"])


def test_a_host_starts_as_the_schedule_and_the_round_of_its_search_say():
    plugin = start.ActionModule.__new__(start.ActionModule)
    given = {
        "plan": {"state_dir": "~/s", "options": {"sweep_nice": 5, "sweep_ionice": ""}},
        "tester": {"facts": {"user": "mqm"}},
        "times": {"start_epoch_s": NOW, "refusal": ""},
        "search_round": {},
    }
    host = {"inventory_hostname": "h7"}
    first = plugin.as_single_values(dict(given), host)
    assert [first[key] for key in ("round", "loads", "start_at_epoch_s", "user", "nice")] == [1, {}, NOW, "mqm", 5]
    later = plugin.as_single_values({**given, "search_round": {"number": 3, "loads": {"h7": {"log": 8}}}}, host)
    assert (later["round"], later["loads"]) == (3, {"log": 8})
