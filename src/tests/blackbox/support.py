# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Code that the tests share: a directory for each test, temporary mounts, and tools that make system calls fail.

A test is a function with @test or @root_test; it gets its own Place. run.py finds and runs them.
"""

import contextlib
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(sys.argv[1])
LOGDISK = os.path.join(BUILD, "logdisk")
BASE = tempfile.mkdtemp(prefix="logdisk-test-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
UNPRIVILEGED = os.environ.get("LOGDISK_TEST_UNPRIVILEGED") == "1"
RUN_ID = "logdisk-tests"  # because tests run at the same time on one disk
PATIENCE_S = 300
TESTS = []
MQLDT = (
    "Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files (over 1 sec interval),"
    "Min bytes/sec written to files (over 1 sec interval),Avg bytes/sec written to files,Max latency of write (ns),"
    "Min latency of write (ns),Avg latency of write (ns),Min bytes/sec (slowest write),Max bytes/sec (fastest write)"
)


def test(function):
    TESTS.append((function, False))
    return function


def root_test(function):
    TESTS.append((function, True))
    return function


# Most tests measure memory, because it is fast.
IN_MEMORY = re.compile(r"logdisk: warning: .* is in memory \(tmpfs\), .*\n")


class Result:
    """The result of a run. ``err`` does not contain the warning that memory is not a disk, unlike ``all_err``."""

    def __init__(self, status, out, err, tables):
        self.status, self.out, self.tables = status, out, tables
        self.err, self.all_err = IN_MEMORY.sub("", err), err

    def rows(self, name):
        with open(os.path.join(self.tables, name), newline="") as file:
            return list(csv.DictReader(file))

    def run(self):
        with open(os.path.join(self.tables, "run.csv"), newline="") as file:
            return {row["key"]: row["value"] for row in csv.DictReader(file)}

    def all(self, step=1, stream="log"):
        return [
            r for r in self.rows("results.csv") if (r["worker"], r["step"], r["stream"]) == ("all", str(step), stream)
        ][0]


class Place:
    """The directory of a test, with test files in dir and tables in tables."""

    def __init__(self, name):
        self.path = os.path.join(BASE, name)
        self.dir = os.path.join(self.path, "dir")
        os.makedirs(self.dir)
        self.tables = os.path.join(self.path, "tables")

    def command(self, *options, **keywords):
        where = keywords.get("dir", self.dir)
        found = any(option.startswith(("--bsize", "--workload=commit", "--stream")) for option in options)
        return (
            [keywords.get("logdisk", LOGDISK), "--dir=" + where, "--tables=" + self.tables]
            + ([] if found else ["--bsize=4K"])
            + ["--fileSize=256K", "--numFiles=3", "--reserve=0", "--runId=" + RUN_ID]
            + list(options)
        )

    def logdisk(self, *options, **keywords):
        shutil.rmtree(self.tables, ignore_errors=True)
        before = keywords.get("before", [])
        done = subprocess.run(
            before + self.command(*options, **keywords),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            timeout=PATIENCE_S,
            stdin=subprocess.DEVNULL,
            preexec_fn=keywords.get("preexec"),
        )
        return Result(done.returncode, done.stdout, done.stderr, self.tables)

    def start(self, *options, **keywords):
        shutil.rmtree(self.tables, ignore_errors=True)
        return subprocess.Popen(
            self.command(*options, **keywords),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
            stdin=subprocess.DEVNULL,
        )

    def finish(self, process):
        out, err = process.communicate(timeout=PATIENCE_S)
        return Result(process.returncode, out, err, self.tables)

    def wait_for(self, name, what, process):
        """Waits until a file of the tables, still under its temporary name, contains the given text."""
        until(lambda: holds(os.path.join(self.tables, name), what), "%s in %s" % (what, name), process)


def until(condition, what, process=None):
    """Waits until the condition is true, and fails if the process ends before that. The timeout only matters if a test
    fails."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        ended = process is not None and process.poll() is not None
        assert not ended or condition(), "ended early: " + str(process.communicate())
        assert time.monotonic() < end, "never: " + what
        time.sleep(0.02)


def holds(path, text):
    """Returns whether a file exists and contains the given text."""
    with contextlib.suppress(OSError), open(path, errors="replace") as file:
        return text in file.read()
    return False


def wait_until_measuring(place, process):
    until(lambda: holds(os.path.join(place.path, "progress"), "state=measuring"), "it measures", process)


@contextlib.contextmanager
def frozen(point):
    """Freezes the file system for the duration of the with block."""
    subprocess.check_call(["fsfreeze", "-f", point])
    try:
        yield
    finally:
        subprocess.check_call(["fsfreeze", "-u", point])


