# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Verdicts on hosts and fleets, case by case."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fleet import PolicyError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import _LIKE_MQ
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, fleet_verdict, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_error, judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.host_settings import profile_key
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import WORST_FIRST, worst
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from hypothesis import given
from hypothesis import strategies as st

TODAY = fabricate.TODAY


def profile_of(*limits, **keys):
    return load_profile({"name": "mine", "limits": list(limits), **keys})


P99 = {"metric": "latency_p99", "max": "2 ms"}
RATE = {"metric": "bytes_per_s", "min": "100 MB/s"}
SLOWEST = {"metric": "latency_max", "max": "100 ms"}


def judge(rows, *limits, record=None, waivers=(), qualifies=None, today=TODAY, over=None, **run_keys):
    """Judge rows of results. Without rows of over.csv (over), figures are compared directly with the limits."""
    record = HostRecord("db07", **{"workspace": {"queue_managers": ["QMA", "QMB"]}, **(record or {})})
    tables = parse_tables(fabricate.tables(rows, over=over, **run_keys))
    profile = profile_of(*(limits or (P99,)), waivers=list(waivers), qualifies=qualifies or {})
    return judge_record(record, tables, profile, today)


def step(**figures):
    return fabricate.step_rows(1, 4096, **figures)


def two(first=None, second=None, together=None, **figures):
    """Return the rows of a step with two queue managers: one for each of them, and one for all."""
    rows = fabricate.step_rows(1, 4096, 2, **figures)
    for row, own in zip(rows, (first, second, together), strict=True):
        row.update(own or {})
    return rows


@pytest.mark.parametrize(
    ("figures", "limit", "verdict"),
    [
        ({"latency_p99_ns": 2_000_000}, P99, "pass"),
        ({"latency_p99_ns": 2_000_001}, P99, "fail"),
        ({"latency_p99_ns": None}, P99, "inconclusive"),
        ({"latency_p99_ns": 2_000_001}, {**P99, "severity": "warn"}, "warn"),
        ({"latency_p99_ns": None}, {**P99, "severity": "warn"}, "warn"),
        ({"latency_p99_ns": 2_000_001}, {**P99, "block_size": {"min": "8K"}}, "inconclusive"),
        ({"latency_p99_ns": 2_000_001}, {**P99, "load_point": 2}, "inconclusive"),
        ({"latency_p99_ns": 2_000_001}, {**P99, "load_point": 1, "block_size": "4K"}, "fail"),
        ({"bytes_per_s": 100_000_000}, RATE, "pass"),
        ({"bytes_per_s": "99999999.999"}, RATE, "fail"),
        ({"bytes_per_s": None}, RATE, "inconclusive"),
        ({"latency_max_ns": 90_000_000}, {"metric": "latency_max", "max": "100 ms"}, "pass"),
        (
            {"latency_max_ns": 90_000_000, "latency_max_in_flight": 1},
            {"metric": "latency_max", "max": "100 ms"},
            "inconclusive",
        ),
        (
            {"latency_max_ns": 100_000_000, "latency_max_in_flight": 1},
            {"metric": "latency_max", "max": "100 ms"},
            "fail",
        ),
        (
            {"latency_max_ns": 100_000_000, "latency_max_in_flight": 0},
            {"metric": "latency_max", "max": "100 ms"},
            "pass",
        ),
        ({"latency_cv": 0.3}, {"metric": "latency_cv", "max": "20 %"}, "fail"),
        ({"latency_mean_ns": "10000000.000"}, P99, "pass"),
        ({"latency_mean_ns": "10000000.001"}, P99, "fail"),
        ({"latency_max_ns": 9_999_999_999}, P99, "pass"),
        ({"latency_max_ns": 10_000_000_000}, P99, "fail"),
        ({"operations": 0}, P99, "inconclusive"),
        ({"operations": 0, "bytes_per_s": 0}, RATE, "inconclusive"),
    ],
)
def test_one_row_and_one_limit(figures, limit, verdict):
    assert judge(step(**figures), limit)["verdict"] == verdict


@pytest.mark.parametrize(
    ("share", "verdict", "reason"),
    [
        ("0.010000", "pass", None),
        ("0.050000", "fail", "cpu_steal_share 5 % > 1 % in this run"),
        (None, "inconclusive", "cpu_steal_share <= 1 % has no figure in this run: the tester did not report it"),
    ],
)
def test_a_figure_of_the_whole_run_is_judged_once(share, verdict, reason):
    result = judge(two(), {"metric": "cpu_steal_share", "max": "1 %"}, cpu_steal_share=share)
    judgement, *others = [each for each in result["judgements"] if each["metric"] == "cpu_steal_share"]
    assert (result["verdict"], judgement["worker"], others) == (verdict, None, [])
    assert result["reasons"] == ([reason] if reason else [])


