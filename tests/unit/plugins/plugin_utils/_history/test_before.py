# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The history of a volume before a run is judged: wrong data that is not cleared, and volumes that the previous run
measured instead."""

from __future__ import annotations

import dataclasses
import datetime
import itertools
import os

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record, judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

DAYS = itertools.count(1)


@pytest.fixture
def run(tmp_path):
    """Make a run and judge it as the gate does; return its directory."""
    place = str(tmp_path / "history.sqlite")
    open_history(place, create=True).close()

    def make(mount_point="/var/mqm/log", volumes=("log",), host="db07", expect_mount="", history=None, **keys):
        day = (datetime.date(2025, 12, 31) + datetime.timedelta(days=next(DAYS))).isoformat()
        files = fabricate.tables(over=[], **keys)
        run = {
            **fabricate.run_data([host]),
            "created_at": f"{day}T10:00:00Z",
            "run_id": f"run-{day}",
            "history": history or {"place": place, "required": True},
        }
        directory = RunDirectory.create(str(tmp_path / "reports"), run)
        directory.volumes.write(host, [{"name": name} for name in volumes])
        for volume in volumes:
            record = fabricate.judged(run, host, files, volume=volume, created_at=f"{day}T11:00:00Z")
            facts = {
                **record.facts,
                "machine_id": "m",
                "mount_point": mount_point if volume == "log" else f"/{volume}",
                "boot_id": "b",
            }
            workspace = {**record.workspace, "expect_mount": expect_mount}
            directory.records.write(dataclasses.replace(record, facts=facts, workspace=workspace), files)
        for _time in range(2):  # as if the run were collected again
            assert gate.compare(directory) == ""
            judge_run(directory, GATE)
        unstored = gate.remember(directory, *gate.make_certificates(directory))
        assert bool(unstored) is (history is not None)
        return directory

    return make


CORRUPT = {
    "exit_status": 3,
    "exit_reason": "I/O error",
    "error_call": "pread",
    "error_errno_name": "CORRUPT",
    "option_verify": 1,
}


def verdict(directory):
    record = judged_record(directory, directory.records.folders()[0])
    return record.verdict, record.certified


def test_a_run_that_reads_nothing_back_does_not_pass_a_volume_that_read_back_wrong_data(run):
    assert verdict(run(**CORRUPT)) == ("fail", False)
    later = run()
    assert verdict(later) == ("inconclusive", False)
    (reason,) = judged_record(later, "hosts/db07/log").reasons
    assert reason.startswith("it read back wrong data on 2026-01-") and reason.endswith(
        "only a run with sweep_verify: true that passes clears that"
    )
    assert verdict(run(mount_point="/other", expect_mount="/other")) == ("pass", True)
    assert verdict(run(option_verify=1, expect_mount="/var/mqm/log")) == ("pass", True)
    assert verdict(run()) == ("pass", True)


def notes(directory):
    return [note for record in list(judged_records(directory)) for note in record.notes if "history_revoke" in note]


def test_a_run_says_what_the_last_one_measured_and_it_did_not(run):
    assert notes(run()) == notes(run()) == []
    moved = run(mount_point="/")
    last = f"run-2026-01-{int(moved.run['run_id'][-2:]) - 1:02d}"
    take_out = (
        "if that is no longer needed, withdraw it with playbooks/history.yml -e "
        "history_revoke=db07:/var/mqm/log -e history_reason=..."
    )
    assert notes(moved) == [
        f"It measured log at /, and not at /var/mqm/log, as the run {last} did. That is another volume, and everything "
        f"known about /var/mqm/log remains valid; {take_out}"
    ]
    assert len(notes(run(mount_point="/", volumes=("log", "data"), expect_mount="/"))) == 1
    (note,) = notes(run(mount_point="/"))
    assert note.startswith("It did not measure db07/data, which the run ") and "history_revoke=db07/data:/data" in note


def test_another_mount_point_is_certified_only_if_it_is_named(run):
    """If a file system is not mounted, the test is on the disk below its mount point, again and again."""
    for keys in ({"exit_status": 4, "exit_reason": "interrupted"}, {}):
        run(**keys)
        for _time in range(2):
            moved = run(mount_point="/")
            assert verdict(moved) == ("inconclusive", False)
            (reason,) = judged_record(moved, "hosts/db07/log").reasons
            assert reason.startswith("it measured log at /, and not at /var/mqm/log, as the run run-2026-01-")
            assert reason.endswith("or, if it has moved, set workspace_expect_mount: /")
    with open_history(moved.run["history"]["place"]) as history:
        assert [each.path for each in history.plans()["db07"]] == ["/var/mqm/log"]
    assert verdict(run()) == ("pass", True)
    # A mount point that was discovered or is another one does not name the new one.
    assert verdict(run(mount_point="/", expect_mount="/var/mqm/log")) == ("inconclusive", False)
    assert verdict(run(mount_point="/", expect_mount="/mnt, /.")) == ("pass", True)
    assert verdict(run(mount_point="/")) == ("pass", True)
    assert verdict(run()) == ("inconclusive", False)


@pytest.mark.parametrize(("required", "expected"), [(True, ("inconclusive", False)), (False, ("pass", True))])
def test_a_run_does_not_pass_if_the_history_that_it_needs_cannot_be_read(run, required, expected):
    first = run()
    place = first.run["history"]["place"]
    os.rename(place, place + ".away")
    with open(place, "w") as stream:
        stream.write("not a database\n" * 100)
    moved = run(mount_point="/", history={"place": place, "required": required})
    assert verdict(moved) == expected
    if required:
        (reason,) = judged_record(moved, "hosts/db07/log").reasons
        assert reason.startswith("the history could not be read, so it is not known")
    os.rename(place + ".away", place)
    gate.compare(moved)
    (reason,) = judged_record(moved, "hosts/db07/log").reasons
    assert reason.startswith("it measured log at /")


def test_a_volume_that_was_withdrawn_may_be_certified_elsewhere(run):
    first = run()
    with open_history(first.run["history"]["place"]) as history:
        history.take_out("db07", "/var/mqm/log", "replaced", "test")
    assert verdict(run(mount_point="/")) == ("pass", True)


def test_runs_that_measured_one_name_at_two_mount_points_are_not_merged(run, tmp_path):
    first, again, moved = run(), run(), run(mount_point="/")
    assert merge_runs([first.path, again.path], str(tmp_path))
    with pytest.raises(
        RunDirectoryError,
        match=r"db07 was measured at /var/mqm/log by the run .* and at / by the run .* two volumes with one name",
    ):
        merge_runs([first.path, moved.path], str(tmp_path))


def test_the_previous_run_of_a_volume_is_stored_with_a_run(run):
    first = run()
    second = run()
    third = run()
    folder = third.records.folders()[0]
    assert first.previous.read(folder) is None
    assert second.previous.read(folder)["run_id"] == first.run["run_id"]
    known = third.previous.read(folder)
    assert (known["run_id"], known["verdict"]) == (second.run["run_id"], "pass")
    assert known["judged_at"] == second.records.read(folder).created_at
    assert [row["block_size_bytes"] for row in known["rows"]] == list(fabricate.BLOCK_SIZES)
    assert known["rows"][0]["latency_p50_ns"] and known["rows"][0]["latency_max_ns"]


def test_a_volume_at_another_mount_point_has_no_previous_run(run):
    run()
    moved = run(mount_point="/elsewhere")
    assert moved.previous.read(moved.records.folders()[0]) is None


def test_what_the_history_said_about_a_record_does_not_outlive_it(run):
    run()
    second = run()
    folder = second.records.folders()[0]
    record = second.records.read(folder)
    second.records.write(record)
    assert second.previous.read(folder) is None
