# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import os
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _mounts, _queue_manager_info, _queue_managers

ABSENT = "its file system is not mounted here, this is a passive node, or LogPath is wrong"
LOG = "Log:\n   LogPrimaryFiles=8\n   LogFilePages=1024\n   LogType=LINEAR\n   LogBufferPages=64\n   LogPath={path}\n"


def run_command(command, handle_exceptions):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


class Tree:
    """The files of MQ below a directory."""

    def __init__(self, root):
        self.root = root
        self.mqs_ini = root / "mqs.ini"
        self.mqs_ini.write_text(f"AllQueueManagers:\n   DefaultPrefix={root}\n")

    def add(self, name, qm_ini=None, *, log=True, extents=(), keys=""):
        with self.mqs_ini.open("a") as file:
            file.write(f"QueueManager:\n   Name={name}\n" + (keys or f"   Prefix={self.root}\n   Directory={name}\n"))
        home, path = self.root / "qmgrs" / name, self.root / "log" / name
        if qm_ini is not None:
            home.mkdir(parents=True)
            (home / "qm.ini").write_text(qm_ini.format(path=path))
        if log:
            (path / "active").mkdir(parents=True)
            (path / "amqhlctl.lfh").touch()
        for number, size in enumerate(extents):
            with (path / "active" / f"S{number:07}.LOG").open("wb") as file:
                file.truncate(size)

    def discover(self, **more):
        answer = _queue_manager_info.discover(str(self.mqs_ini), run_command, limit_s=5, **more)
        json.dumps(answer)
        return answer

    def only(self):
        answer = self.discover()
        assert answer["problems"] == []
        (queue_manager,) = answer["queue_managers"]
        return queue_manager


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM2"])
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(_queue_manager_info, "COMMAND_PATH", str(tmp_path / "bin"))
    return Tree(tmp_path)


def test_settings_come_from_qm_ini_else_from_the_logs_files_else_from_the_product(tree):
    tree.add("QM1", LOG, extents=[4 << 20] * 4)
    found = tree.only()
    mount = _mounts.mount_of(str(tree.root))
    filesystem, space = found.pop("filesystem"), _mounts.space(str(tree.root))
    assert filesystem.pop("filesystem_free_bytes") > 0 < space.pop("filesystem_free_bytes")  # others write, too
    assert filesystem == {
        **{key: mount[key] for key in ("mount_point", "mount_source", "filesystem_type", "device_number")},
        **space,
    }
    assert found == {
        "name": "QM1",
        "exists": True,
        "running": False,
        "problem": "",
        "absent": False,
        "shares_filesystem_with": [],
        "qm_ini": f"{tree.root}/qmgrs/QM1/qm.ini",
        "installation": "",
        "log_path": f"{tree.root}/log/QM1",
        "log_directory": os.path.realpath(tree.root / "log/QM1"),
        "log_parent": os.path.realpath(tree.root / "log"),
        "log_type": "LINEAR",
        "log_file_pages": 1024,
        "log_primary_files": 8,
        "log_secondary_files": 2,
        "log_buffer_pages": 64,
        "log_write_integrity": "TripleWrite",
        "contradicted": {},
        "sources": {
            "log_path": "qm.ini",
            "log_type": "qm.ini",
            "log_file_pages": "qm.ini",
            "log_primary_files": "qm.ini",
            "log_secondary_files": "assumed",
            "log_buffer_pages": "qm.ini",
            "log_write_integrity": "assumed",
        },
    }


@pytest.mark.parametrize(
    ("extents", "pages", "files", "source"),
    [
        ([], 4096, 3, "assumed"),
        ([300 * 4096] * 5, 300, 5, "files"),
        ([0] * 2, 64, 2, "files"),
        ([1 << 40] * 2, 65535, 2, "files"),
        ([300 * 4096, 600 * 4096], 4096, 3, "assumed"),
    ],
)
def test_what_qm_ini_does_not_say_is_seen_in_the_logs_files(tree, extents, pages, files, source):
    tree.add("QM1", "Log:\n   LogPath={path}/\n", extents=extents)
    found = tree.only()
    assert (found["log_file_pages"], found["log_primary_files"]) == (pages, files)
    assert found["sources"]["log_file_pages"] == found["sources"]["log_primary_files"] == source


