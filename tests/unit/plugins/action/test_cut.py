# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action plugin of power cuts: what it refuses, and how it interprets the answers of a host."""

from __future__ import annotations

import base64
import zlib
from types import SimpleNamespace

import pytest
from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure
from ansible_collections.mqops.logdisk.plugins.action import cut
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import Returned, Witnessed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.protocol import (
    Reader,
    Seen,
    acknowledged_text,
    read_check,
    read_rows,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import refuse_computed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import role_defaults
from ansible_collections.mqops.logdisk.plugins.plugin_utils._own_connection import SSH_OPTIONS, stream_command
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


class Host:
    """A host, and the course of its cuts in place of that of ``PowerCut``. ``answers`` are those of the module by step,
    or a list of them."""

    def __init__(self, monkeypatch, tmp_path, **plan_changes):
        self.answers = {
            "start": {"volume_facts": BEFORE, "interpreter": "python3", "lock": "/s/lock", "tables_path": "/s/tables"},
            "look": {"volume_facts": AFTER, "tester_is_there": True},
            "check": {"status": 0, "said": "", "tables": {"durability.csv": packed(TABLE)}, "left": []},
        }
        self.asked, self.hosts, self.notes, self.files = [], [], [], {}
        self.record, self.plan = None, {**plan(**plan_changes), "tester": {}}
        directory = SimpleNamespace(
            run={"run_id": "R1"},
            kind=SimpleNamespace(name="durability", profile_key="durability"),
            folder_of=lambda host, volume: str(tmp_path),
            records=SimpleNamespace(
                find=lambda host, volume: self.record,
                tables=lambda record: self.files,
                write=self.write,
                note_leftovers=lambda host, volume, left: self.notes.extend(left),
            ),
        )
        monkeypatch.setattr(RunDirectory, "open", lambda path: directory)
        monkeypatch.setattr(cut, "PowerCut", self.course)
        monkeypatch.setattr(cut, "profile_of", lambda run, host: SimpleNamespace(sections={}))
        monkeypatch.setattr(cut, "cut_record", record)
        monkeypatch.setattr(cut, "say", lambda display, text: self.notes.append(text))

    def write(self, record, files):
        self.record, self.files = record, files

    def answer(self, module_args, **dummy):
        step = module_args["do"]
        self.asked.append((step, module_args))
        answer = self.answers[step]
        if isinstance(answer, list):
            answer = answer.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    def course(self, host, say, is_abandoned):
        self.hosts.append(host)

        def run():
            after, problem = host.look()
            returned = Returned(host.before, after, problem)
            if host.problem:
                return (
                    CommandResult(problem=host.problem, done=False),
                    Witnessed(Seen(), early=True, problem=host.problem),
                    returned,
                )
            return CommandResult(0), Witnessed(SEEN, broken=True, lost_ns=3), returned

        return SimpleNamespace(run=run)

    def cut(self):
        plugin, variables = action(cut, {}), {"inventory_hostname": "db01"}
        plugin._connection, plugin._execute_module, plugin.cleanup = Connection("local"), self.answer, lambda: None
        layout = {"run_directories": ["/fut/R1"], "paths": [], "path": "/fut", "given": ["/fut/R1/QM1"], "facts": {}}
        arguments = {
            "run_id": "R1",
            "run_path": "r",
            "state_dir": "/s",
            "plan": self.plan,
            "tester": {"path": "/t/logdisk", "facts": {}},
            "workspace": {"volumes": [layout]},
            "mqs_ini": "/mqs.ini",
            "user": "mqm",
        }
        answer = plugin.call(plugin.prepare(arguments, variables), variables)
        return answer if answer.get("failed") else plugin.take_in(answer, variables)

    @property
    def steps(self):
        return [step for step, _arguments in self.asked]

    @property
    def cuts(self):
        return self.record.kind_data["cuts"]


def record(run, host, volume, facts, workspace, files, durability):
    return SimpleNamespace(verdict="pass", kind_data=durability, leftovers=[])


def packed(text):
    return base64.b64encode(zlib.compress(text.encode())).decode()


VOLUME = {"filesystem_uuid": "u-1", "mount_point": "/fut", "mount_source": "/dev/sda", "filesystem_type": "xfs"}
BEFORE = {"boot_id": "b1", **VOLUME, "problem": ""}
AFTER = {"boot_id": "b2", **VOLUME, "problem": ""}
TABLE = "worker,outcome,found_writes\n1,kept,9\nall,kept,\n"
READY = "ready R1 b1 seed=7 bsize=4096 file_size=1048576 files=4 qm=1 prefix=logdisk layout=2"


def seen():
    reader = Reader({})
    for at_ns, line in enumerate((READY, "tick 5", "ack 1 9"), 1):
        reader.read(line, at_ns)
    return reader.seen


SEEN = seen()


@pytest.fixture
def host_of(monkeypatch, tmp_path):
    return lambda **changes: Host(monkeypatch, tmp_path, **changes)


def test_all_cuts_of_a_host(host_of, tmp_path):
    host = host_of(cut_count=2)
    result = host.cut()
    assert (result["outcomes"], result["logdisk"]["verdict"]) == (["kept", "kept"], "pass")
    assert host.steps == ["start", "look", "check"] * 2
    assert [cut["number"] for cut in host.cuts] == [1, 2]
    assert set(host.files) == {"durability_1.csv", "durability_2.csv"}
    checked = host.asked[-1][1]
    assert checked["acknowledged"] == (tmp_path / "acknowledged-2.txt").read_text() == acknowledged_text(SEEN)
    assert {"tester_path": "/t/logdisk", "directories": ["/fut/R1/QM1"], "user": "mqm"}.items() <= checked.items()
    assert len({host.hosts[number].asked["seed"] for number in (0, 1)}) == 2
    assert "--acknowledge" in host.hosts[0].stream[-1]


def test_a_host_that_cannot_be_started_fails_only_at_its_first_cut(host_of):
    refused = {"failed": True, "msg": "queue managers are running on this host (QM7)"}
    host = host_of(cut_count=2)
    host.answers["start"] = refused
    assert "QM7" in host.cut()["logdisk"]["reason"]
    assert (host.record, host.steps) == (None, ["start"])
    host = host_of(cut_count=2)
    host.answers["start"] = [host.answers["start"], refused]
    assert host.cut()["outcomes"] == ["kept", "inconclusive"]
    assert "QM7" in host.cuts[1]["reason"]
    assert host.asked[-1][1]["acknowledged"] == ""


@pytest.mark.parametrize(
    ("step", "answer", "left"),
    [
        ("look", AnsibleConnectionFailure("no route"), "when the host is back"),
        ("check", {"failed": True, "msg": "the tester still hangs"}, "the files of the test: the tester still hangs"),
        ("check", {"status": 0, "tables": {}, "left": ["/fut/R1 (busy)"]}, "/fut/R1 (busy)"),
        ("look", {"volume_facts": {**AFTER, "mount_point": "/"}, "tester_is_there": True}, "when it is mounted"),
    ],
)
def test_a_host_whose_files_are_left_is_not_cut_again(host_of, step, answer, left):
    host = host_of(cut_count=2)
    host.answers[step] = answer
    assert host.cut()["outcomes"] == ["inconclusive"]
    assert any(note.endswith(left) for note in host.notes)


def test_a_tester_that_was_lost_is_installed_again_before_the_check(host_of, monkeypatch):
    host, probed = host_of(), []
    host.answers["look"] = {"volume_facts": AFTER}

    def probe(plugin, name, arguments, task_vars):
        probed.append((name, host.steps))
        return {"tester": {"installed": len(probed) == 1}}

    monkeypatch.setattr(cut.ActionModule, "result_of", probe)
    assert host.cut()["outcomes"] == ["kept"]
    assert probed == [("probe", ["start", "look"])]
    assert host.cut()["outcomes"] == ["inconclusive"]
    assert "the tester was lost, and could not be installed again" in host.cuts[0]["reason"]


def test_nothing_goes_on_if_ansible_has_ended(host_of, monkeypatch):
    host, parents = host_of(cut_count=3), iter([1])
    monkeypatch.setattr(cut.os, "getppid", lambda: next(parents, 7))
    assert host.cut()["outcomes"] == ["kept"]


def test_what_the_check_says():
    table = "worker,outcome,finding\nall,lost,\x1b[2Jx\n"
    tables, checked = read_check(
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
    assert read_check(answer)[1].problem


def test_no_check_is_no_problem_of_its_own():
    assert read_check({"left": ["the files"]})[1].problem == ""


def test_rows_are_bounded():
    with pytest.raises(ValueError, match="not a table of the tester"):
        read_rows(b"a\n" + b"1\n" * 10_001)
