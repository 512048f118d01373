# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An observation is judged only if its profile requests this. It never certifies, and is kept separate from tests."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.observation.record import observed
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

SEEN = {"source": "prometheus", "problems": ["The endpoint did not answer once."]}


def tables(latency_ns=200_000, **keys):
    return fabricate.tables(
        fabricate.step_rows(1, 12288, latency_ns=latency_ns),
        program="observe",
        source="prometheus",
        queue_manager="QM1",
        **keys,
    )


def record(profile="mq-log-silver", latency_ns=200_000, seen=SEEN, **keys):
    run = {**fabricate.run_data(["h"], profile, kind="observation"), "run_id": "r"}
    return observed(
        run,
        "h",
        "log",
        {"mount_point": "/var/mqm"},
        {"path": "/var/mqm/log", "queue_managers": ["QM1"]},
        tables(latency_ns, **keys),
        seen,
        fabricate.TODAY,
    )


def run_of(tmp_path, *records, expected=("h",), profile="mq-log-silver"):
    directory = RunDirectory.create(
        str(tmp_path), fabricate.run_data(expected, profile, kind="observation", history={"place": "x"})
    )
    for each in records:
        directory.records.write(each, tables())
    return directory


def test_without_the_key_an_observation_has_figures_and_no_verdict(tmp_path):
    made = record()
    assert (made.kind, made.verdict, made.certified, made.judgements, made.reasons) == (
        "observation",
        None,
        False,
        [],
        [],
    )
    assert made.notes == SEEN["problems"]
    verdict = judge_run(run_of(tmp_path, made), GATE)
    assert (verdict["verdict"], verdict["gate_failed"], verdict["certified"], verdict["hosts"]) == (
        None,
        False,
        False,
        [],
    )


@pytest.mark.parametrize("latency_ns, verdict", [(200_000, "pass"), (2_500_000, "fail")])
def test_a_profile_that_asks_for_it_judges_an_observation_that_still_never_certifies(latency_ns, verdict):
    made = record("mq-live", latency_ns)
    assert (made.verdict, made.certified, made.qualification) == (verdict, False, "")


ENDED = {"exit_status": 4, "exit_reason": "interrupted", "exit_message": "process 7 ended"}


def test_an_observation_that_ended_early_says_so_and_does_not_pass():
    sentence = "the observation ended early: process 7 ended"
    made = record(seen={**SEEN, "ending": "process 7 ended"}, **ENDED)
    assert (made.verdict, made.notes) == (None, [sentence, *SEEN["problems"]])
    made = record("mq-live", seen={"ending": "process 7 ended"}, **ENDED)
    assert (made.verdict, made.reasons[0], made.notes) == ("inconclusive", sentence, [])


def test_an_observation_whose_source_cannot_tell_does_not_pass():
    """The observation was complete, and reports why it has no figures."""
    made = record("mq-live", exit_status=4, exit_reason="no_figures", exit_message="About 7 writes came another way.")
    assert (made.verdict, made.reasons[0]) == (
        "inconclusive",
        "the observation has no figures for the log: About 7 writes came another way.",
    )


def test_an_observed_host_does_not_hide_a_missing_one(tmp_path):
    verdict = judge_run(run_of(tmp_path, record(), expected=("h", "gone")), GATE)
    assert (verdict["verdict"], verdict["gate_failed"], [host["host"] for host in verdict["hosts"]]) == (
        "missing",
        True,
        ["gone"],
    )


def test_what_an_observer_left_behind_stops_the_gate(tmp_path):
    directory = run_of(tmp_path, record())
    directory.records.note_leftovers("h", "log", ["a process"])
    assert judge_run(directory, GATE)["fleet_problems"] == ["h: left behind on the host: a process"]


def test_unusable_tables_are_an_error():
    run = {**fabricate.run_data(["h"], kind="observation"), "run_id": "r"}
    assert observed(run, "h", "log", {}, {}, {"run.csv": b""}, {}, fabricate.TODAY).verdict == "error"


def test_an_observation_has_no_certificate_and_is_not_merged(tmp_path):
    directory = run_of(tmp_path, record("mq-live"), profile="mq-live")
    judge_run(directory, GATE)
    assert certify(directory) == ([], [])
    test = fabricate.run_directory(tmp_path, {"h": fabricate.tables()})
    with pytest.raises(
        RunDirectoryError, match="observed live queue managers and tested no storage; it cannot be merged"
    ):
        merge_runs([directory.path, test.path], str(tmp_path))


def published(slowest_ns, **limits):
    """Return the reasons by metric for an observation that only has MQ's own statistics, judged by mq-live."""
    without = dict.fromkeys(
        [column for column in fabricate.RESULT_COLUMNS if column.startswith("latency_") and column != "latency_mean_ns"]
    )
    run = {**fabricate.run_data(["h"], "mq-live", kind="observation"), "run_id": "r"}
    files = fabricate.tables(fabricate.step_rows(1, 12288, **without), program="observe", operations_are_estimated="1")
    files.pop("intervals.csv")
    seen = {"facts": {"slowest_write_since_restart_ns": slowest_ns} if slowest_ns else {}}
    made = observed(run, "h", "log", {}, {"path": "/l", "queue_managers": ["QM1"]}, files, seen, fabricate.TODAY)
    judgements = {(each["metric"], each["hard"]): (each["verdict"], each["reason"]) for each in made.judgements}
    assert made.verdict != "error", made.reasons
    return made.verdict, judgements


def test_limits_that_averages_cannot_feed_are_inconclusive_and_say_so():
    verdict, judgements = published(None)
    assert verdict == "inconclusive"
    assert judgements["latency_mean", False][0] == "pass"
    assert judgements["latency_p99", False][0] == "warn"  # as mq-live requires
    assert (
        "MQ publishes rolling averages and no percentiles: observe with observe_source: bpftrace"
        in judgements["latency_p99", False][1]
    )
    assert "MQ publishes rolling averages and not this figure" in judgements["latency_max", True][1]


def test_the_slowest_write_since_the_start_decides_a_limit_on_the_slowest_one_if_it_is_short_enough():
    verdict, judgements = published(150_000_000)
    assert verdict == "warn"
    assert judgements["latency_max", False][0] == judgements["latency_max", True][0] == "pass"
    assert judgements["latency_max", False][1].startswith("latency_max 150 ms <= 200 ms at 12 KiB, queue manager QM1")
    dummy, judgements = published(900_000_000)
    assert judgements["latency_max", False][0] == "warn"
    assert (
        "the slowest write since the queue manager started took 900 ms, and MQ does not report"
        in judgements["latency_max", False][1]
    )
    assert judgements["latency_max", True][0] == "pass"


def test_the_gate_goes_on_if_a_certificate_cannot_be_noted(tmp_path, monkeypatch):
    directory = run_of(tmp_path, record())
    monkeypatch.setattr(
        directory.records, "add_kind_data", lambda *_: (_ for _ in ()).throw(RunDirectoryError("no space"))
    )
    assert gate.compare(directory) == "the hosts were not compared with their certificates: no space"
