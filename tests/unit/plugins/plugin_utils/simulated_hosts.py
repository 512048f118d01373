# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Simulated hosts with several independent queue managers: tables of the tester for 600 s of simulated disks
(disks.py), which are judged like real ones."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import Disk

MS = 10**6
SECOND = 10**9
SLOW_NS = 1_250_000
FASTEST_NS = 200_000
LIMITS = (
    {"metric": "latency_p99", "max": "1 ms"},
    {"metric": "latency_time_weighted_p99", "max": "5 ms"},
    {"metric": "latency_mean", "max": "480 us"},
    {"metric": "bytes_per_s", "min": "1 MB/s"},
)
"""Disks with bursts meet or break the first limit, and those that freeze the second one. A fast write takes 0.4 ms."""
SEVEN_SIZES = tuple(4096 << power for power in range(7))
_OVER = ("second", "over_ns", "operations", "latency_sum_ns")
_INTERVALS = ("second", "partial", "operations", "bytes", "latency_sum_ns", "latency_max_ns", "latency_p99_ns")
_BATCHES = ("batch", "operations", "latency_sum_ns")


def tables_of(
    rng: random.Random, disks: Sequence[Disk], seconds: int = 600, block_sizes: Sequence[int] = SEVEN_SIZES
) -> dict[str, bytes]:
    """Return the tables of a host with a queue manager on each disk."""
    rows: dict[str, list[list[object]]] = {"results": [], "intervals.csv": [], "over.csv": [], "batches.csv": []}
    for step, size in enumerate(block_sizes, start=1):
        measured = [_with_times(disk(rng, seconds), seconds) for disk in disks]
        together = [list(map(sum, zip(*columns))) for columns in zip(*measured)]
        longest = [max(ns // max(1, late) for late, ns in zip(*second)) for second in _late_by_second(measured)]
        for worker, own in [*enumerate(measured, start=1), ("all", together)]:
            row = _result(step, size, len(disks), worker, own, seconds)
            row["over_counted"] = 1 if worker == "all" or len(disks) > 1 else None
            rows["results"].append(row)
            key = [row[column] for column in fabricate.KEY_COLUMNS]
            if worker == "all" or len(disks) > 1:
                rows["over.csv"] += _over_rows(key, own)
            if worker != "all" and len(disks) > 1:
                rows["batches.csv"] += _batch_rows(key, own, seconds)
        rows["intervals.csv"] += [
            [*key, second, 0, writes, writes * size, time_ns, max(slowest, MS // 2), None]
            for second, (writes, dummy, dummy, time_ns, slowest) in enumerate(zip(*together, longest), start=1)
        ]
    thresholds = f"{MS} {5 * MS}"
    run = fabricate.run_table(steps_planned=len(block_sizes), option_over_ns=thresholds, over_worker_ns=thresholds)
    return {
        "run.csv": run,
        "results.csv": fabricate.results_table(rows.pop("results")),
        **{
            name: fabricate.table((*fabricate.KEY_COLUMNS, *columns), rows[name])
            for name, columns in (("intervals.csv", _INTERVALS), ("over.csv", _OVER), ("batches.csv", _BATCHES))
        },
    }


Measured = tuple[list[int], ...]
"""For each second: writes, slow writes, and the time of these and of all writes in ns."""


def _with_times(measured: Measured, seconds: int) -> Measured:
    if len(measured) > 2:
        return measured
    return *measured, [late * SLOW_NS for late in measured[1]], [SECOND] * seconds


def _late_by_second(measured: Sequence[Measured]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    return zip(zip(*(own[1] for own in measured)), zip(*(own[2] for own in measured)))


def _over_rows(key: list[object], own: Measured) -> list[list[object]]:
    return [
        [*key, second, over_ns, late, late_ns]
        for second, (late, late_ns) in enumerate(zip(own[1], own[2]), start=1)
        for over_ns in (MS, 5 * MS)
        if late and late_ns > late * over_ns
    ]


def _batch_rows(key: list[object], own: Measured, seconds: int) -> list[list[object]]:
    part = seconds // 30
    return [
        [*key, first // part + 1, sum(own[0][first : first + part]), sum(own[3][first : first + part])]
        for first in range(0, seconds, part)
    ]


def _result(step: int, size: int, load: int, worker: int | str, own: Measured, seconds: int) -> dict[str, object]:
    count, late, late_ns, time_ns = map(sum, own)
    slow_ns = late_ns // max(1, late)
    figures = {
        "operations": count,
        "bytes": count * size,
        "bytes_per_s": round(count * size / seconds, 3),
        "operations_per_s": round(count / seconds, 3),
        "latency_sum_ns": time_ns,
        "latency_mean_ns": f"{time_ns / count:.3f}",
        "latency_min_ns": FASTEST_NS,
        "latency_max_ns": max(slow_ns, MS // 2),
        "latency_p99_ns": slow_ns if late > count / 100 else 400_000,
        "latency_time_weighted_p99_ns": slow_ns if late_ns > time_ns / 100 else 400_000,
    }
    return fabricate.result_row(step, size, load, worker, seconds, **figures)
