# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A queue manager may be left out on passive nodes, but not on all hosts of a run."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.unmeasured import file_skipped
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render, summary
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

REASON = "the log directory /mq/QM2 has no files"


@pytest.fixture
def judged(tmp_path):
    def run(queue_manager, *passive, **keys):
        """Judge a run in which db01 was measured for QM1, and a queue manager was skipped on each passive node."""
        directory = fabricate.run_directory(
            tmp_path, {"db01": fabricate.tables()}, expected=["db01", *passive], gate=False, **keys
        )
        for host in passive:
            directory.volumes.note(host, [{"name": queue_manager, "skipped": True}])
            file_skipped(directory, host, queue_manager, "discovery", REASON, queue_manager)
        return directory, judge_run(directory, GATE)

    return run


def test_a_passive_node_does_not_stop_the_gate_and_is_not_certified(judged):
    directory, verdict = judged("QM1", "db02", "db03")
    assert (verdict["verdict"], verdict["certified"], verdict["gate_failed"], verdict["fleet_problems"]) == (
        "warn",
        False,
        False,
        [],
    )
    assert {
        (host["host"], host["verdict"], host["certified"]) for host in verdict["hosts"] if host["volume"] == "QM1"
    } == {
        ("db02", "warn", False),
        ("db03", "warn", False),
    }
    render(directory)
    said = summary(directory)
    assert (
        f"discovery: {REASON}" in said
        and "not certified for this queue manager" in said
        and "db02/QM1 passed" not in said
    )


def test_a_policy_may_stop_at_passive_nodes(judged):
    for fail_on in (["warn"], ["unqualified"]):
        dummy, verdict = judged("QM1", "db02", policy={"fail_on": fail_on, "report_only": False})
        assert verdict["gate_failed"]


def test_a_queue_manager_that_no_host_was_tested_for_stops_the_gate(judged):
    dummy, verdict = judged("QM2", *(f"db{number:02}" for number in range(2, 9)))
    assert verdict["gate_failed"]
    assert verdict["fleet_problems"] == [
        "QM2 was left out on db02, db03, db04, db05, db06 and 2 more, because its log is not there, and no other host "
        "of this run was tested for it"
    ]


def test_a_run_of_passive_nodes_alone_is_no_success(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["db02"]))
    directory.volumes.note("db02", [{"name": "QM1", "skipped": True}])
    file_skipped(directory, "db02", "QM1", "discovery", REASON, "QM1")
    assert judge_run(directory, GATE)["gate_failed"]


def test_only_what_was_left_out_is_a_warning():
    record = fabricate.failed("db01", verdict="warn", stage="discovery", reason=REASON)
    assert record.verdict == "error"
    record.error["skipped"] = "QM1"
    assert judge_record(record, None, None, fabricate.TODAY)["verdict"] == "warn"
