# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signals end a run with complete tables."""

import os
import shutil
import signal
import subprocess
import time

from support import consistent, contains, equal, preloaded, strace, test, until, wait_until_measuring


@test
def signals_end_the_run_with_tables(place):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        process = place.start("--duration=30", "--progress=" + place.path + "/progress")
        wait_until_measuring(place, process)
        process.send_signal(number)
        result = place.finish(process)
        equal(result.status, 4, result.err)
        run = consistent(result)
        equal((run["exit_reason"], run["exit_status"]), ("interrupted", "4"))
        contains(run["exit_message"], signal.Signals(number).name)
        assert int(result.all()["operations"]) > 0
        equal([row["partial"] for row in result.rows("rounds.csv")], ["1"], "rounds of an interrupted step")
        equal(os.listdir(place.dir), [])
        os.unlink(place.path + "/progress")


@test
def two_signals_at_once_are_one_request(place):
    """Signals as sent by GNU timeout and systemd are never reported as a disk error, and no results are lost."""
    for delay_ms in range(1, 10):
        process = place.start("--duration=30", "--progress=" + place.path + "/progress")
        wait_until_measuring(place, process)
        process.send_signal(signal.SIGTERM)
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGTERM)
        result = place.finish(process)
        equal(result.status, 4, result.err)
        run = consistent(result)
        equal((run["exit_message"], "in_flight_age_ns" in run), ("interrupted by SIGTERM", False), result.err)
        assert "cannot be written" not in result.err, result.err
        os.unlink(place.path + "/progress")
    result = place.logdisk("--duration=30", before=["timeout", "1"])
    equal(result.status, 124, result.err)
    equal(consistent(result)["exit_message"], "interrupted by SIGTERM")


@test
def ignored_signals_stay_ignored(place):
    for number in (signal.SIGHUP, signal.SIGINT):
        process = subprocess.Popen(
            place.command("--duration=1", "--startAt=%.3f" % (time.time() + 1.5)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN),
        )
        place.wait_for(".run.csv.tmp", "", process)
        process.send_signal(number)
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
        shutil.rmtree(place.tables)


def tester_below(process):
    """Returns the pid of the tester that strace started."""
    return int(
        subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(process.pid)], universal_newlines=True).split()[0]
    )


@test
def later_signal_ends_the_wait_for_results(place):
    command = strace(place, "renameat2:delay_enter=4000000:when=1", calls="renameat2") + place.command("--duration=30")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    place.wait_for(".run.csv.tmp", "", process)
    time.sleep(0.5)
    for wait_s in (0.5, 1):
        os.kill(tester_below(process), signal.SIGTERM)
        time.sleep(wait_s)
    os.kill(tester_below(process), signal.SIGTERM)
    result = place.finish(process)
    contains(result.err, "not written", "another signal")
    assert "hangs" not in result.err, result.err


@test
def signal_while_memory_is_filled(place):
    """Memory that the kernel grants slowly (--mlock, swapping) is not a call that hangs, and created directories are
    removed."""
    shim = preloaded(
        place,
        """
        #include <stdlib.h>
        #include <unistd.h>
        extern void *aligned_alloc(size_t alignment, size_t bytes);
        int posix_memalign(void **memory, size_t alignment, size_t bytes) {
            usleep((useconds_t)(bytes / 32768 * 200000));
            *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
            return *memory == NULL;
        }""",
    )
    process = subprocess.Popen(
        shim + place.command("--duration=1", "--qm=20", "--createDirs", dir=place.dir + "/q"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    until(lambda: len(os.listdir(place.dir)) == 20, "20 directories", process)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    equal(result.status, 4, result.err)
    equal(consistent(result)["exit_message"], "interrupted by SIGTERM")
    equal(os.listdir(place.dir), [], "left behind")


@test
def signal_while_formatting(place):
    process = subprocess.Popen(
        strace(place, "pwritev:delay_enter=3000000:when=3", calls="pwritev") + place.command("--duration=9"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    time.sleep(1)
    os.kill(tester_below(process), signal.SIGTERM)
    result = place.finish(process)
    equal(result.status, 4, result.err)
    run = consistent(result)
    equal(run["steps_measured"], "0")
    contains(run["in_flight_file"], "mqldt_testfile")
    equal(os.listdir(place.dir), [])
