# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Messages about a tester that has not ended."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _runs
from ansible_collections.mqops.logdisk.plugins.modules import collect

AGAIN = "collect again when it has ended, or end it first with playbooks/stop.yml"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run whose tester appears to be running."""
    run = _runs.Run(str(tmp_path / "state"), "run1", "log")
    run.create()
    monkeypatch.setattr(_runs.Run, "processes", lambda run: [1])
    return run


@pytest.mark.parametrize(
    ("progress", "late_s", "said"),
    [
        (
            "state=measuring percent=50.0 elapsed_s=21 remaining_s=20 writes=3\n",
            -60,
            f"still measuring, 20 s left: {AGAIN}",
        ),
        ("state=measuring remaining_s=20x", -60, f"still measuring: {AGAIN}"),
        ("", -60, f"still measuring: {AGAIN}"),
        ("", None, f"still measuring: {AGAIN}"),
        ("state=measuring remaining_s=20\n", 60, "the tester is still running past its deadline and has no tables"),
    ],
)
def test_a_tester_that_measures_is_not_said_to_be_late(run, progress, late_s, said):
    Path(run.progress_path).write_text(progress)
    run.write_start({} if late_s is None else {"deadline_epoch_s": time.time() - late_s})
    found = collect.collect({"state_dir": run.state_dir, "run_id": "run1"}, "log")
    assert found == {"state": "running", "error": said}


@pytest.mark.parametrize(
    ("status", "message", "stage", "said"),
    [
        (
            2,
            "logdisk: --startAt was 10.400 s ago, and the planned end of the run has passed as well; name a later one",
            "start",
            "the tester began 10.400 s late, after the planned end of its measurement",
        ),
        (137, "", "ended", "the tester was killed by signal 9 before it wrote its tables"),
        (None, "", "ended", "the tester disappeared before it wrote its tables"),
        (2, "logdisk: --mlock: cannot lock memory", None, "logdisk: --mlock: cannot lock memory"),
    ],
)
def test_why_a_tester_ended_without_tables(run, monkeypatch, status, message, stage, said):
    monkeypatch.setattr(_runs.Run, "processes", lambda run: [])
    Path(run.path, "stderr").write_text(message)
    if status is not None:
        Path(run.path, "exit").write_text(f"{status}\n")
    found = collect.collect({"state_dir": run.state_dir, "run_id": "run1"}, "log")
    assert (found["state"], found.get("stage"), found["error"]) == ("dead", stage, said)


def test_whoever_follows_a_run_gets_no_tables_before_all_volumes_have_ended(run):
    """The volume that is followed may have ended long before the others."""
    other = _runs.Run(run.state_dir, run.run_id, "other")
    other.create()
    Path(other.tables_path, "run.csv").write_text("key,value\n")
    Path(run.progress_path).write_text("state=measuring percent=50.0\n")
    parameters = {"state_dir": run.state_dir, "run_id": run.run_id, "volumes": ["log", "other"]}

    def asked(once_ended):
        return collect.answers({**parameters, "once_ended": once_ended})["volumes"]

    assert asked(True) == {
        "log": {"state": "running", "progress": {"state": "measuring", "percent": "50.0"}},
        "other": {"state": "finished", "progress": {}},
    }
    assert list(asked(False)["other"]["tables"]) == ["run.csv"]
    Path(run.tables_path, "run.csv").write_text("key,value\n")
    assert all(list(volume["tables"]) == ["run.csv"] for volume in asked(True).values())
    # The page of the run shows the finished steps of this volume until the others have ended, too.
    assert asked(True)["log"]["progress"] == {"state": "measuring", "percent": "50.0"}


def test_the_tables_come_with_whether_anything_else_is_left(run):
    Path(run.tables_path, "run.csv").write_text("key,value\n")
    parameters = {"state_dir": run.state_dir, "run_id": run.run_id}
    assert collect.collect(parameters, "log")["removed"] is False
    Path(run.path, _runs.REMOVED_NAME).touch()
    assert collect.collect(parameters, "log")["removed"] is True
