# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile can require power cuts. The verdict then depends on the power cuts in the history, and missing power cuts
are never a pass."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import Cut
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.standing import (
    CutResults,
    said_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certify, store
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.record import cut_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import gate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

PROFILE = {
    "name": "durable",
    "durability": {"cuts": 2},
    "qualifies": {"min_duration_s": 300},
    "limits": [{"metric": "latency_p99", "max": "2 ms"}],
}
MINUTES = itertools.count()


@pytest.fixture
def place(tmp_path):
    path = str(tmp_path / "history.sqlite")
    open_history(path, create=True).close()
    return path


def certification(base, place, profile=PROFILE, host="h", **keys):
    """Return a run that was measured, and judged after its power cuts were looked up."""
    directory = RunDirectory.create(
        str(base), fabricate.run_data([host], profile, history={"place": place, "required": True})
    )
    files = fabricate.tables(fabricate.sweep_rows(), over=())
    directory.records.write(fabricate.judged(directory.run, host, files, **keys), files)
    assert gate.compare(directory) == ""
    judge_run(directory, GATE)
    return directory


def cut_run(base, place, facts, outcomes, host="h"):
    """Store a run of power cuts of the volume with these facts in the history."""
    directory = RunDirectory.create(
        str(base), fabricate.run_data([host], kind="durability", history={"place": place, "required": True})
    )
    row = {"worker": "all", "lost_tail_writes": "63"}
    cuts = [
        Cut(number, outcome, outcome, rows=[row] if outcome == "lost" else []).as_dict()
        for number, outcome in enumerate(outcomes, 1)
    ]
    record = cut_record(
        directory.run,
        host,
        "log",
        facts,
        {},
        {},
        {"cut_count": len(cuts), "cuts": cuts, "tests": "It tests the guest."},
    )
    record.created_at = (
        f"2026-11-21T12:{next(MINUTES):02d}:00Z"  # the order of two results in the same second is unknown
    )
    directory.records.write(record)
    assert gate.remember(directory, [], []) == ""
    return directory


def facts_of(directory, host="h"):
    return dict(directory.records.find(host, "log").facts)


def verdict_of(directory):
    record = judged_record(directory, directory.records.folders()[0])
    return record.verdict, record.certified, (record.reasons or [""])[0]


def test_a_certification_without_the_cuts_that_its_profile_asks_for_is_inconclusive(tmp_path, place):
    verdict, certified, reason = verdict_of(certification(tmp_path, place))
    assert (verdict, certified) == ("inconclusive", False)
    assert reason == (
        "the profile requires 2 power cuts without a loss, and none is known for this volume: run "
        "playbooks/power_cut.yml with cut_count: 2"
    )


def test_enough_cuts_of_the_same_volume_certify_it_and_are_kept_with_its_certificate(tmp_path, place):
    facts = facts_of(certification(tmp_path, place))
    cuts = cut_run(tmp_path, place, facts, ["kept", "kept"])
    directory = certification(tmp_path, place)
    assert verdict_of(directory) == ("pass", True, "")
    ((certificate,), problems) = certify(directory)
    assert problems == [] and certificate.content["power_cuts"]["run_id"] == cuts.run["run_id"]
    store(place, [certificate])
    render(directory)
    text = (tmp_path / directory.run["run_id"] / "summary.txt").read_text()
    assert (
        f"Power cuts of {cuts.records.find('h', 'log').created_at[:10]} (run "
        f"{cuts.run['run_id']}): 2 cuts without a loss" in text
    )


@pytest.mark.parametrize(
    "changed",
    [{"filesystem_uuid": "another"}, {"device_ids": "another"}, {"machine_id": "another"}, {"mount_point": ""}],
)
def test_cuts_of_another_volume_do_not_count(tmp_path, place, changed):
    facts = facts_of(certification(tmp_path, place))
    cut_run(tmp_path, place, {**facts, **changed}, ["kept", "kept"])
    assert verdict_of(certification(tmp_path, place))[0] == "inconclusive"


def test_cuts_of_a_clone_under_another_name_do_not_count(tmp_path, place):
    facts = {**facts_of(certification(tmp_path, place)), "machine_id": "shared"}
    cut_run(tmp_path, place, facts, ["kept", "kept"], host="clone")
    assert verdict_of(certification(tmp_path, place, facts=facts))[0] == "inconclusive"
    assert verdict_of(certification(tmp_path, place, facts=facts, host="clone"))[0] == "pass"


def test_a_loss_fails_the_certification_and_the_report_says_what_follows(tmp_path, place):
    facts = facts_of(certification(tmp_path, place))
    cut_run(tmp_path, place, facts, ["kept", "lost"])
    directory = certification(tmp_path, place)
    verdict, certified, reason = verdict_of(directory)
    assert (
        (verdict, certified) == ("fail", False)
        and "lost acknowledged writes: cut 2: lost" in reason
        and reason.endswith("in at least 2 cuts")
    )
    render(directory)
    text = (tmp_path / directory.run["run_id"] / "summary.txt").read_text()
    assert "can be lost when the power fails" in text and "cannot write to its log" not in text


def test_a_profile_that_does_not_ask_notes_what_was_kept_and_fails_what_was_lost(tmp_path, place):
    profile = {key: value for key, value in PROFILE.items() if key != "durability"}
    facts = facts_of(certification(tmp_path, place))
    assert certification(tmp_path, place, profile).power_cuts.read("hosts/h/log") is None
    cut_run(tmp_path, place, facts, ["kept"])
    directory = certification(tmp_path, place, profile)
    assert verdict_of(directory) == ("pass", True, "")
    assert "1 cut without a loss" in judged_record(directory, "hosts/h/log").notes[-1]
    cut_run(tmp_path, place, facts, ["lost"])
    verdict, certified, reason = verdict_of(certification(tmp_path, place, profile))
    assert (verdict, certified) == (
        "fail",
        False,
    ) and "it counts until a later run of power cuts keeps everything in at least 1 cut" in reason


def test_what_nobody_looked_up_is_inconclusive(tmp_path, place):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["h"], PROFILE, history={"place": place}))
    files = fabricate.tables(fabricate.sweep_rows(), over=())
    directory.records.write(fabricate.judged(directory.run, "h", files), files)
    assert (
        verdict_of(directory)[2] == "power cuts were not looked up in the history, because the gate ended before that"
    )
    (tmp_path / directory.run["run_id"] / "hosts/h/log/power_cuts.json").write_text("{")
    assert verdict_of(directory)[::2] == ("inconclusive", "the results of power cuts in the history cannot be used")


