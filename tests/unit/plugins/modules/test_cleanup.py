# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cleaning up everything keeps results that have not been collected, and runs that are about to start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _machine, _marks, _mounts, _runs, _workspace
from ansible_collections.mqops.logdisk.plugins.modules import cleanup, start

RUN = "20261121T104935Z-1f0c2a"
DAY_S = 86400


@pytest.fixture
def options(tmp_path):
    return {
        "run_id": "",
        "volumes": [{"name": "log", "paths": [str(tmp_path / "ws")], "keep_state": False, "volume_counters": False}],
        "all_volumes": False,
        "other_machines": False,
        "state_dir": str(tmp_path / "state"),
        "uncollected_days": 7,
        "patience_s": 0.1,
        "answer_s": 10,
    }


def ended_run(options, finished, age_s=0, volume="log"):
    """Make the state of a run without a process."""
    run = _runs.Run(options["state_dir"], RUN, volume)
    run.create()
    if finished:
        table = os.path.join(run.tables_path, "run.csv")
        with open(table, "w") as stream:
            stream.write("complete,1\n")
        os.utime(table, (time.time() - age_s, time.time() - age_s))
    return run


@pytest.mark.parametrize(
    "finished, age_s, days, stays",
    [
        (True, 0, 7, True),
        (True, 6 * DAY_S, 7, True),
        (True, 8 * DAY_S, 7, False),
        (True, 0, 0, False),
        (False, 0, 7, False),
    ],
)
def test_finished_tables_wait_to_be_collected(options, finished, age_s, days, stays):
    run = ended_run(options, finished, age_s)
    found = cleanup.clean({**options, "uncollected_days": days}, False)
    assert run.exists() is stays
    assert (bool(found["kept"]), bool(found["removed"]), found["left"]) == (stays, not stays, [])


@pytest.mark.parametrize(
    "keep, all_volumes, stay", [([], False, ["b"]), (["log"], False, ["b", "log"]), ([], True, [])]
)
def test_a_named_run_goes_whatever_it_holds(options, keep, all_volumes, stay):
    runs = {volume: ended_run(options, finished=True, volume=volume) for volume in ("log", "b")}
    (volume,) = options["volumes"]
    cleanup.clean(
        {
            **options,
            "run_id": RUN,
            "all_volumes": all_volumes,
            "volumes": [{**volume, "keep_state": volume["name"] in keep}],
        },
        False,
    )
    assert sorted(volume for volume, run in runs.items() if run.exists()) == stay


def made(path, volume="log"):
    return _workspace.make(_workspace.layout(str(path), RUN, volume, ["QM1"]), RUN, "")["run_directory"]


@pytest.mark.parametrize("known, age_s, stays", [(False, 0, True), (False, 7200, False), (True, 0, False)])
def test_the_workspace_of_a_run_that_is_about_to_start_stays(options, tmp_path, known, age_s, stays):
    directory = made(tmp_path / "ws")
    if known:
        ended_run(options, finished=False)
    os.utime(directory, (time.time() - age_s, time.time() - age_s))
    found = cleanup.clean(options, False)
    assert os.path.isdir(directory) is stays
    assert (bool(found["kept"]), found["left"]) == (stays, [])
    assert not stays or found["kept"][0].endswith("-e cleanup_run_id=" + RUN)


HERE = {"machine_id": "1" * 32, "boot_id": "1" * 32, "hostname": "db07"}
RENAMED = {**HERE, "hostname": "old"}
WITHOUT_ID = {**RENAMED, "machine_id": ""}
RESTARTED = {**HERE, "boot_id": "0" * 32}
OTHER = {"machine_id": "0" * 32, "boot_id": "0" * 32, "hostname": "db08"}
CLONE = {**HERE, "hostname": "db08"}
CONTAINER = {**HERE, "machine_id": "0" * 32}


def created_by(monkeypatch, machine, function, *arguments):
    with monkeypatch.context() as patch:
        patch.setattr(_machine, "identity", lambda: dict(machine))
        return function(*arguments)


@pytest.fixture
def here(monkeypatch):
    """The machine of the test has the identity HERE."""
    monkeypatch.setattr(_machine, "identity", lambda: dict(HERE))


