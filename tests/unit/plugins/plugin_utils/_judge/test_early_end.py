# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A sweep that ended early: the limits that end it, and what it still proves."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.early_end import (
    THROTTLED_TEXT,
    fails_above,
    passes_after,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.evidence import confidence_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.throttling import limit_notes, volume_limits
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import measurement, note
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

TODAY = datetime.date(2026, 11, 21)
MAX = {"metric": "latency_max", "max": "1 us"}
MEAN = {"metric": "latency_mean", "max": "1 ns"}
P99 = {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}}
OF_TIME = {"metric": "latency_time_weighted_p99", "below": "10 ms", "load_point": {"min": 2}}
RATE = {"metric": "bytes_per_s", "min": "1 GB/s", "block_size": {"min": "1M"}}
RING = {"metric": "ring_passes", "min": 1000}
STALL = "latency_max:9999999999ns:0-1099511627776:0-1099511627776"
ENDED = {
    "exit_reason": "ended_early",
    "exit_message": "step 2 was ended",
    "fail_above_1": "latency_max:1000ns:0-1099511627776:0-1099511627776",
    "fail_odds": 560,
    "ended_early_step": 2,
    "ended_early_limit": "latency_max:1000ns:0-1099511627776:0-1099511627776",
    "steps_planned": 3,
    "steps_measured": 2,
    "option_block_sizes_bytes": "4096 16384 65536",
    "option_load_points": "1",
    "option_duration_s": 600,
}

FIRST = {**ENDED, "ended_early_step": 1, "steps_measured": 1}


def profile(*limits, confidence=0.95, **more):
    own = {"name": "mine", "version": 1, "qualifies": {"confidence": confidence}, "limits": list(limits)}
    return load_profile({**own, **more}, "")


def record_of(*limits, **keys):
    rows = [*fabricate.step_rows(1, 4096), *fabricate.step_rows(2, 16384, elapsed_ns=23 * 10**9)]
    run = {"run_id": "R", "profile": profile(*limits).as_dict()}
    files = fabricate.tables(rows, **{**ENDED, **keys})
    return measurement(run, "h1", "log", {}, {}, files, TODAY)


def judged(record, metric):
    return {
        each["block_size_bytes"]: each["verdict"]
        for each in record.judgements
        if each["metric"] == metric and not each["hard"]
    }


def test_the_longest_write_fails_the_volume_and_nothing_else_is_decided_by_that_step():
    record = record_of(MAX, MEAN, RING, RATE)
    assert record.verdict == "fail"
    assert judged(record, "latency_max")[16384] == "fail"
    assert judged(record, "latency_mean") | judged(record, "ring_passes") == {4096: "fail", 16384: "inconclusive"}
    assert judged(record, "bytes_per_s") == {None: "inconclusive"}
    assert {each["cause"] for each in record.judgements if each["verdict"] == "inconclusive"} == {"open", "no_row"}
    (open_rate,) = [each for each in record.judgements if each["metric"] == "bytes_per_s"]
    assert open_rate["reason"].endswith("has no figure in this run: not decided, because the sweep ended early")


def test_the_reason_names_each_step_with_its_seconds():
    record = record_of(MAX)
    (found,) = [each for each in record.findings if each["kind"] == "ended_early"]
    assert [step.get("measured_s") for step in found["steps"]] == [600.0, 23.0, None]
    assert record.reasons[-1] == (
        "the sweep ended early, because latency_max broke its limit (sweep_end_early). Measured, of 10 min each: "
        "4 KiB for 10 min, 16 KiB for 23 s; not measured: 64 KiB"
    )
    assert record.findings[0]["kind"] == "limit"


@pytest.mark.parametrize("key", ["ended_early_cpu_steal_share", "cpu_steal_share"])
def test_a_disturbance_of_the_step_alone_leaves_its_broken_limit_open(key):
    record = record_of({**MAX, "block_size": {"min": "16K"}}, **{key: 0.02})
    assert record.verdict == "inconclusive"
    assert "the host was disturbed: the hypervisor took 2 %" in " ".join(record.reasons)


def test_a_sweep_that_nobody_told_to_end_early_lacks_steps():
    assert record_of(MAX, fail_above_1="").verdict == "error"
    assert record_of(MAX, ended_early_step=1).verdict == "error"


def test_the_tests_that_were_planned_count_even_if_they_were_not_made():
    found = confidence_of(profile(P99), parse_tables(fabricate.tables(fabricate.step_rows(1, 4096), over=[], **FIRST)))
    assert found.judgements == 28


PLAN = {"block_sizes_bytes": [4096, 65536], "load_points": [1]}


def test_a_profile_of_percentiles_lets_the_tester_end_steps_that_keep_it():
    limits = profile(MAX, P99, OF_TIME, qualifies={"confidence": 0.99, "min_duration_s": 899.5})
    assert passes_after(limits, "h1", PLAN) == {**fails_above(limits, "h1", PLAN), "passAfter": 900, "passOdds": 100}


@pytest.mark.parametrize(
    "limits",
    [
        profile(P99, MEAN),
        profile(P99, RATE),
        profile(P99, RING),
        profile(P99, {**MAX, "severity": "warn"}),
        profile(P99, waivers=[{"host": "h1", "metric": "latency_p99", "until": "2099-01-01", "reason": "CHG-1"}]),
        profile(P99, confidence="none"),
        profile(P99, qualifies={"episode_s": 1}),
        profile(*({**P99, "max": f"{number} ms"} for number in range(1, 16))),
    ],
    ids=["mean", "rate", "ring", "warning", "waived", "as it stands", "episodes", "more than fit"],
)
def test_all_other_profiles_measure_steps_to_their_end(limits):
    assert passes_after(limits, "h1", PLAN) == fails_above(limits, "h1", PLAN)


