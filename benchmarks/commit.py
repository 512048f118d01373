#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares the commit workload with its model. The commands are:

    benchmarks/commit.py model       compares commits/s on a disk that adds 1 ms to every write with the formula, at the
                                     latency that the same run measured
    benchmarks/commit.py remote      compares commits/s with --remoteDelay=500, on memory that adds exactly 1 ms to
                                     every write, with the formula at the latency of the runs without this option
                                     immediately before and after
    benchmarks/commit.py estimate    compares commits/s on the file system of DIR=..., or on the disk that adds 1 ms,
                                     with the estimate from a sweep of it. It uses the fastest of ROUNDS for both,
                                     because other load can only make them slower. Fails if an estimate that the report
                                     would not mark differs by more than the report states, or if the report would mark
                                     all estimates. A request to the disk that adds 1 ms has at most 512 KiB, so the log
                                     buffer has the same size on that disk

    SECONDS=5 PYTHONPATH=collections .venv-dev/bin/python benchmarks/commit.py model

(`make link lint` creates `collections` and `.venv-dev`.) The disk that adds 1 ms is the memory of nbdkit, accessed
through nbdfuse, a loop device and ext4. It needs root and the packages nbdkit, libnbd-bin and fuse3. Memory that adds
exactly 1 ms is a tmpfs, with a sleep before the system call. With this memory, the tester has a real-time priority,
because two runs can be compared only if nothing else affects the duration of their writes. It needs root and a C
compiler.
"""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import median

from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.basis import AGREEMENT
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.commits import Commits, Load, estimate_commits
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.line import fit_line, reservations

SRC = Path(__file__).resolve().parents[1] / "src"
ALONE = "LOGDISK_BENCHMARK_ALONE"
SECONDS = int(os.environ.get("SECONDS", "5"))
APPLICATIONS = (1, 10, 100, 1000)
MESSAGES = (100, 2048, 20480, 204800, 1048576)
ROUNDS = int(os.environ.get("ROUNDS", "5"))
SWEEP = (4, 16, 64, 128, 256, 512, 1024, 2048)
"""The block sizes of the sweep in KiB, up to the log buffer."""
SLOW_DISK_REQUEST = 512
REMOTE_NS = 500_000
REMOTE_MESSAGES = (100, 2048)

Row = dict[str, str]
Step = tuple[int, int]
"""The number of applications, and the size of a message."""
Steps = dict[Step, tuple[Row, Row]]
"""The rows of the log and of the commits."""


def run(work: Path, point: Path, *options: str, before: Sequence[str] = ()) -> list[Row]:
    """Return the rows of all workers of a run of the tester."""
    tables = work / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    command = [
        str(SRC / "build/logdisk"),
        f"--dir={point}",
        f"--tables={tables}",
        "--fileSize=32M",
        "--numFiles=4",
        "--reserve=0",
        f"--duration={SECONDS}",
    ]
    subprocess.run([*before, *command, "--warmup=1", *options], check=True, stdout=subprocess.DEVNULL)
    with (tables / "results.csv").open() as file:
        return [row for row in csv.DictReader(file) if row["worker"] == "all"]


def commits(
    work: Path,
    point: Path,
    applications: Iterable[int],
    messages: Iterable[int],
    *options: str,
    before: Sequence[str] = (),
) -> Steps:
    given = (
        "--workload=commit",
        "--apps=" + ",".join(map(str, applications)),
        "--msgSize=" + ",".join(map(str, messages)),
        *options,
    )
    found: dict[Step, dict[str, Row]] = {}
    for row in run(work, point, *given, before=before):
        found.setdefault((int(row["load_point"]), int(row["block_size_bytes"])), {})[row["stream"]] = row
    return {key: (rows["log"], rows["commit"]) for key, rows in found.items()}


def compare(
    measured: Steps, model_of: Callable[[Step], Commits], marks_of: Callable[[Commits], Sequence[str]]
) -> list[float]:
    """Print the measured commits per second beside those of the model. Return the ratios for the steps without a
    mark."""
    print(
        "| applications | message, bytes | write, KiB (mean) | write, us | busy | commits/s | model | measured / model "
        "| commit, ms | model | marks |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    ratios = []
    for (applications, message), rows in measured.items():
        log, commit = rows
        model = model_of((applications, message))
        marks = marks_of(model)
        rate = commits_per_s(rows)
        ratio = rate / model.commits_per_s
        ratios += [] if marks else [ratio]
        cells = [
            f"{applications:,}",
            f"{message:,}",
            f"{float(log['write_size_mean_bytes']) / 1024:,.0f}",
            f"{float(log['latency_mean_ns']) / 1000:,.0f}",
            f"{float(log['logger_utilisation_share']):.3f}",
            f"{rate:,.1f}",
            f"{model.commits_per_s:,.1f}",
            f"{ratio:.3f}",
            f"{float(commit['latency_mean_ns']) / 1e6:,.3f}",
            f"{model.commit_latency_ns / 1e6:,.3f}",
            " ".join(marks),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(
        f"\nmeasured / model without a mark: {len(ratios)} of {len(measured)}"
        + (f", {min(ratios):.3f} to {max(ratios):.3f}" if ratios else "")
    )
    return ratios


def write_ns(rows: tuple[Row, Row]) -> float:
    return float(rows[0]["latency_mean_ns"])


def commits_per_s(rows: tuple[Row, Row]) -> float:
    return float(rows[1]["operations_per_s"])


def run_model(work: Path) -> None:
    with slow_disk(work) as point:
        measured = commits(work, point, APPLICATIONS, MESSAGES)
    compare(
        measured,
        lambda step: estimate_commits(lambda size_bytes: write_ns(measured[step]), Load(*step)),
        lambda model: (),
    )


def run_remote(work: Path) -> None:
    """Run each step without the delay, with it, and without it again, in each round."""
    titles = (
        "applications",
        "message, bytes",
        "write without the delay, us",
        "with it, us",
        "commits/s, measured / model",
        "each round",
        "at its own write latency",
    )
    print("| " + " | ".join(titles) + " |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    slowed, point = sleeping(work), work / "files"
    point.mkdir()
    with contextlib.ExitStack() as undo:
        subprocess.check_call(["mount", "-t", "tmpfs", "none", str(point)])
        undo.callback(subprocess.check_call, ["umount", str(point)])
        for step in ((applications, message) for applications in APPLICATIONS for message in REMOTE_MESSAGES):
            ratios, own_ratios, writes, delayed_writes = [], [], [], []
            for dummy in range(ROUNDS):
                before, delayed, after = (
                    commits(work, point, step[:1], step[1:], *options, before=slowed)[step]
                    for options in ((), (f"--remoteDelay={REMOTE_NS // 1000}",), ())
                )
                writes.append((write_ns(before) + write_ns(after)) / 2)
                delayed_writes.append(write_ns(delayed))
                for mean_ns, found in ((writes[-1], ratios), (delayed_writes[-1], own_ratios)):
                    model = estimate_commits(
                        lambda size_bytes, mean_ns=mean_ns: mean_ns, Load(*step, remote_delay_ns=REMOTE_NS)
                    )
                    found.append(commits_per_s(delayed) / model.commits_per_s)
            cells = [
                f"{step[0]:,}",
                f"{step[1]:,}",
                f"{median(writes) / 1000:,.0f}",
                f"{median(delayed_writes) / 1000:,.0f}",
                f"{median(ratios):.3f}",
            ]
            print(
                "| "
                + " | ".join([*cells, " ".join(f"{ratio:.3f}" for ratio in ratios), f"{median(own_ratios):.3f}"])
                + " |",
                flush=True,
            )


def run_estimate(work: Path) -> None:
    with contextlib.ExitStack() as stack:
        on_slow_disk = "DIR" not in os.environ
        point = stack.enter_context(slow_disk(work)) if on_slow_disk else Path(os.environ["DIR"])
        sizes = [size for size in SWEEP if not on_slow_disk or size <= SLOW_DISK_REQUEST]
        sweeps, rounds = [], []
        for dummy in range(ROUNDS):
            sweeps.append(run(work, point, "--bsize=" + ",".join(f"{size}K" for size in sizes)))
            rounds.append(commits(work, point, APPLICATIONS, MESSAGES, f"--logBuffer={sizes[-1]}K"))
    means = [
        (float(rows[0]["block_size_bytes"]), min(float(row["latency_mean_ns"]) for row in rows))
        for rows in zip(*sweeps, strict=True)
    ]
    measured = {step: max((found[step] for found in rounds), key=commits_per_s) for step in rounds[0]}
    for size, mean in means:
        print(f"sweep: {size / 1024:,.0f} KiB {mean / 1000:,.1f} us")
    line = fit_line(means)
    print(
        f"line: {line.base_ns / 1000:,.1f} us + size / {line.bytes_per_ns * 1000:,.0f} MB/s, the furthest mean "
        f"lies {line.worst:.0%} from it\n"
    )
    unmarked = compare(
        measured,
        lambda step: estimate_commits(line.latency_ns, Load(*step, buffer_bytes=sizes[-1] * 1024)),
        lambda model: reservations(line, model.write_bytes, model.cycle_ns),
    )
    if not unmarked or max(abs(ratio - 1) for ratio in unmarked) > AGREEMENT:
        raise SystemExit(f"estimates without a mark should exist, and agree within {AGREEMENT:.0%}")


SLEEP = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
long syscall(long number, ...) {
    static long (*real)(long, ...);
    long a[5];
    va_list rest;
    va_start(rest, number);
    for (int i = 0; i < 5; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    if (real == 0) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_pwritev) nanosleep(&(struct timespec){.tv_nsec = 1000000}, 0);
    return real(number, a[0], a[1], a[2], a[3], a[4]);
}
"""


