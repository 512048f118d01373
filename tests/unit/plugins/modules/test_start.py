# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What remains on a host after a tester has ended, and how a later round replaces the previous one."""

from __future__ import annotations

import os
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks, _queue_managers, _runs, _workspace
from ansible_collections.mqops.logdisk.plugins.modules import start

RUN = "20261121T104935Z-1f0c2a"
TESTER = """#!/bin/sh
for argument; do case $argument in --tables=*) tables=${argument#*=} ;; --sleep=*) seconds=${argument#*=} ;; esac; done
echo complete,1 >"$tables/run.csv"
sleep "${seconds:-0}"
"""


@pytest.fixture
def options(tmp_path):
    """The parameters of the module for a tester that writes its tables immediately, but may take longer to end."""
    tester = tmp_path / "logdisk"
    tester.write_text(TESTER)
    tester.chmod(0o755)
    directory = tmp_path / "ws" / f"logdisk-{RUN}-log"
    (directory / "QM1").mkdir(parents=True)
    _marks.write_mark(str(directory), {"run_id": RUN, "role": "run"})
    volume = {
        "name": "log",
        "arguments": [],
        "directories": [str(directory / "QM1")],
        "run_directories": [str(directory)],
        "paths": [str(tmp_path / "ws")],
        "made_paths": [],
        "keep_directories": False,
        "deadline_epoch_s": time.time() + 60,
        "order": {},
    }
    return {
        "run_id": RUN,
        "state_dir": str(tmp_path / "state"),
        "tester": str(tester),
        "volumes": [volume],
        "nice": 0,
        "ionice": "",
        "keep_days": 7,
        "round": 1,
        "workspace": {},
    }


def started(options, *arguments, **changes):
    """Start a tester, and return the module's answer for the volume."""
    (volume,) = options["volumes"]
    return start.start_all({**options, **changes, "volumes": [{**volume, "arguments": list(arguments)}]})["log"][
        "error"
    ]


def ended(options):
    """Wait for the supervisor to end, and return the state of the run."""
    run = _runs.Run(options["state_dir"], RUN, "log")
    until = time.monotonic() + 120
    while (run.processes() or run.exit_status() is None) and time.monotonic() < until:
        time.sleep(0.02)
    assert not run.processes() and run.finished()
    return run


@pytest.mark.parametrize("keep", [False, True])
def test_the_directories_are_kept_only_for_a_later_round(options, tmp_path, keep):
    options["volumes"][0]["keep_directories"] = keep
    assert started(options) == ""
    run = ended(options)
    assert (tmp_path / "ws" / f"logdisk-{RUN}-log" / "QM1").is_dir() is keep
    assert run.removed() is not keep


def test_the_directories_of_each_path_are_removed_and_the_paths_that_were_made(options, tmp_path):
    kept, made = [str(tmp_path / name) for name in ("mount 1", "mount *")]
    runs = [
        _workspace.make(_workspace.layout(path, RUN, "log", [], ["a", "b"]), RUN, "")["run_directory"]
        for path in (kept, made)
    ]
    options["volumes"][0].update(paths=[kept, made], run_directories=runs, made_paths=[made])
    assert started(options) == ""
    run = ended(options)
    assert os.listdir(kept) == [_marks.MARK_NAME] and not os.path.exists(made)
    assert not run.removed()
    assert (tmp_path / "ws" / f"logdisk-{RUN}-log" / "QM1").is_dir()


def test_a_file_system_that_is_missing_does_not_show_that_nothing_is_left(options, tmp_path):
    options["volumes"][0]["run_directories"].append(str(tmp_path / "unmounted" / "ws" / f"logdisk-{RUN}-log"))
    assert started(options) == ""
    assert not ended(options).removed()


def test_a_directory_with_a_file_of_somebody_else_is_left(options, tmp_path):
    directory = tmp_path / "ws" / f"logdisk-{RUN}-log"
    (directory / "QM1" / "theirs").write_text("")
    assert started(options) == ""
    assert not ended(options).removed() and (directory / "QM1" / "theirs").exists()


