#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tester and looks at it from outside: its system calls, its tables, what it refuses, what faults do to it.

    outside.py BUILD_DIR [NAME...]      runs all tests, or those whose name contains one of NAME

Needs root (loop devices, mounts), strace, valgrind, e2fsprogs, xfsprogs and util-linux. What is missing is a failure, not a
skip; LOGDISK_TEST_UNPRIVILEGED=1 leaves out the tests that need root. Nothing is left behind: mounts, loop devices
and processes go at the end, also after a failure. Ends with "N passed, N failed".
"""
import concurrent.futures
import contextlib
import csv
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

BUILD = os.path.abspath(sys.argv[1])
LOGDISK = os.path.join(BUILD, "logdisk")
# Writers have descriptor tables of their own, and ThreadSanitizer takes equal numbers for the same descriptor.
os.environ["TSAN_OPTIONS"] = "suppressions=" + os.path.join(os.path.dirname(os.path.abspath(__file__)), "tsan.supp")
BASE = tempfile.mkdtemp(prefix="logdisk-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
UNPRIVILEGED = os.environ.get("LOGDISK_TEST_UNPRIVILEGED") == "1"
VERBOSE = len(sys.argv) > 2 or os.environ.get("VERBOSE")
RUN_ID = "logdisk-tests"                # tests run side by side on one disk
TESTS = []
MQLDT = ("Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files (over 1 sec interval),"
         "Min bytes/sec written to files (over 1 sec interval),Avg bytes/sec written to files,Max latency of write (ns),"
         "Min latency of write (ns),Avg latency of write (ns),Min bytes/sec (slowest write),Max bytes/sec (fastest write)")


def test(function):
    TESTS.append((function, False))
    return function


def root_test(function):
    TESTS.append((function, True))
    return function


class Result:
    def __init__(self, status, out, err, tables):
        self.status, self.out, self.err, self.tables = status, out, err, tables

    def rows(self, name):
        with open(os.path.join(self.tables, name), newline="") as file:
            return list(csv.DictReader(file))

    def run(self):
        with open(os.path.join(self.tables, "run.csv"), newline="") as file:
            return {row["key"]: row["value"] for row in csv.DictReader(file)}

    def all(self, step=1):
        return [row for row in self.rows("results.csv") if row["queue_manager"] == "all" and row["step"] == str(step)][0]


class Place:
    """A directory of its own for one test: test files in dir, tables in tables."""

    def __init__(self, name):
        self.path = os.path.join(BASE, name)
        self.dir = os.path.join(self.path, "dir")
        os.makedirs(self.dir)
        self.tables = os.path.join(self.path, "tables")

    def command(self, *options, **keywords):
        where = keywords.get("dir", self.dir)
        found = any(option.startswith("--bsize") for option in options)
        return [keywords.get("logdisk", LOGDISK), "--dir=" + where, "--tables=" + self.tables] + \
            ([] if found else ["--bsize=4K"]) + ["--fileSize=256K", "--numFiles=3", "--reserve=0", "--runId=" + RUN_ID] + list(options)

    def logdisk(self, *options, **keywords):
        shutil.rmtree(self.tables, ignore_errors=True)
        before = keywords.get("before", [])
        done = subprocess.run(before + self.command(*options, **keywords), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, timeout=120, stdin=subprocess.DEVNULL,
                              preexec_fn=keywords.get("preexec"))
        return Result(done.returncode, done.stdout, done.stderr, self.tables)

    def start(self, *options, **keywords):
        shutil.rmtree(self.tables, ignore_errors=True)
        return subprocess.Popen(self.command(*options, **keywords), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                universal_newlines=True, stdin=subprocess.DEVNULL)

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return Result(process.returncode, out, err, self.tables)

    def wait_for(self, name, what, process):
        """Until a file of the tables' (under its name aside) has that text."""
        path = os.path.join(self.tables, name)
        for _ in range(600):
            with contextlib.suppress(OSError), open(path, errors="replace") as file:
                if what in file.read():
                    return
            assert process.poll() is None, "ended early: " + str(process.communicate())
            time.sleep(0.02)
        raise AssertionError("never saw %s in %s" % (what, name))


def wait_until_measuring(place, process):
    progress = os.path.join(place.path, "progress")
    for _ in range(600):
        with contextlib.suppress(OSError), open(progress) as file:
            if "state=measuring" in file.read():
                return
        assert process.poll() is None, "ended early: " + str(process.communicate())
        time.sleep(0.02)
    raise AssertionError("never measured")


@contextlib.contextmanager
def frozen(point):
    """Freezes the file system for as long as the block lasts."""
    subprocess.check_call(["fsfreeze", "-f", point])
    try:
        yield
    finally:
        subprocess.check_call(["fsfreeze", "-u", point])


def unmount(point):
    """Processes and loop devices let go of it a moment after their end."""
    for _ in range(50):
        if subprocess.call(["umount", point], stderr=subprocess.DEVNULL) == 0:
            return
        time.sleep(0.1)
    raise AssertionError("cannot unmount " + point)


@contextlib.contextmanager
def mounted(place, kind="ext4", size_mb=64, sector=512, options=None):
    image, point = os.path.join(place.path, kind + ".img"), os.path.join(place.path, "mount")
    os.makedirs(point)
    with open(image, "wb") as file:
        file.truncate(size_mb << 20)
    loop = subprocess.check_output(["losetup", "-b", str(sector), "-f", "--show", image], universal_newlines=True).strip()
    try:
        subprocess.check_call(["mkfs." + kind, "-q", "-F" if kind == "ext4" else "-f", loop])
        subprocess.check_call(["mount", loop, point] + (["-o", options] if options else []))
        try:
            yield point
        finally:
            subprocess.call(["fsfreeze", "-u", point], stderr=subprocess.DEVNULL)
            unmount(point)
    finally:
        subprocess.call(["losetup", "-d", loop])


@contextlib.contextmanager
def tmpfs(place, options):
    point = os.path.join(place.path, "tmpfs")
    os.makedirs(point)
    subprocess.check_call(["mount", "-t", "tmpfs", "-o", options, "none", point])
    try:
        yield point
    finally:
        unmount(point)


def strace(place, *inject, **keywords):
    calls = keywords.get("calls", "pwritev,openat,unlinkat,fdatasync,fsync")
    command = ["strace", "-f", "-qq", "--seccomp-bpf", "-s", "1", "-o", os.path.join(place.path, "trace"), "-e", "trace=" + calls]
    for rule in inject:
        command += ["-e", "inject=" + rule]
    return command


