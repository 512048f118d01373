# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The symptoms in the figures of hosts, and the advice that follows from them."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.disturbance import PROCESSORS, RUN_QUEUE
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import note
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes import advice, symptoms
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.stalls import period_of
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

PROFILE = {
    "name": "mine",
    "limits": [
        {"metric": "latency_mean", "max": "1 ms", "block_size": {"max": "64K"}},
        {"metric": "latency_p99", "max": "2 ms", "block_size": {"max": "64K"}},
        {"metric": "bytes_per_s", "min": "250 MB/s", "block_size": "1M"},
    ],
}
SLOW = {"latency_ns": 5_000_000}
MS = 10**6


def sweep(seconds=20, **keys):
    return fabricate.sweep_rows((4096, 1 << 20), seconds=seconds, **keys)


def stalls(starts_ms):
    columns = (*fabricate.KEY_COLUMNS, "rank", "start_offset_ns", "latency_ns")
    return fabricate.table(
        columns,
        [(1, 4096, 1, "log", "write", 1, rank, start * MS, 90 * MS) for rank, start in enumerate(starts_ms, start=1)],
    )


def seen_on(tmp_path, host, metric="", others=None, facts=None):
    """Return the symptoms that a report lists for a host that breaks a limit on this metric, or several limits."""
    limits = [limit for limit in PROFILE["limits"] if metric in ("", limit["metric"])]
    directory = fabricate.run_directory(
        tmp_path, {"db07": host, **(others or {})}, profile={**PROFILE, "limits": limits}
    )
    note(directory, "db07", "log", [], facts)
    judge_run(directory, GATE)
    (cause,) = [cause for cause in causes(build_model(directory)) if cause.kind == "limit" and "db07" in cause.hosts]
    return cause


@pytest.mark.parametrize(
    ("key", "metric", "keys", "figures"),
    [
        (
            "some_slow",
            "latency_mean",
            {"rows": {"latency_p50_ns": 300_000, "latency_p90_ns": 4_000_000}},
            "one in ten took 4 ms or longer at 4 KiB",
        ),
        (
            "tail",
            "latency_p99",
            {"rows": {"latency_p50_ns": 300_000, "latency_p90_ns": 400_000}},
            "p50 300 us, p99 10 ms at 4 KiB",
        ),
        (
            "first_pass",
            "latency_p99",
            {"rows": {"first_pass_latency_mean_ns": 9_000_000, "later_passes_latency_mean_ns": 300_000}},
            "mean 9 ms in the first pass and 300 us later at 4 KiB",
        ),
        ("steady", "latency_mean", {}, "mean 5 ms, p50 5 ms at 4 KiB"),
        ("low_rate", "bytes_per_s", {}, "MB/s at 1 MiB"),
    ],
)
def test_each_symptom_is_seen_in_its_figures(tmp_path, key, metric, keys, figures):
    run_keys = {name: value for name, value in keys.items() if name != "rows"}
    cause = seen_on(tmp_path, fabricate.tables(sweep(**SLOW, **keys.get("rows", {})), **run_keys), metric)
    wanted = advice.SYMPTOMS[key]
    assert cause.seen.lower().startswith(f"{wanted.seen} (")
    assert figures in cause.seen
    assert cause.next_step == wanted.text


def test_writes_that_break_another_limit_are_not_called_fast(tmp_path):
    """The p50 of 1.9 ms is within the limit on the p99 (2 ms), but not within the limit on the mean (1 ms)."""
    figures = {"latency_p50_ns": 1_900_000, "latency_p90_ns": 2_000_000, "latency_p99_ns": 15_000_000}
    cause = seen_on(tmp_path, fabricate.tables(sweep(latency_ns=1_900_000, **figures)))
    assert cause.seen.lower().startswith(advice.SYMPTOMS["steady"].seen)


