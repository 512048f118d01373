# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A start that all slices have in common is kept by all hosts of a job, or by none of them, with the reason."""

from __future__ import annotations

import time
import types

import pytest
from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.action import schedule, start
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import SettingsError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds import DEFAULT

NOW = 1795312800.0
PLAN = {"pool": "", "format_s": 10.0, "planned_s": 60.0, "deadline_s": 200.0, "searches": False}
READY = {
    "sweep_plan": PLAN,
    "tester_ready": {"called_s": [NOW - 2, NOW - 1]},
    "workspace_layout": {"volumes": [{"name": "log"}]},
}


def scheduled(monkeypatch, start_at):
    """Return the hosts' arguments, and the output on the screen."""
    plugin = schedule.ActionModule.__new__(schedule.ActionModule)
    said = []
    plugin._display = types.SimpleNamespace(display=lambda text, color: said.append(text))
    monkeypatch.setattr(schedule.time, "time", lambda: NOW)
    hostvars = dict.fromkeys(("a", "b"), READY)
    options = {"mode": "together", "hosts": list(hostvars), "loads": None, "run_path": "/r/R", "start_at": start_at}
    return plugin.answer(options, {"hostvars": hostvars}), said


@pytest.mark.parametrize("start_at", [NOW + 30, "2026-11-22T02:00:30Z"])
def test_all_hosts_start_at_the_common_instant(monkeypatch, start_at):
    told, said = scheduled(monkeypatch, start_at)
    assert told["problem"] == "" and said
    assert {times["start_epoch_s"] for times in told["hosts"].values()} == {NOW + 30}
    assert {times["give_up_epoch_s"] for times in told["hosts"].values()} == {NOW + 30 + 200 + 30}


def test_without_an_instant_they_start_as_soon_as_all_can(monkeypatch):
    told, dummy = scheduled(monkeypatch, "")
    assert told["problem"] == "" and {times["start_epoch_s"] for times in told["hosts"].values()} == {NOW + 13.5}


def test_hosts_that_cannot_be_ready_are_not_started_late(monkeypatch):
    told, said = scheduled(monkeypatch, NOW + 13)
    assert "the earliest time possible is 2026-11-22T02:00:14Z" in told["problem"] and said == []
    plugin = start.ActionModule.__new__(start.ActionModule)
    with pytest.raises(
        AnsibleActionFail,
        match="the hosts of this job were not ready in time: sweep_start_at is 2026-11-22T02:00:13Z, ",
    ):
        plugin.prepare({"refusal": told["problem"]}, {})


def test_an_instant_that_is_too_near_is_refused_before_any_host_is_contacted():
    plans = {"a": {"format_s": 10.0}, "b": {"format_s": 40.0}}

    def check(start_at):
        DEFAULT.opening.check({"sweep_start_at": start_at}, plans)

    check(0.0)
    check(time.time() + 120)
    for start_at in (time.time() - 1, time.time() + 30):
        with pytest.raises(SettingsError, match="the earliest time possible is 2"):
            check(start_at)