def unmount(point):
    """Processes and loop devices release it a moment after their end."""
    until(lambda: subprocess.call(["umount", point], stderr=subprocess.DEVNULL) == 0, "unmount " + point)


@contextlib.contextmanager
def mounted(place, kind="ext4", size_mb=64, sector=512, options=None):
    image, point = os.path.join(place.path, kind + ".img"), os.path.join(place.path, "mount")
    os.makedirs(point)
    with open(image, "wb") as file:
        file.truncate(size_mb << 20)
    loop = subprocess.check_output(
        ["losetup", "-b", str(sector), "-f", "--show", image], universal_newlines=True
    ).strip()
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
    command = [
        "strace",
        "-f",
        "-qq",
        "--seccomp-bpf",
        "-s",
        "1",
        "-o",
        os.path.join(place.path, "trace"),
        "-e",
        "trace=" + calls,
    ]
    for rule in inject:
        command += ["-e", "inject=" + rule]
    return command


def preloaded(place, source):
    """Returns a command prefix that preloads the given C source before libc."""
    shim = os.path.join(place.path, "shim")
    with open(shim + ".c", "w") as file:
        file.write("#define _GNU_SOURCE\n" + source)
    subprocess.check_call([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", shim + ".so", shim + ".c"])
    return ["env", "LD_PRELOAD=" + shim + ".so"]


def opening(place, condition, error):
    """Returns a command prefix under which openat of `name` with `flags` fails with the given error if the condition is
    true."""
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
    """Checks that the tables of a run are consistent with each other."""
    run = result.run()
    equal(run["complete"], "1", "complete")
    with open(os.path.join(result.tables, "run.csv")) as file:
        equal(file.read().splitlines()[-1], "complete,1", "last row")
    for row in result.rows("results.csv"):
        if int(row["operations"]):
            # The mean has three decimals, so no relative tolerance suits both a fast tmpfs and a slow disk.
            near(float(row["latency_mean_ns"]), int(row["latency_sum_ns"]) / int(row["operations"]), 0.0006, "mean")
            low, mean, high = int(row["latency_min_ns"]), float(row["latency_mean_ns"]), int(row["latency_max_ns"])
            equal([low, mean, high], sorted([low, mean, high]), "min, mean and max rise")
            known = [
                int(row[k])
                for k in ("latency_p50_ns", "latency_p90_ns", "latency_p99_ns", "latency_p99_9_ns")
                if row[k]
            ]
            equal(known, sorted(known), "percentiles rise")
        each = int(row["block_size_bytes"] or 0) * (
            int(run["option_puts_per_commit"]) if row["stream"] == "commit" else 1
        )
        if run["step_size"] == "block" or row["stream"] == "commit" or (run["workload"] == "streams" and each):
            equal(int(row["bytes"]), int(row["operations"]) * each, "bytes")
        if int(row["elapsed_ns"]):
            near(int(row["bytes_per_s"]), int(row["bytes"]) * 1e9 / int(row["elapsed_ns"]), 1, "bytes a second")
    for row in [r for r in result.rows("results.csv") if r["worker"] == "all" and r["stream"] != "all"]:
        key = (row["step"], row["stream"], row["operation"])

        def rows_of(name, key=key):
            return [r for r in result.rows(name) if (r["step"], r["stream"], r["operation"]) == key]

        mine = [r for r in rows_of("results.csv") if r["worker"] != "all"]
        if run["workload"] != "streams":
            equal(
                len(mine),
                int(run["option_load_points"] if run["workload"] == "commit" else row["load_point"]),
                "rows of queue managers",
            )
        for key in ("operations", "bytes", "latency_sum_ns"):
            equal(sum(int(r[key]) for r in mine), int(row[key]), key)
        seconds = rows_of("intervals.csv")
        equal([int(r["second"]) for r in seconds], list(range(1, len(seconds) + 1)), "seconds")
        for key in ("operations", "bytes", "latency_sum_ns"):
            equal(sum(int(r[key]) for r in seconds), int(row[key]), "seconds' " + key)
        whole = [int(r["bytes"]) for r in seconds if r["partial"] == "0"]
        equal(row["interval_bytes_per_s_max"], str(max(whole)) if whole else "", "interval max")
        equal(row["interval_bytes_per_s_min"], str(min(whole)) if whole else "", "interval min")
        rounds = rows_of("rounds.csv")
        equal(sum(int(r["bytes"]) for r in rounds), int(row["bytes"]), "rounds' bytes")
        equal([int(r["round"]) for r in rounds], list(range(1, len(rounds) + 1)), "rounds")
        equal(sum(int(r["operations"]) for r in rounds), int(row["operations"]), "rounds' writes")
        assert "1" not in [r["partial"] for r in rounds[:-1]] and (
            not rounds or rounds[-1]["partial"] == str(int(len(rounds) < 5)) or cut_short(run)
        ), rounds
        buckets = rows_of("histogram.csv")
        equal(sum(int(r["operations"]) for r in buckets), int(row["operations"]), "histogram")
        equal([r["batch"] for r in buckets if not 1 <= int(r["batch"]) <= 30], [], "batches beyond 1 to 30")
        over = rows_of("over.csv")
        for over_ns in map(int, run["option_over_ns"].split()):
            consistent_over(
                over_ns, [r for r in over if int(r["over_ns"]) == over_ns and r["worker"] == "all"], seconds, buckets
            )
        consistent_workers(run, row, mine, over, [] if run["workload"] == "streams" else rows_of("batches.csv"))
    return run


def cut_short(run):
    """Returns whether the last step may be shorter than planned."""
    return run["exit_status"] != "0" or run["exit_reason"] == "ended_early"


def consistent_over(over_ns, over, seconds, buckets):
    """Checks a step's rows of over.csv for one threshold against its seconds and its histogram."""
    second_by_number = {r["second"]: r for r in seconds}
    equal(len({r["second"] for r in over}), len(over), "rows of a second over %d" % over_ns)
    for r in over:
        second = second_by_number[r["second"]]
        assert 1 <= int(r["operations"]) <= int(second["operations"]) and int(second["latency_max_ns"]) > over_ns, (
            r,
            second,
        )
        assert (
            int(r["operations"]) * over_ns * 0.99 <= int(r["latency_sum_ns"]) <= int(second["latency_sum_ns"]) * 1.01
        ), (r, second)
    found = sum(int(r["operations"]) for r in over)
    above = sum(int(r["operations"]) for r in buckets if int(r["latency_upper_ns"]) > over_ns)
    # If the maximum of a second is in the threshold's own bucket but not above the threshold, no operation of that
    # second is counted.
    undecided = [r for r in seconds if r["latency_max_ns"] and over_ns * 0.99 < int(r["latency_max_ns"]) <= over_ns]
    assert found == above or (undecided and found < above), (over_ns, found, above)


def consistent_workers(run, row, mine, over, batches):
    """Checks the rows of single workers in over.csv and batches.csv against those of all workers together."""
    by_itself = run["workload"] != "streams" and row["operation"] == "write" and len(mine) > 1
    equal(row["over_counted"], "1")
    equal({r["over_counted"] for r in mine}, {"1"} if by_itself else {""}, "workers that are counted by themselves")
    single = [r for r in over if r["worker"] != "all"]
    if not by_itself:
        equal((single, batches), ([], []))
        return
    for r in mine:
        parts = [b for b in batches if b["worker"] == r["worker"]]
        equal([int(b["batch"]) for b in parts], list(range(1, len(parts) + 1)), "batches")
        assert len(parts) == 30 or cut_short(run), len(parts)
        for key in ("operations", "latency_sum_ns"):
            equal(sum(int(b[key]) for b in parts), int(r[key]), "batches' " + key)
        for found in (s for s in single if s["worker"] == r["worker"]):
            assert int(r["latency_max_ns"]) > int(found["over_ns"]) and int(found["operations"]) <= int(
                r["operations"]
            ), (found, r)
    asked = run["over_worker_ns"].split()
    for together in (r for r in over if r["worker"] == "all" and r["over_ns"] in asked):
        place = [r for r in single if (r["second"], r["over_ns"]) == (together["second"], together["over_ns"])]
        equal(len({r["worker"] for r in place}), len(place), "rows of a worker")
        assert 1 <= sum(int(r["operations"]) for r in place) <= int(together["operations"]), (together, place)
        assert sum(int(r["latency_sum_ns"]) for r in place) <= int(together["latency_sum_ns"]) + len(place), (
            together,
            place,
        )
    places = {(r["second"], r["over_ns"]) for r in over if r["worker"] == "all"}
    equal(
        [r for r in single if r["over_ns"] not in asked or (r["second"], r["over_ns"]) not in places],
        [],
        "rows of workers alone",
    )


def refused(place, result, *parts):
    equal(result.status, 2, result.err)
    contains(result.err, *parts)
    equal(os.path.exists(place.tables), False, "tables of a refusal")


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def prepare():
    """Mounts a file system that only these tests use."""
    if os.geteuid() == 0 and not UNPRIVILEGED:
        subprocess.check_call(["mount", "-t", "tmpfs", "-o", "mode=700", "none", BASE])


def cleanup():
    with open("/proc/self/mounts") as file:
        points = [line.split()[1] for line in file if line.split()[1].startswith(BASE)]
    for point in reversed(points):
        subprocess.call(["fsfreeze", "-u", point], stderr=subprocess.DEVNULL)
        subprocess.call(["umount", "-l", point])
    shutil.rmtree(BASE, ignore_errors=True)