@pytest.mark.parametrize(
    ("extents", "pages", "source", "contradicted"),
    [
        ([4096 * 4096] * 3, 4096, "files", {"log_file_pages": 1024}),
        ([1024 * 4096, 4096 * 4096], 1024, "qm.ini", {}),
        ([512 << 10], 1024, "qm.ini", {}),
        ([1024 * 4096] * 3, 1024, "qm.ini", {}),
        ([0] * 3, 1024, "qm.ini", {}),
        ([1 << 40] * 3, 1024, "qm.ini", {}),
    ],
)
def test_the_size_of_the_files_counts_if_qm_ini_was_edited_later(tree, extents, pages, source, contradicted):
    """MQ determines the size of its log files when it creates the queue manager."""
    tree.add("QM1", LOG, extents=extents)
    found = tree.only()
    assert (found["log_file_pages"], found["sources"]["log_file_pages"], found["contradicted"]) == (
        pages,
        source,
        contradicted,
    )
    assert (found["log_primary_files"], found["sources"]["log_primary_files"]) == (8, "qm.ini")
    assert _queue_managers.log_facts(["QM1"], str(tree.mqs_ini))["queue_manager_log_set_bytes"] == 8 * pages * 4096


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace("Log:", "Log", 1), 2),
        (lambda text: "Service:\n   Name=x\n" + text.replace("Log:", "Log\uff1a", 1), 4),
        (lambda text: text.replace("\n", "\u2028"), 1),
    ],
)
def test_settings_outside_the_stanza_log_are_not_replaced_by_defaults(tree, change, line):
    """Otherwise, a damaged header would make the queue manager look like one with the default log path, or like one
    whose log is absent, which may be skipped."""
    tree.add("QM1", change(LOG))
    found = tree.only()
    assert not found["absent"]
    assert found["problem"].startswith(f"{tree.root}/qmgrs/QM1/qm.ini, line {line}: ")
    assert "is not in a stanza Log" in found["problem"]


@pytest.mark.parametrize("before", ["", "DefaultQueueManager:\n   Name=QM1\n"])
def test_a_queue_manager_whose_stanza_has_a_damaged_header_is_not_overlooked(tree, before):
    tree.mqs_ini.write_text(f"{before}QueueManager\n   Name=QM1\n   Prefix={tree.root}\n   Directory=QM1\n")
    (problem,) = tree.discover()["problems"]
    assert problem.startswith(f"{tree.mqs_ini}, line ")
    assert problem.endswith("is not in a stanza QueueManager: correct the line QueueManager: before it")


@pytest.mark.parametrize("lines", ["Prefix=/opt/x", "Name=x\n   Directory=/opt/x"])
def test_a_key_of_another_stanza_does_not_blame_a_queue_manager(tree, lines):
    tree.add("QM1", LOG)
    with tree.mqs_ini.open("a") as file:
        file.write(f"Exits:\n   {lines}\n")
    assert tree.only()["name"] == "QM1"


@pytest.mark.parametrize("content", [LOG.encode("cp500"), b"# only a comment\n"])
def test_a_qm_ini_without_any_stanza_is_not_one_with_the_default_log(tree, content):
    tree.add("QM1", LOG)
    (tree.root / "qmgrs/QM1/qm.ini").write_bytes(content)
    found = tree.only()
    assert not found["absent"]
    assert "has no line of the form Name: that opens a stanza" in found["problem"]


def test_an_mqs_ini_without_any_stanza_is_not_a_host_without_queue_managers(tree):
    tree.mqs_ini.write_bytes(tree.mqs_ini.read_text().encode("cp500"))
    answer = tree.discover()
    assert answer["queue_managers"] == []
    (problem,) = answer["problems"]
    assert problem.startswith(f"{tree.mqs_ini} has no line of the form Name: that opens a stanza")


