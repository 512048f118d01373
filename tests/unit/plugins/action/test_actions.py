# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import hashlib
import os
import pathlib
import types
import zlib
from importlib import import_module

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.utils.display import Display
from ansible_collections.mqops.logdisk.plugins.action import cleanup, probe, workspace
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _steps
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import (
    RemoteAction,
    failure,
    failure_reason,
    one_line,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._english.findings import host_reasons
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import order as _order
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import progress
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import Place
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.measurement import opening
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import VARIES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.records import Records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import (
    collect,
    gate,
    machines,
    open_run,
    record,
    verify,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._tester import sources as _sources
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

ACTIONS = "ansible_collections.mqops.logdisk.plugins.action"


def packed(data):
    return base64.b64encode(zlib.compress(data)).decode()


@pytest.mark.parametrize(
    "tables", [None, [], "x", {"run.csv": "%%%"}, {"run.csv": base64.b64encode(b"no zlib").decode()}, {"run.csv": None}]
)
def test_what_is_no_table_is_refused(tables):
    with pytest.raises(ValueError):
        collect.unpack_tables(tables)


def answer_of(order, **run_keys):
    """Return the answer of a host that measured as ordered."""
    options = {
        **order["options"],
        "option_run_id": order["run_id"],
        "hostname": "db07",
        "start_time_epoch_s": 1000.5,
        "directory_1": "/d/QM1",
        **run_keys,
    }
    tables = fabricate.tables(fabricate.sweep_rows((4096,)), **options)
    machine = order["machine"]
    sent = {
        "state": "finished",
        "tables": {name: packed(content) for name, content in tables.items()},
        "start": {"order": _order.names(order), "machine": machine},
    }
    return {"machine": machine, "volumes": {order["volume"]: sent}}


@pytest.fixture
def ordered(tmp_path):
    """A run directory, and the order of a host that has no record yet."""
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    facts = {"hostname": "db07", "machine_id": "", "boot_id": "11-22"}
    order = _order.make_order(
        directory.run["run_id"], "h7", "log", facts, "ab" * 32, {"bsize": [4096], "qm": [1]}, ["/d/QM1"], 1000, 2000
    )
    return directory, {**order, "facts": facts, "workspace": {"path": "/d"}}


def collected(directory, answer):
    plugin = action(collect, answer, run_path=directory.path)
    plugin._task.args["volumes"] = plugin.prepare({}, {"inventory_hostname": "h7"})["volumes"]
    return plugin.take_in(answer, {"inventory_hostname": "h7"})


def test_what_was_ordered_is_filed_with_what_is_known_of_it(ordered):
    directory, order = ordered
    directory.orders.write(order)
    assert collected(directory, answer_of(order))["logdisk"]["kind"] == "measurement"
    (record,) = list(judged_records(directory))
    assert (record.facts["boot_id"], record.workspace) == ("11-22", {"path": "/d"})


@pytest.mark.parametrize(
    "changes, run_keys, reason",
    [
        ({}, {"option_duration_s": 1}, "the tables do not match the order: duration 1 s instead of nothing. "),
        (
            {"machine": {"hostname": "db08"}},
            {},
            (
                "the machine that answered is not the one that was started: hostname of the machine that "
                "answers db08 instead of db07. "
            ),
        ),
        (
            {"start": {}},
            {},
            "the machine that answered is not the one that was started: run_id in start.json nothing instead of ",
        ),
    ],
)
def test_what_was_not_ordered_is_not_filed(ordered, changes, run_keys, reason):
    directory, order = ordered
    directory.orders.write(order)
    answer = answer_of(order, **run_keys)
    answer["machine"] = changes.get("machine", answer["machine"])
    answer["volumes"]["log"].update((key, value) for key, value in changes.items() if key != "machine")
    result = collected(directory, answer)
    assert result["failed"] and result["logdisk"]["reason"].startswith(reason) and result["kept"] == ["log"]
    (record,) = list(judged_records(directory))
    assert (
        record.reasons[0].startswith(f"sweep: {reason}") and record.tables == {} and record.facts["boot_id"] == "11-22"
    )


def test_tables_that_nobody_ordered_are_not_filed(ordered):
    directory, order = ordered
    result = collected(directory, answer_of(order))
    assert result["failed"] and "the order of this host is not known" in result["msg"]
    assert [(record.verdict, record.tables) for record in list(judged_records(directory))] == [("error", {})]


def test_a_volume_without_tables_costs_its_neighbour_nothing(ordered):
    directory, order = ordered
    directory.volumes.write(
        "h7", [{"name": "log"}, {"name": "dead"}, {"name": "odd"}, {"name": "silent"}, {"name": "refused"}]
    )
    directory.records.write(fabricate.failed("h7", "error", "workspace", "no space", "refused"))
    directory.orders.write(order)
    directory.orders.write({**order, "volume": "odd"})
    answer = answer_of(order)
    answer["volumes"]["dead"] = {"state": "dead", "error": "signal\x1b 9"}
    answer["volumes"]["odd"] = answer["volumes"]["log"]
    answer["volumes"]["refused"] = {"state": "absent", "error": "this host has no state of the run"}
    result = collected(directory, answer)
    assert (result["collected"], result["kept"]) == (["log"], ["odd", "silent"])
    verdicts = dict.fromkeys(("dead", "odd", "silent", "refused"), "error")
    assert (
        result["logdisk"]["volumes"] == {**verdicts, "log": "inconclusive"} and result["logdisk"]["verdict"] == "error"
    )
    reasons = {
        record.volume: record.reasons[0] for record in list(judged_records(directory)) if record.verdict == "error"
    }
    assert reasons["dead"] == "sweep: signal 9"
    assert "volume in start.json log instead of odd" in reasons["odd"]
    assert reasons["silent"] == "collect: the host did not answer for this volume"
    assert reasons["refused"] == "workspace: no space"
    assert directory.missing() == []


def test_without_any_tables_each_volume_has_its_own_reason(ordered):
    directory, _order = ordered
    directory.volumes.write("h7", [{"name": "a"}, {"name": "b"}])
    result = collected(
        directory,
        {"volumes": {"a": {"state": "dead", "error": "signal 9"}, "b": {"state": "running", "error": "still running"}}},
    )
    assert result["failed"] and (result["msg"], result["kept"]) == ("signal 9; still running", [])
    assert {record.volume: record.reasons[0] for record in list(judged_records(directory))} == {
        "a": "sweep: signal 9",
        "b": "sweep: still running",
    }


def test_what_cannot_be_filed_says_what_to_do(ordered, monkeypatch):
    directory, order = ordered
    directory.orders.write(order)

    def write_record(*dummy):
        raise RunDirectoryError("No space left.")

    monkeypatch.setattr(Records, "write", write_record)
    result = collected(directory, answer_of(order))
    assert result["failed"] and result["kept"] == ["log"]
    assert result["msg"].startswith("No space left. The tables are kept on the host. ")
    assert result["msg"].endswith(f"playbooks/collect.yml -e collect_run={directory.path}")


@pytest.mark.parametrize(
    "failed, stage, verdict, reason",
    [
        (
            {"logdisk": {"verdict": "unreachable", "reason": "no route", "stage": "workspace"}},
            "workspace",
            "unreachable",
            "no route",
        ),
        ({"unreachable": True, "msg": "timed out"}, "tester", "unreachable", "timed out"),
        ({"msg": "it broke"}, "tester", "error", "it broke"),
        (
            {"msg": "MODULE FAILURE", "module_stderr": "python3:\nnot found\x00"},
            "tester",
            "error",
            "MODULE FAILURE: python3: not found",
        ),
        ({"logdisk": "x", "msg": "m", "stderr": "E: nope"}, "tester", "error", "m: E: nope"),
        ({}, "tester", "error", "the task failed without a message"),
    ],
)
def test_every_failure_has_a_stage_a_verdict_and_a_reason(failed, stage, verdict, reason):
    assert record.stage_verdict_and_reason(failed, "tester") == (stage, verdict, reason)


@pytest.mark.parametrize(
    ("action", "stage"),
    [
        ("mqops.logdisk.workspace", "workspace"),
        ("mqops.logdisk.start", "sweep"),
        ("mqops.logdisk.step", "discovery"),
        ("mqops.logdisk.cut", "power cut"),
        ("ansible.builtin.apt", "tester"),
        (None, "tester"),
    ],
)
def test_a_task_that_ansible_ended_belongs_to_its_own_stage(action, stage):
    """The result has none of the collection's keys, because Ansible's time limit ends the action as well."""
    plugin = record.Step.__new__(record.Step)
    loader = types.SimpleNamespace(
        get=lambda name, class_only: import_module(f"{ACTIONS}.{name.rpartition('.')[2]}").ActionModule
    )
    plugin._shared_loader_obj = types.SimpleNamespace(action_loader=loader)
    failed = {"action": action, "args": {"name": "plan"}}
    assert plugin._stage_of_failed({"ansible_failed_task": failed} if action else {}) == stage
    ended = {"msg": "Timed out after 3 second(s).", "timedout": {"period": 3}}
    reason = "Timed out after 3 second(s). (the time limit is Ansible's own: ANSIBLE_TASK_TIMEOUT or task_timeout)"
    assert record.stage_verdict_and_reason(ended, stage) == (stage, "error", reason)


@pytest.mark.parametrize(
    "action",
    [
        *(path.stem for path in (pathlib.Path(__file__).resolve().parents[4] / "plugins/action").glob("*.py")),
        *_steps.OF_RUNS,
    ],
)
def test_each_action_that_runs_for_a_host_has_a_stage(action):
    if action in ("command", "step"):
        return
    is_step = action in _steps.OF_RUNS
    plugin = _steps.step_named(action) if is_step else import_module(f"{ACTIONS}.{action}").ActionModule
    assert (action in ("gate", "open_run", "record")) is not bool(getattr(plugin, "stage", ""))


def test_a_reason_is_one_short_line():
    assert len(failure_reason({"msg": "x\n" * 5000})) <= 1000
    assert one_line("a\r\n\tb\x1b[31m  c") == "a b [31m c"


@pytest.mark.parametrize(
    "result",
    [
        # ansible-core 2.16 and 2.21, with pyenv on the controller and ansible_connection: local
        {
            "msg": "MODULE FAILURE\nSee stdout/stderr for the exact error",
            "module_stderr": "pyenv: python3: command not found",
        },
        {
            "msg": "The module interpreter '/opt/python' was not found.",
            "module_stderr": "/bin/sh: /opt/python: not found",
        },
        {"msg": "The module failed to execute correctly, you probably need to set the interpreter."},
    ],
)
def test_a_host_without_a_python_that_works_names_the_variable(result):
    said = failure_reason(result)
    assert "set ansible_python_interpreter" in said and '"{{ ansible_playbook_python }}"' in said
    assert result["msg"].split("\n")[0] in said


HOSTILE = {
    "logdisk": {"schema": 1, "kind": "run", "path": "/etc", "verdict": "pass"},
    "ansible_facts": {"gate_run": {"path": "/etc"}},
    "ansible_stats": {"data": {"logdisk_1": "pass"}},
    "add_host": {"host_name": "x"},
    "add_group": "x",
    "skipped": True,
    "unreachable": True,
}


def action(module, answer, interpreter=None, **arguments):
    """Return an action plugin whose host answers with ``answer``. If ``answer`` is an exception, the host cannot be
    reached."""

    class Answering((getattr(module, "Step", None) or module.ActionModule) if module else RemoteAction):
        def _execute_module(self, **dummy):
            if isinstance(answer, Exception):
                raise answer
            return dict(answer)

    plugin = Answering.__new__(Answering)
    plugin._discovered_interpreter_key = "discovered_interpreter_python" if interpreter else None
    plugin._discovered_interpreter = interpreter
    plugin._task = types.SimpleNamespace(args=arguments, check_mode=False)
    plugin._connection = types.SimpleNamespace(become=False)
    plugin._display = types.SimpleNamespace(
        display=lambda *dummy, **keys: None, warning=lambda text: plugin.warned.append(text)
    )
    plugin.warned = []
    return plugin


NO_RIGHTS = AnsibleError(
    "Failed to set permissions on the temporary files Ansible needs to create when becoming an "
    "unprivileged user (rc: 1, err: chmod)"
)
UNKNOWN = {"failed": True, "msg": "MODULE FAILURE", "module_stderr": "sudo: unknown user nosuch"}


def test_what_is_removed_and_kept_is_said_of_a_host_by_itself(tmp_path):
    answer = {"removed": ["/a", "/b\x1b]0;"], "kept": ["/c: its tables"], "left": "all"}
    assert action(cleanup, answer, run_id="", volumes=[]).call({}, {"inventory_hostname": "h7"})["said"] == [
        "removed /a",
        "removed /b ]0;",
        "kept /c: its tables",
    ]
    assert cleanup.said(answer, check=True)[0] == "would remove /a"
    directory = fabricate.run_directory(tmp_path, {}, expected=["h7"])
    in_a_run = action(cleanup, answer, run_id="R", run_path=directory.path, volumes=[])
    in_a_run._volumes = []
    assert in_a_run.call({}, {"inventory_hostname": "h7"})["said"] == []


@pytest.mark.parametrize("answer", [NO_RIGHTS, UNKNOWN], ids=["with temporary files", "with pipelining"])
@pytest.mark.parametrize("status", [2, 0, 127, AnsibleConnectionFailure("gone")])
def test_a_host_without_the_promised_user_says_so(answer, status):
    """Ansible itself reports the errors of sudo, chmod and setfacl about a user who does not exist."""
    plugin = action(None, answer)
    plugin.stage, asked = "tester", []
    plugin._connection = types.SimpleNamespace(become=object())

    def run(command, sudoable):
        asked.append((command, sudoable))
        if isinstance(status, Exception):
            raise status
        return {"rc": status}

    plugin._low_level_execute_command = run
    reason = plugin.call({"user": "no such"}, {})["logdisk"]["reason"]
    assert asked == [("getent passwd 'no such'", False)]
    assert reason.startswith("workspace_owner: there is no user no such on this host: ") == (status == 2)
    plugin._connection.become = None
    assert (
        plugin.call({"user": "no such"}, {})["failed"] and plugin.call({"user": ""}, {})["failed"] and len(asked) == 1
    )


@pytest.mark.parametrize(
    "answer, interpreter, expected",
    [
        ({"state": "running"}, None, {"state": "running"}),
        ({**HOSTILE, "state": "running"}, None, {"state": "running"}),
        (
            {**HOSTILE, "state": "running"},
            "/usr/bin/python3",
            {"state": "running", "ansible_facts": {"discovered_interpreter_python": "/usr/bin/python3"}},
        ),
        (
            {**HOSTILE, "failed": True, "msg": "no"},
            None,
            {"failed": True, "msg": "no", "logdisk": failure("", "error", "no")["logdisk"]},
        ),
        (
            AnsibleConnectionFailure("no\x1broute"),
            None,
            {"failed": True, "msg": "no route", "logdisk": failure("", "unreachable", "no route")["logdisk"]},
        ),
    ],
)
def test_a_host_has_no_say_in_what_is_the_controllers(answer, interpreter, expected):
    assert action(None, answer, interpreter).call({}, {}) == expected


SOURCES = str(pathlib.Path(probe.__file__).resolve().parents[2] / "src")


def probed(**more):
    """Return an answer of the module ``probe``."""
    return {
        "facts": {},
        "time_epoch_s": 1000.0,
        "observed_s": 0.0,
        "tester": {"path": "/t", "source_hash": "theirs"},
        **more,
    }


@pytest.mark.parametrize(
    ("observed_s", "bound_s"), [(0.0, 90.0), (60.0, 30.0), (1e9, 0.0), (-5.0, 90.0), (float("nan"), 90.0)]
)
def test_watching_queue_managers_says_nothing_about_the_clock(monkeypatch, observed_s, bound_s):
    plugin = action(probe, {})
    plugin._source_hash, plugin._sent_epoch_s, plugin._volumes = "", 910.0, []
    monkeypatch.setattr(probe.time, "time", lambda: 1000.0)
    taken = plugin.take_in(probed(observed_s=observed_s), {})
    assert (taken["facts"]["clock_offset_s"], taken["facts"]["clock_offset_error_s"]) == (0.0, bound_s)
    assert taken["called_s"] == [910.0, 910.0 + bound_s]


@pytest.mark.parametrize(
    "method, ready_made, hashes, source_hash",
    [
        ("compile", False, [], "ours"),
        ("compile", True, [], "ours"),
        ("binary", False, [], "ours"),
        ("binary", True, [hashlib.sha256(b"binary").hexdigest()], "theirs"),
    ],
)
def test_a_tester_is_held_against_what_the_controller_has(
    tmp_path, monkeypatch, method, ready_made, hashes, source_hash
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "ready").write_bytes(b"binary")
    plugin = action(probe, {})
    sent = plugin.prepare(
        {"source_dir": SOURCES, "method": method, "binary": str(tmp_path / "ready") if ready_made else ""}, {}
    )
    taken = plugin.take_in(probed(), {})
    assert sent["sha256"] == hashes
    assert taken["source_hash"] == (
        _sources.source_hash(_sources.read_sources(SOURCES)) if source_hash == "ours" else source_hash
    )


def test_what_root_creates_belongs_to_the_user_of_the_tester():
    def asked(privileged, **options):
        given = {"options": {**role_defaults(), **options}, "volumes": [], "facts": {"user": "mqm"}}
        plugin = action(workspace, {}, **given, run_id="R", state_dir="/s", privileged=privileged)
        return plugin.prepare(dict(plugin._task.args), {})

    first, second = asked(False, workspace_owner="mqm"), asked(True, workspace_owner="mqm")
    assert (first["owner"], first["may_ask_for_privilege"]) == ("", True)
    assert (second["owner"], second["may_ask_for_privilege"]) == ("mqm", False)
    assert not asked(False, workspace_become="never")["may_ask_for_privilege"]


def test_hosts_that_lack_a_tester_or_a_workspace_and_doubles_are_named():
    facts = {"machine_id": "1", "boot_id": "2"}
    there = {"tester": {"installed": True}, "facts": {**facts, "hostname": "a"}}
    hostvars = {
        "a": {"tester_ready": {**there, "workspace": {"volumes": [{"name": "log"}]}}},
        "b": {"tester_ready": {"tester": {"installed": False}, "facts": {**facts, "hostname": "b"}}},
        "c": {"tester_ready": {"failed": True}},
        "d": {"tester_ready": {**there, "facts": {**facts, "hostname": "d"}}},
        "e": {"tester_ready": {**there, "facts": {**facts, "hostname": "d"}}},
    }
    found = machines.Step.answer(None, {"hosts": list(hostvars)}, {"hostvars": hostvars})
    assert (found["waiting"], list(found["doubles"])) == (["b", "d", "e"], ["d", "e"])
    assert found["without_workspace"] == ["b", "d", "e"]


def test_what_a_host_left_behind_is_told_without_escapes():
    plugin = action(
        cleanup, {"removed": [], "left": ["/x\x1b]0;owned\x07\n[WARNING]: all is well"]}, run_id="R", volumes=[]
    )
    plugin.call(plugin.prepare(dict(plugin._task.args), {"inventory_hostname": "db07"}), {"inventory_hostname": "db07"})
    assert plugin.warned == ["db07: left behind: /x ]0;owned [WARNING]: all is well"]


def counters(monotonic_s, limited_us):
    return [{"device": "nvme1n1", "serial": "vol1", "monotonic_s": monotonic_s, "volume_iops": limited_us}]


@pytest.mark.parametrize(
    "before, after, limited_s",
    [(counters(10, 5), counters(20, 4_100_005), 4.1), ([], None, None), (counters(10, 5), [], None)],
)
def test_for_how_long_the_volume_was_limited_joins_the_record(tmp_path, before, after, limited_s):
    directory = fabricate.run_directory(tmp_path, {"db07": fabricate.tables()})
    answer = {"removed": [], "left": [], "volumes": {"log": {"left": [], "volume_counters": after}}}
    made = [{"name": "log", "paths": ["/a", "/b"], "facts": {}, "volume_counters": before}]
    plugin = action(cleanup, answer, run_id="R", run_path=directory.path, volumes=made, keep_state_of=["log"])
    sent = plugin.prepare(dict(plugin._task.args), {"inventory_hostname": "db07"})
    assert (
        sent["volumes"] == [{"name": "log", "paths": ["/a", "/b"], "keep_state": True, "volume_counters": bool(before)}]
        and not sent["all_volumes"]
    )
    plugin.call(sent, {"inventory_hostname": "db07"})
    (record,) = list(judged_records(directory))
    assert record.facts.get("volume_limits_volume_iops_s") == limited_s
    assert record.verdict == "pass" and len(record.notes) == (1 if limited_s else 0)


VOLUME_DEFAULTS = {"name": "log", "path": "/ws", "queue_managers": "QM1", "owner": "", "expect_mount": ""}


@pytest.mark.parametrize(
    "noted, given, only, with_run, expected",
    [
        ([], [], [], False, [("log", ["/ws"])]),
        ([], '[{"name": "a", "path": "/a"}]', [], False, [("a", ["/a"])]),
        (
            [],
            [{"name": "a", "path": "/a", "places": {"x": ["/1", "/2"], "y": "/dev/disk/by-id/z"}}],
            [],
            False,
            [("a", ["/a", "/1", "/2"])],
        ),
        ([{"name": "b", "path": "/b"}, {"name": "c"}], [], [], True, [("b", ["/b"]), ("c", ["/ws"])]),
        ([{"name": "b", "path": "/b", "paths": ["/1", "/2"]}, {"name": "c"}], [], ["b"], True, [("b", ["/1", "/2"])]),
        ([{"name": "b", "path": "/b"}, {"name": "c"}], [], ["c"], True, [("c", ["/ws"])]),
        ([], [], ["log"], True, [("log", ["/ws"])]),
    ],
)
def test_what_is_cleaned_up_is_what_the_run_noted_or_else_what_the_variables_name(
    tmp_path, noted, given, only, with_run, expected
):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    if noted:
        directory.volumes.write("h7", noted)
    plugin = action(
        cleanup, {}, volumes=given, defaults=VOLUME_DEFAULTS, run_path=directory.path if with_run else "", only=only
    )
    sent = plugin.prepare(dict(plugin._task.args), {"inventory_hostname": "h7"})
    assert [(volume["name"], volume["paths"]) for volume in sent["volumes"]] == expected
    assert sent["all_volumes"] is sent["other_machines"] is not with_run
    assert set(sent) == {"volumes", "all_volumes", "other_machines"}


def test_a_host_that_cannot_be_cleaned_up_leaves_its_mark_on_every_volume(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h7"]))
    for volume in ("a", "b"):
        directory.records.write(fabricate.failed("h7", volume=volume))
    plugin = action(
        cleanup,
        AnsibleConnectionFailure("no route"),
        run_path=directory.path,
        volumes=[{"name": "a", "paths": ["/a"]}, {"name": "b", "paths": []}],
    )
    plugin.call(plugin.prepare(dict(plugin._task.args), {"inventory_hostname": "h7"}), {"inventory_hostname": "h7"})
    assert [record.leftovers for record in list(judged_records(directory))] == [["could not clean up: no route"]] * 2


DEFAULTS = {"sweep_duration": 60, "sweep_files": 16, "gate_report_dir": "reports"}


@pytest.mark.parametrize(
    "one, other, expected",
    [
        ({}, {}, 60),
        ({}, {"sweep_duration": 300}, VARIES),
        ({"sweep_duration": 300}, {"sweep_duration": 300}, 300),
        ({"sweep_duration": 60}, {}, 60),
    ],
)
def test_a_parameter_is_what_all_hosts_have_or_said_to_differ(one, other, expected):
    plans = {host: {"options": {**DEFAULTS, **own}} for host, own in (("a", one), ("b", other))}
    found = open_run._parameters(KINDS["measurement"], plans, "all")
    assert found["parameters"] == {
        "sweep_duration": expected,
        "sweep_files": 16,
        "gate_report_dir": "reports",
        "gate_hosts": "all",
    }
    seconds = {host: own.get("sweep_duration", 60) for host, own in (("a", one), ("b", other))}
    assert found["host_parameters"] == (
        {host: {"sweep_duration": value} for host, value in seconds.items()} if expected == VARIES else {}
    )


@pytest.mark.parametrize("variables", [{"locks_plan": {}, "sweep_plan": {"options": {}}}, {}])
def test_a_run_of_another_kind_than_the_playbook_plans_is_refused(variables):
    with pytest.raises(open_run.SettingsError, match=r"^h1: nothing was planned for a run of the kind locks: leave "):
        open_run._check_plans({"h1": open_run._plan(variables, KINDS["locks"])})


def test_a_run_is_opened_for_a_kind_that_there_is():
    with pytest.raises(AnsibleActionFail, match=f"kind must be one of {', '.join(KINDS)}, not preflight"):
        object.__new__(open_run.Step).answer({"kind": "preflight"}, {})


PLAN = {"planned_s": 467, "certify_s": 4247, "format_s": 10, "deadline_s": 9999, "pool": "", "notes": []}


@pytest.mark.parametrize(
    "mode, plans, expected",
    [
        (
            "together",
            {"a": PLAN, "b": PLAN},
            "Measuring takes about 8 min in all. A run that certifies takes about 71 min.",
        ),
        ("together", {"a": {**PLAN, "planned_s": 4247}}, "Measuring takes about 71 min in all."),
        (
            "isolated",
            {"a": PLAN, "b": PLAN, "c": {**PLAN, "pool": "x"}},
            (
                "Measuring takes about 16 min in all, the hosts of a pool one after the other. A run that "
                "certifies takes about 2.4 h."
            ),
        ),
    ],
)
def test_a_run_says_how_long_it_takes(mode, plans, expected):
    assert opening._duration(mode, plans) == expected


def test_what_hosts_cannot_show_is_said_once_for_all_that_share_it():
    plans = {
        name: {**PLAN, "notes": notes}
        for name, notes in (("c", ["x", "y"]), ("a", ["x", "y"]), ("b", []), ("d", ["x"]))
    }
    assert opening._notes(plans) == ["a, c: x", "a, c: y", "d: x"]


def host_entry(host, verdict="pass", stops=False, **more):
    entry = {
        "host": host,
        "volume": "log",
        "verdict": verdict,
        "certified": False,
        "qualification": "too short",
        "reasons": [],
        "leftovers": [],
        **more,
    }
    return {**entry, "stops_gate": stops}


def test_a_host_fails_with_its_own_verdict_and_the_place_of_the_report():
    """The reasons are in the summary and in the report."""
    hosts = [
        host_entry("a", "fail", True, reasons=["slow", "stalled"]),
        host_entry("b", "error", False, reasons=["x"]),
        host_entry("c", "pass", True),
        host_entry("d", "fail", True, volume="data"),
        host_entry("e", "fail", True, volume="data"),
        host_entry("e", "error", True),
    ]
    failures = gate.failing_hosts({"hosts": hosts}, Place("/reports/1"))
    assert failures == {
        "a": "a: fail; see /reports/1/index.html",
        "c": "c: pass, but it does not certify; see /reports/1/index.html",
        "d": "d/data: fail; see /reports/1/index.html",
        "e": "e: fail, and 2 of its volumes are not accepted; see /reports/1/index.html",
    }
    assert gate.elsewhere(failures, ["a", "b", "d", "e"]) == [failures["c"]]


@pytest.mark.parametrize(
    ("follow", "verbosity", "told"),
    [(True, 0, "error: the summary and the report say why"), (True, 1, "no compiler"), (False, 0, "no compiler")],
)
def test_a_failed_task_tells_the_reason_only_if_no_summary_does(monkeypatch, follow, verbosity, told):
    monkeypatch.setattr(progress, "reasons_follow", follow)
    monkeypatch.setattr(Display(), "verbosity", verbosity)
    result = failure("tester", "error", "no compiler")
    assert (result["msg"], result["logdisk"]["reason"]) == (told, "no compiler")


def test_a_message_names_the_place_of_the_report_that_outlives_the_job(monkeypatch):
    deep = f"{os.getcwd()}/{'x' * 90}/1"
    assert gate.shown_place(Place("/reports/1", url="https://h/1.tar.gz")) == "https://h/1.tar.gz"
    assert gate.shown_place(Place(deep)) == f"{'x' * 90}/1/index.html"
    monkeypatch.setattr(gate, "vanishes", lambda path: True)
    assert gate.shown_place(Place("/reports/1", kept=True)) == "playbooks/report.yml -e report_run=1"
    assert gate.shown_place(Place("/reports/1")) == "the summary of run 1"


def test_each_reason_has_its_own_verdict(tmp_path):
    """A limit that is inconclusive because the host was disturbed is not called a failure, even if another limit
    fails."""
    files = fabricate.tables(fabricate.sweep_rows((4096,), latency_ns=50_000_000), cpu_steal_share="0.5")
    directory = fabricate.run_directory(tmp_path, {"a": files})
    verdict = directory.verdict()
    told = {(reason.split(": ")[1], "the host was disturbed" in reason.lower()) for reason in verdict["reasons"]}
    assert {("fail", False), ("inconclusive", True)} <= told and ("fail", True) not in told
    assert " | a: inconclusive: " in gate.outcome_of(directory, verdict, "")["message"]
    (host,) = verdict["hosts"]
    edited = {**host, "findings": host["findings"][:1]}
    assert {reason.partition(": ")[0] for reason in host_reasons(edited)} == {"fail"}


@pytest.mark.parametrize(
    "given, opened_with, check_mode, expected",
    [
        ("", "", False, ""),
        ("", "/opened", False, "/opened"),
        ("/given", "/opened", False, "/given"),
        ("/given", "/opened", True, ""),
    ],
)
def test_a_run_is_signed_with_the_key_of_its_collecting_or_else_of_its_opening(
    tmp_path, given, opened_with, check_mode, expected
):
    directory = fabricate.run_directory(
        tmp_path, {}, [fabricate.failed("db01")], sign_key=opened_with, check_mode=check_mode
    )
    said = gate.sign(directory, given)
    assert said.startswith(f"the run is not signed: the key {expected} does not exist") if expected else said == ""


def test_a_run_that_does_not_verify_says_so_in_few_sentences(tmp_path):
    plugin = action(verify, {})
    plugin._display = types.SimpleNamespace(display=lambda text, color=None: plugin.warned.append(text))
    options = {
        "run": [str(tmp_path / f"r{number}\x1b") for number in range(30)],
        "signers": __file__,
        "principal": "",
        "date": "",
    }
    answer = plugin.answer(options, {})
    assert answer["failed"] and answer["verified"] == []
    assert answer["msg"].endswith("r19\\x1b: it is not a directory | and 10 more")
    assert plugin.warned == ["\n".join(answer["problems"])]


@pytest.mark.parametrize(
    "changes, expected",
    [
        ({"run": None}, "set verify_run"),
        ({"signers": ""}, "set verify_signers"),
        ({"date": "tomorrow"}, "verify_date: 'tomorrow' is neither"),
        ({"signers": "/nonexistent"}, "signers /nonexistent cannot"),
    ],
)
def test_what_cannot_be_verified_is_refused(changes, expected):
    options = {"run": ["/"], "signers": __file__, "principal": "", "date": "", **changes}
    assert expected in action(verify, {}).answer(options, {})["msg"]
