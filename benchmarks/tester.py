#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the tester itself. The commands are:

    benchmarks/tester.py tmpfs          compares writes/s on tmpfs with the bare loop of the same call, and with fio
    benchmarks/tester.py loop           compares the mean latency with fio, on ext4 and xfs on a loop device (image in
                                        memory); needs root
    benchmarks/tester.py truth          compares the figures with those of bpftrace for the same writes, on ext4 on a
                                        loop device (or in DIR=...); needs root
    benchmarks/tester.py memory         resident memory with 1 to 1000 queue managers and 1 to 100 block sizes
    benchmarks/tester.py instructions   user-mode instructions per write, counted by callgrind

Each round runs the candidates one immediately after the other, in alternating order, so that other load on the machine
affects all of them equally. The output contains medians, and the median of the ratios of all rounds. A C compiler is
needed. Comparisons with fio need Debian's package fio, truth needs bpftrace, and instructions needs valgrind.
"""

import contextlib
import csv
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(os.path.dirname(HERE), "src")
LOGDISK = os.path.join(SRC, "build", "logdisk")
ROUNDS = int(os.environ.get("ROUNDS", "11"))
SECONDS = int(os.environ.get("SECONDS", "2"))
FILE_BYTES, FILES = 1638400, 8


def build(work, src=SRC):
    subprocess.check_call(["make", "-s", "-C", src, "build/logdisk"], stdout=subprocess.DEVNULL)
    subprocess.check_call([os.environ.get("CC", "cc"), "-O2", "-o", work + "/bare_loop", HERE + "/bare_loop.c"])


def takes_direct(directory):
    try:
        os.close(os.open(directory, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600))
        return True
    except OSError:
        return False


def used(command):
    """Return the output of a command, and its processor seconds (user and system)."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit("failed: " + " ".join(command))
    return out, usage.ru_utime + usage.ru_stime


def bare(work, directory, block, direct):
    out, processor_s = used(
        [
            work + "/bare_loop",
            directory,
            str(block),
            str(FILE_BYTES),
            str(FILES),
            str(SECONDS),
            "direct" if direct else "buffered",
        ]
    )
    return {"writes_per_s": float(out), "processor_ns": processor_s * 1e9 / (float(out) * SECONDS)}


def logdisk(work, directory, block, direct, *more, **keywords):
    tables = work + "/tables"
    shutil.rmtree(tables, ignore_errors=True)
    _, processor_s = used(
        [
            keywords.get("program", LOGDISK),
            "--dir=" + directory,
            "--bsize=%d" % block,
            "--duration=%d" % SECONDS,
            "--direct=" + ("yes" if direct else "no"),
            "--tables=" + tables,
            "--reserve=0",
        ]
        + list(more)
    )
    with open(tables + "/results.csv") as file:
        row = list(csv.DictReader(file))[-1]
    # Commits before the introduction of streams have other column names, and no row `all` for a single queue manager.
    operations = int(row["operations" if "operations" in row else "writes"])
    return {
        "writes_per_s": float(row["operations_per_s" if "operations_per_s" in row else "writes_per_s"]),
        "mean_ns": float(row["latency_mean_ns"]),
        "p50_ns": int(row["latency_p50_ns"]),
        "p99_ns": int(row["latency_p99_ns"]),
        "writes": operations,
        "processor_ns": processor_s * 1e9 / operations,
    }


def fio(work, directory, block, direct, *more):
    # One job with psync and one outstanding write, over the same number of preformatted bytes, with new data for each
    # write.
    out = subprocess.check_output(
        [
            "fio",
            "--name=log",
            "--directory=" + directory,
            "--rw=write",
            "--bs=%d" % block,
            "--size=%d" % (FILE_BYTES * FILES),
            "--nrfiles=%d" % FILES,
            "--ioengine=psync",
            "--iodepth=1",
            "--sync=dsync",
            "--direct=%d" % direct,
            "--overwrite=1",
            "--time_based",
            "--runtime=%d" % SECONDS,
            "--refill_buffers",
            "--output-format=json",
            "--thread",
            "--unlink=1",
            "--file_service_type=sequential",
            "--clocksource=clock_gettime",
        ]
        + list(more),
        universal_newlines=True,
        cwd=work,
    )
    write = json.loads(out[out.index("{") :])["jobs"][0]["write"]
    latency = write["clat_ns"]
    return {
        "writes_per_s": write["iops"],
        "mean_ns": latency["mean"],
        "p50_ns": latency["percentile"]["50.000000"],
        "p99_ns": latency["percentile"]["99.000000"],
    }


def rounds(candidates, count=ROUNDS):
    """Runs every candidate once per round. Returns a list of results for each candidate."""
    results = {name: [] for name in candidates}
    names = list(candidates)
    for number in range(count):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            results[name].append(candidates[name]())
    return results