@pytest.fixture
def uncreated(options, tmp_path, monkeypatch):
    """The parameters for a volume whose directories are created with the start, on a path that does not exist yet."""
    monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
    monkeypatch.setattr(_queue_managers, "open_log_file_systems", set)
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)
    path = str(tmp_path / "new")
    run = os.path.join(path, f"logdisk-{RUN}-log")
    options["volumes"][0].update(paths=[path], run_directories=[run], directories=[os.path.join(run, "QM1")])
    part = {"path": path, "places": [], "footprint_bytes": 1 << 20, "direct_sizes": []}
    volume = {"name": "log", "queue_managers": ["QM1"], "expect_mount": "", "parts": [part], "devices": []}
    asked = {"allow": [], "mqs_ini": str(tmp_path / "mqs.ini"), "owner": "", "may_ask_for_privilege": True}
    reserve = {"reserve_bytes": 0, "reserve_share": None, "settings": []}
    options["workspace"] = {**asked, **reserve, "run_id": RUN, "volumes": [volume], "patience_s": 10}
    return options


def test_directories_that_are_created_with_the_start_are_there_for_the_tester_and_removed_after_it(uncreated):
    directory = uncreated["volumes"][0]["directories"][0]
    tester = uncreated["tester"]
    with open(tester, "a") as file:
        file.write(f'[ -d "{directory}" ] || exit 9\n')
    assert started(uncreated) == ""
    assert ended(uncreated).exit_status() == 0
    assert not os.path.exists(uncreated["volumes"][0]["paths"][0])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"expect_mount": "/elsewhere"}, "refused: "),
        ({"parts": [{"path": "/proc/none/ws", "places": [], "footprint_bytes": 0, "direct_sizes": []}]}, ""),
    ],
)
def test_a_workspace_is_inspected_again_before_it_is_created(uncreated, changes, reason):
    uncreated["workspace"]["volumes"][0].update(changes)
    answer = start.start_all(uncreated)["log"]
    assert answer["stage"] == "workspace" and answer["error"].startswith(reason)
    assert not os.path.exists(uncreated["volumes"][0]["paths"][0])
    assert not _runs.Run(uncreated["state_dir"], RUN, "log").processes()


def test_a_workspace_that_takes_privilege_by_now_is_not_created(uncreated, monkeypatch):
    monkeypatch.setattr(_workspace.Preflight, "needs_privilege", lambda self: True)
    answer = start.start_all(uncreated)["log"]
    assert answer == {
        "error": "the permissions of its directory changed while this run began: certify it again",
        "stage": "workspace",
    }


def test_a_test_of_devices_alone_names_no_directory(options):
    run = _runs.Run(options["state_dir"], RUN, "log")
    (volume,) = options["volumes"]
    assert "--dir=/a,/b+/c" in start.command(options, {**volume, "directories": ["/a", "/b+/c"]}, run)
    assert not any(word.startswith("--dir") for word in start.command(options, {**volume, "directories": []}, run))


def test_a_later_round_replaces_the_state_of_the_one_before_when_it_has_ended(options):
    options["volumes"][0]["keep_directories"] = True
    assert started(options, "--sleep=0.5") == ""
    time.sleep(0.1)
    assert started(options, round=2) == ""
    assert ended(options).read_start()["round"] == 2


@pytest.mark.parametrize(("number", "finished"), [(3, True), (2, False)])
def test_a_state_that_is_not_that_of_the_round_before_is_not_replaced(options, number, finished):
    options["volumes"][0]["keep_directories"] = True
    assert started(options) == ""
    run = ended(options)
    if not finished:
        run.remove()
        run.create()
    assert f"the state of this run is not that of its round {number - 1}" in started(options, round=number)


def test_a_first_round_never_replaces_anything(options):
    options["volumes"][0]["keep_directories"] = True
    assert started(options) == ""
    ended(options)
    assert started(options) == _runs.MEASURES_ALREADY