def test_latency_judges_every_queue_manager_and_all_together():
    slow = {"latency_p99_ns": 2_000_001}
    assert judge(two())["verdict"] == "pass"
    for rows in (two(first=slow), two(second=slow), two(together=slow)):
        result = judge(rows)
        assert result["verdict"] == "fail"
        assert [
            judgement["verdict"] for judgement in result["judgements"] if judgement["metric"] == "latency_p99"
        ].count("fail") == 1


def test_a_judgement_says_all_that_it_rests_on():
    judgement = judge(two(second={"latency_p99_ns": 4_200_000, "operations": 12345}))["judgements"][1]
    assert judgement == {
        "limit": "latency_p99 <= 2 ms",
        "limit_id": "",
        "rows": "",
        "metric": "latency_p99",
        "bound": "max",
        "limit_value": 2_000_000,
        "unit": "ns",
        "block_size_bytes": 4096,
        "load_point": 2,
        "stream": "log",
        "operation": "write",
        "worker": 2,
        "worker_name": "QMB",
        "value": 4_200_000,
        "value_at_least": False,
        "samples": 12345,
        "verdict": "fail",
        "severity": "fail",
        "hard": False,
        "reason": "latency_p99 4.2 ms > 2 ms at 4 KiB, queue manager QMB of 2 (12,345 writes)",
        "cause": "broken",
        "waiver": None,
        "method": "as it stands",
        "details": {"operator": "<=", "kept": False},
    }


@pytest.mark.parametrize(
    ("rows", "limit", "reason"),
    [
        (
            step(latency_p99_ns=4_200_000, operations=12345),
            P99,
            "latency_p99 4.2 ms > 2 ms at 4 KiB, queue manager QMA (12,345 writes)",
        ),
        (
            step(latency_p99_ns=2_000_001, operations=7),
            P99,
            "latency_p99 2.000001 ms > 2 ms at 4 KiB, queue manager QMA (7 writes)",
        ),
        (
            step(latency_p99_ns=None, operations=7),
            P99,
            "latency_p99 <= 2 ms has no figure at 4 KiB, queue manager QMA (7 writes): too few writes for this figure",
        ),
        (
            step(bytes_per_s=99_000_000, operations=7),
            RATE,
            "bytes_per_s 99 MB/s < 100 MB/s at 4 KiB, queue manager QMA (7 writes)",
        ),
        (
            two(together={"latency_p99_ns": 9_000_000, "operations": 9}),
            P99,
            "latency_p99 9 ms > 2 ms at 4 KiB, all 2 queue managers (9 writes)",
        ),
        (
            two({"latency_p99_ns": 9_000_000, "operations": 9}, {"latency_p99_ns": 8_000_000}),
            P99,
            "latency_p99 9 ms > 2 ms at 4 KiB, queue manager QMA of 2 (9 writes); 1 more of its rows did not pass",
        ),
        (
            step(latency_max_ns=30_000_000_000, latency_max_in_flight=1, operations=9),
            P99,
            "latency_max at least 30 s (limit < 10 s) at 4 KiB, queue manager QMA (9 writes)",
        ),
        (
            step(latency_max_ns=90_000_000, latency_max_in_flight=1, operations=9),
            {"metric": "latency_max", "max": "100 ms"},
            (
                "latency_max at least 90 ms (limit <= 100 ms) at 4 KiB, queue manager QMA (9 writes): the "
                "slowest write was still in flight"
            ),
        ),
        (
            step(),
            {**P99, "block_size": {"min": "1M"}},
            "latency_p99 <= 2 ms: no row to which it applies was measured (block size >= 1 MiB)",
        ),
    ],
)
def test_reasons(rows, limit, reason):
    assert judge(rows, limit)["reasons"][0] == reason


def test_each_limit_has_one_reason_and_the_worst_come_first():
    rows = [
        *fabricate.step_rows(1, 4096, latency_p99_ns=None),
        *fabricate.step_rows(2, 8192, latency_mean_ns="20000000.000", latency_p99_ns=None),
    ]
    reasons = judge(rows)["reasons"]
    assert [reason.split(" at ")[0] for reason in reasons] == [
        "latency_mean 20 ms > 10 ms",
        "latency_p99 <= 2 ms has no figure",
    ]
    assert reasons[1].endswith("; 1 more of its rows did not pass")


