# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tasks of a host before and after a power cut."""

from __future__ import annotations

import os
import subprocess

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import (
    _marks,
    _queue_managers,
    _runs,
    _volume_identity,
)
from ansible_collections.mqops.logdisk.plugins.modules import cut

TESTER = """#!/bin/sh
echo "$@" >> {calls}
for argument; do
  case $argument in
    --checkAcknowledged=*) cp "${{argument#*=}}" {given};;
    --tables=*) echo worker,outcome > "${{argument#*=}}/durability.csv";;
  esac
done
echo lost >&2
[ "$1" = --removeAcknowledged ] || exit 5
"""


@pytest.fixture(autouse=True)
def idle(monkeypatch):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)


def do(step, tmp_path, **arguments):
    run = _runs.Run(str(tmp_path / "state"), "R1", "log")
    return cut.check(arguments, run) if step == "check" else cut.start(arguments, run, False)


def start(tmp_path):
    path = str(tmp_path / "log")
    os.makedirs(path)
    _marks.write_mark(path, {"run_id": "R1", "role": "base"})
    return do("start", tmp_path, path=path, marked=[path, str(tmp_path / "none")], mqs_ini="/mqs.ini")


def test_the_state_of_a_cut_replaces_that_of_the_one_before(tmp_path):
    first = start(tmp_path)
    open(os.path.join(first["tables_path"], "run.csv"), "w").close()
    os.unlink(tmp_path / "log" / _marks.MARK_NAME)
    os.rmdir(tmp_path / "log")
    assert start(tmp_path)["tables_path"] == first["tables_path"]
    assert os.listdir(first["tables_path"]) == []


def test_another_run_on_the_host_is_not_disturbed(tmp_path):
    other = _runs.Run(str(tmp_path / "state"), "R0", "log")
    _runs.own_directory(other.state_dir)
    lock = other.lock()
    with pytest.raises(_runs.RunError, match="another certification is running on this host: R0"):
        start(tmp_path)
    os.close(lock)


@pytest.mark.parametrize(
    ("running", "sees", "known", "reason"),
    [
        (["QM1"], True, [], "QM1"),
        ([], False, ["QM2"], "unnoticed (QM2)"),
        ([], False, [], None),
        ([], True, ["QM2"], None),
    ],
)
def test_a_host_with_a_queue_manager_that_runs_is_refused(monkeypatch, running, sees, known, reason):
    monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: running)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: sees)
    monkeypatch.setattr(_queue_managers, "configured_queue_managers", lambda mqs_ini: known)
    found = _queue_managers.why_not_to_cut("/var/mqm/mqs.ini")
    assert (reason in found) if reason else found == ""


def test_the_tester_checks_and_removes_its_files(tmp_path):
    begun = start(tmp_path)
    tester, calls, given = tmp_path / "logdisk", tmp_path / "calls", tmp_path / "given"
    tester.write_text(TESTER.format(calls=calls, given=given))
    tester.chmod(0o755)
    asked = {
        "tester_path": str(tester),
        "directories": ["/a", "/b"],
        "arguments": ["--qm=2", "--filePrefix=logdisk"],
        "acknowledged": "ready ...\nack 1 5\n",
        "limit_s": 60,
    }
    found = do("check", tmp_path, **asked)
    assert (found["status"], found["said"], list(found["tables"]), found["left"]) == (5, "lost", ["durability.csv"], [])
    assert given.read_text() == asked["acknowledged"]
    check, remove = calls.read_text().splitlines()
    assert check.endswith("--dir=/a,/b")
    assert remove == "--removeAcknowledged --dir=/a,/b --qm=2 --filePrefix=logdisk"
    assert not os.path.exists(os.path.dirname(begun["tables_path"]))

    tester.write_text("#!/bin/sh\necho no such directory >&2\nexit 2\n")
    assert do("check", tmp_path, **asked)["left"] == []
    assert do("check", tmp_path, **{**asked, "directories": ["/a", str(tmp_path)]})["left"] == [
        f"/a, {tmp_path} (no such directory)"
    ]
    assert os.path.exists(os.path.dirname(begun["tables_path"]))

    tester.write_text(TESTER.format(calls=calls, given=given))
    calls.unlink()
    assert do("check", tmp_path, **{**asked, "acknowledged": ""})["status"] is None
    assert calls.read_text().startswith("--removeAcknowledged")


def test_the_state_stays_while_the_file_system_of_a_cut_is_not_mounted(tmp_path):
    start(tmp_path)
    run = _runs.Run(str(tmp_path / "state"), "R1", "log")
    noted = {"paths": ["/gone/log"], "mount_points": {"/gone/log": "/gone"}}
    run.write_start(noted)
    tester = tmp_path / "logdisk"
    tester.write_text("#!/bin/sh\nexit 2\n")
    tester.chmod(0o755)
    asked = {"directories": ["/gone/log/R1"], "arguments": [], "acknowledged": "", "tester_path": str(tester)}
    found = do("check", tmp_path, **asked)
    assert (found["left"], run.read_start()) == ([], noted)


def test_a_tester_that_does_not_end_is_ended():
    status, said = cut.call(["sleep", "600"], 0.1)
    assert status is None
    assert "killed" in said


def test_what_a_host_says_of_itself(tmp_path):
    found = cut.inspect(str(tmp_path / "log" / "not" / "there"))
    assert found["problem"] == ""
    assert found["boot_id"]
    assert found["mount_point"]
    assert found["filesystem_born_epoch_s"] == _volume_identity.birth_of(found["mount_point"])


def test_a_file_system_has_the_birth_time_that_the_kernel_says(tmp_path):
    seconds, dummy, nanoseconds = _volume_identity.birth_of(str(tmp_path)).partition(".")
    said = subprocess.check_output(["stat", "--format=%W", str(tmp_path)], text=True).strip()
    assert (seconds or "0", len(nanoseconds) in (0, 9)) == (said, True)
    assert _volume_identity.birth_of(str(tmp_path / "none")) == ""
