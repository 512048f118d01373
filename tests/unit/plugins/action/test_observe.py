# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What happens to the queue managers of a host when their observations are started."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.action.observe import ActionModule
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, failure
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

ONE = {
    "queue_manager": "QM9",
    "volume": "log",
    "log_path": "",
    "url": "http://localhost:9157/metrics",
    "duration": 60,
    "interval": 10,
    "calls": [],
}
SEVERAL = [{"queue_manager": "QM1"}, {"queue_manager": "QM2", "volume": "log2", "url": "http://localhost:9158/metrics"}]


@pytest.fixture
def start(monkeypatch, tmp_path):
    """start(failing, ...): runs the task on host h, where the queue managers in failing cannot be observed; returns the
    result, the calls to the host, and the run directory."""

    def started(*failing, check_mode=False, **options):
        directory, sent = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], kind="observation")), []

        def call(self, arguments, task_vars):
            sent.append({name: arguments[name] for name in ("queue_manager", "volume", "url")})
            name = arguments["queue_manager"]
            if name in failing:
                return failure("observe", "error", f"{name} is not running")
            return {
                "source": "prometheus",
                "facts": {"queue_manager": name, "source": "prometheus"},
                "time_epoch_s": 1000.0,
            }

        monkeypatch.setattr(RemoteAction, "call", call)
        plugin = ActionModule.__new__(ActionModule)
        plugin._task = SimpleNamespace(
            args={**ONE, "run_id": "r", "run_path": directory.path, **options}, check_mode=check_mode
        )
        variables = {"inventory_hostname": "h"}
        answer = plugin.call(plugin.prepare(dict(plugin._task.args), variables), variables)
        return (answer if answer.get("failed") else plugin.take_in(answer, variables)), sent, directory

    return started


def test_one_that_cannot_be_observed_has_its_record_and_the_others_are_started(start):
    result, dummy, directory = start("QM1", queue_managers=SEVERAL)
    assert list(result["observed"]) == ["log2"]
    assert [(each.volume, each.verdict, each.error["reason"]) for each in list(judged_records(directory))] == [
        ("QM1", "error", "QM1 is not running")
    ]


def test_if_none_can_be_observed_the_host_fails_and_each_record_has_its_own_reason(start):
    result, dummy, directory = start("QM1", "QM2", queue_managers=SEVERAL)
    assert (result["failed"], result["msg"]) == (True, "QM1 is not running")
    assert {each.volume: each.error["reason"] for each in list(judged_records(directory))} == {
        "QM1": "QM1 is not running",
        "log2": "QM2 is not running",
    }


def test_a_preflight_has_a_record_of_each(start):
    result, dummy, directory = start(queue_managers=SEVERAL, check_mode=True)
    assert result["reason"] == "ready: prometheus can observe QM1; ready: prometheus can observe QM2"
    assert sorted(each.volume for each in list(judged_records(directory))) == ["QM1", "log2"]