def preloaded(place, source):
    """A command prefix under which that C source stands before libc."""
    shim = os.path.join(place.path, "shim")
    with open(shim + ".c", "w") as file:
        file.write("#define _GNU_SOURCE\n" + source)
    subprocess.check_call([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", shim + ".so", shim + ".c"])
    return ["env", "LD_PRELOAD=" + shim + ".so"]


def opening(place, condition, error):
    """A command prefix under which openat of `name` with `flags` fails with that error where the condition holds."""
    source = """
        #include <errno.h>
        #include <stdarg.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        #include <asm/fcntl.h>
        static int open_any(int dir, const char *name, int flags, unsigned mode) {
            if (%s) { errno = %s; return -1; }
            return (int)syscall(SYS_openat, dir, name, flags, mode);
        }
    """ % (condition, error)
    for name in ("openat", "openat64"):
        source += """
        int %s(int dir, const char *name, int flags, ...) {
            va_list rest; va_start(rest, flags);
            unsigned mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, unsigned) : 0;
            va_end(rest);
            return open_any(dir, name, flags, mode);
        }
        int __%s_2(int dir, const char *name, int flags) { return open_any(dir, name, flags, 0); }
        """ % (name, name)
    return preloaded(place, source)


def traced(place):
    with open(os.path.join(place.path, "trace")) as file:
        return file.read().splitlines()


def warnings(run):
    return "\n".join(value for key, value in run.items() if key.startswith("warning_"))


def equal(found, wanted, what=""):
    assert found == wanted, "%s: found %r, wanted %r" % (what, found, wanted)


def near(found, wanted, tolerance, what=""):
    assert abs(found - wanted) <= tolerance, "%s: found %r, wanted %r within %r" % (what, found, wanted, tolerance)


def contains(text, *parts):
    for part in parts:
        assert part in text, "%r not in %r" % (part, text)


def consistent(result):
    """What must hold between the tables of every run."""
    run = result.run()
    equal(run["complete"], "1", "complete")
    with open(os.path.join(result.tables, "run.csv")) as file:
        equal(file.read().splitlines()[-1], "complete,1", "last row")
    for row in result.rows("results.csv"):
        if int(row["writes"]):
            # The mean has three decimals: no relative tolerance fits a fast tmpfs and a slow disk alike.
            near(float(row["latency_mean_ns"]), int(row["latency_sum_ns"]) / int(row["writes"]), 0.0006, "mean")
            low, mean, high = int(row["latency_min_ns"]), float(row["latency_mean_ns"]), int(row["latency_max_ns"])
            equal([low, mean, high], sorted([low, mean, high]), "min, mean and max rise")
            known = [int(row[k]) for k in ("latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_p99_9_ns") if row[k]]
            equal(known, sorted(known), "percentiles rise")
        equal(int(row["bytes"]), int(row["writes"]) * int(row["block_size_bytes"]), "bytes")
        if int(row["elapsed_ns"]):
            near(int(row["bytes_per_s"]), int(row["bytes"]) * 1e9 / int(row["elapsed_ns"]), 1, "bytes a second")
    for row in [r for r in result.rows("results.csv") if r["queue_manager"] == "all"]:
        mine = [r for r in result.rows("results.csv") if r["step"] == row["step"] and r["queue_manager"] != "all"]
        equal(len(mine), int(row["queue_managers"]), "rows of queue managers")
        for key in ("writes", "bytes", "latency_sum_ns"):
            equal(sum(int(r[key]) for r in mine), int(row[key]), key)
        seconds = [r for r in result.rows("intervals.csv") if r["step"] == row["step"]]
        equal([int(r["second"]) for r in seconds], list(range(1, len(seconds) + 1)), "seconds")
        for key in ("writes", "bytes", "latency_sum_ns"):
            equal(sum(int(r[key]) for r in seconds), int(row[key]), "seconds' " + key)
        whole = [int(r["bytes"]) for r in seconds if r["partial"] == "0"]
        equal(row["interval_bytes_per_s_max"], str(max(whole)) if whole else "", "interval max")
        equal(row["interval_bytes_per_s_min"], str(min(whole)) if whole else "", "interval min")
        rounds = [r for r in result.rows("rounds.csv") if r["step"] == row["step"]]
        equal([int(r["round"]) for r in rounds], list(range(1, len(rounds) + 1)), "rounds")
        equal(sum(int(r["writes"]) for r in rounds), int(row["writes"]), "rounds' writes")
        assert "1" not in [r["partial"] for r in rounds[:-1]] and (not rounds or rounds[-1]["partial"] == str(int(len(rounds) < 5)) or
                                                                   run["exit_status"] != "0"), rounds
        buckets = [r for r in result.rows("histogram.csv") if r["step"] == row["step"]]
        equal(sum(int(r["writes"]) for r in buckets), int(row["writes"]), "histogram")
        equal([r["batch"] for r in buckets if not 1 <= int(r["batch"]) <= 30], [], "batches beyond 1 to 30")
    return run


def refused(place, result, *parts):
    equal(result.status, 2, result.err)
    contains(result.err, *parts)
    equal(os.path.exists(place.tables), False, "tables of a refusal")


# The log write pattern.

@test
def pattern_as_mq_writes(place):
    options = ["--bsize=4K,20K", "--duration=1", "--delay=2000", "--fileSize=256K"]
    result = place.logdisk(*options, before=strace(place))
    equal(result.status, 0, result.err)
    consistent(result)
    opened, writes, testing = {}, [], []
    for line in traced(place):
        assert "mqldt_testfile" not in line, "a name on the disk: " + line
        match = re.search(r'openat\(\w+, "\.", (\S*O_TMPFILE\S*), 0660\) += (\d+)$', line)
        if match:
            opened[match.group(2)] = "mqldt_testfile.%04d" % len(opened)
            testing.append(match.group(1))
        match = re.search(r"pwritev\((\d+), .*iov_len=(\d+)\}\], (\d+), (\d+)\) += (\d+)$", line)
        if match:
            fd, length, vectors, offset, done = match.groups()
            equal((vectors, length), ("1", done), "one vector, all written")
            writes.append((opened[fd], int(length), int(offset)))
    equal(len(testing), 3, "files created")
    assert all("O_DIRECT" in flags and "O_DSYNC" in flags and "O_RDWR" in flags and "O_EXCL" in flags for flags in testing), testing
    measured = writes[2 + 3:]           # after one try for each block size and one part for each of three files
    files, place_in_ring, size = 3, (0, 0), 4096
    steps = [(4096, int(result.all(1)["writes"])), (20480, int(result.all(2)["writes"]))]
    equal(len(measured), sum(count for _, count in steps), "writes seen and reported")
    for size, count in steps:
        if place_in_ring[1]:
            place_in_ring = ((place_in_ring[0] + 1) % files, 0)
        for name, length, offset in measured[:count]:
            equal((name, length, offset), ("mqldt_testfile.%04d" % place_in_ring[0], size, place_in_ring[1]), "next write")
            equal(offset % 4096, 0, "aligned")
            place_in_ring = (place_in_ring[0], offset + size)
            if place_in_ring[1] + size > 262144:
                place_in_ring = ((place_in_ring[0] + 1) % files, 0)
        measured = measured[count:]


@test
def sync_modes(place):
    for mode, flag, call in (("sync", "O_SYNC", None), ("fdatasync", None, "fdatasync"), ("fsync", None, "fsync"),
                             ("none", None, None)):
        result = place.logdisk("--sync=" + mode, "--direct=no", "--duration=1", "--delay=5000", before=strace(place))
        equal(result.status, 0, result.err)
        run = consistent(result)
        equal((run["option_sync"], run["option_direct"]), (mode, "no"))
        testing = [line for line in traced(place) if "O_TMPFILE" in line]
        equal(len(testing), 3, "files")
        assert all((flag in line) if flag else ("SYNC" not in line) for line in testing), testing
        assert not any("O_DIRECT" in line for line in testing), testing
        row = result.all()
        writer = [line for line in traced(place) if "pwritev" in line][-1].split()[0]
        flushes = len([line for line in traced(place) if call and line.split()[0] == writer and call + "(" in line])
        equal(flushes, int(row["writes"]) if call else 0, mode)
        if call:
            assert 0 < int(row["flush_sum_ns"]) < int(row["latency_sum_ns"])
            assert int(row["flush_max_ns"]) <= int(row["latency_max_ns"])
        else:
            equal(row["flush_sum_ns"], "", mode)


@test
def load_points_and_several_queue_managers(place):
    for i in (1, 2, 3):
        os.mkdir(place.dir + str(i))
    result = place.logdisk("--bsize=4K,64K", "--qm=1,3", "--duration=1")
    equal(result.status, 0, result.err)
    run = consistent(result)
    equal([run["directory_%d" % i] for i in (1, 2, 3)], [place.dir + str(i) for i in (1, 2, 3)])
    equal([(r["queue_managers"], r["block_size_bytes"]) for r in result.rows("results.csv") if r["queue_manager"] == "all"],
          [("1", "4096"), ("1", "65536"), ("3", "4096"), ("3", "65536")], "steps")
    assert all(int(r["writes"]) > 0 for r in result.rows("results.csv"))
    contains(result.out, "Queue manager 3:", "Avg bytes/sec written to files by all queue managers")
    for i in (1, 2, 3):
        equal(os.listdir(place.dir + str(i)), [], "left behind")
    several = place.logdisk("--qm=2", "--duration=1", dir=place.dir + "1," + place.dir + "3")
    equal(several.status, 0, several.err)
    equal(several.run()["directory_2"], place.dir + "3")


@test
def made_directories_go_again(place):
    result = place.logdisk("--qm=2", "--duration=1", "--createDirs", dir=place.dir + "/new")
    equal(result.status, 0, result.err)
    equal(os.listdir(place.dir), [], "left behind")
    result = place.logdisk("--duration=1", "--createDirs", "--keepFiles", dir=place.dir + "/kept")
    equal(result.status, 0, result.err)
    equal(sorted(os.listdir(place.dir + "/kept")), ["mqldt_testfile.%04d" % i for i in range(3)])
    equal([os.path.getsize(place.dir + "/kept/mqldt_testfile.%04d" % i) for i in range(3)], [262144] * 3)


@test
def files_are_filled_and_never_alike(place):
    result = place.logdisk("--duration=1", "--keepFiles", "--seed=1")
    equal(result.status, 0, result.err)
    sectors = set()
    count = 0
    for i in range(3):
        with open(place.dir + "/mqldt_testfile.%04d" % i, "rb") as file:
            data = file.read()
        for at in range(0, len(data), 512):
            sectors.add(data[at:at + 512])
            count += 1
    equal(len(sectors), count, "different sectors")
    import zlib
    # Where the last pass ends, a few blocks may be like their neighbours of the pass before.
    assert len(zlib.compress(data, 9)) > 0.85 * len(data), "compresses"


# Time.

@test
def delay_lies_outside_the_latency(place):
    result = place.logdisk("--duration=1", "--delay=20000")
    row = result.all()
    assert int(row["latency_p50_ns"]) < 20000000, row["latency_p50_ns"]
    assert int(row["writes"]) <= 50, row["writes"]


@test
def injected_delay_is_measured(place):
    for delay_us, duration in ((1000, 1), (5000, 1), (50000, 3)):
        low, high = delay_us * 1000, delay_us * 1000 + 1000000
        for attempt in range(4):        # a busy machine may push the median up; it can never push it down
            result = place.logdisk("--duration=%d" % duration,
                                   before=strace(place, "pwritev:delay_enter=%d" % delay_us, calls="pwritev"))
            p50 = int(result.all()["latency_p50_ns"])
            assert p50 >= low, "p50 %d below the injected %d" % (p50, low)
            if p50 < high:
                break
        assert p50 < high, "p50 %d is not below %d" % (p50, high)


@test
def rare_delay_moves_p99_not_p50(place):
    result = place.logdisk("--duration=3", "--delay=2000", before=strace(place, "pwritev:delay_enter=50000:when=50+50", calls="pwritev"))
    row = result.all()
    assert int(row["latency_p50_ns"]) < 10000000 and int(row["latency_p99_ns"]) >= 50000000, row
    assert int(row["latency_time_weighted_p99_ns"]) >= 50000000, row
    longest = result.rows("stalls.csv")
    equal([int(r["rank"]) for r in longest], list(range(1, 11)))
    equal(longest[0]["latency_ns"], row["latency_max_ns"])
    equal(longest[0]["write"], row["latency_max_write"])
    lengths = [int(r["latency_ns"]) for r in longest]
    equal(lengths, sorted(lengths, reverse=True))
    assert longest[0]["file"].startswith(place.dir)


@test
def stall_leaves_rows_of_zero_writes(place):
    result = place.logdisk("--duration=4", before=strace(place, "pwritev:delay_enter=2500000:when=100", calls="pwritev"))
    equal(result.status, 0, result.err)
    consistent(result)
    seconds = result.rows("intervals.csv")
    equal([r["writes"] for r in seconds[1:2]], ["0"], "second 2")
    equal((seconds[1]["latency_p50_ns"], seconds[1]["latency_max_ns"]), ("", ""))
    equal(result.all()["interval_bytes_per_s_min"], "0")


@test
def open_loop_charges_the_stall_to_all_it_delays(place):
    result = place.logdisk("--duration=3", "--rate=200", before=strace(place, "pwritev:delay_enter=500000:when=200", calls="pwritev"))
    equal(result.status, 0, result.err)
    row = result.all()
    assert 560 <= int(row["writes"]) <= 600, row["writes"]
    assert int(row["response_p50_ns"]) >= int(row["latency_min_ns"])
    assert int(row["latency_p90_ns"]) < 100000000 and int(row["response_max_ns"]) >= 500000000, row
    assert int(row["response_p99_ns"]) > 300000000, "a stall of 0.5 s delays about 100 of 600 writes"


@test
def open_loop_charges_a_stall_that_lasts_to_the_end(place):
    """Of 3000 intended writes a stall from 1.0 to 3.2 s leaves 2000 that were due and never started."""
    result = place.logdisk("--duration=3", "--rate=1000", before=strace(place, "pwritev:delay_enter=2200000:when=1000", calls="pwritev"))
    equal(result.status, 0, result.err)
    run, row = consistent(result), result.all()
    left = int(row["writes_not_started"])
    near(int(row["writes"]) + left, 3000, 1, "writes done and left")
    assert left >= 1500, left
    assert int(row["response_p50_ns"]) > 500000000, row["response_p50_ns"]
    assert int(row["response_max_ns"]) >= int(row["latency_max_ns"]) >= 2200000000, row
    near(float(row["response_mean_ns"]), int(row["response_sum_ns"]) / (int(row["writes"]) + left), 0.0006, "mean")
    contains(result.err, "warning", "%d writes were due" % left)
    contains(run["warning_1"], "step 1: %d writes were due" % left)
    shifted = place.logdisk("--duration=1", "--rate=2", "--qm=2", "--createDirs", dir=place.dir + "/s")
    assert all(int(r["start_skew_ns"]) < 200000000 for r in shifted.rows("results.csv")), "the shift of 0.25 s is none"
    closed = place.logdisk("--duration=1", "--delay=5000")
    equal(closed.all()["writes_not_started"], "", "without --rate")


@root_test
def open_loop_charges_a_freeze_until_the_deadline(place):
    """The books are closed while the write hangs: what was due meanwhile is charged all the same."""
    with mounted(place) as point:
        process = place.start("--duration=3", "--rate=200", "--deadline=5", "--progress=" + place.path + "/progress", dir=point)
        wait_until_measuring(place, process)
        time.sleep(0.5)
        with frozen(point):
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    consistent(result)
    row = result.all()
    near(int(row["writes"]) + 1 + int(row["writes_not_started"]), 600, 1, "done, in flight, and left")
    assert int(row["response_p50_ns"]) > 1000000000, row["response_p50_ns"]


@test
def last_second_that_is_cut_short_is_no_whole_one(place):
    """The only writer fails at about 1.96 s, and the main thread looks again after the second has ended."""
    result = place.logdisk("--duration=4", "--rate=10",
                           before=strace(place, "pwritev:error=EIO:delay_enter=60000:when=20", calls="pwritev"))
    equal(result.status, 3, result.err)
    consistent(result)
    row = result.all()
    assert 1900000000 < int(row["elapsed_ns"]) < 2000000000, row["elapsed_ns"]
    equal([r["partial"] for r in result.rows("intervals.csv")], ["0", "1"], "partial")
    own = [r for r in result.rows("results.csv") if r["queue_manager"] == "1"][0]
    for key in ("interval_bytes_per_s_max", "interval_bytes_per_s_min"):
        equal(row[key], own[key], key)


@test
def warm_up_is_not_counted(place):
    result = place.logdisk("--duration=1", "--warmup=1", "--delay=2000",
                           before=strace(place, "pwritev:delay_enter=300000:when=30", calls="pwritev"))
    equal(result.status, 0, result.err)
    consistent(result)
    row = result.all()
    assert int(row["latency_max_ns"]) < 300000000, row["latency_max_ns"]
    seen = len([line for line in traced(place) if "pwritev(" in line]) - 1 - 3
    assert int(row["writes"]) < seen, "warm-up writes"
    assert 0.9e9 < int(row["elapsed_ns"]), row["elapsed_ns"]


@test
def planned_start(place):
    at = time.time() + 1.5
    result = place.logdisk("--duration=1", "--startAt=%.6f" % at, "--bsize=4K,8K")
    equal(result.status, 0, result.err)
    run = consistent(result)
    starts = [float(result.all(step)["start_time_epoch_s"]) for step in (1, 2)]
    assert -0.001 <= starts[0] - at < 1, starts
    assert -0.001 <= starts[1] - starts[0] - 3 < 1, starts
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
    """Step 1 hangs over the start of step 2, which then ends where it was planned to."""
    at = time.time() + 1
    result = place.logdisk("--duration=2", "--bsize=4K,8K", "--startAt=%.6f" % at,
                           before=strace(place, "pwritev:delay_enter=4500000:when=20", calls="pwritev"))
    equal(result.status, 0, result.err)
    run = consistent(result)
    contains(warnings(run), "step 2", "after its planned start")
    first, second = result.all(1), result.all(2)
    assert int(first["elapsed_ns"]) > 4400000000, first["elapsed_ns"]
    assert 900000000 < int(second["elapsed_ns"]), second["elapsed_ns"]
    assert float(second["start_time_epoch_s"]) > at + 4.4


@test
def stepped_clock_changes_no_figure(place):
    """CLOCK_REALTIME jumps back an hour, in every call after the second."""
    shim = preloaded(place, """
            #include <sys/syscall.h>
            #include <time.h>
            #include <unistd.h>
            static int calls;
            int clock_gettime(clockid_t clock, struct timespec *time) {
                long result = syscall(SYS_clock_gettime, clock, time);
                if (clock == CLOCK_REALTIME && ++calls > 2) time->tv_sec -= 3600;
                return (int)result;
            }""")
    result = place.logdisk("--duration=2", "--delay=1000", "--bsize=4K,8K", before=shim)
    equal(result.status, 0, result.err)
    run = consistent(result)
    assert float(run["end_time_epoch_s"]) < float(run["start_time_epoch_s"]), "the shim did not step the clock"
    for step in (1, 2):
        assert 2e9 <= int(result.all(step)["elapsed_ns"]) < 4e9
    equal(len([row for row in result.rows("intervals.csv") if row["partial"] == "0"]), 4)


@test
def three_hundred_queue_managers(place):
    result = place.logdisk("--qm=300", "--createDirs", "--numFiles=2", "--fileSize=64K", "--duration=2", "--delay=5000", dir=place.dir + "/q")
    equal(result.status, 0, result.err)
    consistent(result)
    equal(len(result.rows("results.csv")), 301)
    equal(os.listdir(place.dir), [])


@test
def progress_is_one_line(place):
    progress = os.path.join(place.path, "progress")
    process = place.start("--duration=2", "--progress=" + progress)
    wait_until_measuring(place, process)
    result = place.finish(process)
    equal(result.status, 0, result.err)
    with open(progress) as file:
        lines = file.read().splitlines()
    equal(len(lines), 1)
    pairs = dict(word.split("=") for word in lines[0].split(" "))
    equal((pairs["state"], pairs["percent"], pairs["error"], pairs["steps"]), ("finished", "100.0", "0", "1"))
    assert int(pairs["writes"]) > 0
    with open(progress, "w") as file:
        file.write("precious")
    refused = place.logdisk("--duration=1", "--progress=" + progress)
    equal(refused.status, 2)
    with open(progress) as file:
        equal(file.read(), "precious")


# Verification, identity, disturbance.

@test
def verify_finds_nothing_where_all_is_well(place):
    for options in (["--bsize=4K,20K", "--duration=1"], ["--direct=no", "--sync=fsync", "--duration=1", "--warmup=1"],
                    ["--bsize=64K", "--duration=1", "--delay=50000"]):
        result = place.logdisk("--verify", *options)
        equal(result.status, 0, result.err)
        run = consistent(result)
        assert int(run["verify_blocks"]) > 0
        equal(run["verify_mismatches"], "0")


@test
def verify_finds_a_lost_write(place):
    result = place.logdisk("--verify", "--duration=1", "--delay=20000", before=strace(place, "pwritev:retval=4096:when=10", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["verify_mismatches"], run["error_errno_name"], run["error_call"]), ("1", "CORRUPT", "pread"))
    equal((run["error_offset_bytes"], run["error_write"]), (str(9 * 4096), "10"))
    equal(run["error_file"], place.dir + "/mqldt_testfile.0000")
    equal(run["verify_mismatch_1"], "%d %s/mqldt_testfile.0000" % (9 * 4096, place.dir))
    contains(result.err, "not what was written")


@test
def verify_finds_a_corrupted_sector(place):
    process = place.start("--verify", "--duration=2", "--delay=20000", "--keepFiles", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    time.sleep(0.5)
    with open(place.dir + "/mqldt_testfile.0000", "r+b") as file:
        file.seek(2 * 4096 + 3 * 512 + 100)
        file.write(b"x" * 7)
    result = place.finish(process)
    equal(result.status, 3, result.err)
    run = result.run()
    equal((run["verify_mismatches"], run["error_offset_bytes"], run["error_write"]), ("1", str(2 * 4096 + 3 * 512), "3"))


@test
def read_error_while_verifying(place):
    result = place.logdisk("--verify", "--duration=1", "--keepFiles",
                           before=strace(place, "pread64:error=EIO", calls="pread64") + ["-P", place.dir + "/mqldt_testfile.0001"])
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_call"], run["error_errno_name"]), ("pread", "EIO"))


@test
def verify_reads_the_disk_without_any_sync(place):
    """Pages that no sync has written cannot be dropped: they are written first, and that can fail."""
    options = ["--verify", "--sync=none", "--direct=no", "--duration=1", "--delay=5000"]
    result = place.logdisk(*options, before=strace(place, calls="fdatasync,fadvise64"))
    equal(result.status, 0, result.err)
    calls = [re.search(r"(fdatasync|fadvise64)\((\d+)", line).groups() for line in traced(place)]
    files = [fd for call, fd in calls if call == "fadvise64"]
    equal(len(files), 3, "files")
    equal(calls, [pair for fd in files for pair in (("fdatasync", fd), ("fadvise64", fd))], "written, then dropped")
    result = place.logdisk(*options, before=strace(place, "fdatasync:error=EIO:when=2", calls="fdatasync"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_call"], run["error_errno_name"], run["error_file"]),
          ("fdatasync", "EIO", place.dir + "/mqldt_testfile.0001"))


@root_test
def identity_of_a_loop_device(place):
    with mounted(place, "xfs", size_mb=320, options="noatime") as point:
        result = place.logdisk("--duration=1", dir=point)
        equal(result.status, 0, result.err)
        run = result.run()
        with open("/proc/self/mountinfo") as file:
            line = [line for line in file if " %s " % point in line][0].split()
        name = os.path.basename(line[line.index("-") + 2])
        equal((run["filesystem_type"], run["mount_point"], run["mount_source"], run["device_number"], run["device_name"]),
              ("xfs", point, "/dev/" + name, line[2], name))
        contains(run["mount_options"], "noatime")
        equal(run["device_stack"], name)
        with open("/sys/block/%s/queue/scheduler" % name) as file:
            contains(file.read(), run["device_scheduler"])
        equal(run["device_logical_block_bytes"], "512")
        holder = os.stat(place.path).st_dev
        equal((run["backing_filesystem_type"], run["backing_unknown"], run["backing_disks"]),
              ("tmpfs", "", "%d:%d" % (os.major(holder), os.minor(holder))), "the file behind the loop device")
        for key in ("cpu_steal_share", "run_queue_wait_share", "foreign_io_share"):
            assert 0 <= float(run[key]) <= 1, (key, run[key])
        assert int(run["device_written_bytes"]) >= int(run["own_written_bytes"]), "the device saw less than was written"
    tmpfs_run = place.logdisk("--duration=1").run()
    equal((tmpfs_run["device_name"], tmpfs_run["device_stack"], tmpfs_run["foreign_io_bytes"]), ("", "", ""))
    equal((tmpfs_run["backing_filesystem_type"], tmpfs_run["backing_unknown"]), ("tmpfs", ""))


@root_test
def memory_behind_an_overlay_and_a_loop_device(place):
    """What cannot be seen is said, and what is not what it seems is not believed."""
    def look(point):
        run = place.logdisk("--duration=1", dir=point).run()
        return run["filesystem_type"], run["backing_filesystem_type"], run["backing_unknown"], run["device_name"]
    hidden = "the upper directory of an overlay"
    with mounted(place, "xfs", size_mb=320) as disk, tmpfs(place, "size=64m") as memory:
        for below, name in ((disk, subprocess.check_output(["findmnt", "-no", "SOURCE", disk], universal_newlines=True)), (memory, "")):
            lower, merged = place.path + "/lower", place.path + "/merged"
            upper, work, moved = [below + "/" + kind for kind in ("upper, with a comma", "work", "moved")]
            for directory in (lower, merged, upper, work):
                os.makedirs(directory, exist_ok=True)
            subprocess.check_call(["mount", "-t", "overlay", "overlay", "-o", "lowerdir=%s,upperdir=%s,workdir=%s" % (
                lower, upper.replace(",", "\\,"), work), merged])
            try:
                os.mkdir(merged + "/sub")
                name = os.path.basename(name.strip())
                equal(look(merged + "/sub"), ("overlay", "tmpfs", "", name), "the disk's image lies in memory, too")
                os.rename(upper, moved)
                equal(look(merged + "/sub"), ("overlay", "", hidden, ""), "not there")
                os.makedirs(upper + "/sub")
                equal(look(merged + "/sub"), ("overlay", "", hidden, ""), "another one")
            finally:
                subprocess.check_call(["umount", merged])
        image, other = place.path + "/xfs.img", place.path + "/other.img"
        write(other, "another one")
        subprocess.check_call(["mount", "--bind", other, image])
        try:
            equal(look(disk)[1:3], ("xfs", "the file behind a loop device"), "another one")
        finally:
            subprocess.check_call(["umount", image])
        os.unlink(image)
        equal(look(disk)[1:3], ("xfs", "the file behind a loop device"), "not there")


@contextlib.contextmanager
def measuring(place, *options, **keywords):
    """A tester that measures for as long as the block lasts."""
    tables = place.tables
    place.tables = place.path + "/first"
    process = place.start("--duration=60", "--progress=" + place.path + "/progress", "--runId=first", *options, **keywords)
    try:
        wait_until_measuring(place, process)
        place.tables = tables
        yield process
    finally:
        place.tables = tables
        process.kill()
        process.communicate()


@root_test
def another_tester_at_the_disk(place):
    """On a file system of its own, since the other tests share one."""
    def refused_by_first(*options, **keywords):
        done = place.logdisk("--duration=1", *options, **keywords)
        refused(place, done, "another tester is at the disk under --dir: ", "--shareDevice",
                "run first, pid %d, at disk %d:%d;" % (process.pid, os.major(disk), os.minor(disk)))
    with tmpfs(place, "size=64m") as memory:
        disk = os.stat(memory).st_dev
        with measuring(place, dir=memory) as process:
            refused_by_first("--runId=other", dir=memory)
            refused_by_first("--runId=fir", "--qm=2", dir=place.dir + "," + memory)
            equal((os.listdir(memory), os.listdir(place.dir)), ([], []))
            result = place.logdisk("--duration=1", "--runId=first", dir=memory)
            equal((result.status, result.run()["device_shared_with"]), (0, ""), result.err)
            result = place.logdisk("--duration=1", "--runId=other", "--shareDevice", dir=memory)
            run = consistent(result)
            equal((run["option_run_id"], run["option_share_device"]), ("other", "1"))
            contains(run["device_shared_with"], "run first, pid %d" % process.pid)
            contains(warnings(run), "each disturbs the other: run first")
            alone = place.command("--duration=1", dir=memory)
            alone.remove("--runId=" + RUN_ID)
            shutil.rmtree(place.tables)
            done = subprocess.run(alone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            refused(place, Result(done.returncode, done.stdout, done.stderr, place.tables), "run first")
        equal(place.logdisk("--duration=1", "--runId=other", dir=memory).status, 0, "let go of by SIGKILL")
    for wrong in ("a/b", "a b", "x" * 65):
        result = place.logdisk("--duration=1", "--runId=" + wrong)
        equal(result.status, 1)
        contains(result.err, "--runId", "64 letters")


@root_test
def another_tester_at_the_disk_behind_a_loop_device(place):
    """One tests the file system on a loop device, the other one that on which the device's file lies."""
    with tmpfs(place, "size=128m") as memory:
        inner = Place(os.path.relpath(memory + "/inner", BASE))
        with mounted(inner) as point, measuring(place, dir=point):
            refused(place, place.logdisk("--duration=1", dir=memory), "run first")


@root_test
def testers_cannot_be_looked_for(place):
    result = place.logdisk("--duration=1", before=["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/$$/net && exec "$@"', "sh"])
    equal(result.status, 0, result.err)
    contains(warnings(result.run()), "cannot tell whether another tester is at the disk", "/proc/net/unix")


@test
def pinned_writers(place):
    result = place.logdisk("--duration=1", "--cpu=0", before=strace(place, calls="sched_setaffinity"))
    equal(result.status, 0, result.err)
    equal(result.run()["option_cpus"], "0")
    assert any("[0]) = 0" in line for line in traced(place) if "sched_setaffinity" in line), traced(place)
    refused(place, place.logdisk("--duration=1", "--cpu=1000"), "--cpu=1000", "nproc")
    forbidden = place.logdisk("--duration=1", "--cpu=0", before=strace(place, "sched_setaffinity:error=EPERM", calls="sched_setaffinity"))
    refused(place, forbidden, "--cpu", "processor 0", "Operation not permitted")
    # The processor goes offline after the check.
    later = place.logdisk("--duration=1", "--cpu=0", before=preloaded(place, """
        #include <errno.h>
        #include <sched.h>
        #include <pthread.h>
        int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set) { return EINVAL; }
        """))
    equal(later.status, 0, later.err)
    contains(warnings(later.run()), "--cpu", "queue manager 1", "processor 0", "Invalid argument")


# Screen and mqldt's table.

@test
def screen_plain_and_live(place):
    result = place.logdisk("--duration=2", "--bsize=128K")
    contains(result.out, "Write blocksize             (--bsize)              : 128K",
             "Executing test for write blocksize 131072 (128K), 1 queue manager. Seconds elapsed -> 2/2\n",
             "Total writes to files", "Max bytes/sec written to files (over 1 sec interval)", "Avg latency of write (ns)")
    assert "\r" not in result.out
    writes = re.search(r"Total writes to files +: +([\d,]+)", result.out).group(1)
    equal(writes, result.all()["writes"], "no thousands separators in the C locale")
    shutil.rmtree(place.tables)
    master, slave = pty.openpty()
    process = subprocess.Popen(place.command("--duration=2"), stdout=slave, stderr=slave, stdin=subprocess.DEVNULL)
    os.close(slave)
    seen = b""
    with contextlib.suppress(OSError):
        while True:
            part = os.read(master, 4096)
            if not part:
                break
            seen += part
    process.wait()
    os.close(master)
    contains(seen.decode(), "Seconds elapsed -> 1/2\r", "-> 2/2\r")


@test
def numbers_are_grouped_as_the_locale_does(place):
    """On the screen only: what programs read keeps its decimal points."""
    locale = preloaded(place, """
        #include <locale.h>
        #include <stddef.h>
        static int local;
        char *setlocale(int category, const char *name) {
            if (category == LC_NUMERIC && name != NULL) local = name[0] == 0;
            return "C";
        }
        struct lconv *localeconv(void) {
            static struct lconv none = {.decimal_point = ".", .thousands_sep = "", .grouping = ""};
            static struct lconv indian = {.decimal_point = ",", .thousands_sep = "\\xc2\\xa0", .grouping = "\\3\\2"};
            return local ? &indian : &none;
        }
        __attribute__((destructor)) static void end(void) { if (local) *(volatile char *)0 = 0; }
    """)
    result = place.logdisk("--duration=1", "--fileSize=4M", before=locale)
    equal(result.status, 0, result.err)
    contains(result.out, "preformatting): 1\u00a025\u00a082\u00a0912 bytes in 0.")
    consistent(result)


@test
def mqldt_abbreviations(place):
    """What is unique among mqldt's options, though not among ours."""
    result = place.logdisk("--di=" + place.dir, "--de=500", "--du", "1", "--c", place.path + "/a.csv", "--f", "x", dir="/nowhere")
    equal(result.status, 1, result.err)
    contains(result.err, "'--f' is unknown, ambiguous")
    result = place.logdisk("--di=" + place.dir, "--de=500", "--du", "1", "--c", place.path + "/a.csv", dir="/nowhere")
    equal(result.status, 0, result.err)
    equal(result.run()["option_delay_us"], "500")
    contains(read(place.path + "/a.csv"), MQLDT)
    for option in ("--d=5", "--c", "--k=5"):
        result = place.logdisk(option)
        equal((result.status, option in result.err), (1, True), result.err)


@test
def csv_file_is_what_mqldt_writes_to(place):
    """In place: whatever links to it, mounts it or owns it sees the new rows; a pipe and the screen will do as well."""
    path, target, link = place.path + "/link.csv", place.path + "/target.csv", place.path + "/hard.csv"
    write(target, "old text, much longer than a row of results" * 100)
    os.chmod(target, 0o640)
    if os.geteuid() == 0:
        os.chown(target, 12, 34)
    os.symlink(target, path)
    os.link(target, link)
    before = os.stat(target)
    result = place.logdisk("--duration=1", "--csvFile=" + path)
    equal(result.status, 0, result.err)
    after = os.stat(link)
    for key in ("st_ino", "st_mode", "st_uid", "st_gid", "st_nlink"):
        equal(getattr(after, key), getattr(before, key), key)
    equal((os.path.islink(path), read(link).splitlines()[0]), (True, MQLDT))
    equal(len(read(link).splitlines()), 2)
    # Several queue managers: appended to whatever is there.
    equal(place.logdisk("--duration=1", "--qm=2", "--createDirs", "--csvFile=" + path).status, 0)
    equal(read(link).splitlines()[2], "Running MQLDT over 2 Queue Managers")
    # A pipe with a reader, and the screen.
    pipe = place.path + "/pipe"
    os.mkfifo(pipe)
    reader = subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, universal_newlines=True)
    result = place.logdisk("--duration=1", "--csvFile=" + pipe)
    equal(result.status, 0, result.err)
    contains(reader.communicate(timeout=60)[0], MQLDT + "\n4096,")
    with open(place.path + "/screen", "w") as screen:
        shutil.rmtree(place.tables)
        subprocess.run(place.command("--duration=1", "--csvFile=/dev/stdout"), stdout=screen, check=True, timeout=60)
    text = read(place.path + "/screen")
    assert text.index("Options (specified") < text.index("Total writes to files  ") < text.index(MQLDT + "\n4096,"), text
    assert "\0" not in text
    # What cannot be written is refused at the start, and nothing is made or changed by it.
    for wrong in (place.dir, place.path + "/no/where.csv"):
        refused(place, place.logdisk("--duration=1", "--csvFile=" + wrong), "--csvFile=" + wrong, "cannot be written")
    refused(place, place.logdisk("--duration=1", "--csvFile=" + place.path + "/new.csv", dir=place.dir + "/none"), "does not exist")
    equal(os.path.exists(place.path + "/new.csv"), False, "a refusal leaves a file")


@test
def csv_file_on_a_pipe_without_a_reader(place):
    pipe = place.path + "/pipe"
    os.mkfifo(pipe)
    process = place.start("--duration=1", "--csvFile=" + pipe)
    place.wait_for("run.csv", "complete,1", process)
    with open(pipe) as file:
        contains(file.read(), MQLDT + "\n4096,")
    result = place.finish(process)
    equal(result.status, 0, result.err)
    contains(warnings(result.run()), "nobody reads --csvFile=" + pipe)
    process = place.start("--duration=1", "--csvFile=" + pipe)
    place.wait_for("run.csv", "complete,1", process)
    process.send_signal(signal.SIGTERM)
    time.sleep(1.2)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    contains(result.err, "--csvFile")
    consistent(result)


@root_test
def csv_file_that_is_mounted(place):
    """As a container's runtime mounts a single file: nothing can be renamed over it."""
    inner, outer = place.path + "/inner.csv", place.path + "/outer.csv"
    write(inner, "")
    write(outer, "")
    subprocess.check_call(["mount", "--bind", outer, inner])
    try:
        result = place.logdisk("--duration=1", "--csvFile=" + inner)
    finally:
        subprocess.check_call(["umount", inner])
    equal(result.status, 0, result.err)
    equal((read(inner), read(outer).splitlines()[0]), ("", MQLDT))


@test
def mqldt_table(place):
    path = os.path.join(place.path, "out.csv")
    result = place.logdisk("--duration=1", "--bsize=4K,64K", "--csvFile=" + path)
    equal(result.status, 0, result.err)
    with open(path) as file:
        lines = file.read().splitlines()
    equal(lines[0], MQLDT)
    equal([line.split(",")[0] for line in lines[1:]], ["4096", "65536"])
    row = result.all(1)
    equal(lines[1].split(",")[1:3], [row["writes"], row["bytes"]])
    equal(lines[1].split(",")[6:8], [row["latency_max_ns"], row["latency_min_ns"]])
    equal(int(lines[1].split(",")[8]), round(float(row["latency_mean_ns"])))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


@test
def tables_of_another_origin_are_kept(place):
    """One that appears while the run goes on; also where neither renameat2 nor links can be had."""
    for broken in ([], ["renameat2:error=EINVAL"], ["renameat2:error=EPERM"], ["renameat2:error=ENOSYS", "linkat:error=EPERM"]):
        shutil.rmtree(place.tables, ignore_errors=True)
        before = strace(place, *broken, calls="renameat,renameat2,linkat") if broken else []
        command = before + place.command("--duration=1", "--startAt=%.3f" % (time.time() + 1))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        place.wait_for(".run.csv.tmp", "", process)
        write(place.tables + "/rounds.csv", "precious")
        result = place.finish(process)
        equal(result.status, 2, result.err)
        equal(sorted(os.listdir(place.tables)), [".rounds.csv.tmp", "histogram.csv", "intervals.csv", "results.csv", "rounds.csv", "run.csv",
                                                 "stalls.csv"], broken)
        equal(read(place.tables + "/rounds.csv"), "precious")
        contains(read(place.tables + "/.rounds.csv.tmp"), "step,block_size_bytes", "\n1,4096,1,5,")
        equal((result.run()["tables_missing"], result.run()["complete"]), ("rounds.csv", "0"))
        contains(result.err, "rounds.csv of another origin", ".rounds.csv.tmp")
        if broken:
            fine = place.logdisk("--duration=1", before=before)
            equal(fine.status, 0, fine.err)
            consistent(fine)
            equal([name for name in os.listdir(place.tables) if name.startswith(".")], [])


def without_tables(result, *missing):
    """A run that measured and could not write those tables: the others are there, and run.csv says which are not."""
    equal(result.status, 2, result.err)
    run = result.run()
    equal((run["complete"], run["tables_missing"], run["exit_status"], run["exit_reason"]), ("0", " ".join(missing), "2", "tables_missing"))
    equal(sorted(set(os.listdir(result.tables)) | set(missing)), ["histogram.csv", "intervals.csv", "results.csv", "rounds.csv", "run.csv", "stalls.csv"])
    assert not any(os.path.exists(os.path.join(result.tables, name)) for name in missing), missing
    assert int(result.all()["writes"]) > 0
    return run


@test
def table_that_cannot_be_written_costs_no_other(place):
    """It is told at once, while the run goes on."""
    command = strace(place, "write:error=ENOSPC", calls="write") + ["-P", place.tables + "/.histogram.csv.tmp"]
    process = subprocess.Popen(command + place.command("--bsize=4K,8K", "--duration=2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               universal_newlines=True)
    line = process.stderr.readline()
    contains(line, "histogram.csv", "No space left", "measuring goes on")
    equal(process.poll(), None, "still running")
    result = place.finish(process)
    run = without_tables(result, "histogram.csv")
    contains(run["exit_message"], "histogram.csv", "No space left")
    equal(run["steps_measured"], "2")


def fill(point):
    with contextlib.suppress(OSError), open(point + "/filler", "ab", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


@root_test
def full_file_system_of_the_tables(place):
    """Somebody fills it while the run goes on: what is small has its place from the start."""
    with tmpfs(place, "size=1m") as point:
        place.tables = point + "/tables"
        process = place.start("--bsize=4K,8K", "--duration=3", "--progress=" + place.path + "/progress")
        wait_until_measuring(place, process)
        fill(point)
        line = process.stderr.readline()
        contains(line, "No space left", "measuring goes on")
        equal(process.poll(), None, "still running")
        result = place.finish(process)
        run = result.run()
        equal((result.status, run["exit_status"], run["steps_measured"], run["complete"]), (2, "2", "2", "0"))
        contains(run["tables_missing"], "histogram.csv")
        equal(len(result.rows("results.csv")), 4)
        shutil.rmtree(place.tables)
        fill(point)
        refused(place, place.logdisk("--duration=1"), "--tables", "no space for results.csv", "No space left")


@test
def interrupt_before_the_first_result_keeps_the_csv_file(place):
    path = place.path + "/out.csv"
    for options in ([], ["--qm=2", "--createDirs"]):
        write(path, MQLDT + "\n4096,1,2,3,4,5,6,7,8,9,10\n")
        before = read(path)
        process = place.start("--duration=1", "--csvFile=" + path, "--startAt=%.3f" % (time.time() + 60),
                              *options, dir=place.dir + "/q" if options else place.dir)
        place.wait_for(".run.csv.tmp", "", process)
        process.send_signal(signal.SIGTERM)
        result = place.finish(process)
        equal((result.status, read(path)), (4, before), result.err)


@test
def closed_standard_streams(place):
    """Nothing that is meant for the screen goes into tables or test files."""
    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)
    shutil.rmtree(place.tables, ignore_errors=True)
    done = subprocess.run(place.command("--duration=1", "--keepFiles"), preexec_fn=close_all, timeout=60, close_fds=True)
    result = Result(done.returncode, "", "", place.tables)
    equal(result.status, 0)
    consistent(result)
    for folder in (place.tables, place.dir):
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            assert b"Executing test" not in data and b"Creating files" not in data, name


@test
def ignored_signals_stay_ignored(place):
    for number in (signal.SIGHUP, signal.SIGINT):
        process = subprocess.Popen(place.command("--duration=1", "--startAt=%.3f" % (time.time() + 1.5)),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                                   preexec_fn=lambda number=number: signal.signal(number, signal.SIG_IGN))
        place.wait_for(".run.csv.tmp", "", process)
        process.send_signal(number)
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
        shutil.rmtree(place.tables)


@test
def what_a_killed_run_left_aside_is_named(place):
    paths = {"--progress": place.path + "/p", "--tables": place.tables}
    left = {"--progress": place.path + "/.p.tmp", "--tables": place.tables + "/.results.csv.tmp"}
    os.mkdir(place.tables)
    for option, path in paths.items():
        write(left[option], "")
        command = [LOGDISK, "--dir=" + place.dir, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID, "%s=%s" % (option, path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        equal(done.returncode, 2, done.stderr)
        contains(done.stderr, left[option] + " is there already", "remove it")
        os.unlink(left[option])


@test
def replaced_progress_file_keeps_its_mode(place):
    name = place.path + "/p"
    write(name, "state=finished\n")
    os.chmod(name, 0o600)
    result = place.logdisk("--duration=1", "--progress=" + name)
    equal(result.status, 0, result.err)
    equal(oct(os.stat(name).st_mode & 0o777), "0o600")


# What is refused.

@test
def usage_errors(place):
    for options, parts in ((["--bsize=5X"], ["--bsize", "'5X'", "512 to 64M", "try"]), (["--duration=0"], ["--duration", "'0'"]),
                           (["--whatever"], ["--whatever", "--help"]), (["--bsize=4K", "-xq"], ["'-x' is unknown"]),
                           (["--bsize=" + ",".join(["4K"] * 1001)], ["--bsize", "1001", "up to 1000"]),
                           (["--bsize=4K", "--dir=" + "d" * 5000], ["--dir", "too long", "4095"])):
        result = place.logdisk(*options)
        equal((result.status, result.out), (1, ""))
        contains(result.err, *parts)
        equal((os.listdir(place.dir), os.path.exists(place.tables)), ([], False))
    for option, text in (("--help", "--bsize=SIZE"), ("--version", "logdisk 1.")):
        done = subprocess.run([LOGDISK, option], stdout=subprocess.PIPE, universal_newlines=True)
        equal(done.returncode, 0)
        contains(done.stdout, text)


@test
def foreign_files_are_kept(place):
    victim = os.path.join(place.path, "victim")
    for plant in ("file", "symlink", "dangling", "hardlink", "directory"):
        with open(victim, "w") as file:
            file.write("precious")
        name = place.dir + "/mqldt_testfile.0002"
        {"file": lambda: shutil.copy(victim, name), "symlink": lambda: os.symlink(victim, name),
         "dangling": lambda: os.symlink(victim + ".none", name), "hardlink": lambda: os.link(victim, name),
         "directory": lambda: os.mkdir(name)}[plant]()
        # Our files need no name, unless they are to be kept or the file system knows no files without one.
        unnamed = opening(place, "(flags & O_TMPFILE) == O_TMPFILE", "EOPNOTSUPP") if plant == "symlink" else []
        for options, before, parts in (([], [], None), (["--keepFiles"], [], ("mqldt_testfile.0002 is there already", "--filePrefix")),
                                       ([], unnamed, ("mqldt_testfile.0002", "File exists", "--filePrefix") if unnamed else None)):
            result = place.logdisk("--duration=1", *options, before=before)
            if parts is None:
                equal(result.status, 0, result.err)
            else:
                refused(place, result, *parts)
            equal(os.listdir(place.dir), ["mqldt_testfile.0002"], plant)
            with open(victim) as file:
                equal(file.read(), "precious", plant)
            assert not os.path.exists(victim + ".none")
        os.rmdir(name) if plant == "directory" else os.unlink(name)


@test
def file_planted_after_the_look_is_kept(place):
    """The exclusive create meets a name that was not there a moment ago."""
    result = place.logdisk("--duration=1", "--keepFiles",
                           before=opening(place, 'flags & O_CREAT && strcmp(name, "mqldt_testfile.0001") == 0', "EEXIST"))
    refused(place, result, "mqldt_testfile.0001", "File exists", "--filePrefix")
    equal(os.listdir(place.dir), [])


@test
def no_direct_io(place):
    """The file system opens no file with O_DIRECT, whether it knows files without a name or not."""
    refused(place, place.logdisk("--duration=1", before=opening(place, "flags & O_DIRECT", "EINVAL")), "refuses O_DIRECT", "--direct=no")
    equal(os.listdir(place.dir), [], "left behind")


@test
def file_system_without_unnamed_files(place):
    for error in ("EOPNOTSUPP", "EISDIR", "EINVAL", "ENOENT"):
        shim = opening(place, "(flags & O_TMPFILE) == O_TMPFILE", error)
        result = place.logdisk("--duration=1", "--delay=5000", before=strace(place) + shim)
        equal(result.status, 0, result.err)
        lines = [line for line in traced(place) if '"mqldt_testfile' in line]
        creating = [line for line in lines if "O_CREAT" in line]
        equal(len(creating), 3, error)
        assert all("O_EXCL" in line and "O_NOFOLLOW" in line for line in creating), creating
        equal(len([line for line in lines if "unlinkat(" in line]), 3, "unlinked")
        equal(os.listdir(place.dir), [], "left behind")
    refused(place, place.logdisk("--duration=1", before=opening(place, "(flags & O_TMPFILE) == O_TMPFILE", "EDQUOT")),
            "cannot create", "mqldt_testfile.0000", "quota")


@test
def directories_refused(place):
    refused(place, place.logdisk("--duration=1", dir=place.dir + "/none"), "does not exist", "--createDirs")
    refused(place, place.logdisk("--duration=1", "--qm=2"), place.dir + "1 does not exist")
    refused(place, place.logdisk("--duration=1", "--createDirs", dir=place.dir + "/no/where"), "cannot make")
    with open(place.path + "/plain", "w") as file:
        file.write("x")
    refused(place, place.logdisk("--duration=1", dir=place.path + "/plain"), "cannot open")
    os.mkdir(place.tables)
    with open(place.tables + "/results.csv", "w") as file:
        file.write("old")
    done = subprocess.run(place.command("--duration=1"), stderr=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    equal(done.returncode, 2)
    contains(done.stderr, "results.csv is there already")
    equal(os.listdir(place.tables), ["results.csv"])


@test
def limits_are_told_before_the_first_byte(place):
    import resource
    result = place.logdisk("--duration=1", "--numFiles=200", preexec=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)))
    refused(place, result, "open files", "ulimit -n")
    result = place.logdisk("--duration=1", preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    refused(place, result, "limit on file size", "ulimit -f")
    equal(os.listdir(place.dir), [])


@root_test
def threads_and_memory_are_told_before_the_first_file(place):
    import resource
    for i in range(1, 9):
        os.mkdir(place.dir + str(i))
    # The limit on processes does not hold for root, and counts all of its user.
    everyones = shutil.copy(LOGDISK, place.path)
    for path in (BASE, place.path):
        os.chmod(path, 0o755)
    os.chmod(place.path, 0o777)
    for i in range(1, 9):
        os.chmod(place.dir + str(i), 0o777)

    def few_threads():
        resource.setrlimit(resource.RLIMIT_NPROC, (6, 6))
        os.setgroups([])
        os.setgid(65533)
        os.setuid(65533)
    result = place.logdisk("--duration=1", "--qm=1,2,8", preexec=few_threads, logdisk=everyones)
    refused(place, result, "cannot make a thread for queue manager", "ulimit -u")
    assert "Creating files" not in result.out, result.out
    # 8 x 5 MiB of memory to write from; the libraries and stacks take some of the limit as well.
    result = place.logdisk("--duration=1", "--qm=8", "--bsize=4M", "--fileSize=4M", "--numFiles=1",
                           before=strace(place, calls="openat") + ["prlimit", "--as=%d" % (48 << 20)])
    refused(place, result, "no memory for the writers", "fewer queue managers", "ulimit -v")
    meminfo = os.path.join(place.path, "meminfo")
    with open(meminfo, "w") as file:
        file.write("MemTotal: 100000 kB\nMemFree: 90000 kB\nMemAvailable:     300 kB\n")
    result = place.logdisk("--duration=1", "--qm=8", before=[
        "unshare", "-m", "sh", "-c", 'mount --bind %s /proc/meminfo && exec "$@"' % meminfo, "sh"])
    refused(place, result, "the writers take", "307200 are available", "fewer queue managers")
    for i in range(1, 9):
        equal(os.listdir(place.dir + str(i)), [], "left behind")


@test
def steps_before_one_that_cannot_start_are_kept(place):
    """The last thread of the last step, after which only the results get one of their own, cannot be made."""
    for i in (1, 2):
        os.mkdir(place.dir + str(i))
    options = ["--duration=1", "--qm=1,2"]
    equal(place.logdisk(*options, before=strace(place, calls="clone,clone3")).status, 0)
    made = [line for line in traced(place) if re.search(r" clone3?\(", line)]
    call = re.search(r" (clone3?)\(", made[-1]).group(1)
    result = place.logdisk(*options, before=strace(place, "%s:error=EAGAIN:when=%d" % (call, len(made) - 1), calls="clone,clone3"))
    equal(result.status, 4, result.err)
    run = consistent(result)
    equal((run["exit_status"], run["exit_reason"], run["steps_planned"], run["steps_measured"]), ("4", "interrupted", "2", "1"))
    contains(run["exit_message"], "cannot make a thread for queue manager 2", "ulimit -u")
    equal(len(result.rows("results.csv")), 2, "rows of the step that was measured")


@root_test
def no_space(place):
    with tmpfs(place, "size=2m") as point:
        refused(place, place.logdisk("--duration=1", "--fileSize=1M", dir=point), "free", "--numFiles")
        refused(place, place.logdisk("--duration=1", "--reserve=2M", dir=point), "must stay free", "--reserve")
        equal(os.listdir(point), [])
        equal(place.logdisk("--duration=1", dir=point).status, 0)
    with tmpfs(place, "size=2m,nr_inodes=3") if not os.rmdir(place.path + "/tmpfs") else None as point:
        refused(place, place.logdisk("--duration=1", dir=point), "--numFiles")


@test
def full_while_formatting(place):
    result = place.logdisk("--duration=1", before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev"))
    refused(place, result, "cannot preformat", "No space left", "free some space")
    equal(os.listdir(place.dir), [])
    result = place.logdisk("--duration=1", "--keepFiles", before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev"))
    refused(place, result, "cannot preformat")
    equal(os.listdir(place.dir), [])


@root_test
def read_only_file_system(place):
    with mounted(place, options="ro,noload") as point:
        refused(place, place.logdisk("--duration=1", dir=point), "cannot create", "Read-only")


@root_test
def without_permission(place):
    os.chmod(BASE, 0o755)
    os.chmod(place.path, 0o755)
    tables = os.path.join(place.path, "own")
    os.mkdir(tables)
    os.chown(tables, 65534, 65534)
    place.tables = tables + "/t"
    # The build may lie where only root goes.
    everyones = shutil.copy(LOGDISK, place.path)

    def nobody():
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    os.chmod(place.dir, 0o755)
    refused(place, place.logdisk("--duration=1", preexec=nobody, logdisk=everyones), "cannot create", "Permission denied")
    os.chmod(place.dir, 0o700)
    refused(place, place.logdisk("--duration=1", preexec=nobody, logdisk=everyones), "Permission denied")
    os.chown(place.dir, 65534, 65534)
    equal(place.logdisk("--duration=1", preexec=nobody, logdisk=everyones).status, 0)


@root_test
def block_size_that_the_disk_refuses(place):
    with mounted(place, sector=4096) as point:
        refused(place, place.logdisk("--duration=1", "--bsize=4K,5K", dir=point), "--bsize", "5120", "next size that works is 8192")
        equal(sorted(os.listdir(point)), ["lost+found"])
        # Also where only the second queue manager's is such a disk.
        refused(place, place.logdisk("--duration=1", "--bsize=4K,5K", "--qm=2", dir=place.dir + "," + point), "--bsize", "5120", point,
                "next size that works is 8192")
    odd = place.logdisk("--duration=1", "--bsize=5K", "--direct=no")
    equal(odd.status, 0, odd.err)
    contains(odd.err, "warning", "5120", "4096")
    contains(warnings(odd.run()), "5120")


@test
def directories_in_each_other_and_twice(place):
    nested = place.dir + "/a," + place.dir + "/a/b"
    result = place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=nested)
    equal(result.status, 0, result.err)
    equal(os.listdir(place.dir), [], "left behind")
    twice = place.dir + "/c," + place.dir + "/c"
    refused(place, place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=twice), "are the same directory", "of its own")
    equal(os.listdir(place.dir), [], "left behind")
    os.symlink(place.dir, place.path + "/link")
    refused(place, place.logdisk("--duration=1", "--qm=2", dir=place.dir + "," + place.path + "/link"), "are the same directory")


@test
def made_directories_go_when_their_files_are_closed(place):
    """NFS and FUSE rename an open file that is removed, and then refuse to remove its directory."""
    silly = preloaded(place, """
        #include <dirent.h>
        #include <errno.h>
        #include <stdio.h>
        #include <string.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int rmdir(const char *path) {
            char link[64], target[4096];
            for (int fd = 3; fd < 64; fd++) {
                snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                ssize_t length = readlink(link, target, sizeof target - 1);
                target[length > 0 ? length : 0] = 0;
                if (strncmp(target, path, strlen(path)) == 0 && target[strlen(path)] == '/') { errno = ENOTEMPTY; return -1; }
            }
            return (int)syscall(SYS_unlinkat, -100, path, 0x200);
        }""")
    result = place.logdisk("--duration=1", "--createDirs", before=silly, dir=place.dir + "/q")
    equal((result.status, os.listdir(place.dir)), (0, []), result.err)
    refusal = place.logdisk("--duration=1", "--createDirs", dir=place.dir + "/q",
                            before=strace(place, "pwritev:error=ENOSPC:when=3", calls="pwritev") + silly)
    refused(place, refusal, "cannot preformat")
    equal(os.listdir(place.dir), [], "left behind by a refusal")
    stuck = place.logdisk("--duration=1", "--createDirs", dir=place.dir + "/q", before=preloaded(place, """
        #include <errno.h>
        int rmdir(const char *path) { errno = ENOTEMPTY; return -1; }"""))
    equal(stuck.status, 0, stuck.err)
    contains(stuck.err, "--createDirs: cannot remove " + place.dir + "/q", "remove it")


@test
def names_are_harmless_for_a_terminal(place):
    for name in ("\x1b[2J\nlogdisk: all is well", "\u009b31m", "\udcff"):
        for options in (["--createDirs"], []):
            command = [LOGDISK, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID, "--dir=" + place.dir + "/" + name]
            result = subprocess.run(command + options, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, timeout=60)
            for stream in (result.stdout, result.stderr):
                assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f\xff]|\xc2[\x80-\x9f]|^logdisk: all", stream, re.MULTILINE), stream
            equal(result.returncode, 0 if options else 2, result.stderr)
    usage = subprocess.run([LOGDISK, "--bsize=\x1b[2J"], stderr=subprocess.PIPE)
    equal(usage.returncode, 1)
    contains(usage.stderr, b"\\x1B[2J")


@test
def more_bytes_than_can_be_counted(place):
    result = place.logdisk("--duration=1", "--qm=1000", "--createDirs", "--fileSize=16384G", "--numFiles=10000", dir=place.dir + "/q")
    refused(place, result, "--fileSize x --numFiles x --qm", "2^64 bytes")
    equal(os.listdir(place.dir), [])


@root_test
def numbered_directory_on_another_file_system(place):
    with tmpfs(place, "size=8m") as point:
        refused(place, place.logdisk("--duration=1", "--qm=2", "--createDirs", dir=point), "another file system")
        equal(os.path.exists(point + "1"), False)


# Faults.

@test
def io_error(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:error=EIO:when=100", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["exit_reason"], run["error_call"], run["error_errno"], run["error_errno_name"]), ("io_error", "pwritev", "5", "EIO"))
    equal((result.all()["writes"], run["error_write"]), ("99", "100"))
    equal((run["error_file"], run["error_offset_bytes"]), (place.dir + "/mqldt_testfile.0001", str((99 - 64) * 4096)))
    contains(result.err, "Input/output error", "mqldt_testfile.0001")
    equal(os.listdir(place.dir), [])


@test
def io_error_in_the_warm_up(place):
    result = place.logdisk("--duration=1", "--warmup=5", before=strace(place, "pwritev:error=EIO:when=100", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_write"], result.all()["writes"]), ("100", "0"))
    contains(run["exit_message"], "write 100 of the warm-up")


@root_test
def frozen_in_the_warm_up(place):
    """The write that hangs is in all three tables."""
    with mounted(place) as point:
        process = place.start("--duration=1", "--warmup=30", "--progress=" + place.path + "/progress", dir=point)
        time.sleep(1.5)
        with frozen(point):
            time.sleep(0.5)
            process.send_signal(signal.SIGTERM)
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
    equal(result.status, 4, result.err)
    run, row = consistent(result), result.all()
    age = run["in_flight_age_ns"]
    equal((row["writes"], row["latency_max_in_flight"], row["latency_max_ns"]), ("0", "1", age))
    equal([(r["in_flight"], r["latency_ns"]) for r in result.rows("stalls.csv")], [("1", age)])


@test
def short_write(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:retval=512:when=46", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_errno"], run["error_errno_name"], result.all()["writes"]), ("", "SHORT_WRITE", "45"))


@test
def flush_error(place):
    result = place.logdisk("--duration=5", "--sync=fdatasync", before=strace(place, "fdatasync:error=EIO:when=20"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_call"], run["error_errno_name"], result.all()["writes"]), ("fdatasync", "EIO", "19"))


@test
def io_error_while_formatting(place):
    result = place.logdisk("--duration=5", before=strace(place, "pwritev:error=EIO:when=3", calls="pwritev"))
    equal(result.status, 3, result.err)
    run = consistent(result)
    equal((run["error_errno_name"], run["steps_measured"], result.rows("results.csv")), ("EIO", "0", []))


@test
def interrupted_call_is_repeated(place):
    result = place.logdisk("--duration=1", "--delay=5000", before=strace(place, "pwritev:error=EINTR:when=20+10", calls="pwritev"))
    equal(result.status, 0, result.err)
    seen = [line for line in traced(place) if "pwritev(" in line]
    done = [line for line in seen if "EINTR" not in line]
    assert len(seen) > len(done)
    equal(len(done) - 4, int(result.all()["writes"]), "writes that succeeded")


@test
def one_writer_fails_others_are_kept(place):
    for i in (1, 2):
        os.mkdir(place.dir + str(i))
    trace = strace(place, "pwritev:error=EIO:when=30", calls="pwritev")       # counted for each thread
    result = place.logdisk("--qm=2", "--duration=20", before=trace)
    equal(result.status, 3, result.err)
    run = consistent(result)
    failed = [row for row in result.rows("results.csv") if row["queue_manager"] == run["error_queue_manager"]][0]
    equal((failed["writes"], run["error_write"]), ("29", "30"))


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
        assert int(result.all()["writes"]) > 0
        equal([row["partial"] for row in result.rows("rounds.csv")], ["1"], "rounds of an interrupted step")
        equal(os.listdir(place.dir), [])
        os.unlink(place.path + "/progress")


@test
def two_signals_at_once_are_one_request(place):
    """As GNU timeout and systemd send them: none of them accuses the disk, and none costs the results."""
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


def tester_below(process):
    """The tester's pid, which strace started."""
    return int(subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(process.pid)], universal_newlines=True).split()[0])


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
    """Memory that the kernel grants slowly (--mlock, swapping) is no call that hangs, and directories that were made go."""
    shim = preloaded(place, """
        #include <stdlib.h>
        #include <unistd.h>
        extern void *aligned_alloc(size_t alignment, size_t bytes);
        int posix_memalign(void **memory, size_t alignment, size_t bytes) {
            usleep((useconds_t)(bytes / 32768 * 200000));
            *memory = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
            return *memory == NULL;
        }""")
    process = subprocess.Popen(shim + place.command("--duration=1", "--qm=20", "--createDirs", dir=place.dir + "/q"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    for _ in range(600):
        if len(os.listdir(place.dir)) == 20:
            break
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    equal(result.status, 4, result.err)
    equal(consistent(result)["exit_message"], "interrupted by SIGTERM")
    equal(os.listdir(place.dir), [], "left behind")


@test
def default_deadline_of_an_absurd_plan(place):
    """97128 steps of 94961 s: their deadline in nanoseconds is 2.3 s more than 64 bits count."""
    process = place.start("--bsize=" + ",".join(["4K"] * 114), "--qm=" + ",".join(["1"] * 852), "--duration=94961")
    place.wait_for(".run.csv.tmp", "", process)
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    result = place.finish(process)
    run = consistent(result)
    equal((run["exit_reason"], run["option_deadline_s"]), ("interrupted", "18446744076"))


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
    # Less what was left of its sleep, which is 0.25 s at most.
    assert int(run["oversleep_max_ns"]) > 1200000000, run["oversleep_max_ns"]
    equal(run["oversleep_max_step"], "1")

@test
def killed_run_leaves_no_file(place):
    process = place.start("--duration=30", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    equal(os.listdir(place.dir), [], "while it runs")
    process.kill()
    place.finish(process)
    equal(os.listdir(place.dir), [], "after SIGKILL")
    assert not os.path.exists(place.tables + "/run.csv"), "complete tables of a killed run"


@test
def signal_while_formatting(place):
    process = subprocess.Popen(strace(place, "pwritev:delay_enter=3000000:when=3", calls="pwritev") + place.command("--duration=9"),
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    time.sleep(1)
    os.kill(tester_below(process), signal.SIGTERM)
    result = place.finish(process)
    equal(result.status, 4, result.err)
    run = consistent(result)
    equal(run["steps_measured"], "0")
    contains(run["in_flight_file"], "mqldt_testfile")
    equal(os.listdir(place.dir), [])


@test
def parent_and_output_gone(place):
    read, write = os.pipe()
    process = subprocess.Popen(place.command("--duration=2"), stdout=write, stderr=write, start_new_session=True)
    os.close(write)
    os.close(read)
    process.wait(timeout=30)
    result = Result(process.returncode, "", "", place.tables)
    equal(result.status, 0)
    consistent(result)


@test
def directory_removed_in_mid_run(place):
    process = place.start("--duration=2", "--progress=" + place.path + "/progress")
    wait_until_measuring(place, process)
    os.rmdir(place.dir)
    result = place.finish(process)
    equal(result.status, 0, result.err)
    consistent(result)


@root_test
def frozen_file_system(place):
    for kind in ("ext4", "xfs"):
        with mounted(place, kind, size_mb=320 if kind == "xfs" else 64) as point:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place.path + "/progress")
            process = place.start("--duration=3", "--deadline=6", "--progress=" + place.path + "/progress", dir=point)
            wait_until_measuring(place, process)
            time.sleep(1.2)
            with frozen(point):
                for _ in range(200):
                    if os.path.exists(place.tables + "/run.csv"):
                        break
                    time.sleep(0.1)
                result = Result(None, "", "", place.tables)
                run = consistent(result)            # complete while the disk is still frozen
            status = place.finish(process).status
            equal((status, run["exit_status"], run["exit_reason"]), (4, "4", "deadline"))
            contains(run["in_flight_file"], point)
            row = result.all()
            equal((row["latency_max_in_flight"], row["latency_max_ns"]), ("1", run["in_flight_age_ns"]))
            equal(result.rows("stalls.csv")[0]["in_flight"], "1")
            assert int(row["writes"]) > 0
            equal([name for name in os.listdir(point) if name != "lost+found"], [], "left after the thaw")
        os.rmdir(place.path + "/mount")


@root_test
def frozen_while_the_files_are_made(place):
    """What hangs is told by its name, and the thaw brings no file to light."""
    with mounted(place) as point:
        with frozen(point):
            process = place.start("--duration=1", "--deadline=2", dir=point)
            place.wait_for("run.csv", "complete,1", process)
        result = place.finish(process)
        equal(result.status, 4, result.err)
        contains(result.run()["exit_message"], "openat of %s/mqldt_testfile.0000 had been in flight" % point)
        time.sleep(0.2)
        equal(os.listdir(point), ["lost+found"], "left after the thaw")


@root_test
def one_frozen_disk_does_not_hold_up_the_figures_of_others(place):
    progress = place.path + "/progress"

    def writes():
        with open(progress) as file:
            return int(re.search(r"writes=(\d+)", file.read()).group(1))
    with mounted(place) as point:
        process = place.start("--duration=5", "--qm=2", "--progress=" + progress, dir=place.dir + "," + point)
        wait_until_measuring(place, process)
        with frozen(point):
            time.sleep(1.5)
            before = writes()
            time.sleep(1.5)
            after = writes()
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
    assert after > before, "no second came out while one disk was frozen: %d writes, then %d" % (before, after)


@test
def run_table_comes_last(place):
    result = place.logdisk("--duration=1", before=strace(place, calls="renameat,renameat2"))
    equal(result.status, 0, result.err)
    names = [re.findall(r'"([a-z]+\.csv)"', line)[0] for line in traced(place) if re.search(r'"[a-z]+\.csv"', line)]
    equal((len(names), names[-1]), (6, "run.csv"))


@root_test
def frozen_for_a_while(place):
    """A stall that ends: rows of 0 writes come out during it, and the run goes on."""
    with mounted(place) as point:
        process = place.start("--duration=5", "--progress=" + place.path + "/progress", dir=point)
        wait_until_measuring(place, process)
        with frozen(point):
            time.sleep(2.3)
        result = place.finish(process)
        equal(result.status, 0, result.err)
        consistent(result)
        assert int(result.all()["latency_max_ns"]) > 2000000000
        assert "0" in [row["writes"] for row in result.rows("intervals.csv")]


def wait_for_complete_tables(place):
    for _ in range(300):
        if os.path.exists(place.tables + "/run.csv"):
            return consistent(Result(None, "", "", place.tables))
        time.sleep(0.1)
    raise AssertionError("no complete tables")


@root_test
def own_files_on_the_frozen_disk(place):
    """Standard output, standard error and the progress file hang with the disk; deadline and signals work all the same."""
    with mounted(place) as point:
        for end in ("deadline", "interrupted"):
            shutil.rmtree(place.tables, ignore_errors=True)
            command = place.command("--duration=60", "--deadline=%d" % (5 if end == "deadline" else 50), "--csvFile=" + point + "/m.csv",
                                    "--progress=" + point + "/progress", dir=point)
            with open(point + "/screen", "w") as screen:
                process = subprocess.Popen(command, stdout=screen, stderr=screen)
            for _ in range(200):
                with contextlib.suppress(OSError):
                    if "state=measuring" in read(point + "/progress"):
                        break
                time.sleep(0.02)
            subprocess.check_call(["fsfreeze", "-f", point])
            try:
                if end == "interrupted":
                    time.sleep(7.5)         # main has written to the screen by now
                    process.send_signal(signal.SIGTERM)
                run = wait_for_complete_tables(place)
            finally:
                subprocess.check_call(["fsfreeze", "-u", point])
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=60)
                process.kill()
            equal(process.wait(timeout=10), 4, end)
            equal((run["exit_status"], run["exit_reason"]), ("4", end))
            contains(warnings(run), "--csvFile, --progress, standard output, standard error")
            assert "--tables" not in warnings(run), warnings(run)
            for name in ("progress", ".progress.tmp", ".m.csv.tmp", "screen"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(point, name))


@root_test
def disk_frozen_before_the_start(place):
    with mounted(place) as point:
        subprocess.check_call(["fsfreeze", "-f", point])
        with open(place.path + "/err", "w") as err:
            process = subprocess.Popen(place.command("--duration=1", "--deadline=2", "--csvFile=" + point + "/m.csv", dir=point),
                                       stdout=subprocess.DEVNULL, stderr=err)
        try:
            for _ in range(200):
                if "the deadline has passed" in read(place.path + "/err"):
                    break
                time.sleep(0.1)
            contains(read(place.path + "/err"), "the deadline has passed")
        finally:
            subprocess.check_call(["fsfreeze", "-u", point])
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()
        equal(process.wait(timeout=10), 4)


@test
def pipe_that_nobody_reads(place):
    """A full pipe as standard output: the run ends by its deadline, or by a signal, and has its tables."""
    import fcntl
    for end in ("deadline", "interrupted"):
        shutil.rmtree(place.tables, ignore_errors=True)
        reader, writer = os.pipe()
        try:
            size = fcntl.fcntl(writer, 1031, 4096)          # F_SETPIPE_SZ
            os.write(writer, b"x" * size)
            process = subprocess.Popen(place.command("--duration=60", "--deadline=%d" % (3 if end == "deadline" else 50)), stdout=writer,
                                       stderr=subprocess.PIPE, universal_newlines=True)
            if end == "interrupted":
                time.sleep(1.5)
                process.send_signal(signal.SIGTERM)
            result = place.finish(process)
        finally:
            os.close(reader)
            os.close(writer)
            process.kill()
        equal(result.status, 4, result.err)
        equal(consistent(result)["exit_reason"], end)
        assert int(result.all()["writes"]) > 0
        contains(result.err, "cannot write to standard output")


@test
def slow_reader_gets_everything(place):
    """What is on the screen at the end comes out completely, however late it is read."""
    import fcntl
    reader, writer = os.pipe()
    fcntl.fcntl(writer, 1031, 4096)
    process = subprocess.Popen(place.command("--duration=1", "--bsize=4K,8K,12K,16K"), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    try:
        place.wait_for("run.csv", "complete,1", process)
        time.sleep(4)
        with os.fdopen(reader) as file:
            out = file.read()
        process.communicate(timeout=60)
    finally:
        process.kill()
    equal(process.returncode, 0)
    equal(out.count("Passes over the test files"), 4)
    assert out.endswith("\n\n"), out[-100:]


@test
def unwritable_screen(place):
    """It is the only result where nothing else was asked for."""
    command = [LOGDISK, "--dir=" + place.dir, "--bsize=4K", "--duration=1", "--runId=" + RUN_ID]
    for options, status in (([], 2), (["--csvFile=" + place.path + "/m.csv"], 0), (["--tables=" + place.tables], 0)):
        with open("/dev/full", "w") as full:
            done = subprocess.run(command + options, stdout=full, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
        equal(done.returncode, status, done.stderr)
        contains(done.stderr, "cannot write to standard output: No space left")


# The same program under the sanitizers and valgrind.

CHECKED_RUNS = (["--qm=3", "--createDirs", "--bsize=4K,64K", "--duration=1", "--warmup=1"],
                ["--rate=500", "--duration=1", "--sync=fdatasync", "--direct=no"],
                ["--duration=1", "--delay=100", "--keepFiles", "--backgroundThreads=1", "--cpu=0"],
                ["--duration=1", "--qm=1,2", "--createDirs", "--bsize=16K", "--verify"])


@test
def sanitizers(place):
    for kind in ("asan", "tsan"):
        for number, options in enumerate(CHECKED_RUNS):
            result = place.logdisk(*options, dir="%s/%s%d" % (place.dir, kind, number) if "--createDirs" in options else place.dir,
                                   logdisk=os.path.join(BUILD, kind, "logdisk"))
            assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
            equal(result.status, 0, result.err)
            consistent(result)
            for name in os.listdir(place.dir):
                os.unlink(os.path.join(place.dir, name))
        process = place.start("--duration=20", "--progress=%s/%s" % (place.path, "progress"), logdisk=os.path.join(BUILD, kind, "logdisk"))
        wait_until_measuring(place, process)
        process.send_signal(signal.SIGTERM)
        result = place.finish(process)
        assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
        equal(result.status, 4, result.err)
        os.unlink(place.path + "/progress")


@test
def stalls_under_thread_sanitizer(place):
    """Main takes the slots of writers that are away, again and again, and closes one for good."""
    tsan = os.path.join(BUILD, "tsan", "logdisk")
    with contextlib.ExitStack() as stack:
        point = stack.enter_context(mounted(place)) if not UNPRIVILEGED else place.dir
        process = place.start("--duration=4", "--deadline=8", "--qm=2", "--createDirs", "--progress=" + place.path + "/progress",
                              dir=point + "/q", logdisk=tsan)
        wait_until_measuring(place, process)
        for last in (False, False, True):
            if not UNPRIVILEGED:
                with frozen(point):
                    time.sleep(0.8 if not last else 7)
                time.sleep(0.2)
        result = place.finish(process)
        assert "Sanitizer" not in result.err, result.err
        equal(result.status, 0 if UNPRIVILEGED else 4, result.err)
        consistent(result)


@test
def valgrind(place):
    result = place.logdisk("--qm=2", "--createDirs", "--duration=1", "--delay=1000",
                           before=["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--track-origins=no"])
    assert "==" not in result.err, result.err
    equal(result.status, 0, result.err)
    consistent(result)


def cleanup():
    with open("/proc/self/mounts") as file:
        points = [line.split()[1] for line in file if line.split()[1].startswith(BASE)]
    for point in points:
        subprocess.call(["fsfreeze", "-u", point], stderr=subprocess.DEVNULL)
        subprocess.call(["umount", "-l", point])
    shutil.rmtree(BASE, ignore_errors=True)


def require_tools():
    missing = [tool for tool in ("strace", "valgrind", "losetup", "mkfs.ext4", "mkfs.xfs", "fsfreeze", "mount") if not shutil.which(tool)]
    if missing:
        sys.exit("outside.py: missing on this machine: %s (Debian: strace valgrind mount e2fsprogs xfsprogs util-linux)" % " ".join(missing))
    if os.geteuid() != 0 and not UNPRIVILEGED:
        sys.exit("outside.py: needs root for loop devices and mounts; LOGDISK_TEST_UNPRIVILEGED=1 leaves those tests out")


def run_test(function):
    started = time.time()
    try:
        function(Place(function.__name__))
    except Exception as error:
        lines = " > ".join(str(frame.lineno) for frame in traceback.extract_tb(error.__traceback__)[1:])
        print("FAILED: %s (line %s): %s: %s" % (function.__name__, lines, type(error).__name__, error), flush=True)
        return False
    if VERBOSE:
        print("passed: %s (%.1f s)" % (function.__name__, time.time() - started), flush=True)
    return True


def main():
    require_tools()
    names = sys.argv[2:]
    os.umask(0o022)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:      # as under nohup; the tester would inherit it
            signal.signal(number, signal.SIG_DFL)
    chosen = [function for function, needs_root in TESTS
              if not (needs_root and UNPRIVILEGED) and (not names or any(name in function.__name__ for name in names))]
    try:
        with concurrent.futures.ThreadPoolExecutor(max_workers=3) as pool:      # most of the time tests sleep
            outcomes = list(pool.map(run_test, chosen))
    finally:
        cleanup()
    print("%d passed, %d failed" % (outcomes.count(True), outcomes.count(False)))
    return 0 if outcomes and all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
