# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""--failAbove: a step and its run end as soon as the step's writes show that a limit is broken."""

from support import consistent, contains, equal, test

DISTURBANCES = ("cpu_steal", "psi_cpu_some", "run_queue_wait", "cpu_throttled", "foreign_io")


def sizes(result):
    return [row["block_size_bytes"] for row in result.rows("results.csv") if row["worker"] == "all"]


@test
def one_long_write_ends_the_run(place):
    for more in ((), ("--qm=2", "--verify", "--createDirs")):
        result = place.logdisk(
            "--bsize=4K,8K,16K",
            "--duration=4",
            "--delay=1000",
            "--failAbove=latency_max:1ns:8K-8K",
            "--failAbove=latency_max:9s",
            *more,
        )
        equal(result.status, 0, result.err)
        run = consistent(result)
        equal((run["exit_reason"], run["steps_planned"], run["steps_measured"]), ("ended_early", "3", "2"))
        equal((run["ended_early_step"], run["ended_early_limit"]), ("2", "latency_max:1ns:8K-8K"))
        equal((run["fail_above_1"], run["fail_above_2"]), ("latency_max:1ns:8K-8K", "latency_max:9s"))
        equal((sizes(result), run["fail_odds"]), (["4096", "8192"], "20"))
        contains(run["exit_message"], "step 2 was ended after 1 s because a write took ", "1 ns break latency_max")
        contains(result.out, run["exit_message"])
        assert 3.9e9 <= int(result.all(1)["elapsed_ns"]) and 1e9 <= int(result.all(2)["elapsed_ns"]) < 3e9
        assert all("ended_early_%s_share" % name in run for name in DISTURBANCES), run


@test
def a_percentile_ends_the_run_with_evidence(place):
    limit = "latency_p99:1ns:4096-65536:1-1"  # a busy machine makes few writes, so there is little evidence
    result = place.logdisk("--bsize=4K,8K", "--duration=90", "--failAbove=" + limit, "--failOdds=2")
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal((run["exit_reason"], run["ended_early_limit"], run["fail_odds"]), ("ended_early", limit, "2"))
    contains(run["exit_message"], "because there is evidence that latency_p99 is above 1 ns")
    assert 60e9 <= int(result.all()["elapsed_ns"]) < 85e9, result.all()["elapsed_ns"]


@test
def limits_that_are_kept_end_nothing(place):
    result = place.logdisk("--duration=2", "--failAbove=latency_max:60s", "--failAbove=latency_p99:60s::1-9")
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal((run["exit_reason"], run.get("ended_early_step")), ("measured", None))
    assert "fail_odds" not in place.logdisk("--duration=1").run()


@test
def limits_that_end_nothing_are_refused(place):
    for limit in ("latency_mean:1ms", "latency_p99", "latency_p99:1ms:64K-4K", "latency_p99_:1ms"):
        result = place.logdisk("--duration=1", "--failAbove=" + limit)
        equal(result.status, 1, limit)
        contains(result.err, "--failAbove: '%s' is not allowed" % limit, "try --failAbove=latency_p99:2ms:4K-64K")
    result = place.logdisk("--workload=commit", "--apps=1", "--msgSize=2K", "--failAbove=latency_p99:1ms")
    equal(result.status, 1)
    contains(result.err, "--failAbove is not for --workload=commit")


@test
def limits_that_are_kept_end_their_step(place):
    result = place.logdisk(
        "--bsize=4K", "--duration=120", "--delay=1000", "--fileSize=64K", "--numFiles=1", "--passAfter=60",
        "--failAbove=latency_max:60s", "--failAbove=latency_p50:30s", "--passOdds=2",
    )  # fmt: skip
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal((run["exit_reason"], run["steps_measured"], run["steps_kept"]), ("measured", "1", "1"))
    equal((run["pass_after_s"], run["pass_odds"]), ("60", "2"))
    contains(result.out, "because all limits of --failAbove are kept")
    assert 60e9 <= int(result.all()["elapsed_ns"]) < 115e9, result.all()["elapsed_ns"]


@test
def a_step_cannot_pass_without_limits(place):
    result = place.logdisk("--duration=1", "--passAfter=60")
    equal(result.status, 1)
    contains(result.err, "--passAfter needs the limits that have to be kept; add --failAbove")
