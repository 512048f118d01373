# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action plugins of power cuts: what they refuse, and how they interpret a command's result and a host's answer."""

from __future__ import annotations

import base64
import os
import signal
import time
import zlib
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible_collections.mqops.logdisk.plugins.action import cut_check, cut_power
from ansible_collections.mqops.logdisk.plugins.plugin_utils._cut_action import read_rows
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability import witness
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import refuse_computed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._own_connection import SSH_OPTIONS, call, stream_command
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import POWER_CUT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import OptionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import cut_plan
from ansible_collections.mqops.logdisk.tests.unit.plugins.action.test_actions import action

ASKED = {
    **role_defaults(),
    "workspace_path": "/fut/logdisk",
    "workspace_queue_managers": ["QM1", "QM2"],
    "cut_confirm": "db01",
    "cut_command": "virsh destroy db01",
}


def plan(**changes):
    return cut_plan.planned({**ASKED, **changes}, "db01")


def test_a_plan():
    found = plan(cut_queue_managers=1, cut_block_size="16K", cut_count=3)
    (volume,), cuts = found["volumes"], found["cuts"]
    assert (cuts["count"], cuts["bsize"], cuts["qm"], cuts["after_s"]) == (3, 16384, 1, 10)
    assert volume["queue_managers"] == ["QM1"]
    assert volume["footprint_bytes"] == 16 * 64 << 20
    assert {"bsize": [16384], "qm": [1], "filePrefix": "logdisk"}.items() <= volume["tester_options"].items()
    assert "hypervisor" in cuts["tests"]


def test_all_queue_managers_write_unless_told_otherwise():
    assert plan()["cuts"]["qm"] == 2


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (
            {"cut_confirm": ""},
            "cut_confirm is empty, but .* own name in the inventory: set it for each host, in its host_vars",
        ),
        ({"cut_confirm": "db02"}, "cut_confirm is db02, but"),
        ({"cut_command": ""}, "specify how the power is cut"),
        ({"cut_task_file": "cut.yml"}, "both set"),
        ({"cut_count": 0}, "cut_count is 0"),
        ({"cut_after": 0}, "cut_after is 0"),
        ({"cut_block_size": "512"}, "not a multiple of 4096"),
        ({"cut_queue_managers": 3}, "names 2"),
        ({"workspace_discover": True}, "workspace_discover"),
        ({"workspace_volumes": [{"name": "a", "path": "/a"}, {"name": "b", "path": "/b"}]}, "one volume at a time"),
    ],
)
def test_what_is_refused_before_any_host_is_contacted(changes, problem):
    with pytest.raises(OptionError, match=problem):
        plan(**changes)


def test_a_confirmation_that_is_computed_confirms_nothing():
    refuse_computed("cut_confirm", "db01")
    with pytest.raises(OptionError, match=r"cut_confirm is computed .*, so it would confirm every host"):
        refuse_computed("cut_confirm", "{{ inventory_hostname }}")


@pytest.mark.parametrize("content", [None, "", "cut: it", "- cut", "- name: [", "\x00"])
def test_a_file_without_tasks_is_refused_before_any_host_is_contacted(tmp_path, content):
    path = tmp_path / "cut.yml"
    path.write_text("- name: Cut\n  ansible.builtin.command: cut\n")
    cut_plan.check_tasks(DataLoader(), str(path))
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(OptionError, match="cut_task_file"):
        cut_plan.check_tasks(DataLoader(), str(path))


def test_messages_name_the_options_of_power_cuts():
    with pytest.raises(OptionError) as found:
        plan(cut_file_size="x")
    assert "cut_file_size" in POWER_CUT.in_its_terms(str(found.value))


class Connection:
    become = None
    _shell = None

    def __init__(self, transport="ssh", **options):
        self.transport = transport
        self._options = {"ssh_executable": "ssh", "host": "db01.example.com", **options}

    def get_option(self, name):
        return self._options.get(name)

    def _build_command(self, binary, dummy, *arguments):
        return [binary.encode(), b"-o", b"ControlPath=/x", *(argument.encode() for argument in arguments)]


def test_the_stream_has_a_connection_of_its_own():
    program, *words, host, command = stream_command(Connection(), ["tester", "--dir=a b"])
    # if an option is given twice, ssh uses the first value
    assert words.index("ControlPath=none") < words.index(b"ControlPath=/x")
    assert set(SSH_OPTIONS) <= set(words)
    assert (program, host, command) == (b"ssh", b"db01.example.com", b"tester '--dir=a b'")


def test_how_long_a_host_may_be_silent():
    words = stream_command(Connection(), ["tester"], silent_s=9)
    assert words.index("ServerAliveInterval=3") < words.index("ServerAliveInterval=1")
    assert words.index("ServerAliveCountMax=3") < words.index("ServerAliveCountMax=2")


def test_a_local_command_needs_no_connection():
    assert stream_command(Connection("local"), ["tester", "x y"]) == ["/bin/sh", "-c", "tester 'x y'"]


def test_the_stream_becomes_the_owner():
    connection = Connection("local")
    connection.become = SimpleNamespace(
        get_option=lambda name: None, build_become_command=lambda command, shell: f"sudo -n -u mqm {command}"
    )
    assert stream_command(connection, ["tester"])[2] == "sudo -n -u mqm tester"
    connection.become.get_option = lambda name: "secret"
    with pytest.raises(AnsibleActionFail, match="cannot supply a password"):
        stream_command(connection, ["tester"])