def test_a_history_that_cannot_be_read_is_inconclusive(tmp_path, place):
    directory = certification(tmp_path, str(tmp_path / "none.sqlite"))
    record = judged_record(directory, directory.records.folders()[0])
    assert record.verdict == "inconclusive"
    assert any(text.startswith("power cuts could not be looked up: the history") for text in record.reasons)


def test_a_merged_run_has_the_verdict_of_its_runs(tmp_path, place):
    directory = certification(tmp_path, place)
    merged = merge_runs([directory.path], str(tmp_path))
    assert verdict_of(merged) == verdict_of(directory)


def result(verdict, cuts, number):
    run = {"run_id": f"r{number}", "claim": "claim.", "tests": "tests."}
    return made_up.cuts_of(made_up.entry("2026-11-01"), f"2026-11-0{number}", verdict, cuts, **run)


@pytest.mark.parametrize(
    ("history", "wanted", "verdict"),
    [
        ([("pass", 10)], 10, "pass"),
        ([("pass", 10), ("inconclusive", 10)], 10, "pass"),
        ([("pass", 10), ("pass", 1)], 10, "pass"),
        ([("pass", 9)], 10, "inconclusive"),
        ([("inconclusive", 10)], 10, "inconclusive"),
        ([("fail", 3), ("pass", 10)], 10, "pass"),
        ([("fail", 3), ("pass", 9)], 10, "fail"),
        ([("pass", 10), ("fail", 1)], 10, "fail"),
        ([], 10, "inconclusive"),
        ([("fail", 3), ("pass", 2)], 0, "fail"),
        ([("fail", 3), ("pass", 2), ("pass", 2)], 0, "fail"),
        ([("fail", 3), ("pass", 3)], 0, "pass"),
        ([("fail", 3), ("fail", 1), ("pass", 1)], 0, "fail"),
        ([("fail", 1), ("inconclusive", 5)], 0, "fail"),
    ],
)
def test_a_loss_or_else_the_newest_run_with_enough_cuts_decides(history, wanted, verdict):
    results = [result(*each, number) for number, each in enumerate(history, 1)]
    assert said_of(results, wanted, {})["verdict"] == verdict


@pytest.mark.parametrize(
    ("history", "day", "wanted", "verdict"),
    [
        ([("pass", 10)], "2026-11-21", 10, "pass"),  # its last day
        ([("pass", 10)], "2026-11-22", 10, "inconclusive"),
        ([("pass", 10)], "2026-11-22", 0, None),
        ([("pass", 10), ("pass", 2)], "2026-11-22", 2, "pass"),
        ([("pass", 10), ("pass", 2)], "2026-11-22", 10, "inconclusive"),
        ([("fail", 1)], "2027-11-22", 0, "fail"),
        ([("fail", 1), ("pass", 1)], "2027-11-22", 0, None),  # a run that cleared a loss continues to do so
    ],
)
def test_kept_cuts_expire_as_certificates_do_and_losses_never(history, day, wanted, verdict):
    results = [result(*each, number) for number, each in enumerate(history, 1)]
    said = said_of(results, wanted, {"policy": {"valid_days": 20}, "created_at": f"{day}T10:00:00Z"})
    assert (said and said["verdict"]) == verdict
    if verdict == "inconclusive" and len(results) == 1:
        assert "and those of 2026-11-01 (run r1) expired on 2026-11-21: run playbooks/power_cut.yml" in said["reason"]


def test_cuts_of_an_unknown_volume_count_only_if_they_lost_writes(tmp_path, place):
    cut_run(tmp_path, place, {}, ["kept", "kept"])
    assert verdict_of(certification(tmp_path, place))[0] == "inconclusive"
    cut_run(tmp_path, place, {}, ["lost"])
    assert verdict_of(certification(tmp_path, place))[0] == "fail"


def test_a_result_whose_volume_became_known_counts_once():
    known = result("fail", 1, 1)
    unknown = dataclasses.replace(known, sha256="a", identity=None, path="", data={**known.data, "disk_id": None})
    assert list(CutResults([unknown, known]).groups()) == [[known]]
    assert list(CutResults([unknown]).groups()) == [[unknown]]