@pytest.fixture
def shared(here, monkeypatch):
    """The directories of the test are on a file system that hosts share."""
    monkeypatch.setattr(_mounts, "is_local", lambda filesystem_type: False)


@pytest.mark.usefixtures("shared")
@pytest.mark.parametrize("age_s", [0, 7200, 90 * DAY_S])
@pytest.mark.parametrize(
    ("machine", "known", "asked", "stays"),
    [
        (OTHER, False, {}, True),
        (OTHER, True, {}, True),  # this host has a state of the same run
        (CLONE, False, {}, True),
        (OTHER, False, {"other_machines": True}, True),
        (OTHER, False, {"run_id": RUN}, True),  # at the end of the run, on a host that did not create it
        (OTHER, True, {"run_id": RUN}, True),
        (OTHER, False, {"run_id": RUN, "other_machines": True}, False),
        (OTHER, False, {"run_id": "20261121T104935Z-000000", "other_machines": True}, True),
        (RESTARTED, False, {}, True),  # a clone, or this machine before it was restarted
        (RESTARTED, True, {}, False),
        (RESTARTED, False, {"run_id": RUN}, False),  # a power cut destroyed the state of the run
        (RESTARTED, False, {"run_id": RUN, "other_machines": True}, False),
        (HERE, True, {}, False),
        (HERE, False, {"run_id": RUN}, False),
    ],
)
def test_a_directory_of_another_machine_is_removed_only_if_its_run_is_named(
    options, tmp_path, monkeypatch, age_s, machine, known, asked, stays
):
    directory = created_by(monkeypatch, machine, made, tmp_path / "ws")
    if known:
        ended_run(options, finished=False)
    os.utime(directory, (time.time() - age_s, time.time() - age_s))
    asked = {"run_id": "", "other_machines": False, **asked}
    found = cleanup.clean({**options, **asked}, False)
    assert (os.path.isdir(directory), found["left"]) == (stays, [])
    named = stays and asked["run_id"] != "20261121T104935Z-000000"
    (text,) = found["kept"] or [""]
    assert text.endswith("-e cleanup_run_id=" + RUN) is named
    maker = "this host before it was restarted, or by a clone" if machine is RESTARTED else machine["hostname"]
    assert f"created by {maker}" in text or not named
    # Nothing on this host shows whether the run of another machine has ended.
    foreign = machine not in (HERE, RESTARTED) or (machine is RESTARTED and not known)
    warned = [f"{directory}: created by {maker}"] if foreign and not stays else []
    assert [warning[: len(each)] for warning, each in zip(found["warnings"], warned)] == warned
    assert len(found["warnings"]) == len(warned)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("machine", "stays"),
    [(RENAMED, False), (RESTARTED, False), (HERE, False), (OTHER, True), (CONTAINER, True), (WITHOUT_ID, True)],
)
def test_a_local_directory_is_this_machines_whatever_its_host_name_was(options, tmp_path, monkeypatch, machine, stays):
    directory = created_by(monkeypatch, machine, made, tmp_path / "ws")
    os.utime(directory, (0, 0))
    cleanup.clean(options, False)
    assert os.path.isdir(directory) is stays


@pytest.mark.usefixtures("here")
def test_a_renamed_machine_knows_its_runs(options, monkeypatch):
    run = created_by(monkeypatch, RENAMED, ended_run, options, True, 8 * DAY_S)
    assert run.exists() and [each.path for each in _runs.runs_below(options["state_dir"])] == [run.path]
    assert cleanup.clean(options, False)["removed"] == [run.path]