@pytest.mark.parametrize(
    ("connection", "problem"),
    [
        (Connection("docker"), "not over docker"),
        (Connection(password="secret"), "cannot supply a password"),
        (Connection(pkcs11_provider="x"), "a key"),
    ],
)
def test_what_cannot_be_witnessed_is_refused(connection, problem):
    with pytest.raises(AnsibleActionFail, match=problem):
        stream_command(connection, ["tester"])


def test_what_became_of_a_command():
    done = call("echo one; echo two >&2; exit 3", 60)
    assert (done["status"], done["output"], done["problem"]) == (3, "one two", "")


def test_a_command_that_does_not_end_is_killed_with_its_children():
    done = call("sleep 600 & wait", 0.1)
    assert done["status"] is None
    assert "killed" in done["problem"]


def test_what_a_command_leaves_running_is_not_waited_for():
    done = call("sleep 600 & echo $!", 300)
    os.kill(int(done["output"]), signal.SIGKILL)
    assert done["status"] == 0


def power(monkeypatch, tmp_path, answer, states=(witness.WRITING, witness.WRITING)):
    """Return the result of the task that cuts the power, and whether it ran its command. ``answer`` is the host's
    answer; ``states`` are the states of the witness before and after the task."""

    before, after = (witness.State(name) for name in states)
    monkeypatch.setattr(witness, "wait", lambda *dummy: before)
    monkeypatch.setattr(witness, "look", lambda files: after)
    monkeypatch.setattr(
        RunDirectory, "open", lambda path: SimpleNamespace(folder_of=lambda host, volume: str(tmp_path))
    )
    plugin = action(cut_power, answer)
    plugin._connection = Connection("local")
    started = {"number": 1, "ready_epoch_s": 0.0, "problem": ""}
    arguments = {
        "run_path": "r",
        "started": started,
        "volume": "log",
        "command": f"touch {tmp_path}/cut",
        "after_s": "2.0",
    }
    result = plugin.call(plugin.prepare(arguments, {}), {"inventory_hostname": "db01"})
    return result, (tmp_path / "cut").exists()


@pytest.mark.parametrize(
    ("answer", "states", "problem"),
    [
        ({"refusal": "queue managers are running on this host (QM1): end them"}, {}, "(QM1): end them"),
        ({"refusal": None}, {}, "it is not known whether queue managers are running"),
        ({}, {}, "it is not known whether"),
        (
            {"failed": True, "msg": "no Python"},
            {},
            "it is not known whether queue managers are running on this host: no Python",
        ),
        (
            AnsibleConnectionFailure("no route"),
            {},
            "it is not known whether queue managers are running on this host: no route",
        ),
        ({"refusal": ""}, {"states": (witness.OVER, witness.OVER)}, "broke before the cut"),
        ({"refusal": ""}, {"states": (witness.WRITING, witness.OVER)}, "broke before the cut"),
        ({"refusal": ""}, {"states": (witness.READY, witness.READY)}, "no write was acknowledged"),
    ],
)
def test_nothing_is_cut_if_a_queue_manager_has_started_or_nobody_is_seen_to_write(
    monkeypatch, tmp_path, answer, states, problem
):
    result, is_cut = power(monkeypatch, tmp_path, answer, **states)
    assert (result["go"], is_cut) == (False, False)
    assert problem in result["problem"]


def test_the_power_is_cut_at_once_after_the_last_look(monkeypatch, tmp_path):
    result, is_cut = power(monkeypatch, tmp_path, {"refusal": ""})
    assert (result["go"], result["status"], result["problem"], is_cut) == (True, 0, "", True)
    assert 0 < result["ended_ns"] <= time.monotonic_ns()


def packed(text):
    return base64.b64encode(zlib.compress(text.encode())).decode()


def test_what_the_check_says():
    table = "worker,outcome,finding\nall,lost,\x1b[2Jx\n"
    tables, checked = cut_check.taken(
        {"status": 5, "said": "x", "tables": {"durability.csv": packed(table), "other.csv": packed("x")}}
    )
    assert tables == {"durability.csv": table.encode()}
    assert (checked.status, checked.rows, checked.problem) == (
        5,
        [{"worker": "all", "outcome": "lost", "finding": "\\x1b[2Jx"}],
        "",
    )


@pytest.mark.parametrize(
    "answer",
    [
        {"problem": "the tester hangs"},
        {"status": 2, "said": "the mark of another run", "tables": {}},
        {"status": None, "said": "it was killed", "tables": {}},
        {"status": "0", "said": "x", "tables": {}},
        {"status": 5, "said": "", "tables": {"durability.csv": "no base64"}},
        {"status": 5, "said": "", "tables": {"durability.csv": packed("a,b\n1\n")}},
    ],
)
def test_what_cannot_be_relied_on_is_a_problem(answer):
    assert cut_check.taken(answer)[1].problem


def test_no_check_is_no_problem_of_its_own():
    assert cut_check.taken({"left": ["the files"]})[1].problem == ""


def test_rows_are_bounded():
    with pytest.raises(ValueError, match="not a table of the tester"):
        read_rows(b"a\n" + b"1\n" * 10_001)