def test_the_note_says_for_how_long_steps_that_kept_all_limits_were_measured():
    rows = [*fabricate.step_rows(1, 4096), *fabricate.step_rows(2, 16384, elapsed_ns=301 * 10**9)]
    run = {"run_id": "R", "profile": profile(P99).as_dict()}
    kept = {"option_duration_s": 600, "steps_kept": "2", "pass_after_s": 300, "pass_odds": 20}
    told = [
        measurement(run, "h1", "log", {}, {}, fabricate.tables(rows, **keys), TODAY).notes
        for keys in (kept, {**kept, "steps_kept": ""}, {"option_duration_s": 600})
    ]
    assert [[note for note in notes if note.startswith("Steps ended")] for notes in told] == [
        [
            "Steps ended when there was enough evidence that all limits are kept (sweep_end_early). Measured, of 10 "
            "min each: 16 KiB for 5.02 min"
        ],
        [],
        [],
    ]


@pytest.mark.parametrize(
    ("limited_s", "steps_kept", "verdict"),
    [(9, "1", "inconclusive"), (8, "1", "pass"), (9, "", "pass"), (None, "1", "pass")],
    ids=["throttled", "while the files were created", "measured to its end", "no counters"],
)
def test_a_step_that_ended_with_a_pass_proves_nothing_if_the_volume_was_throttled(
    tmp_path, limited_s, steps_kept, verdict
):
    rows, run = fabricate.step_rows(1, 4096), fabricate.run_data(["h1"], run_id="R", profile=profile(P99).as_dict())
    files = fabricate.tables(rows, option_duration_s=900, steps_kept=steps_kept, initial_write_ns=8 * 10**9)
    directory = RunDirectory.create(str(tmp_path), run)
    directory.records.write(measurement(run, "h1", "log", {}, {}, files, TODAY), files)
    counters = [{"device": "nvme1n1", "monotonic_s": at_s, "volume_iops": us} for at_s, us in _readings(limited_s)]
    limits = volume_limits(counters[:1], counters[1:])
    assert note(directory, "h1", "log", limit_notes(limits), limits)

    record = judged_record(directory, "hosts/h1/log")

    assert (record.verdict, [THROTTLED_TEXT] if verdict == "inconclusive" else []) == (verdict, record.reasons)
    assert not record.certified or verdict == "pass"


def _readings(limited_s):
    return [] if limited_s is None else [(0, 0), (700, limited_s * 10**6)]


@pytest.mark.parametrize("name", [path.stem for path in sorted(Path(fabricate.PROFILES).glob("*.yml"))])
def test_the_profiles_of_the_collection_measure_every_step_to_its_end(name):
    shipped = load_profile(name, fabricate.PROFILES)
    assert passes_after(shipped, "h1", PLAN) == fails_above(shipped, "h1", PLAN)


def test_a_percentile_that_its_seconds_show_to_be_broken_fails_and_no_other_passes():
    rows = fabricate.step_rows(1, 4096, seconds=23, latency_p99_ns=5_000_000)
    over = fabricate.over_rows(rows[-1], 2_000_000, 400, range(1, 24))
    run = {"run_id": "R", "profile": profile(P99, {"metric": "latency_p50", "max": "5 ms"}).as_dict()}
    record = measurement(run, "h1", "log", {}, {}, fabricate.tables(rows, over=over, **FIRST), TODAY)
    assert (judged(record, "latency_p99"), judged(record, "latency_p50")) == ({4096: "fail"}, {4096: "inconclusive"})
    assert [each["kind"] for each in record.findings] == ["limit", "ended_early"]


def test_the_tester_is_given_the_limits_that_can_be_broken_at_any_time():
    plan = {"block_sizes_bytes": [4096, 65536, 1 << 20], "load_points": [1, 4]}
    told = fails_above(profile(MAX, MEAN, P99, OF_TIME, RATE, RING), "h1", plan)
    # MEAN: 3 sizes x (1 + 1 + 4), P99: 2 x 6, OF_TIME: 3 x 5, RATE: 1 x 2; each at 1/0.05.
    assert told["failOdds"] == 20 * (18 + 12 + 15 + 2)
    assert told["failAbove"][:3] == [
        "latency_max:1000ns:0-1099511627776:0-1099511627776",
        "latency_p99:2000000ns:0-65536:0-1099511627776",
        "latency_time_weighted_p99:9999999ns:0-1099511627776:2-1099511627776",
    ]
    assert [text.split(":")[0] for text in told["failAbove"][3:]] == ["latency_max"]  # the hard limit


@pytest.mark.parametrize(
    "limits",
    [
        profile({**P99, "severity": "warn"}),
        profile(P99, waivers=[{"host": "h1", "metric": "latency_p99", "until": "2099-01-01", "reason": "CHG-1"}]),
        profile(P99, confidence="none"),
    ],
    ids=["warning", "waived", "as it stands"],
)
def test_a_limit_that_would_not_fail_the_volume_ends_nothing(limits):
    told = fails_above(limits, "h1", {"block_sizes_bytes": [4096], "load_points": [1]})
    assert [text.split(":")[0] for text in told["failAbove"]] == ["latency_max"]