def table(title, results, figures, base):
    print("\n" + title)
    print("| | " + " | ".join("%s | ratio to %s" % (figure, base) for figure in figures) + " |")
    print("|---" * (1 + 2 * len(figures)) + "|")
    for name, rows in results.items():
        cells = []
        for figure in figures:
            if any(figure not in row for row in rows + results[base]):
                cells += ["", ""]
                continue
            ratios = [row[figure] / other[figure] for row, other in zip(rows, results[base])]
            cells += [
                "{:,.0f}".format(statistics.median(row[figure] for row in rows)),
                "%.3f (%.3f to %.3f)" % (statistics.median(ratios), min(ratios), max(ratios)),
            ]
        print("| %s | %s |" % (name, " | ".join(cells)), flush=True)


@contextlib.contextmanager
def loop(work, kind):
    image, point = os.path.join(work, kind), os.path.join(work, "mnt")
    os.makedirs(point, exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(400 << 20)
    device = subprocess.check_output(["losetup", "-f", "--show", image], universal_newlines=True).strip()
    try:
        # Initialize everything now, and not later in the background during a measurement.
        options = ["-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"] if kind == "ext4" else ["-f"]
        subprocess.check_call(["mkfs." + kind, "-q"] + options + [device])
        subprocess.check_call(["mount", device, point])
        try:
            yield point
        finally:
            subprocess.check_call(["umount", point])
    finally:
        subprocess.call(["losetup", "-d", device])
        os.unlink(image)


def run_tmpfs(work):
    direct = takes_direct(work)
    note = "O_DIRECT|O_DSYNC" if direct else "O_DSYNC only: the tmpfs of this kernel does not support O_DIRECT"
    candidates = {
        "bare loop": lambda: bare(work, work, 4096, direct),
        "logdisk": lambda: logdisk(work, work, 4096, direct),
        "logdisk pinned": lambda: logdisk(work, work, 4096, direct, "--cpu=0"),
    }
    if shutil.which("fio"):
        candidates["fio"] = lambda: fio(work, work, 4096, direct)
    table(
        "tmpfs, 4 KiB, %s, %d rounds of %d s" % (note, ROUNDS, SECONDS),
        rounds(candidates),
        ["writes_per_s", "processor_ns"],
        "bare loop",
    )


def run_loop(work):
    for kind in ("ext4", "xfs"):
        with loop(work, kind) as point:
            results = rounds(
                {
                    "fio": lambda: fio(work, point, 4096, True),
                    "logdisk": lambda: logdisk(work, point, 4096, True),
                    "fio pinned": lambda: fio(work, point, 4096, True, "--cpus_allowed=0"),
                    "logdisk pinned": lambda: logdisk(work, point, 4096, True, "--cpu=0"),
                }
            )
        # The latency of a write depends on the processor on which the scheduler runs the loop device's worker, so the
        # worker is pinned for both programs.
        for names in (("fio", "logdisk"), ("fio pinned", "logdisk pinned")):
            table(
                "%s on a loop device over memory, 4 KiB, %d rounds of %d s" % (kind, ROUNDS, SECONDS),
                {name: results[name] for name in names},
                ["mean_ns", "p50_ns", "p99_ns", "writes_per_s"],
                names[0],
            )


# The program counts in the kernel, with a map key for each tenth of a microsecond, because printing every write would
# slow down the writes.
TRACE = """
tracepoint:syscalls:sys_enter_pwritev /comm == "logdisk-truth" && args->vlen == 1/ { @start[tid] = nsecs; }
tracepoint:syscalls:sys_exit_pwritev /@start[tid]/ {
    $ns = nsecs - @start[tid]; @sum[tid] = sum($ns); @tenths[tid, $ns / 100] = count(); @start[tid] = 0;
}
END { clear(@start); }
"""


def end(tracer):
    for _ in range(10):
        tracer.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return tracer.wait(timeout=5)
    tracer.kill()
    return tracer.wait()


def run_truth(work):
    shutil.copy(LOGDISK, work + "/logdisk-truth")  # a unique name, because other testers may run on this machine
    # Both bpftrace probes run inside the timed interval and add about 2 us to each write, so the writes must be long
    # enough for this not to matter.
    with contextlib.ExitStack() as stack:
        point = os.environ.get("DIR") or stack.enter_context(loop(work, "ext4"))
        block = 4096 if os.environ.get("DIR") else 1048576
        ratios = {"mean_ns": [], "p99_ns": []}
        for _ in range(max(3, ROUNDS // 3)):
            with open(work + "/trace", "w") as out:
                tracer = subprocess.Popen(
                    ["bpftrace", "-e", TRACE],
                    stdout=out,
                    stderr=subprocess.DEVNULL,
                    env=dict(os.environ, BPFTRACE_MAP_KEYS_MAX="200000"),
                )
                try:
                    subprocess.call(["sleep", "3"])
                    result = logdisk(work, point, block, True, "--delay=200", program=work + "/logdisk-truth")
                    subprocess.call(["sleep", "1"])
                finally:
                    end(tracer)
            with open(work + "/trace") as file:
                text = file.read()
            sums = {tid: int(ns) for tid, ns in re.findall(r"@sum\[(\d+)\]: (\d+)", text)}
            tenths = {}
            for tid, tenth, count in re.findall(r"@tenths\[(\d+), (\d+)\]: (\d+)", text):
                tenths.setdefault(tid, []).append((int(tenth), int(count)))
            writer = max(tenths, key=lambda tid: sum(count for _, count in tenths[tid]))
            traced = [tenth * 100 for tenth, count in sorted(tenths[writer]) for _ in range(count)]
            exact = {"mean_ns": sums[writer] / len(traced), "p99_ns": traced[-(-len(traced) * 99 // 100) - 1]}
            for key in ratios if len(traced) == result["writes"] else ():
                ratios[key].append(result[key] / exact[key])
            print(
                "writes: tester %d, tracer %d; mean %.0f / %.0f ns; p99 %d / %d ns"
                % (
                    result["writes"],
                    len(traced),
                    result["mean_ns"],
                    exact["mean_ns"],
                    result["p99_ns"],
                    exact["p99_ns"],
                ),
                flush=True,
            )
    if not ratios["mean_ns"]:
        raise SystemExit(
            "the tracer lost writes in every round: the kernel skips its programs if it preempts one; try again"
        )
    print(
        "tester / tracer, median of the %d rounds in which the tracer lost none: mean %.3f, p99 %.3f"
        % (len(ratios["mean_ns"]), statistics.median(ratios["mean_ns"]), statistics.median(ratios["p99_ns"]))
    )


def memory_kib(work, program, queue_managers):
    """Return the largest resident memory of a tester while it measures that many queue managers."""
    files = ["--createDirs", "--numFiles=2", "--fileSize=256K", "--reserve=0", "--delay=1000"]
    return peak_kib([program, *files, "--dir=%s/qm" % work, "--qm=%d" % queue_managers, "--bsize=4K", "--duration=5"])


def peak_kib(command):
    """Return the largest resident memory that the kernel recorded (VmHWM). ru_maxrss would include the memory of this
    process."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        with contextlib.suppress(OSError, AttributeError), open("/proc/%d/status" % process.pid) as file:
            if os.readlink("/proc/%d/exe" % process.pid) == os.path.realpath(command[0]):
                peak = int(re.search(r"VmHWM:\s+(\d+)", file.read()).group(1))
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit("failed: " + " ".join(command))
    return peak


def run_memory(work):
    print(
        "\n| queue managers | block sizes | resident, KiB | allowed: 4 MiB + (96 KiB + two blocks) "
        "each, KiB | KiB a queue manager |"
    )
    print("|---|---|---|---|---|")
    base = None
    common = [LOGDISK, "--createDirs", "--numFiles=2", "--fileSize=256K", "--reserve=0", "--delay=1000"]
    for count in (1, 10, 100, 300, 1000):
        used = memory_kib(work, LOGDISK, count)
        base = base or used
        each = "%.1f" % ((used - base) / (count - 1)) if count > 1 else ""
        print("| %d | 1 | %d | %d | %s |" % (count, used, 4096 + count * (96 + 8), each), flush=True)
    for sizes in (1, 10, 100):
        used = peak_kib(
            common
            + [
                "--dir=%s/qm" % work,
                "--duration=1",
                "--bsize=" + ",".join(str(4096 * (i % 16 + 1)) for i in range(sizes)),
            ]
        )
        largest = 4 * min(16, sizes)
        print("| 1 | %d | %d | %d | |" % (sizes, used, 4096 + 96 + 2 * largest), flush=True)


def instructions_per_write(work, program):
    """Return the user-mode instructions of a writer per 4 KiB write, as counted by callgrind, which does not count the
    clock functions of the vDSO."""
    counts = []
    for seconds in (2, 6):
        out = work + "/callgrind"
        shutil.rmtree(work + "/tables", ignore_errors=True)
        subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                "--callgrind-out-file=" + out,
                "--toggle-collect=worker_main",
                "--toggle-collect=writer_main",  # its name in early commits
                program,
                "--dir=" + work,
                "--bsize=4K",
                "--duration=%d" % seconds,
                "--tables=" + work + "/tables",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with open(work + "/tables/results.csv") as file:
            row = list(csv.DictReader(file))[-1]
            writes = int(row["operations" if "operations" in row else "writes"])
        with open(out) as file:
            total = int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1))
        counts.append((writes, total))
    return (counts[1][1] - counts[0][1]) / (counts[1][0] - counts[0][0])


def run_instructions(work):
    print("user-mode instructions per 4 KiB write: %.1f" % instructions_per_write(work, LOGDISK))
    print("(callgrind does not count the clock functions of the vDSO)")


def main():
    runs = {
        "tmpfs": run_tmpfs,
        "loop": run_loop,
        "truth": run_truth,
        "memory": run_memory,
        "instructions": run_instructions,
    }
    if len(sys.argv) != 2 or sys.argv[1] not in runs:
        raise SystemExit(__doc__)
    work = tempfile.mkdtemp(prefix="logdisk-benchmark-", dir="/dev/shm")
    try:
        build(work)
        runs[sys.argv[1]](work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