@pytest.mark.parametrize(
    ("run_keys", "figures", "verdict", "reason"),
    [
        (
            {
                "exit_status": 3,
                "error_call": "pwritev",
                "error_errno_name": "EIO",
                "error_message": "Input/output error",
                "error_file": "/m/f.0001",
                "error_offset_bytes": 8192,
                "error_block_size_bytes": 4096,
            },
            {},
            "fail",
            "a write of 4 KiB failed with EIO (Input/output error) at offset 8192 of /m/f.0001",
        ),
        (
            {"exit_status": 3, "error_errno_name": "SHORT_WRITE", "error_file": "/m/f", "error_offset_bytes": 0},
            {},
            "fail",
            "a write came back short at offset 0 of /m/f",
        ),
        ({"exit_status": 3}, {}, "fail", "a write failed with an I/O error"),
        (
            {
                "exit_status": 4,
                "exit_reason": "deadline",
                "in_flight_age_ns": 10**10,
                "in_flight_file": "/m/f",
                "in_flight_offset_bytes": 4096,
            },
            {},
            "fail",
            "a write at offset 4096 of /m/f had not returned after 10 s (the stall limit is 10 s)",
        ),
        (
            {"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 10**10 - 1},
            {},
            "inconclusive",
            "the tester ended before it had measured everything: deadline",
        ),
        (
            {"exit_status": 4, "exit_reason": "interrupted"},
            {},
            "inconclusive",
            "the tester ended before it had measured everything: interrupted",
        ),
        (
            {"exit_status": 4, "exit_reason": "interrupted", "exit_message": "SIGTERM"},
            {},
            "inconclusive",
            "the tester ended before it had measured everything: SIGTERM",
        ),
        (
            {"exit_status": 4, "exit_reason": "interrupted"},
            {"latency_p99_ns": 3_000_000},
            "fail",
            "the tester ended before it had measured everything: interrupted",
        ),
    ],
)
def test_a_tester_that_did_not_end_well(run_keys, figures, verdict, reason):
    result = judge(step(**figures), **run_keys)
    assert (result["verdict"], result["certified"], result["reasons"][0]) == (verdict, False, reason)
    assert result["qualification"] == f"the verdict is {verdict}"


@pytest.mark.parametrize(("status", "verdict"), [(0, "pass"), (3, "fail"), (4, "inconclusive")])
def test_the_exit_status_in_the_tables_counts(status, verdict):
    assert judge(step(), exit_status=status)["verdict"] == verdict


@pytest.mark.parametrize(
    ("error", "verdict", "reason"),
    [
        ({"stage": "probe", "verdict": "unreachable", "reason": "no route"}, "unreachable", "probe: no route"),
        ({"stage": "gate", "verdict": "missing", "reason": "x"}, "missing", "gate: x"),
        ({"verdict": "fail", "reason": "x"}, "fail", "x"),
        ({"stage": "sweep", "verdict": "pass", "reason": "x"}, "error", "sweep: x"),
        ({"stage": "sweep", "verdict": "warn", "reason": "x"}, "error", "sweep: x"),
        ({"stage": "sweep", "reason": "x"}, "error", "sweep: x"),
        ({"stage": "sweep", "verdict": "error"}, "error", "sweep: no reason is recorded"),
    ],
)
def test_an_error_record_takes_its_own_verdict_and_is_never_good(error, verdict, reason):
    result = judge_error(error)
    assert (result["verdict"], result["reasons"], result["certified"]) == (verdict, [reason], False)


@pytest.mark.parametrize(
    ("sign", "verdict"),
    [
        ({"cpu_steal_share": "0.009999"}, "fail"),
        ({"cpu_steal_share": "0.010000"}, "inconclusive"),
        ({"cpu_throttled_share": "0.009999"}, "fail"),
        ({"cpu_throttled_share": "0.010000"}, "inconclusive"),
        ({"run_queue_wait_share": "0.019999"}, "fail"),
        ({"run_queue_wait_share": "0.020000"}, "inconclusive"),
        ({"psi_cpu_some_share": "0.499999"}, "fail"),
        ({"psi_cpu_some_share": "0.500000"}, "inconclusive"),
        ({"foreign_io_share": "0.099999"}, "fail"),
        ({"foreign_io_share": "0.100000"}, "inconclusive"),
        ({"foreign_io_share": "0.900000", "filesystem_type": "btrfs"}, "fail"),
        ({"foreign_io_share": "0.900000", "filesystem_type": "zfs"}, "fail"),
        ({"foreign_io_share": "0.900000", "filesystem_type": "bcachefs"}, "fail"),
        ({"foreign_io_share": "0.100000", "filesystem_type": ""}, "inconclusive"),
        ({"cpu_steal_share": "0.010000", "filesystem_type": "btrfs"}, "inconclusive"),
        ({"oversleep_max_ns": 499_999_999}, "fail"),
        ({"oversleep_max_ns": 500_000_000}, "inconclusive"),
        ({"psi_io_some_share": "1.000000"}, "fail"),
        ({"cpu_steal_share": ""}, "fail"),
        ({"cpu_steal_share": "nan"}, "fail"),
        ({}, "fail"),
    ],
)
def test_a_disturbed_host_leaves_open_whether_its_disk_is_slow(sign, verdict):
    slow = {"latency_p99_ns": 2_000_001, "latency_cv": 0.3}
    assert judge(step(**slow), **sign)["verdict"] == verdict
    assert judge(step(**slow), {"metric": "latency_cv", "max": "20 %"}, **sign)["verdict"] == verdict
    assert judge(step(**slow), {**P99, "severity": "warn"}, **sign)["verdict"] == "warn"
    assert judge(step(), **sign)["verdict"] == "pass"


STOLEN = {"cpu_steal_share": "0.500000", "foreign_io_share": "0.250000"}


def test_what_disturbed_a_host_is_said():
    (reason,) = judge(step(latency_p99_ns=4_200_000), **STOLEN)["reasons"]
    assert reason.startswith("latency_p99 4.2 ms > 2 ms at 4 KiB")
    assert reason.endswith(
        "; the host was disturbed: the hypervisor took 50 % of the processor time, 25 % of the bytes that the disk "
        "transferred did not come from the test"
    )


@pytest.mark.parametrize(
    ("figures", "limit", "run_keys"),
    [
        ({"latency_mean_ns": "10000000.001"}, P99, {}),
        ({"latency_max_ns": 10_000_000_000}, P99, {}),
        ({"latency_p99_ns": 2_000_001}, {**P99, "hard": True}, {}),
        ({"bytes_per_s": 99_999_999}, RATE, {}),
        ({}, P99, {"exit_status": 3, "exit_reason": "io_error", "error_errno_name": "EIO"}),
    ],
)
def test_no_disturbance_excuses_a_hard_failure_or_too_little_throughput(figures, limit, run_keys):
    assert judge(step(**figures), limit, **STOLEN, **run_keys)["verdict"] == "fail"


LIMITED = {
    "io_limit_used_share": "0.987000",
    "io_limit_file": "/sys/fs/cgroup/blkio/mq/blkio.throttle.write_iops_device",
    "io_limit": "7:0 60",
}


@pytest.mark.parametrize(
    ("figures", "limit", "run_keys", "verdict"),
    [
        ({"latency_p99_ns": 2_000_001}, P99, {}, "inconclusive"),
        ({"latency_mean_ns": "33900000.000"}, P99, {}, "inconclusive"),
        ({"latency_max_ns": 10_000_000_000}, P99, {}, "inconclusive"),
        ({"bytes_per_s": 99_999_999}, RATE, {}, "inconclusive"),
        ({"latency_p99_ns": 2_000_001}, {**P99, "severity": "warn"}, {}, "warn"),
        ({"latency_p99_ns": 2_000_001, "io_limit_used_share": "0.499999"}, P99, {}, "fail"),
        ({"latency_mean_ns": "33900000.000", "io_limit_used_share": "0.499999"}, P99, {}, "fail"),
        ({"latency_p99_ns": 2_000_001, "io_limit_used_share": ""}, P99, {}, "fail"),
        # If others use the device as well, its counters do not show how much of the limit the tester used.
        ({"latency_max_ns": 10_000_000_000}, P99, {"foreign_io_share": "0.250000"}, "fail"),
        ({}, P99, {"exit_status": 3, "exit_reason": "io_error", "error_errno_name": "EIO"}, "fail"),
        ({}, P99, {}, "pass"),
    ],
)
def test_a_limit_on_the_testers_control_group_is_not_blamed_on_the_storage(figures, limit, run_keys, verdict):
    result = judge(step(**{**LIMITED, **figures}), limit, **run_keys)
    assert result["verdict"] == verdict
    text = (
        'a limit on the I/O of a control group held the tester back: "7:0 60" in '
        '"/sys/fs/cgroup/blkio/mq/blkio.throttle.write_iops_device"'
    )
    assert (text in result["disturbances"]) == ("io_limit_used_share" not in figures)
    if verdict == "inconclusive":
        assert result["reasons"][0].endswith(f"; the host was disturbed: {text}")


@pytest.mark.parametrize(
    ("figures", "limit"),
    [({"latency_max_ns": 10_000_000_000}, P99), ({"latency_p99_ns": 2_000_001}, P99), ({"bytes_per_s": 1}, RATE)],
)
def test_a_limit_that_held_back_another_step_excuses_nothing(figures, limit):
    limited = [*step(**figures), *fabricate.step_rows(2, 65536, **LIMITED)]
    assert judge(limited, limit)["verdict"] == "fail"
    assert judge([*step(**figures, **LIMITED), *fabricate.step_rows(2, 65536)], limit)["verdict"] == "inconclusive"


@pytest.mark.parametrize(("number", "verdict"), [(1, "fail"), (2, "inconclusive")])
def test_a_write_that_hangs_is_the_limits_only_in_its_own_step(number, verdict):
    keys = {"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 12_500_000_000, "steps_measured": 2}
    rows = [
        row for each in (1, 2) for row in fabricate.step_rows(each, 4096 * each, **(LIMITED if each == number else {}))
    ]
    assert judge(rows, P99, **keys)["verdict"] == verdict


def test_the_name_of_a_limit_is_quoted_text_of_the_host():
    result = judge(step(**{**LIMITED, "io_limit_file": "/sys/\x1b[2J{value}" + "x" * 1000}))
    (text,) = result["disturbances"]
    assert "\x1b" not in text and "{value}x" in text and len(text) < 500


@pytest.mark.parametrize(
    ("frozen", "step_number", "verdict"),
    [
        (2_500_000_001, 1, "inconclusive"),
        (2_500_000_000, 1, "fail"),
        (2_500_000_001, 2, "fail"),
        (12_500_000_000, 1, "inconclusive"),
        (0, 0, "fail"),
    ],
)
def test_a_stall_is_the_disks_unless_a_freeze_of_the_tester_covers_it(frozen, step_number, verdict):
    freeze = {"oversleep_max_ns": frozen, "oversleep_max_step": step_number}
    result = judge(step(latency_max_ns=12_500_000_000), **freeze)
    assert result["verdict"] == verdict
    assert result["reasons"][0].endswith("; the host was disturbed: the tester itself was frozen for 2.5 s") == (
        frozen == 2_500_000_001 and step_number == 1
    )
    in_flight = {"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 12_500_000_000, "steps_measured": 1}
    assert (
        judge(step(latency_max_ns=12_500_000_000, latency_max_in_flight=1), **freeze, **in_flight)["verdict"] == verdict
    )


def test_a_freeze_just_short_of_a_disturbance_covers_nothing():
    assert (
        judge(step(latency_max_ns=10_000_000_000), oversleep_max_ns=499_999_999, oversleep_max_step=1)["verdict"]
        == "fail"
    )


def test_a_waiver_holds_on_a_disturbed_host_too():
    assert judge(step(latency_p99_ns=2_000_001), waivers=[waiver()], **STOLEN)["verdict"] == "warn"


def waiver(**keys):
    return {"host": "db07", "metric": "latency_p99", "until": TODAY.isoformat(), "reason": "CHG1", **keys}


SLOW = {"latency_p99_ns": 3_000_000}


@pytest.mark.parametrize(
    ("waivers", "verdict", "said"),
    [
        ([waiver()], "warn", "waived until 2026-11-21 (CHG1)"),
        ([waiver(until="2026-11-20")], "fail", "the waiver CHG1 expired on 2026-11-20"),
        (
            [waiver(until="2026-11-20"), waiver(until="2027-01-01", reason="CHG2")],
            "warn",
            "waived until 2027-01-01 (CHG2)",
        ),
        ([waiver(host="db08")], "fail", ""),
        ([waiver(host="DB07")], "fail", ""),
        ([waiver(metric="latency_p99_9")], "fail", ""),
    ],
)
def test_waivers(waivers, verdict, said):
    result = judge(step(**SLOW), waivers=waivers)
    assert result["verdict"] == verdict
    assert said in result["reasons"][0]
    assert [judgement["waiver"] for judgement in result["judgements"] if judgement["waiver"]] == (
        ["CHG1" if "CHG1" in said else "CHG2"] if verdict == "warn" else []
    )


def test_a_waiver_never_excuses_a_hard_failure_or_missing_figures():
    hard = [waiver(metric=metric, until="2030-01-01") for metric in ("latency_mean", "latency_max", "latency_p99")]
    assert judge(step(latency_mean_ns="10000000.001"), waivers=hard)["verdict"] == "fail"
    assert judge(step(latency_max_ns=10**10), waivers=hard)["verdict"] == "fail"
    assert judge(step(), waivers=hard, exit_status=3)["verdict"] == "fail"
    assert judge(step(latency_p99_ns=None), waivers=hard)["verdict"] == "inconclusive"


@pytest.mark.parametrize(
    ("seconds", "figures", "certified", "said"),
    [
        (300, {}, True, ""),
        (301, {}, True, ""),
        (299, {}, False, "it measured 299 s per row, but mine requires 300 s"),
        (300, {"latency_max_ns": 200_000_000}, False, "the verdict is fail"),
        (10, {"latency_max_ns": 200_000_000}, False, "the verdict is fail"),
    ],
)
def test_certification(seconds, figures, certified, said):
    result = judge(step(seconds=seconds, **figures), SLOWEST, qualifies={"min_duration_s": 300}, over=())
    assert (result["certified"], result["qualification"]) == (certified, said)


@pytest.mark.parametrize(
    ("run_keys", "said"),
    [
        ({}, ""),
        ({"option_sync": "sync"}, ""),
        ({"option_rate_per_s": "0.000000"}, ""),
        ({"filesystem_type": "btrfs"}, ""),
        ({"option_sync": "none"}, "it wrote with the sync mode none, but MQ writes with dsync"),
        ({"option_sync": "x" * 999}, f"it wrote with the sync mode {'x' * 40}, but MQ writes with dsync"),
        ({"option_direct": "no"}, "it wrote through the page cache, but MQ writes with direct I/O"),
        ({"filesystem_type": "tmpfs"}, "it wrote to tmpfs, which is memory"),
        ({"filesystem_type": "ramfs"}, "it wrote to ramfs, which is memory"),
        ({"filesystem_type": "overlay", "backing_filesystem_type": "ext4"}, ""),
        ({"filesystem_type": "overlay", "backing_filesystem_type": "tmpfs"}, "its writes ended in memory (tmpfs)"),
        ({"backing_filesystem_type": "memory"}, "its writes ended in memory (memory)"),
        (
            {"backing_filesystem_type": "", "backing_unknown": "the upper directory of an overlay"},
            (
                "the storage behind the file system cannot be determined (the upper directory of an overlay): test a "
                "volume that is mounted without it"
            ),
        ),
        ({"option_rate_per_s": "0.000001"}, "it was throttled to 0.000001 writes/s"),
        ({"option_delay_us": 1}, "it paused for 1 us after each write"),
        ({"workload": None}, "its run.csv does not contain workload"),
        ({"workload": "commit"}, "its workload was commit instead of mq-log"),
        *(({key: None}, f"its run.csv does not contain {key}") for key, _holds in _LIKE_MQ),
        *(({key: ""}, f"its run.csv does not contain {key}") for key, holds in _LIKE_MQ if not holds("")),
    ],
)
def test_only_what_writes_as_mq_does_certifies(run_keys, said):
    result = judge(step(), qualifies={"min_duration_s": 300}, over=(), **run_keys)
    assert (result["verdict"], result["certified"], result["qualification"]) == ("pass", not said, said)


def test_the_tester_writes_every_key_that_certification_reads():
    keys = [key for key, _holds in _LIKE_MQ] + ["option_file_size_bytes", "option_files"]
    source = "".join(path.read_text(encoding="utf-8") for path in (fabricate.PROJECT / "src").rglob("*.c"))
    assert [key for key in keys if f'"{key}"' not in source] == []


def test_the_shortest_row_decides_about_certification():
    rows = [*fabricate.step_rows(1, 4096, seconds=300), *fabricate.step_rows(2, 8192, seconds=30)]
    result = judge(rows, SLOWEST, qualifies={"min_duration_s": 300}, over=())
    assert (result["verdict"], result["certified"]) == ("pass", False)


GIB = {"option_file_size_bytes": 64 << 20, "option_files": 16}


@pytest.mark.parametrize(
    ("block_sizes", "run_keys", "said"),
    [
        ((4096, 8192, 65536), GIB, ""),
        ((4096, 8192, 65536, 1 << 20), GIB, ""),
        (
            (4096, 1 << 20),
            {"option_file_size_bytes": 1 << 20, "option_files": 1},
            (
                "the files of a queue manager had 1 MiB in total, but mine requires 1 GiB: a "
                "smaller ring may fit in a cache"
            ),
        ),
        ((4096, 1 << 20), GIB, "it did not measure 8 KiB, 64 KiB, which mine requires"),
        ((4096, 8192), GIB, "it did not measure 64 KiB, which mine requires"),
        (
            (4096, 8192, 65536),
            {**GIB, "option_files": 15},
            (
                "the files of a queue manager had 960 MiB in total, but mine requires 1 GiB: a "
                "smaller ring may fit in a cache"
            ),
        ),
        (
            (4096, 8192, 65536),
            {**GIB, "option_file_size_bytes": None},
            "its run.csv does not contain option_file_size_bytes",
        ),
        ((4096, 8192, 65536), {**GIB, "option_files": "many"}, "its run.csv does not contain option_files"),
    ],
)
def test_only_a_large_ring_and_every_size_that_the_profile_names_certify(block_sizes, run_keys, said):
    result = judge(
        fabricate.sweep_rows(block_sizes),
        qualifies={"min_footprint": "1 GiB", "block_sizes": ["4K", "8K", "64K"]},
        over=(),
        **run_keys,
    )
    assert (result["verdict"], result["certified"], result["qualification"]) == ("pass", not said, said)


def test_a_warning_certifies():
    result = judge(
        step(latency_max_ns=200_000_000),
        SLOWEST,
        waivers=[waiver(metric="latency_max")],
        qualifies={"min_duration_s": 300},
        over=(),
    )
    assert (result["verdict"], result["certified"], result["qualification"]) == ("warn", True, "")


@given(st.integers(1, 10**10), st.integers(1, 10**10))
def test_a_limit_is_broken_exactly_above_it(limit_ns, value_ns):
    limit = profile_of({"metric": "latency_p99", "max": f"{limit_ns} ns"}).limits[0]
    assert limit.broken_by(value_ns) is (value_ns > limit_ns)


@given(st.lists(st.sampled_from(WORST_FIRST), min_size=1))
def test_the_worst_of_verdicts(verdicts):
    order = ["pass", "warn", "inconclusive", "missing", "unreachable", "error", "fail"]
    assert worst(verdicts) == max(verdicts, key=order.index)


def entry(host, verdict="pass", certified=None, volume="log", reasons=("because",), **keys):
    certified = verdict in ("pass", "warn") if certified is None else certified
    reasons = [] if verdict in ("pass", None) or verdict not in WORST_FIRST else list(reasons)
    return HostRecord(
        host,
        volume,
        verdict=verdict,
        certified=certified,
        qualification="" if certified else "too short",
        reasons=reasons,
        **keys,
    )


def fleet(*records, expected=None, check_mode=False, **policy):
    run = {
        "run_id": "r1",
        "controller": {"check_mode": check_mode},
        "policy": policy,
        "expected_hosts": [record.host for record in records] if expected is None else expected,
    }
    return fleet_verdict(run, iter(records))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["pass"], "pass"),
        (["pass", "warn"], "warn"),
        (["warn", "inconclusive"], "inconclusive"),
        (["inconclusive", "missing"], "missing"),
        (["missing", "unreachable"], "unreachable"),
        (["unreachable", "error"], "error"),
        (["error", "fail", "pass"], "fail"),
    ],
)
def test_a_fleet_is_as_good_as_its_worst_host(verdicts, expected):
    result = fleet(*(entry(f"h{number}", verdict) for number, verdict in enumerate(verdicts)))
    assert result["verdict"] == expected
    assert result["gate_failed"] is (expected not in ("pass", "warn"))
    assert result["counts"] == {verdict: verdicts.count(verdict) for verdict in WORST_FIRST}
    assert [host["verdict"] for host in result["hosts"]] == sorted(verdicts, key=WORST_FIRST.index)