def test_only_regular_files_that_still_exist_show_the_size(tree, monkeypatch):
    """A queue manager with linear logging removes files while they are listed."""
    tree.add("QM1", "Log:\n   LogPath={path}\n", extents=[2048 * 4096] * 3)
    active = tree.root / "log/QM1/active"
    (active / "S0000008.LOG").mkdir()
    (active / "S0000009.LOG").symlink_to("gone")
    found = tree.only()
    assert (found["log_file_pages"], found["log_primary_files"]) == (2048, 3)


def test_more_queue_managers_than_a_host_has_are_refused(tree):
    for number in range(301):
        tree.add(f"QM{number}", log=False)
    answer = tree.discover()
    assert answer["queue_managers"] == []
    assert answer["problems"] == [f"{tree.mqs_ini} lists 301 queue managers, but at most 300 are inspected"]


@pytest.mark.parametrize("qm_ini", ["Service:\n   Name=x\n", "Log:\n"])
def test_without_a_log_path_the_default_one_is_assumed(tree, qm_ini):
    tree.add("QM1", qm_ini)
    found = tree.only()
    assert found["log_path"] == f"{tree.root}/log/QM1" and set(found["sources"].values()) == {"assumed"}


def test_a_queue_manager_with_a_data_path_has_its_file_there(tree):
    (tree.root / "shared" / "QM1").mkdir(parents=True)
    (tree.root / "shared" / "QM1" / "qm.ini").write_text(LOG.format(path=tree.root / "log/QM1"))
    tree.add("QM1", keys=f"   DataPath={tree.root}/shared/QM1\n   InstallationName=Installation1\n")
    found = tree.only()
    assert found["qm_ini"] == f"{tree.root}/shared/QM1/qm.ini" and found["installation"] == "Installation1"


def test_a_log_path_is_followed_to_its_file_system(tree, monkeypatch):
    tree.add("QM1", "Log:\n   LogPath={path}/link\n")
    (tree.root / "log/QM1/link").symlink_to("/proc")
    monkeypatch.setattr(_queue_managers, "CONTROL_FILE", "version")
    found = tree.only()
    assert (found["log_directory"], found["filesystem"]["mount_point"], found["filesystem"]["filesystem_type"]) == (
        "/proc",
        "/proc",
        "proc",
    )


def test_one_broken_queue_manager_does_not_hide_the_others(tree):
    tree.add("QM2", LOG)
    tree.add("QM1", LOG)
    tree.add("QM3", LOG.replace("1024", "many"))
    tree.add("QM4")
    tree.add("QM5", LOG, log=False)
    tree.add("QM1", log=False, keys="   Prefix=/x\n")
    with tree.mqs_ini.open("a") as file:
        file.write("QueueManager:\n   Prefix=/x\n")
    answer = tree.discover()
    ini, found = tree.mqs_ini, {each["name"]: each for each in answer["queue_managers"]}
    assert answer["problems"] == [
        f"{ini}, line 24: Name is 'QM1' again, as in the stanza in line 7",
        f"{ini}, line 26: this stanza QueueManager has no Name",
    ]
    assert {name: each["problem"] for name, each in found.items()} == {
        "QM1": "",
        "QM2": "",
        "QM3": (
            f"{tree.root}/qmgrs/QM3/qm.ini, line 3: LogFilePages is 'many', but must be a whole number from 64 to 65535"
        ),
        "QM4": f"{tree.root}/qmgrs/QM4/qm.ini, the configuration file of QM4, does not exist: {ABSENT}",
        "QM5": (
            f"LogPath {tree.root}/log/QM5 (line 6 of {tree.root}/qmgrs/QM5/qm.ini) cannot be inspected: No such "
            f"file or directory: {ABSENT}"
        ),
    }
    assert {name for name, each in found.items() if each["absent"]} == {"QM4", "QM5"}
    assert {name: each["running"] for name, each in found.items()} == {
        "QM1": False,
        "QM2": True,
        "QM3": False,
        "QM4": False,
        "QM5": False,
    }
    assert {name: each["shares_filesystem_with"] for name, each in found.items()} == {
        "QM1": ["QM2"],
        "QM2": ["QM1"],
        "QM3": [],
        "QM4": [],
        "QM5": [],
    }


