#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Compares streams of the tester with fio, which runs the job that --showFio prints. The commands are:

    benchmarks/fio.py tmpfs         memory, so that an operation costs only processor time
    benchmarks/fio.py slow          the disk of commit.py, on which every read and write takes 1 ms longer; needs root
    benchmarks/fio.py disk          the file system of DIR=...

    SECONDS=5 ROUNDS=5 PYTHONPATH=collections .venv-dev/bin/python benchmarks/fio.py tmpfs [WORKLOAD...]

WORKLOAD is one of WORKLOADS below, or a workload of the collection that has streams (etcd-wal, spc1-like ...), at its
first load point.

Each round runs fio, the tester, and fio again. Each of them uses files of the same size that the tester has just filled
with random data, because the speed of a disk with a cache depends on how long ago such data was written. The ratio
between the two runs of fio shows the noise. The output contains medians over the rounds, with the smallest and largest
ratio in parentheses. The processor time is that of all threads of the process during the measured time, including time
in the kernel. Needs a C compiler and fio (Debian's package).
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import tester
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import command_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload
from commit import go_alone, slow_disk

WARMUP_S = 1
SHIPPED = Path(__file__).parents[1] / "roles/sweep/files/workloads"
WORKLOADS = {
    "random read 4K": ("--stream=name=corner,pattern=random,size=4K,read=100%",),
    "random write 4K": ("--stream=name=corner,pattern=random,size=4K",),
    "sequential read 1M": ("--stream=name=corner,pattern=ring,size=1M,read=100%",),
    "sequential write 1M": ("--stream=name=corner,pattern=ring,size=1M",),
    "sqlserver-oltp": (
        "--place=name=data,share=75%",
        "--place=name=log,share=25%",
        "--stream=name=data,place=data,pattern=random,size=8K,read=75%,workers=4*load",
        "--stream=name=log,place=log,pattern=ring,size=512:20+4K:40+16K:20+32K:10+60K:10",
        "--load=2",
    ),
}
"""The four streams of four-corners, each as a separate workload with O_DIRECT and O_DSYNC, and a database whose data
pages and log are used at the same time."""

Figures = dict[str, tuple[float, float]]
"""Operations per second and mean latency, ns, by stream and operation."""
Run = tuple[Figures, float]
"""The figures of a run, and the processor time that its process used per operation, ns."""


def options(workload: str, point: Path) -> list[str]:
    given = [
        "--fileSize=32M",
        "--numFiles=8",
        "--reserve=0",
        "--shareDevice",
        f"--warmup={WARMUP_S}",
        f"--duration={tester.SECONDS}",
    ]
    if workload in WORKLOADS:
        return [tester.LOGDISK, f"--dir={point}", *given, *WORKLOADS[workload]]
    shipped = load_workload(workload, str(SHIPPED))
    return [tester.LOGDISK, f"--dir={point}", *given, *command_line(shipped.told), f"--load={shipped.loads[0]}"]


def processor_ns(pid: int) -> int:
    """Return the processor time that all threads have used so far, not including threads that have ended."""
    found = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):
            found += int(path.read_text().split()[0])
    return found


def watch(work: Path, command: list[str]) -> tuple[str, float]:
    """Return the output of a command, and its processor time in ns per second during the last part of its run. This
    part is within the measured time."""
    with (work / "out").open("w") as out:
        process = subprocess.Popen(command, stdout=out)
        seen = []
        while process.poll() is None:
            seen.append((time.monotonic(), processor_ns(process.pid)))
            time.sleep(0.05)
    if process.returncode != 0:
        raise SystemExit("failed: " + " ".join(command))
    to_s, to_ns = max(seen, key=lambda sample: sample[1])  # after that, the threads have ended
    from_s, from_ns = next(sample for sample in seen if sample[0] > to_s - 0.8 * tester.SECONDS)
    return (work / "out").read_text(), (to_ns - from_ns) / (to_s - from_s)