def test_an_expected_host_without_a_record_is_missing(tmp_path):
    directory = RunDirectory.create(str(tmp_path), fabricate.run_data(["a", "b"]))
    directory.records.write(entry("a"))
    result = judge_run(directory, GATE)
    assert (result["verdict"], result["gate_failed"], result["certified"]) == ("missing", True, False)
    assert result["reasons"] == ["b: missing: it was expected but never reported"]
    assert directory.verdict() == result
    assert [(record.host, record.verdict) for record in list(judged_records(directory))] == [
        ("a", "pass"),
        ("b", "missing"),
    ]


def test_a_host_that_nobody_expected_counts_too():
    assert fleet(entry("a"), entry("x", "fail"), expected=["a"])["verdict"] == "fail"


def test_no_host_at_all_is_never_good():
    result = fleet(expected=[])
    assert (result["verdict"], result["gate_failed"], result["certified"]) == ("error", True, False)
    assert result["reasons"] == ["no host was expected and none reported"]


@pytest.mark.parametrize("verdict", [None, "", "PASS", "good", 7, ["pass"]])
def test_a_record_that_nobody_judged_is_an_error(verdict):
    result = fleet(entry("a", verdict, certified=True))
    assert (result["verdict"], result["certified"], result["gate_failed"]) == ("error", False, True)
    assert result["reasons"] == ["a: error: its record does not contain a verdict"]