@pytest.mark.parametrize(
    ("names", "absent"),
    [
        ((), True),
        (("lost+found", "active", "active/S1.LOG", "active/other"), True),
        (("S0000000.LOG",), True),
        (("amqhlctl.lfh",), False),
        (("active", "active/S0000007.LOG"), False),
    ],
)
def test_a_log_directory_without_files_of_a_log_is_not_taken_for_one(tree, names, absent):
    """The directory looks like a mount point whose file system is not mounted. A test would measure the disk that
    contains the mount point."""
    tree.add("QM1", LOG, log=False)
    (tree.root / "log/QM1").mkdir(parents=True)
    for name in names:
        path = tree.root / "log/QM1" / name
        path.mkdir() if name in ("active", "lost+found") else path.touch()
    found = tree.only()
    assert (found["absent"], bool(found["problem"]), "filesystem" in found) == (absent, absent, not absent)
    if absent:
        assert (
            found["problem"]
            == f"the log directory {tree.root}/log/QM1 has neither amqhlctl.lfh nor log files: {ABSENT}"
        )


def test_a_log_directory_that_may_not_be_read_is_a_problem(tree, monkeypatch):
    tree.add("QM1", LOG)
    (tree.root / "log/QM1/amqhlctl.lfh").unlink()
    listed = os.listdir

    def closed(path="."):
        if str(path).endswith("QM1/active"):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "listdir", closed)
    found = tree.only()
    assert (
        not found["absent"]
        and "cannot be inspected by " in found["problem"]
        and found["problem"].endswith("workspace_owner: mqm)")
    )


def test_whether_a_queue_manager_runs_is_unknown_if_processes_are_hidden(tree, monkeypatch):
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: False)
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    tree.add("QM1", LOG)
    assert tree.only()["running"] is None


def test_storage_that_does_not_answer_costs_only_its_own_queue_managers(tree, monkeypatch):
    tree.add("QM1", LOG)
    tree.add("QM2", LOG)
    stat = os.stat
    monkeypatch.setattr(
        os,
        "stat",
        lambda path, **more: os.read(os.pipe()[0], 1) if str(path).endswith("log/QM1") else stat(path, **more),
    )
    answer = _queue_manager_info.discover(str(tree.mqs_ini), run_command, limit_s=1)
    assert [each["problem"] for each in answer["queue_managers"]] == ["no answer within 1 s", ""]


def test_queue_managers_to_be_created_get_the_log_defaults(tree):
    assert tree.discover()["log_defaults"]["log_path"] == f"{tree.root}/log"
    with tree.mqs_ini.open("a") as file:
        file.write("LogDefaults:\n   LogDefaultPath=/mqlog\n   LogPrimaryFiles=20\n")
    defaults = tree.discover()["log_defaults"]
    assert (defaults["log_path"], defaults["log_primary_files"], defaults["log_file_pages"]) == ("/mqlog", 20, 4096)
    assert (defaults["sources"]["log_primary_files"], defaults["sources"]["log_file_pages"]) == ("mqs.ini", "assumed")


def test_a_planned_queue_manager_is_described_like_one_that_exists(tree):
    tree.add("QM1", LOG)
    planned = [
        {"name": "NEW.QM", "log_path": None, "log_file_pages": 100, "log_primary_files": None},
        {"name": "QM1", "log_file_pages": 100},
        {"name": "QM0", "log_path": f"{tree.root}/none/QM0"},
        {"name": "QM9", "log_file_pages": 5},
        {"name": "Q M", "log_file_pages": 64},
        {"name": "QM8", "log_path": "log/QM8"},
    ]
    found = {each["name"]: each for each in tree.discover(planned=planned)["queue_managers"]}
    new, other = found["NEW.QM"], found["QM0"]
    assert (new["exists"], new["running"], new["log_file_pages"], new["log_primary_files"]) == (False, False, 100, 3)
    assert (new["log_path"], new["log_parent"]) == (f"{tree.root}/log/NEW!QM", f"{tree.root}/log")
    assert (new["sources"]["log_file_pages"], new["sources"]["log_primary_files"]) == ("given", "assumed")
    assert (other["log_path"], other["log_parent"], other["log_file_pages"]) == (
        f"{tree.root}/none/QM0",
        str(tree.root),
        4096,
    )
    assert new["shares_filesystem_with"] == ["QM0", "QM1"]
    assert (found["QM1"]["exists"], found["QM1"]["log_file_pages"]) == (True, 1024)
    assert (
        found["QM9"]["problem"]
        == "the planned queue manager QM9: log_file_pages is 5, but must be a whole number from 64 to 65535"
    )
    assert (
        found["QM8"]["problem"] == "the planned queue manager QM8: log_path is 'log/QM8', but must be an absolute path"
    )
    assert "'Q M' is not a valid queue manager name" in found["Q M"]["problem"]