def sleeping(work: Path) -> list[str]:
    """Return a command prefix under which every write of the tester takes 1 ms longer."""
    (work / "sleep.c").write_text(SLEEP)
    subprocess.check_call(
        ["cc", "-O2", "-shared", "-fPIC", "-o", str(work / "sleep.so"), str(work / "sleep.c"), "-ldl"]
    )
    return ["chrt", "--fifo", "1", "env", f"LD_PRELOAD={work}/sleep.so"]


@contextlib.contextmanager
def slow_disk(work: Path, *, reads: bool = False) -> Iterator[Path]:
    """Provide a file system on a disk in memory. The disk takes 1 ms longer for every write and, with ``reads``, also
    for every read, which then bypasses all caches. The file system is in our own mount namespace, which other processes
    do not inherit."""
    disk, point = work / "disk", work / "mount"
    disk.touch()
    point.mkdir()
    nbdkit = [
        "nbdkit",
        "--exit-with-parent",
        "--filter=delay",
        "memory",
        "400M",
        "wdelay=1ms",
        *(["rdelay=1ms"] if reads else []),
    ]
    with contextlib.ExitStack() as undo:
        server = subprocess.Popen(["nbdfuse", str(disk), "[", *nbdkit, "]"])
        undo.callback(server.wait)
        undo.callback(subprocess.call, ["fusermount3", "-u", str(disk)])
        while disk.stat().st_size == 0:
            time.sleep(0.1)
        loop = subprocess.check_output(
            ["losetup", "-f", "--show", *(["--direct-io=on"] if reads else []), str(disk)], text=True
        ).strip()
        undo.callback(subprocess.check_call, ["losetup", "-d", loop])
        subprocess.check_call(
            ["mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", loop]
        )
        subprocess.check_call(["mount", loop, str(point)])
        undo.callback(subprocess.check_call, ["umount", str(point)])
        yield point


def go_alone() -> None:
    """Start again in a separate mount namespace."""
    if ALONE not in os.environ:
        os.execvp("unshare", ["unshare", "--mount", "env", f"{ALONE}=1", sys.executable, *sys.argv])


def main() -> None:
    runs = {"model": run_model, "remote": run_remote, "estimate": run_estimate}
    if len(sys.argv) != 2 or sys.argv[1] not in runs:
        raise SystemExit(__doc__)
    go_alone()
    subprocess.check_call(["make", "-s", "-C", str(SRC), "build/logdisk"], stdout=subprocess.DEVNULL)
    work = Path(tempfile.mkdtemp(prefix="logdisk-benchmark-", dir="/dev/shm"))
    try:
        runs[sys.argv[1]](work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