def test_one_line_a_cause_with_the_volume_where_it_is_another():
    result = fleet(
        entry("a", "fail", reasons=["x", "y"]), entry("b", volume="data", verdict="warn"), entry("c", certified=False)
    )
    assert result["reasons"] == ["a: fail: x", "a: fail: y", "b/data: warn: because", "c: does not certify: too short"]


@pytest.mark.parametrize(
    ("policy", "records", "failed"),
    [
        ({}, [entry("a", "warn")], False),
        ({"fail_on": ["warn"]}, [entry("a", "warn")], True),
        ({"fail_on": []}, [entry("a", "fail")], False),
        ({"fail_on": ["fail"]}, [entry("a", "error")], False),
        ({"fail_on": ["fail"]}, [entry("a", "error"), entry("b", "fail")], True),
        ({}, [entry("a", certified=False)], False),
        ({"fail_on": ["unqualified"]}, [entry("a", certified=False)], True),
        ({"fail_on": ["unqualified"]}, [entry("a")], False),
        ({"report_only": True}, [entry("a", "fail")], False),
        ({"fail_on": None}, [entry("a", "fail")], True),
        ({"report_only": True, "fail_on": ["unqualified"]}, [entry("a", certified=False)], False),
    ],
)
def test_policy(policy, records, failed):
    result = fleet(*records, **policy)
    assert result["gate_failed"] is failed
    assert result["verdict"] == worst(record.verdict for record in records)


