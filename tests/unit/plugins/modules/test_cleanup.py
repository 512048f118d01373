# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a clean-up of everything leaves alone: results that wait, and runs that are about to start."""

from __future__ import annotations

import json
import os
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _marks, _runs, _workspace
from ansible_collections.mqops.logdisk.plugins.modules import cleanup

RUN = "20261121T104935Z-1f0c2a"
DAY_S = 86400


@pytest.fixture
def options(tmp_path):
    return {
        "run_id": "",
        "volume": "log",
        "state_dir": str(tmp_path / "state"),
        "path": str(tmp_path / "ws"),
        "keep_state": False,
        "uncollected_days": 7,
        "patience_s": 0.1,
    }


def ended_run(options, finished, age_s=0):
    """Make the state of a run without a process."""
    run = _runs.Run(options["state_dir"], RUN, "log")
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
    removed, left, kept = [], [], []
    assert cleanup.clean_state({**options, "uncollected_days": days}, False, removed, left, kept)
    assert run.exists() is stays
    assert (bool(kept), bool(removed), left) == (stays, not stays, [])


def test_a_named_run_goes_whatever_it_holds(options):
    run = ended_run(options, finished=True)
    assert cleanup.clean_state({**options, "run_id": RUN}, False, [], [], [])
    assert not run.exists()


def made(options):
    return _workspace.make(_workspace.layout(options["path"], RUN, "log", ["QM1"]), RUN, "")["run_directory"]


@pytest.mark.parametrize("known, age_s, stays", [(False, 0, True), (False, 7200, False), (True, 0, False)])
def test_the_workspace_of_a_run_that_is_about_to_start_stays(options, known, age_s, stays):
    directory = made(options)
    os.utime(directory, (time.time() - age_s, time.time() - age_s))
    removed, left, kept = [], [], []
    cleanup.clean_workspace(options, False, removed, left, kept, ["%s-log" % RUN] if known else [])
    assert os.path.isdir(directory) is stays
    assert (bool(kept), left) == (stays, [])
    assert not stays or kept[0].endswith("-e cleanup_run_id=" + RUN)


def test_advice_to_copy_holds_nothing_that_a_shell_would_run(options):
    directory = made(options)
    mark = os.path.join(directory, _marks.MARK_NAME)
    with open(mark, "w") as stream:
        json.dump({"kind": _marks.MARK_KIND, "role": "run", "run_id": "x; reboot"}, stream)
    assert cleanup.run_id_of(directory) == "<run id>"


def test_check_mode_removes_nothing(options):
    directory = made(options)
    run = ended_run(options, finished=False)
    removed = []
    cleanup.clean_state(options, True, removed, [], [])
    cleanup.clean_workspace(options, True, removed, [], [], _runs.names_below(options["state_dir"]))
    assert removed == [run.path, directory]
    assert run.exists() and os.path.isdir(directory)
