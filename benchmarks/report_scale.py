#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures the time and memory that the report of a large fleet needs, and the size of its run directory. The data is
made up.

    PYTHONPATH=collections .venv-dev/bin/python benchmarks/report_scale.py --hosts 10000
    PYTHONPATH=collections .venv-dev/bin/python benchmarks/report_scale.py --hosts 1000 --like reports/latest

(`make link lint` creates `collections` and `.venv-dev`.) Rendering runs in a separate process, so that the peak memory
is that of rendering alone. For 10,000 hosts, the targets are at most 60 s of one processor and at most 1 GiB. Processor
time is compared with the target, so that other load on the machine does not matter. Without `--like`, hosts have only
the tables that a report of so many hosts reads. With `--like`, each host has all tables of one of the volumes of that
run.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import resource
import sys
import tempfile
import time

from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import RENDERERS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

LATENCIES_NS = (120_000, 200_000, 300_000, 500_000, 900_000)
LIMIT_S = 60
LIMIT_MIB = 1024
LIMIT_HOSTS = 10_000


def make(base: str, hosts: int, failing_share: float, like: str) -> tuple[str, float]:
    """Make a run directory with that many hosts, some of which break every latency limit. Returns its path, and the
    processor seconds that it took to store the results."""
    names = [f"db{number:05d}.example.com" for number in range(hosts)]
    directory = RunDirectory.create(base, fabricate.run_data(names))
    kinds = [
        fabricate.tables(fabricate.sweep_rows(latency_ns=latency), over=()) for latency in (*LATENCIES_NS, 15_000_000)
    ]
    records = [fabricate.judged(directory.run, "host", files) for files in kinds]
    # For so many hosts, a report reads only these tables. The others would need gigabytes.
    kinds = [{name: files[name] for name in ("run.csv", "results.csv")} for files in kinds]
    if like:
        measured = RunDirectory.open(like)
        records = [measured.records.read(folder) for folder in measured.records.folders()]
        kinds = [measured.records.tables(record) for record in records]
    start = time.process_time()
    for number, name in enumerate(names):
        kind = -1 if number < hosts * failing_share else number % len(LATENCIES_NS)
        kind = number % len(kinds) if like else kind
        directory.records.write(dataclasses.replace(records[kind], host=name), kinds[kind])
    filing = time.process_time() - start
    judge_run(directory, GATE)
    return directory.path, filing


def size_below(path: str) -> int:
    """Return the bytes of all files below a directory."""
    return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(path) for name in names)


def measure(path: str, results: multiprocessing.Queue) -> None:
    """Render once, and report processor seconds, elapsed seconds and the peak memory in MiB."""
    start, start_processor = time.monotonic(), time.process_time()
    render(RunDirectory.open(path))
    results.put(
        (
            time.process_time() - start_processor,
            time.monotonic() - start,
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        )
    )


def main() -> int:
    """Run the benchmark. Returns 1 if a target is missed, and otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=LIMIT_HOSTS)
    parser.add_argument("--failing", type=float, default=0.02, help="the share of hosts that fail")
    parser.add_argument("--like", default="", help="the run directory whose hosts are repeated")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        path, filing = make(base, options.hosts, options.failing, options.like)
        context = multiprocessing.get_context("spawn")
        results = context.Queue()
        process = context.Process(target=measure, args=(path, results))
        process.start()
        seconds, elapsed, mebibytes = results.get()
        process.join()
        sizes = ", ".join(f"{name} {os.path.getsize(os.path.join(path, name)) / 1e6:.1f} MB" for name in RENDERERS)
        whole, of_hosts = size_below(path), size_below(os.path.join(path, "hosts"))
    print(
        f"{options.hosts} hosts x {len(fabricate.BLOCK_SIZES)} block sizes: "
        f"{seconds:.1f} s of processor, {elapsed:.1f} s elapsed, {mebibytes:.0f} MiB at the peak"
    )
    print(f"{1e3 * seconds / options.hosts:.2f} ms and {1024 * mebibytes / options.hosts:.0f} KiB a host; {sizes}")
    print(
        f"run directory: {whole / 1e6:.1f} MB, of which {of_hosts / 1e6:.1f} MB are the folders of the hosts; filing "
        f"them took {1e3 * filing / options.hosts:.2f} ms of processor per host"
    )
    share = options.hosts / LIMIT_HOSTS
    return 0 if seconds <= LIMIT_S * max(share, 1) and mebibytes <= LIMIT_MIB * max(share, 1) else 1


if __name__ == "__main__":
    sys.exit(main())