@pytest.mark.parametrize("fail_on", [["pass"], ["failed"], "fail", [None], {"fail": 1}, [["fail"]]])
def test_a_policy_that_says_nothing_known(fail_on):
    with pytest.raises(PolicyError, match="unqualified"):
        fleet(entry("a"), fail_on=fail_on)


def test_what_is_left_behind_stops_the_gate_and_leaves_the_verdict():
    result = fleet(entry("a", leftovers=["/var/mqm/x"]), entry("b"))
    assert (result["verdict"], result["certified"], result["gate_failed"]) == ("pass", True, True)
    assert result["reasons"] == ["a: left behind on the host: /var/mqm/x"]
    assert fleet(entry("a", leftovers=["/var/mqm/x"]), report_only=True)["gate_failed"] is False


def test_check_mode_has_no_verdict():
    result = fleet(entry("a", None), expected=["a", "b"], check_mode=True)
    assert (result["verdict"], result["certified"], result["gate_failed"], result["reasons"]) == (
        None,
        False,
        False,
        [],
    )


def test_check_mode_stops_at_a_refusal():
    result = fleet(
        entry("a", None), entry("b", "error", reasons=["workspace: it holds a queue manager"]), check_mode=True
    )
    assert (result["verdict"], result["gate_failed"]) == (None, True)
    assert result["reasons"] == ["b: error: workspace: it holds a queue manager"]


