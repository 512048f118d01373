# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a run warms up, starts and ends: --warmup, --startAt, --deadline, and clocks that step."""

import signal
import time

from support import consistent, contains, equal, preloaded, strace, test, traced, warnings


@test
def warm_up_is_not_counted(place):
    result = place.logdisk(
        "--duration=1",
        "--warmup=1",
        "--delay=2000",
        before=strace(place, "pwritev:delay_enter=300000:when=30", calls="pwritev"),
    )
    equal(result.status, 0, result.err)
    consistent(result)
    row = result.all()
    assert int(row["latency_max_ns"]) < 300000000, row["latency_max_ns"]
    seen = len([line for line in traced(place) if "pwritev(" in line]) - 1 - 3
    assert int(row["operations"]) < seen, "warm-up writes"
    assert 0.9e9 < int(row["elapsed_ns"]), row["elapsed_ns"]


@test
def planned_start(place):
    at = time.time() + 1.5
    result = place.logdisk("--duration=1", "--startAt=%.6f" % at, "--bsize=4K,8K")
    equal(result.status, 0, result.err)
    run = consistent(result)
    starts = [float(result.all(step)["start_time_epoch_s"]) for step in (1, 2)]
    assert starts[0] - at >= -0.001 and starts[1] - at >= 3 - 0.001, starts
    assert run["option_start_at_epoch_s"].startswith("%.6f" % at), run["option_start_at_epoch_s"]
    late = place.logdisk("--duration=1", "--startAt=1000000000")
    equal(late.status, 2)
    contains(late.err, "--startAt", "passed")


@test
def late_start(place):
    at = time.time() - 1
    result = place.logdisk("--duration=3", "--startAt=%.6f" % at, "--bsize=4K")
    equal(result.status, 0, result.err)
    contains(result.err, "after its planned start", "shortened")
    run = consistent(result)
    assert 1.4e9 <= int(result.all()["elapsed_ns"]) <= 2.1e9, result.all()["elapsed_ns"]
    contains(warnings(run), "shortened")


@test
def late_plan_is_caught_up(place):
    """Step 1 hangs until after the planned start of step 2. Step 2 still ends as planned."""
    at = time.time() + 1
    result = place.logdisk(
        "--duration=2",
        "--bsize=4K,8K",
        "--startAt=%.6f" % at,
        before=strace(place, "pwritev:delay_enter=4500000:when=20", calls="pwritev"),
    )
    equal(result.status, 0, result.err)
    run = consistent(result)
    contains(warnings(run), "step 2", "after its planned start")
    first, second = result.all(1), result.all(2)
    assert int(first["elapsed_ns"]) > 4400000000, first["elapsed_ns"]
    assert 900000000 < int(second["elapsed_ns"]), second["elapsed_ns"]
    assert float(second["start_time_epoch_s"]) > at + 4.4


@test
def stepped_clock_changes_no_figure(place):
    """From the third call on, CLOCK_REALTIME is an hour behind."""
    shim = preloaded(
        place,
        """
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            static int calls;
            int clock_gettime(clockid_t clock, struct timespec *time) {
                long result = syscall(SYS_clock_gettime, clock, time);
                if (clock == CLOCK_REALTIME && ++calls > 2) time->tv_sec -= 3600;
                return (int)result;
            }""",
    )
    result = place.logdisk("--duration=2", "--delay=1000", "--bsize=4K,8K", before=shim)
    equal(result.status, 0, result.err)
    run = consistent(result)
    assert float(run["end_time_epoch_s"]) < float(run["start_time_epoch_s"]), "the shim did not step the clock"
    for step in (1, 2):
        assert 2e9 <= int(result.all(step)["elapsed_ns"]) < 4e9
    equal(len([row for row in result.rows("intervals.csv") if row["partial"] == "0"]), 4)


@test
def default_deadline_of_an_absurd_plan(place):
    """97128 steps of 94961 s: their deadline in nanoseconds exceeds the range of 64 bits by 2.3 s."""
    process = place.start("--bsize=" + ",".join(["4K"] * 114), "--qm=" + ",".join(["1"] * 852), "--duration=94961")
    place.wait_for(".run.csv.tmp", "", process)
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    run = consistent(result)
    equal((run["exit_reason"], run["option_deadline_s"]), ("interrupted", "18446744076"))
