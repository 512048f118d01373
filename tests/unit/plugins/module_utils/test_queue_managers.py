# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import signal

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _queue_managers

QM_INI = """# comment
ExitPath:
   ExitsDefaultPath=/var/mqm/exits
Log:
   LogPrimaryFiles=3
   ; another
   LogPath = /var/mqm/log/QM1/
Service:
   Name=x
"""
MQS_INI = """AllQueueManagers:
   DefaultPrefix=/var/mqm
QueueManager:
   Name=QM1
   Prefix={root}
   Directory=QM1
QueueManager:
   Name=QM2
   DataPath={root}/shared/QM2
QueueManager:
   Name=QM3
"""


def test_log_paths_come_from_every_qm_ini_that_can_be_read(tmp_path):
    (tmp_path / "qmgrs" / "QM1").mkdir(parents=True)
    (tmp_path / "qmgrs" / "QM1" / "qm.ini").write_text(QM_INI)
    (tmp_path / "mqs.ini").write_text(MQS_INI.format(root=tmp_path))
    paths, unknown = _queue_managers.configured_log_paths(str(tmp_path / "mqs.ini"))
    assert paths == {"QM1": "/var/mqm/log/QM1"}
    assert unknown == [
        (
            f"the log path of queue manager QM2 ({tmp_path}/shared/QM2/qm.ini, the configuration "
            "file of QM2, does not exist)"
        ),
        (
            f"the log path of queue manager QM3 ({tmp_path}/mqs.ini, line 10: the stanza of QM3 has neither DataPath "
            "nor both Prefix and Directory)"
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   LogPath=/x\n",
        "Log:\n   LogPath=x\n",
    ],
)
def test_without_a_usable_log_stanza_the_log_path_is_unknown(tmp_path, text):
    (tmp_path / "qm.ini").write_text(text)
    (tmp_path / "mqs.ini").write_text(f"QueueManager:\n   Name=QM1\n   DataPath={tmp_path}\n")
    paths, (unknown,) = _queue_managers.configured_log_paths(str(tmp_path / "mqs.ini"))
    assert paths == {} and unknown.startswith(f"the log path of queue manager QM1 ({tmp_path}/qm.ini")


def test_the_largest_log_and_the_smallest_buffer_count_of_the_queue_managers_that_are_asked_for(tmp_path):
    for name, files, buffer in (("QM1", 10, 0), ("QM2", 20, 1024), ("QM4", 99, 18), ("QM5", 999, 18)):
        (tmp_path / "qmgrs" / name).mkdir(parents=True)
        (tmp_path / "qmgrs" / name / "qm.ini").write_text(
            f"Log:\n   LogPrimaryFiles={files}\n   LogSecondaryFiles=5\n   LogFilePages=1024\n"
            f"   LogBufferPages={buffer}\n"
        )
    stanza = "QueueManager:\n   Name={0}\n   Prefix={1}\n   Directory={0}\n"
    mqs_ini = tmp_path / "mqs.ini"
    mqs_ini.write_text("".join(stanza.format(name, tmp_path) for name in ("QM1", "QM2", "QM3", "QM4", "QM5")))

    def facts(names, mqs_ini):
        return tuple(
            _queue_managers.log_facts(names, str(mqs_ini))[f"queue_manager_{key}_bytes"]
            for key in ("log_set", "log_buffer")
        )

    assert facts(["QM1", "QM2", "QM3", "QM5"], mqs_ini) == (20 * 1024 * 4096, 512 * 4096)
    assert facts(["QM2"], mqs_ini) == (20 * 1024 * 4096, 1024 * 4096)
    assert facts(["QM3", "other"], mqs_ini) == facts(["QM1"], tmp_path / "none") == (None, None)


def test_a_host_without_mq_has_nothing_unknown(tmp_path):
    assert _queue_managers.configured_log_paths(str(tmp_path / "none")) == ({}, [])


@pytest.mark.parametrize(
    "name, found",
    [
        ("S0000000.LOG", True),
        ("amqhlctl.lfh", True),
        ("S000.LOG", False),
        ("notes.txt", False),
    ],
)
def test_files_of_a_queue_manager_are_known(tmp_path, name, found):
    (tmp_path / "active").mkdir()
    (tmp_path / "active" / name).write_text("")
    assert bool(_queue_managers.queue_manager_files(str(tmp_path))) is found
    assert bool(_queue_managers.queue_manager_files(str(tmp_path / "active"))) is found


@pytest.mark.parametrize(
    "text, names",
    [
        (MQS_INI, ["QM1", "QM2", "QM3"]),
        ("QueueManager:\n   Prefix=/x\n", ["{path}, line 1: this stanza QueueManager has no Name"]),
        ("AllQueueManagers:\n", []),
        (None, []),
    ],
)
def test_the_names_of_queue_managers_come_from_mqs_ini(tmp_path, text, names):
    if text is not None:
        (tmp_path / "mqs.ini").write_text(text)
    assert _queue_managers.configured_queue_managers(str(tmp_path / "mqs.ini")) == [
        name.format(path=tmp_path / "mqs.ini") for name in names
    ]


@pytest.fixture
def _not_forever():
    def give_up(*dummy):
        raise AssertionError("it waits for a writer")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(5)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("_not_forever")
@pytest.mark.parametrize("plant", [os.mkfifo, os.mkdir, lambda path: os.symlink("mqs.ini", path)])
def test_what_is_no_regular_file_is_not_read(tmp_path, plant):
    path = str(tmp_path / "mqs.ini")
    plant(path)
    paths, unknown = _queue_managers.configured_log_paths(path)
    assert paths == {} and unknown[0].startswith("%s cannot be read: " % path)
    assert path in _queue_managers.configured_queue_managers(path)[0]


def test_an_mqs_ini_where_this_user_may_not_look_counts_as_there(monkeypatch):
    def closed(path, *dummy, **more):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", closed)
    paths, (unknown,) = _queue_managers.configured_log_paths("/closed/mqs.ini")
    names = _queue_managers.configured_queue_managers("/closed/mqs.ini")
    monkeypatch.undo()
    assert (paths, names) == ({}, [unknown])
    assert unknown.startswith("/closed/mqs.ini cannot be read by ")


@pytest.mark.parametrize("entries, seen", [((), False), (("1",), False), (("1", "1/comm"), True)])
def test_processes_are_seen_where_the_first_ones_name_is(tmp_path, entries, seen):
    for entry in entries:
        (tmp_path / entry).write_text("init\n") if entry.endswith("comm") else (tmp_path / entry).mkdir()
    assert _queue_managers.sees_processes(str(tmp_path)) is seen