def run_logdisk(work: Path, point: Path, command: list[str]) -> Run:
    for path in point.glob("mqldt_testfile.*"):
        path.unlink()
    tables = work / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    dummy, used = watch(work, [*command, f"--tables={tables}", "--keepFiles"])
    with (tables / "results.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["worker"] == "all" and row["stream"] != "all"]
    return per_operation(
        {
            f"{row['stream']} {row['operation']}": (float(row["operations_per_s"]), float(row["latency_mean_ns"]))
            for row in rows
        },
        used,
    )


def run_fio(work: Path, point: Path, command: list[str]) -> Run:
    job = work / "job.fio"
    run_logdisk(work, point, [*command, "--warmup=0", "--duration=1"])
    job.write_text(subprocess.check_output([*command, "--showFio"], text=True))
    out, used = watch(work, ["fio", "--output-format=json", str(job)])
    jobs = json.loads(out[out.index("{") :])["jobs"]
    done = ((job, operation) for job in jobs for operation in ("read", "write") if job[operation]["total_ios"])
    return per_operation(
        {
            f"{job['jobname']} {operation}": (job[operation]["iops"], latency_ns(job, operation))
            for job, operation in done
        },
        used,
    )


def latency_ns(job: dict[str, Any], operation: str) -> float:
    """Return the mean latency as the tester defines it: clat with psync, or slat plus clat with libaio, which may block
    while it submits an operation. In both cases, the flush is added."""
    flush = job["sync"]["lat_ns"]["mean"] if operation == "write" and "sync" in job else 0
    return job[operation]["slat_ns"]["mean"] + job[operation]["clat_ns"]["mean"] + flush


def per_operation(figures: Figures, used: float) -> Run:
    return figures, used / sum(rate for rate, dummy in figures.values())


def ratios(these: list[float], those: list[float]) -> str:
    found = [this / that for this, that in zip(these, those)]
    return f"{median(found):.3f} ({min(found):.3f} to {max(found):.3f})"


def compare(work: Path, point: Path, workload: str) -> None:
    command = options(workload, point)
    candidates: dict[str, Callable[[], Run]] = {
        "fio": lambda: run_fio(work, point, command),
        "logdisk": lambda: run_logdisk(work, point, command),
        "fio again": lambda: run_fio(work, point, command),
    }
    results = tester.rounds(candidates)
    costs = {name: [used / 1000 for dummy, used in runs] for name, runs in results.items()}
    for row in results["logdisk"][0][0]:
        cells = [f"{workload}: {row}"]
        for figure, scale in ((0, 1.0), (1, 1e-3)):
            found = {name: [figures[row][figure] * scale for figures, dummy in runs] for name, runs in results.items()}
            cells += [f"{median(found['logdisk']):,.3f}" if figure else f"{median(found['logdisk']):,.0f}"]
            cells += [ratios(found["logdisk"], found["fio"]), ratios(found["fio again"], found["fio"])]
        cells += [
            f"{median(costs['logdisk']):,.2f}",
            f"{median(costs['fio']):,.2f}",
            ratios(costs["logdisk"], costs["fio"]),
        ]
        print("| " + " | ".join(cells) + " |", flush=True)


@contextlib.contextmanager
def file_system(work: Path, kind: str) -> Iterator[Path]:
    with contextlib.ExitStack() as undo:
        if kind == "slow":
            yield undo.enter_context(slow_disk(work, reads=True))
        else:
            yield Path(
                undo.enter_context(tempfile.TemporaryDirectory(dir=work if kind == "tmpfs" else os.environ["DIR"]))
            )


def main() -> None:
    wanted = sys.argv[2:] or list(WORKLOADS)
    if (
        len(sys.argv) < 2
        or sys.argv[1] not in ("tmpfs", "slow", "disk")
        or not set(wanted) <= {*WORKLOADS, *(path.stem for path in SHIPPED.glob("*.yml"))}
    ):
        raise SystemExit(__doc__)
    go_alone()
    subprocess.check_call(["make", "-s", "-C", tester.SRC, "build/logdisk"], stdout=subprocess.DEVNULL)
    titles = (
        "| workload: stream | operations/s | ratio to fio | fio to fio | mean, us | ratio to fio | fio to fio | "
        "processor, us/operation | fio | ratio to fio |"
    )
    print(titles + "\n|---" + "|---:" * 9 + "|")
    with (
        tempfile.TemporaryDirectory(prefix="logdisk-benchmark-", dir="/dev/shm") as work,
        file_system(Path(work), sys.argv[1]) as point,
    ):
        for workload in wanted:
            compare(Path(work), point, workload)


if __name__ == "__main__":
    main()