def test_a_planned_queue_manager_has_at_most_511_log_files(tree):
    planned = [
        {"name": "QM1", "log_primary_files": 510},
        {"name": "QM2", "log_primary_files": 510, "log_secondary_files": 1},
        {"name": "QM3", "log_secondary_files": 510},
    ]
    problems = [each["problem"] for each in tree.discover(planned=planned)["queue_managers"]]
    assert problems == [
        (
            "the planned queue manager QM1: log_primary_files and log_secondary_files add up "
            "to 512, but the maximum is 511"
        ),
        "",
        "the planned queue manager QM3: log_secondary_files is 510, but must be a whole number from 1 to 509",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "LogDefaults:\n   LogFilePages=1\n",
        "AllQueueManagers:\n   DefaultPrefix=x\n",
        "LogDefaults:\nLogDefaults:\n",
        None,
    ],
)
def test_an_mqs_ini_that_cannot_be_used_is_a_problem(tree, text):
    if text is None:
        tree.mqs_ini.unlink()
        tree.mqs_ini.mkdir()
    else:
        tree.mqs_ini.write_text(text)
    answer = tree.discover()
    assert answer["queue_managers"] == [] and [
        problem.startswith(str(tree.mqs_ini)) for problem in answer["problems"]
    ] == [True]


def commands(tree, dspmqinf):
    """MQ's commands, and an mqs.ini that only these commands may read."""
    tree.mqs_ini.rename(tree.root / "real.ini")
    (tree.root / "bin").mkdir()
    for name, script in (("dspmq", "printf 'QMNAME(%s)   STATUS(Running)\\n' QM1 QM2"), ("dspmqinf", dspmqinf)):
        (tree.root / "bin" / name).write_text(f"#!/bin/sh\n{script}\n")
        (tree.root / "bin" / name).chmod(0o755)


STANZA = (
    'printf \'QueueManager:\\n   Name=%s\\n   Prefix={root}\\n   Directory=%s\\n   InstallationName=I1\\n\' "$3" "$3" '
)


def test_without_mqs_ini_the_commands_are_asked(tree):
    tree.add("QM1", LOG)
    tree.add("QM2", LOG)
    commands(tree, STANZA.format(root=tree.root))
    assert [(each["name"], each["problem"], each["installation"]) for each in tree.discover()["queue_managers"]] == [
        ("QM1", "", "I1"),
        ("QM2", "", "I1"),
    ]


def test_a_command_that_fails_is_a_problem(tree):
    commands(tree, "echo AMQ7048E: The queue manager name is not valid.; exit 16")
    (problem,) = tree.discover()["problems"]
    assert (
        problem.startswith(f"dspmqinf was called because {tree.mqs_ini} cannot be read, but failed: ")
        and "AMQ7048E" in problem
    )


def test_the_commands_output_can_be_given(tree):
    tree.add("QM1", LOG)
    text = tree.mqs_ini.read_text()
    tree.mqs_ini.unlink()
    assert [each["problem"] for each in tree.discover(stanzas=text)["queue_managers"]] == [""]
    (problem,) = tree.discover(stanzas="QueueManager:\n   nothing\n")["problems"]
    assert problem.startswith("the output of dspmqinf, line 2: 'nothing' in the stanza QueueManager")