def test_all_hosts_certify_or_the_fleet_does_not():
    assert fleet(entry("a"), entry("b", "warn"))["certified"] is True
    assert fleet(entry("a"), entry("b", certified=False))["certified"] is False
    assert fleet(entry("a"), entry("b", "fail", certified=True))["certified"] is False


@pytest.mark.parametrize(
    ("hosts", "confidence", "expected"),
    [(20, 0.95, None), (21, 0.95, 1.1), (200, 0.95, 10.0), (200, 0.99, 2.0), (200, "none", None), (0, 0.95, None)],
)
def test_the_fails_that_chance_may_cause_are_counted(hosts, confidence, expected):
    records = [HostRecord(f"h{number}", verdict="pass") for number in range(hosts)] + [
        HostRecord("gone", verdict="unreachable")
    ] * 50
    run = {**fabricate.run_data([]), "profile": {"qualifies": {"confidence": confidence}}}
    records = [replace(record, profile=profile_key(run["profile"])) for record in records]
    assert fleet_verdict(run, records)["wrong_fails_expected"] == expected


def test_each_host_may_fail_by_chance_at_the_confidence_of_its_own_profile():
    records = [HostRecord(f"h{number}", verdict="pass") for number in range(40)]
    own = {f"h{number}": {"qualifies": {"confidence": "none"}} for number in range(10)}
    run = {**fabricate.run_data([]), "profile": {"qualifies": {"confidence": 0.9}}, "host_profiles": own}
    records = [replace(record, profile=profile_key(own.get(record.host, run["profile"]))) for record in records]
    assert fleet_verdict(run, records)["wrong_fails_expected"] == 3
