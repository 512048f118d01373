# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Latency in a closed loop: what it includes, and which tables show a stall."""

import os
import signal
import time

from support import consistent, equal, preloaded, strace, test, wait_until_measuring


@test
def delay_lies_outside_the_latency(place):
    result = place.logdisk("--duration=1", "--delay=20000")
    row = result.all()
    assert int(row["latency_p50_ns"]) < 20000000, row["latency_p50_ns"]
    assert int(row["operations"]) <= 50, row["operations"]


@test
def injected_delay_is_measured(place):
    for delay_us, duration in ((1000, 1), (5000, 1), (50000, 3)):
        low, high = delay_us * 1000, delay_us * 1000 + 1000000
        for attempt in range(4):  # a busy machine may raise the median but never lower it
            result = place.logdisk(
                "--duration=%d" % duration, before=strace(place, "pwritev:delay_enter=%d" % delay_us, calls="pwritev")
            )
            p50 = int(result.all()["latency_p50_ns"])
            assert p50 >= low, "p50 %d below the injected %d" % (p50, low)
            if p50 < high:
                break
        assert p50 < high, "p50 %d is not below %d" % (p50, high)


@test
def rare_delay_moves_p99_not_p50(place):
    result = place.logdisk(
        "--duration=3", "--delay=2000", before=strace(place, "pwritev:delay_enter=50000:when=50+50", calls="pwritev")
    )
    row = result.all()
    assert int(row["latency_p50_ns"]) < 10000000 and int(row["latency_p99_ns"]) >= 50000000, row
    assert int(row["latency_time_weighted_p99_ns"]) >= 50000000, row
    longest = result.rows("stalls.csv")
    equal([int(r["rank"]) for r in longest], list(range(1, 11)))
    equal(longest[0]["latency_ns"], row["latency_max_ns"])
    equal(longest[0]["operation_number"], row["latency_max_operation_number"])
    lengths = [int(r["latency_ns"]) for r in longest]
    equal(lengths, sorted(lengths, reverse=True))
    assert longest[0]["file"].startswith(place.dir)


@test
def stall_leaves_rows_of_zero_writes(place):
    result = place.logdisk(
        "--duration=4", before=strace(place, "pwritev:delay_enter=2500000:when=100", calls="pwritev")
    )
    equal(result.status, 0, result.err)
    consistent(result)
    seconds = result.rows("intervals.csv")
    equal([r["operations"] for r in seconds[1:2]], ["0"], "second 2")
    equal((seconds[1]["latency_p50_ns"], seconds[1]["latency_max_ns"]), ("", ""))
    equal(result.all()["interval_bytes_per_s_min"], "0")


@test
def writes_over_a_threshold_are_counted_by_the_second(place):
    """Every tenth write takes 60 ms longer. The run is stopped in the middle of a second. The part of that second
    before the stop counts."""
    before = strace(place, "pwritev:delay_enter=60000:when=20+10", calls="pwritev")
    asked_ns = [60000000, 59999999, *range(10000, 310000, 10000)]
    result = place.logdisk(
        "--duration=30",
        "--deadline=4",
        "--delay=5000",
        "--over=" + ",".join("%dns" % ns for ns in asked_ns),
        before=before,
    )
    equal(result.status, 4, result.err)
    run = consistent(result)
    thresholds = [int(text) for text in run["option_over_ns"].split()]
    equal(thresholds, sorted({*asked_ns, *(step * 10**decade for step in (1, 2, 5) for decade in range(5, 10))}))
    seconds, slow = result.rows("intervals.csv"), [r for r in result.rows("over.csv") if r["over_ns"] == "50000000"]
    equal([r["second"] for r in slow], [r["second"] for r in seconds], "seconds with slow writes")
    equal(seconds[-1]["partial"], "1")
    assert list(slow[0])[:6] == list(seconds[0])[:6] and slow[0]["worker"] == "all", slow[0]
    share = sum(int(r["operations"]) for r in slow) / sum(int(r["operations"]) for r in seconds)
    assert 0.05 <= share <= 0.2, share


@test
def each_queue_manager_is_counted_by_itself(place):
    """Only one of three queue managers has slow writes: every tenth takes 60 ms. Only its own rows show this, at the
    requested thresholds."""
    source = """
        #include <dlfcn.h>
        #include <stdarg.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        long syscall(long number, ...) {
            static _Thread_local int calls;
            long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
            char link[64], target[4096] = "";
            long parts[6];
            va_list list;
            va_start(list, number);
            for (int i = 0; i < 6; i++) {
                parts[i] = va_arg(list, long);
            }
            va_end(list);
            snprintf(link, sizeof link, "/proc/self/fd/%ld", parts[0]);
            if (number == SYS_pwritev && readlink(link, target, sizeof target - 1) > 0 && strstr(target, "/slow/") &&
                ++calls % 10 == 0) {
                usleep(60000);
            }
            return next(number, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]);
        }
        """
    directories = [os.path.join(place.path, name) for name in ("one", "slow", "three")]
    for directory in directories:
        os.makedirs(directory)
    options = [
        "--dir=" + ",".join(directories),
        "--qm=3",
        "--numFiles=1",
        "--duration=3",
        "--delay=5000",
        "--over=59999us,30ms",
    ]
    result = place.logdisk(*options, before=preloaded(place, source))
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal(run["over_worker_ns"], "30000000 59999000")
    slow = [r for r in result.rows("over.csv") if r["worker"] == "2"]
    equal({r["over_ns"] for r in slow}, {"30000000", "59999000"})
    own = [r for r in result.rows("results.csv") if r["worker"] == "2"][0]
    share = sum(int(r["operations"]) for r in slow if r["over_ns"] == "30000000") / int(own["operations"])
    assert 0.05 <= share <= 0.2, share
    equal(len(result.rows("batches.csv")), 3 * 30)


@test
def last_second_that_is_cut_short_is_no_whole_one(place):
    """The only writer fails at about 1.96 s, and the main thread checks it again only after that second has ended."""
    result = place.logdisk(
        "--duration=4",
        "--rate=10",
        before=strace(place, "pwritev:error=EIO:delay_enter=60000:when=20", calls="pwritev"),
    )
    equal(result.status, 3, result.err)
    consistent(result)
    row = result.all()
    whole_seconds = int(row["elapsed_ns"]) // 1000000000  # 1, unless the machine is slow
    equal([r["partial"] for r in result.rows("intervals.csv")], ["0"] * whole_seconds + ["1"], "partial")
    own = [r for r in result.rows("results.csv") if r["worker"] == "1"][0]
    for key in ("interval_bytes_per_s_max", "interval_bytes_per_s_min"):
        equal(row[key], own[key], key)


@test
def frozen_tester_is_told_from_a_stalled_disk(place):
    process = place.start("--duration=4", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    time.sleep(0.5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.5)
    process.send_signal(signal.SIGCONT)
    result = place.finish(process)
    equal(result.status, 0, result.err)
    run = consistent(result)
    # For up to 0.25 s of that time, the main thread may still have been asleep.
    assert int(run["oversleep_max_ns"]) > 1200000000, run["oversleep_max_ns"]
    equal(run["oversleep_max_step"], "1")
