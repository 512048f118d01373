# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pathlib
import types

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import workspaces
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.plan import Step
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

ASKED = {**role_defaults(), "gate_profile": "look", "workspace_volume": "other", "workspace_owner": "mqm"}


def found(name, device, **more):
    filesystem = {
        "mount_point": f"/mq{device}",
        "mount_source": "/dev/sdb",
        "filesystem_type": "xfs",
        "device_number": f"8:{device}",
        "filesystem_size_bytes": 1 << 30,
        "filesystem_free_bytes": 1 << 30,
    }
    log = {
        "log_directory": f"/mq{device}/{name}",
        "log_parent": f"/mq{device}",
        "log_file_pages": 64,
        "log_primary_files": 4,
        "log_buffer_pages": 0,
    }
    return {"name": name, "problem": "", "sources": {}, "filesystem": filesystem, **log, **more}


@pytest.fixture
def directory(tmp_path):
    return RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))


def plan(directory, shown=None, **more):
    action = object.__new__(Step)
    action._task = types.SimpleNamespace(check_mode=False)
    action._display = types.SimpleNamespace(
        display=lambda text, color=None: (shown if shown is not None else []).append(text)
    )
    options = {name: spec.get("default") for name, spec in Step.argument_spec.items()}
    if "discovered" in more:
        options.update(run_path=directory.path, discovered=more.pop("discovered"))
    return action.answer({**options, "options": {**ASKED, **more}}, {"inventory_hostname": "h7"})


def test_what_is_discovered_is_planned_noted_and_shown(directory):
    shown = []
    answer = {
        "queue_managers": [found("QM1", 1), found("QM2", 1), found("QM3", 2), {"name": "QM4", "problem": "no answer"}],
        "problems": [],
    }
    planned = plan(directory, shown, discovered=answer, sweep_block_sizes="4K,1M")
    assert [
        (volume["name"], volume["load_points"], volume["owner"], volume["footprint_bytes"])
        for volume in planned["volumes"]
    ] == [
        ("mq1", [1, 2], "mqm", 2 << 20),
        ("mq2", [1], "mqm", 1 << 20),
    ]
    assert planned["volumes"][0]["block_sizes_bytes"] == [4096, 256 << 10]
    assert planned["discover"] is False
    assert directory.volumes.expected("h7") == ["mq1", "mq2", "QM4"]
    (record,) = list(judged_records(directory))
    assert (record.volume, record.verdict) == ("QM4", "error") and record.reasons[0].startswith(
        "discovery: no answer. Correct that"
    )
    path = pathlib.Path(directory.path) / "hosts/h7/workspace_volumes.yml"
    assert f"edit {path}" in shown[0] and "NOT in this plan: QM4" in shown[0] and "Measuring takes about" in shown[0]

    given_back = yaml.safe_load(path.read_text())["workspace_volumes"]
    discovered = [{key: volume[key] for key in volume if key != "named_mount"} for volume in planned["volumes"]]
    assert plan(directory, workspace_volumes=given_back, sweep_block_sizes="4K,1M")["volumes"] == discovered


def test_only_the_user_names_a_mount_point_and_not_what_was_discovered(directory):
    answer = {"queue_managers": [found("QM1", 1)], "problems": []}
    for named in ("", "/mq1"):
        (volume,) = plan(directory, discovered=answer, workspace_expect_mount=named)["volumes"]
        assert volume["expect_mount"] == workspaces.for_module(volume)["expect_mount"] == "/mq1"
        made = {"path": volume["path"], "run_directory": "/r", "directories": ["/r/QM1"]}
        assert workspaces.volume_layout(volume, {"workspace": {"parts": [made]}}, False)["expect_mount"] == named


def test_commits_are_planned_with_the_logs_own_buffer(directory):
    answer = {"queue_managers": [found("QM1", 1, log_buffer_pages=18)], "problems": []}
    commits = {"sweep_workload": "commit", "sweep_message_sizes": ["2K"], "sweep_apps": [60], "sweep_log_buffer": "2M"}
    (volume,) = plan(directory, discovered=answer, **commits)["volumes"]
    assert volume["tester_options"]["logBuffer"] == 73728 and volume["load_points"] == [60]


def test_streams_are_not_discovered(directory):
    planned = plan(directory, workspace_discover=True, sweep_workload="mailbox-2010")
    assert planned["problem"].startswith(
        "workspace_discover finds the logs of queue managers, but sweep_workload mailbox-2010 tests something else"
    )


def test_a_host_of_which_nothing_can_be_planned_fails_with_the_reason(directory):
    answer = plan(directory, discovered={"queue_managers": [], "problems": []})
    assert answer["failed"] and answer["logdisk"]["stage"] == "discovery"
    assert answer["logdisk"]["reason"].startswith("no queue manager was discovered")


def test_a_host_that_does_not_say_what_it_discovered_is_not_measured_somewhere_else(directory):
    answer = plan(directory, discovered={})
    assert answer["failed"] and "what was discovered on this host cannot be used" in answer["logdisk"]["reason"]


def test_variables_are_checked_before_anything_is_discovered(directory):
    planned = plan(directory, workspace_discover=True, sweep_queue_managers=[1, 2])
    assert (planned["discover"], planned["notes"], [volume["name"] for volume in planned["volumes"]]) == (
        True,
        [],
        ["log"],
    )
    assert "sweep_block_sizes is empty" in plan(directory, workspace_discover=True, sweep_block_sizes=[])["problem"]


ABSENT = {"name": "QM2", "problem": "the log directory /mq/QM2 has no files", "absent": True}


def test_a_passive_node_is_not_measured(directory):
    shown = []
    answer = plan(
        directory, shown, discovered={"queue_managers": [ABSENT], "problems": []}, workspace_discover_absent="skip"
    )
    assert (
        answer["failed"]
        and answer["msg"] == "there is nothing to test on this host: the log directory /mq/QM2 has no files"
    )
    assert [(record.volume, record.verdict) for record in list(judged_records(directory))] == [("QM2", "warn")]
    assert directory.missing() == [] and directory.volumes.expected("h7") == ["QM2"]
    assert "Measuring takes" not in shown[0]
