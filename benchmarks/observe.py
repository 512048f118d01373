#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures how much time bpftrace adds to each operation that it watches:

    log write       the tester's writes to memory, below the log path that is watched
    other write     the same writes elsewhere, while log writes are watched: the effect on all other programs on the
    host call            an empty call of the MQI

Each figure is the median of PAIRS pairs of a run without and a run with probes, one immediately after the other. The
output also contains the overhead that the source itself measured when it started, which it reports as
``probe_overhead_ns``. The function that the source calls for this purpose begins with an instruction that has to be
single-stepped, which takes longer; most other functions do not.

    SECONDS=2 PAIRS=5 PYTHONPATH=collections .venv-dev/bin/python benchmarks/observe.py

(`make link lint` creates `collections` and `.venv-dev`.) It needs root, a C compiler and the package bpftrace. tracefs
is mounted for the benchmark only.
"""

from __future__ import annotations

import contextlib
import csv
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from ansible_collections.mqops.logdisk.plugins.module_utils._sources import bpftrace

PROJECT = Path(__file__).resolve().parent.parent
TESTER = PROJECT / "src/build/logdisk"
MQI = PROJECT / "tests/integration/mqi"
SECONDS = int(os.environ.get("SECONDS", "2"))
PAIRS = int(os.environ.get("PAIRS", "5"))
CALLS = 100_000
IN_TRACING = 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"'
LONGEST_S = 3600


@contextlib.contextmanager
def watched(options: dict) -> Iterator[bpftrace.Source]:
    """Let a source observe while the block runs."""
    source = bpftrace.Source(options)
    source.check()
    over, begun = threading.Event(), threading.Event()

    def observe() -> None:
        with contextlib.closing(source.samples(time.monotonic() + LONGEST_S)) as texts:
            for text in texts:
                if text and text.startswith('{"base"'):
                    begun.set()
                if over.is_set():
                    return

    thread = threading.Thread(target=observe)
    thread.start()
    try:
        if not begun.wait(60):
            raise SystemExit("bpftrace did not begin to observe")
        yield source
    finally:
        over.set()
        thread.join()


def write_ns(directory: Path) -> float:
    """Return the time that one write of 4 KiB to memory takes."""
    with tempfile.TemporaryDirectory() as tables:
        sizes = ["--bsize=4K", "--fileSize=4M", "--numFiles=2", "--reserve=0", "--shareDevice"]
        command = [TESTER, f"--dir={directory}", f"--tables={tables}/t", f"--duration={SECONDS}", *sizes]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with Path(tables, "t/results.csv").open() as stream:
            return 1e9 / float(next(csv.DictReader(stream))["operations_per_s"])


def call_ns(folder: Path) -> float:
    """Return the mean time of an empty call, as measured by the application."""
    subprocess.run([folder / "application", folder / "account", f"1:MQPUT:constant:{CALLS}:0"], check=True)
    durations = [int(line.split()[1]) for line in (folder / "account").read_text().splitlines()]
    return sum(durations) / len(durations)


def compare(name: str, kind: str, options: dict, measure: Callable[[], float]) -> None:
    """Print how much time a probe adds to an operation."""
    differences, without, own = [], [], []
    for _pair in range(PAIRS):
        without.append(measure())
        with watched(options) as source:
            differences.append(measure() - without[-1])
            own.append(source.overheads_ns[kind])
    spread = f"{min(differences):,.0f} to {max(differences):,.0f}"
    reported = "-" if name == "other write" else f"{median(own):,.0f}"
    print(f"{name:<14}{median(without):>14,.0f}{median(differences):>12,.0f}{spread:>20}{reported:>14}")


def build(folder: Path) -> None:
    subprocess.check_call(["make", "-s", "-C", str(PROJECT / "src"), "build/logdisk"], stdout=subprocess.DEVNULL)
    compiler = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O2"]
    subprocess.check_call([*compiler, "-shared", "-fPIC", "-o", folder / "libmqm_r.so", MQI / "library.c"])
    subprocess.check_call(
        [
            *compiler,
            "-pthread",
            "-o",
            folder / "application",
            MQI / "application.c",
            f"-L{folder}",
            "-lmqm_r",
            f"-Wl,-rpath,{folder}",
        ]
    )


def main() -> None:
    if "--inside" not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "sh", "-c", IN_TRACING, "sh", sys.executable, __file__, "--inside"])
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory, tempfile.TemporaryDirectory() as name:
        log, other, folder = Path(memory, "log"), Path(memory, "other"), Path(name)
        log.mkdir()
        other.mkdir()
        build(folder)
        print(f"{'ns':<14}{'unwatched':>14}{'added':>12}{'pairs':>20}{'reported':>14}")
        compare("log write", bpftrace.LOG, {"log_path": str(log)}, lambda: write_ns(log))
        compare("other write", bpftrace.LOG, {"log_path": str(log)}, lambda: write_ns(other))
        compare(
            "call", bpftrace.CALL, {"calls": ["MQPUT"], "library": f"{folder}/libmqm_r.so"}, lambda: call_ns(folder)
        )


if __name__ == "__main__":
    main()