@pytest.mark.usefixtures("shared")
def test_a_process_here_proves_whose_run_it_is(options, monkeypatch):
    run = created_by(monkeypatch, OTHER, ended_run, options, False)
    assert _runs.runs_below(options["state_dir"]) == []
    command = ["sh", "-c", "echo; read line; exit", run.path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert [each.state() for each in _runs.runs_below(options["state_dir"])] == ["running"]
        process.stdin.close()
    assert _runs.runs_below(options["state_dir"]) == []


def test_a_directory_of_an_unknown_machine_is_that_of_another_one(options, tmp_path):
    directory = made(tmp_path / "ws")
    for machine in (None, "x", {}, {"hostname": "a\x1b; reboot"}):
        os.unlink(os.path.join(directory, _marks.MARK_NAME))
        _marks.write_mark(directory, {"role": "run", "run_id": RUN, "machine": machine})
        os.utime(directory, (0, 0))
        (text,) = cleanup.clean(options, False)["kept"]
        assert text.startswith(f"{directory}: created by an unknown host, where")


@pytest.mark.usefixtures("shared")
def test_the_state_of_another_machine_in_a_shared_directory_is_not_touched(options, monkeypatch):
    run = created_by(monkeypatch, OTHER, ended_run, options, True, 90 * DAY_S)
    for asked in ({"run_id": ""}, {"run_id": RUN, "all_volumes": True, "other_machines": True}):
        found = cleanup.clean({**options, **asked}, False)
        assert (os.path.isdir(run.path), found["removed"], found["left"]) == (True, [], [])
        (text,) = found["kept"]
        assert text.startswith(f"{run.path}: created by db08, which may still need it: clean up that host.")
    assert cleanup.clean({**options, "run_id": "20261121T104935Z-000000"}, False)["kept"] == []
    start.remove_old_runs(options["state_dir"], 0)
    assert os.path.isdir(run.path)


@pytest.mark.parametrize("asked", [{}, {"run_id": RUN}])
def test_a_directory_with_a_locked_file_is_in_use(options, tmp_path, asked):
    directory = made(tmp_path / "ws")
    ended_run(options, finished=False).write_start({"paths": [str(tmp_path / "ws")]})
    file = os.path.join(directory, "pair1-lock")
    with open(file, "w"):
        pass
    # The path is not an argument of the holder, because a holder on another host has no process here.
    hold = "import fcntl, sys; file = open(sys.stdin.readline()[:-1], 'r+'); fcntl.lockf(file, fcntl.LOCK_EX)"
    hold += "; print(flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with holder:
        holder.stdin.write(file + "\n")
        holder.stdin.flush()
        holder.stdout.readline()
        cleanup.clean({**options, **asked}, False)
        assert os.path.isfile(file)
        holder.stdin.close()
    cleanup.clean({**options, **asked}, False)
    assert not os.path.exists(directory)


def test_the_empty_directories_between_two_rounds_go(options, tmp_path):
    directory = made(tmp_path / "ws")
    run = ended_run(options, finished=True)
    found = cleanup.clean(options, False)
    assert (run.exists(), os.path.isdir(directory), found["left"]) == (True, False, [])


def test_what_a_run_noted_is_cleaned_up_although_nobody_names_it(options, tmp_path):
    run = ended_run(options, finished=False, volume="b")
    places = [tmp_path / name for name in ("elsewhere", "there")]
    run.write_start({"paths": [str(place) for place in places]})
    expected = [path for place in places for path in (made(place, "b"), str(place))]
    assert cleanup.clean({**options, "volumes": []}, False)["removed"] == [*expected, run.path]


def test_a_run_stays_known_until_its_directories_are_gone(options, tmp_path):
    directory = made(tmp_path / "ws")
    run = ended_run(options, finished=False)
    run.write_start({"paths": [str(tmp_path / "ws")]})
    foreign = os.path.join(directory, "foreign")
    os.mkdir(foreign)
    os.mkdir(os.path.join(foreign, "kept"))
    first = cleanup.clean(options, False)
    assert (run.exists(), first["removed"], len(first["left"])) == (True, [], 1)
    shutil.rmtree(foreign)
    assert cleanup.clean(options, False)["removed"] == [directory, str(tmp_path / "ws"), run.path]
    assert not run.exists()


def test_a_run_stays_known_while_its_file_system_is_not_mounted(options, tmp_path, monkeypatch):
    path = str(tmp_path / "ws")
    directory = made(path)
    run = ended_run(options, finished=False)
    root, own = ({"mount_point": point, "filesystem_type": "ext4"} for point in ("/", path))
    monkeypatch.setattr(_mounts, "mount_of", lambda path: own)
    run.write_start({"paths": [path]})
    os.rename(path, path + ".unmounted")
    monkeypatch.setattr(_mounts, "mount_of", lambda path: root)
    found = cleanup.clean(options, False)
    assert (run.exists(), found["removed"]) == (True, [])
    assert found["left"] == [
        f"{path} was on the mount point {path}: mount it and clean up again or, if it no longer exists, "
        f"remove {run.path}"
    ]
    os.rename(path + ".unmounted", path)
    monkeypatch.setattr(_mounts, "mount_of", lambda path: own)
    assert cleanup.clean(options, False)["removed"] == [directory, path, run.path]


def test_a_run_that_removed_its_directories_needs_no_mount(options, tmp_path):
    run = ended_run(options, finished=False)
    run.write_start({"paths": [str(tmp_path / "ws")], "mount_points": {str(tmp_path / "ws"): "/gone"}})
    with open(os.path.join(run.path, _runs.REMOVED_NAME), "w"):
        pass
    assert cleanup.clean(options, False)["removed"] == [run.path]


def test_a_directory_that_lost_its_mark_is_reported_each_time(options, tmp_path):
    directory = made(tmp_path / "ws")
    os.unlink(os.path.join(directory, _marks.MARK_NAME))
    run = ended_run(options, finished=False)
    run.write_start({"paths": [str(tmp_path / "ws")]})
    expected = [f"{directory} is in use, does not have the mark of this collection, or cannot be read"]
    assert [cleanup.clean(options, False)["left"] for _ in range(2)] == [expected, expected]


def test_tables_that_were_collected_do_not_keep_a_run_that_could_not_be_removed(options, tmp_path):
    directory = made(tmp_path / "ws")
    run = ended_run(options, finished=True)
    run.write_start({"paths": [str(tmp_path / "ws")]})
    foreign = os.path.join(directory, "foreign", "kept")
    os.makedirs(foreign)
    cleanup.clean({**options, "run_id": RUN}, False)
    assert run.exists()
    shutil.rmtree(os.path.dirname(foreign))
    found = cleanup.clean(options, False)
    assert (found["kept"], run.exists(), os.path.isdir(directory)) == ([], False, False)


@pytest.mark.parametrize("damaged", [[], 5, "x", {"/": 5}, {"/": ["x"]}, {"x": None}])
def test_damaged_mount_points_hinder_nothing(options, damaged):
    run = ended_run(options, finished=False)
    start = {"paths": [5, "x", "/a\0b"], "mount_points": damaged}
    _runs.write_aside(os.path.join(run.path, "start.json"), json.dumps(start))
    assert cleanup.clean({**options, "volumes": []}, False)["removed"] == [run.path]


def test_a_file_system_that_does_not_answer_costs_its_neighbour_nothing(options, tmp_path, monkeypatch):
    directories = {volume: made(tmp_path / volume, volume) for volume in ("log", "b")}
    volumes = [{**options["volumes"][0], "name": volume, "paths": [str(tmp_path / volume)]} for volume in directories]
    remove = _workspace.remove
    monkeypatch.setattr(
        _workspace,
        "remove",
        lambda path, *more: time.sleep(6 if path == str(tmp_path / "b") else 0) or remove(path, *more),
    )
    found = cleanup.clean({**options, "run_id": RUN, "volumes": volumes, "answer_s": 3}, False)
    assert not os.path.exists(directories["log"])
    assert {name: len(volume["left"]) for name, volume in found["volumes"].items()} == {"log": 0, "b": 1}
    assert found["left"] == found["volumes"]["b"]["left"]
    assert found["left"][0].startswith("%s: no answer within 3 s: its file system hangs" % (tmp_path / "b"))
    end = time.time() + 120
    while os.path.exists(directories["b"]) and time.time() < end:  # the removal finishes when the disk responds
        time.sleep(0.05)
    assert not os.path.exists(directories["b"])


def test_advice_to_copy_holds_nothing_that_a_shell_would_run(tmp_path):
    directory = made(tmp_path / "ws")
    mark = os.path.join(directory, _marks.MARK_NAME)
    with open(mark, "w") as stream:
        json.dump({"kind": _marks.MARK_KIND, "role": "run", "run_id": "x; reboot"}, stream)
    assert cleanup.run_id_of(directory) == "<run id>"


def test_check_mode_removes_nothing(options, tmp_path):
    directory = made(tmp_path / "ws")
    run = ended_run(options, finished=False)
    assert cleanup.clean(options, True)["removed"] == [directory, run.path]
    assert run.exists() and os.path.isdir(directory)
