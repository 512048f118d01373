# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which record of a volume a merged run contains: what decides is not replaced by what was only tried."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import merged_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SILVER, LOOK = "mq-log-silver", "look"
CERTIFIED = (SILVER, "pass", True)
FAILED = (SILVER, "fail", False)
OPEN = (SILVER, "inconclusive", False)
SHORT = (SILVER, "pass", False)
UNMEASURED = (SILVER, "error", False)
LOOKED = (LOOK, "pass", False)
LOOKED_BADLY = (LOOK, "fail", False)
LOOKED_IN_VAIN = (LOOK, "error", False)


def run(base, day, profile, verdict, certified):
    """Return a run of db01 with one record."""
    moment = f"2026-11-{day:02}T10:00:00Z"
    directory = RunDirectory.create(
        str(base),
        {
            **fabricate.run_data(["db01"], profile),
            "created_at": moment,
            "run_id": f"run-{day}",
            "parameters": {"day": day},
        },
    )
    files = fabricate.tables()
    record = fabricate.judged(directory.run, "db01", files)
    directory.records.write(
        replace(record, verdict=verdict, certified=certified, created_at=moment, reasons=[], findings=[]), files
    )
    judge_run(directory, GATE)
    return directory.path


@pytest.mark.parametrize("by_age", [True, False])
@pytest.mark.parametrize(
    ("runs", "chosen"),
    [
        # A quick look or an unqualified run does not replace a verdict.
        ([FAILED, LOOKED], 1),
        ([FAILED, SHORT], 1),
        ([CERTIFIED, LOOKED], 1),
        ([CERTIFIED, SHORT], 1),
        ([OPEN, LOOKED], 1),
        ([OPEN, SHORT], 1),
        ([UNMEASURED, LOOKED], 1),
        ([SHORT, LOOKED], 1),
        ([CERTIFIED, LOOKED_IN_VAIN], 1),
        ([FAILED, LOOKED, SHORT, LOOKED], 1),
        # A run that measured nothing does not hide what an earlier run found.
        ([FAILED, UNMEASURED], 1),
        ([OPEN, UNMEASURED, SHORT], 1),
        # What decides replaces everything.
        ([FAILED, CERTIFIED], 2),
        ([CERTIFIED, FAILED], 2),
        ([OPEN, CERTIFIED], 2),
        ([FAILED, FAILED], 2),
        ([FAILED, LOOKED, CERTIFIED], 3),
        ([LOOKED, CERTIFIED], 2),
        ([CERTIFIED, LOOKED_BADLY], 2),
        # What went wrong in a run that was to certify is not hidden by an earlier certificate.
        ([CERTIFIED, OPEN], 2),
        ([CERTIFIED, UNMEASURED], 2),
        ([FAILED, OPEN], 1),
        # A host that could not be measured is measured again.
        ([UNMEASURED, SHORT], 2),
        ([UNMEASURED, CERTIFIED], 2),
        ([LOOKED, LOOKED], 2),
        ([LOOKED_IN_VAIN, LOOKED], 2),
        ([LOOKED, SHORT], 2),
        ([SHORT, SHORT], 2),
    ],
)
def test_what_was_only_tried_does_not_replace_what_decides(tmp_path, runs, chosen, by_age):
    paths = [run(tmp_path, day, *each) for day, each in enumerate(runs, start=1)]
    merged = merge_runs(paths if by_age else reversed(paths), str(tmp_path))
    (folder,) = merged.records.folders()
    record = merged.records.read(folder)
    assert record.run_id == f"run-{chosen}"
    profile, verdict, certified = runs[chosen - 1]
    judged = judge_run(merged, GATE)
    assert (judged["verdict"], judged["certified"]) == (verdict, certified)
    assert judged["gate_failed"] is (verdict != "pass")
    # The host keeps the settings of the run that decides.
    assert (merged.run["profile"]["name"], merged.run["parameters"]) == (profile, {"day": chosen})
    assert os.path.basename(merged.path) not in [os.path.basename(path) for path in paths]


def test_each_record_is_judged_once_and_once_more_only_if_it_is_chosen(tmp_path, monkeypatch):
    paths = [run(tmp_path / str(day), day, *result) for day, result in enumerate((FAILED, CERTIFIED), start=1)]
    judged_record, judged = merged_run.judged_record, []
    monkeypatch.setattr(
        merged_run, "judged_record", lambda source, folder: judged.append(folder) or judged_record(source, folder)
    )
    merge_runs(paths, str(tmp_path / "merged"))
    assert len(judged) == 3