@pytest.mark.parametrize(
    ("run_keys", "kinds", "figures"),
    [
        ({"cpu_steal_share": "0.2"}, ["steal"], "the hypervisor took 20 % of the processor time"),
        (
            {"cpu_throttled_share": "0.88", "run_queue_wait_share": "0.8", "psi_cpu_some_share": "0.6"},
            ["quota"],
            "(a processor quota stopped the tester for 88 % of the time)",
        ),
        (
            {"foreign_io_share": "0.4"},
            ["foreign_io"],
            "40 % of the bytes that the disk transferred did not come from the test",
        ),
        ({"oversleep_max_ns": 3 * 10**9, "oversleep_max_step": 1}, ["freeze"], "the tester itself was frozen for 3 s"),
        (
            {"run_queue_wait_share": "0.1", "psi_cpu_some_share": "0.6"},
            ["run_queue", "processors"],
            "the tester waited for a processor 10 % of its time, ",
        ),
    ],
)
def test_the_advice_on_a_disturbance_follows_what_was_seen(tmp_path, run_keys, kinds, figures):
    cause = seen_on(tmp_path, fabricate.tables(sweep(**SLOW), **run_keys), "latency_mean")
    assert cause.seen.startswith("The host was disturbed (") and figures in cause.seen
    assert cause.next_step == advice.together([advice.DISTURBANCES[kind] for kind in kinds])


def test_what_two_disturbances_ask_for_is_said_once():
    both = advice.together([advice.DISTURBANCES[RUN_QUEUE], advice.DISTURBANCES[PROCESSORS]])
    assert both == advice.together([advice.DISTURBANCES[RUN_QUEUE]])


def test_a_limit_of_the_volume_that_was_reached_is_a_symptom(tmp_path):
    facts = {"volume_limits_devices": "nvme1n1", "volume_limits_elapsed_s": 600, "volume_limits_volume_iops_s": 246}
    cause = seen_on(tmp_path, fabricate.tables(sweep(**SLOW)), "latency_mean", facts=facts)
    assert "(The volume's own IOPS limit was reached for 41 % of the time: " in cause.seen
    assert cause.next_step == advice.SYMPTOMS["throttled"].text


def test_a_plateau_is_a_symptom(tmp_path):
    files = fabricate.tables(fabricate.sweep_rows((4096,), seconds=60, **SLOW))
    header, *lines = [line.split(",") for line in files["intervals.csv"].decode().splitlines()]
    place = header.index("bytes")
    for line in lines:
        line[place] = str(100_000_000 if int(line[header.index("second")]) < 42 else 61_000_000)
    files["intervals.csv"] = "".join(",".join(line) + "\n" for line in [header, *lines]).encode()
    cause = seen_on(tmp_path, files, "latency_mean")
    assert "(At 4 KiB with 1 queue manager, from second 42 on, the rate stayed at 61 % of the rate before" in cause.seen
    assert cause.next_step == advice.SYMPTOMS["plateau"].text


def test_stalls_at_a_regular_interval_are_a_symptom(tmp_path):
    files = {**fabricate.tables(sweep(**SLOW)), "stalls.csv": stalls([1000, 4010, 7000, 9990, 13_000])}
    cause = seen_on(tmp_path, files, "latency_mean")
    assert "about every 3 s, 5 times at 4 KiB" in cause.seen
    assert cause.next_step == advice.SYMPTOMS["periodic"].text


def test_a_volume_that_departs_from_its_class_is_told_in_addition(tmp_path):
    others = {f"db1{number}": fabricate.tables(sweep()) for number in range(symptoms.FEWEST_ALIKE)}
    cause = seen_on(tmp_path, fabricate.tables(sweep(**SLOW)), "latency_mean", others)
    assert "slower than most volumes of its class (mean 5 ms at 4 KiB; median of the 6 volumes 2" in cause.seen
    assert cause.next_step == advice.together([advice.SYMPTOMS["steady"], advice.SYMPTOMS["class"]])


@pytest.mark.parametrize(
    ("starts_ms", "period"),
    [
        ([0, 3000, 6000, 9000, 12_000], (3e9, 5)),
        ([0, 20, 3000, 6000, 6050, 9000, 12_000], (3e9, 5)),
        ([0, 3000, 6000, 9000], None),
        ([0, 3000, 6000, 9000, 13_000], None),
        ([0, 100, 7000, 9000, 9500, 12_000], None),
        ([], None),
    ],
)
def test_only_five_stalls_with_regular_gaps_have_a_period(starts_ms, period):
    assert period_of([(start * MS, 90 * MS) for start in starts_ms]) == period


def test_slow_writes_far_below_the_longest_one_are_no_stalls():
    assert period_of([(0, 90), *((start * 10**9, 29) for start in range(1, 9))]) is None
