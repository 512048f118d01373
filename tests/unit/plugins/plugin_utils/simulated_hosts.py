# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Simulated hosts with several independent queue managers: tables of the tester for 600 s of simulated disks
(disks.py), which are judged like real ones."""

from __future__ import annotations

import random
from collections.abc import Sequence

from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import Disk

MS = 10**6
SECOND = 10**9
SLOW_NS = 1_250_000
FASTEST_NS = 200_000
LIMITS = (
    {"metric": "latency_p99", "max": "1 ms"},
    {"metric": "latency_p99_9", "max": "5 ms"},
    {"metric": "latency_mean", "max": "480 us"},
    {"metric": "bytes_per_s", "min": "1 MB/s"},
)
"""The first limit is the one that the disks keep or break. A fast write takes 0.4 ms."""


def tables_of(
    rng: random.Random,
    disks: Sequence[Disk],
    seconds: int = 600,
    block_sizes: Sequence[int] = (4096, 65536),
    older: bool = False,
) -> dict[str, bytes]:
    """Return the tables of a host with a queue manager on each disk. If older is true, they contain no counts of single
    queue managers, like the tables of older testers."""
    results, intervals, over, batches = [], [], [], []
    for step, size in enumerate(block_sizes, start=1):
        measured = [disk(rng, seconds) for disk in disks]
        together = [list(map(sum, zip(*columns))) for columns in zip(*measured)]
        several = len(disks) > 1 and not older
        for worker, (writes, slow) in [*enumerate(measured, start=1), ("all", together)]:
            row = _result(step, size, len(disks), worker, writes, slow, seconds)
            row["over_counted"] = None if older or (worker != "all" and not several) else 1
            results.append(row)
            key = [row[column] for column in fabricate.KEY_COLUMNS]
            if worker == "all" or several:
                over += [[*key, second, MS, late, late * SLOW_NS] for second, late in enumerate(slow, start=1) if late]
            if worker != "all" and several:
                part = seconds // 30
                batches += [
                    [*key, batch + 1, sum(writes[batch * part : (batch + 1) * part]), part * SECOND]
                    for batch in range(30)
                ]
        workers = len(disks)
        for second, (writes, late) in enumerate(zip(*together), start=1):
            intervals.append(
                [
                    *key,
                    second,
                    0,
                    writes,
                    writes * size,
                    workers * SECOND,
                    FASTEST_NS,
                    400_000,
                    None,
                    None,
                    SLOW_NS if late else MS // 2,
                ]
            )
    columns = {
        "intervals.csv": (
            [
                "second",
                "partial",
                "operations",
                "bytes",
                "latency_sum_ns",
                "latency_min_ns",
                "latency_p50_ns",
                "latency_p99_ns",
                "latency_p99_9_ns",
                "latency_max_ns",
            ],
            intervals,
        ),
        "over.csv": (["second", "over_ns", "operations", "latency_sum_ns"], over),
        "batches.csv": (["batch", "operations", "latency_sum_ns"], batches),
    }
    counted = {} if older else {"over_worker_ns": f"{MS} {5 * MS}"}
    run = fabricate.run_table(steps_planned=len(block_sizes), option_over_ns=f"{MS} {5 * MS}", **counted)
    files = {
        name: fabricate.table((*fabricate.KEY_COLUMNS, *names), rows)
        for name, (names, rows) in columns.items()
        if name != "batches.csv" or not older
    }
    return {"run.csv": run, "results.csv": fabricate.results_table(results), **files}


def _result(
    step: int, size: int, load: int, worker: int | str, writes: Sequence[int], slow: Sequence[int], seconds: int
) -> dict[str, object]:
    count, late, workers = sum(writes), sum(slow), load if worker == "all" else 1
    time_ns = seconds * workers * SECOND
    figures = {
        "operations": count,
        "bytes": count * size,
        "bytes_per_s": round(count * size / seconds, 3),
        "operations_per_s": round(count / seconds, 3),
        "latency_sum_ns": time_ns,
        "latency_mean_ns": f"{time_ns / count:.3f}",
        "latency_min_ns": FASTEST_NS,
        "latency_max_ns": SLOW_NS if late else MS // 2,
        "latency_p99_ns": SLOW_NS if late > count / 100 else 400_000,
        "latency_p99_9_ns": SLOW_NS,
    }
    return fabricate.result_row(step, size, load, worker, seconds, **figures)
