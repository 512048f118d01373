# SPDX-License-Identifier: GPL-3.0-or-later
"""The run of the sample report: five made-up hosts, of which one fails and one is inconclusive. The same code always
makes the same run, so that the report changes only if the collection does."""

from __future__ import annotations

import math
import random
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

RUN_ID = "20261121T104935Z-1f0c2a"
SECONDS = 600
BLOCK_SIZES = (4096, 1 << 20)
"""Two sizes, because the charts of seven would not fit into a small page."""
BATCHES = 30
US, MS, SECOND_NS = 10**3, 10**6, 10**9
PARAMETERS = {"sweep_duration": SECONDS, "sweep_block_sizes": ["4K", "1M"], "sweep_file_size": "64M", "sweep_files": 16}
STALLS = 32
"""How many of the slowest writes stalls.csv lists for each step."""


@dataclass(frozen=True)
class Disk:
    """A made-up disk. A quiet write takes ``latency_ns`` and the time for its bytes, and varies by ``spread``, the
    standard deviation of the logarithm. In bursts of 5 s, ``bursts`` of them in a step, writes take ``slower`` times as
    long. ``stalls_ns`` are the latencies of single writes that hang in each step."""

    latency_ns: float
    bytes_per_s: float = 2e9
    spread: float = 0.16
    bursts: int = 1
    slower: float = 1.6
    stalls_ns: Sequence[int] = ()


HOSTS = {
    "mq01": Disk(205 * US),
    "mq02": Disk(214 * US, spread=0.18),
    "mq03": Disk(198 * US, bursts=2),
    "mq04": Disk(290 * US, 1.5e9, 0.28, bursts=22, slower=9, stalls_ns=(231 * MS, 164 * MS, 118 * MS)),
    "mq05": Disk(400 * US, 1.8e9, 0.2, bursts=7, slower=9, stalls_ns=(48 * MS,)),
}
BOUNDS_NS = sorted({round(40 * US * 1.06**number) for number in range(150)} | set(fabricate.OVER_NS))
"""The upper bounds of the buckets of latencies."""
MIDDLES_NS = [BOUNDS_NS[0], *(sum(pair) // 2 for pair in pairwise(BOUNDS_NS))]

Second = dict[int, int]
"""The numbers of writes of a second, by the number of their bucket."""


def make(base: Path) -> RunDirectory:
    """Create the judged run directory in ``base``."""
    silver = load_profile("mq-log-silver", fabricate.PROFILES).as_dict()
    profile = {
        **silver,
        "name": "sample",
        "description": "The limits of mq-log-silver, for two block sizes.",
        "qualifies": {**silver["qualifies"], "block_sizes": list(BLOCK_SIZES)},
    }
    directory = RunDirectory.create(str(base), fabricate.run_data(HOSTS, profile, run_id=RUN_ID, parameters=PARAMETERS))
    for host, disk in HOSTS.items():
        files = tables(random.Random(host), disk)
        directory.records.write(fabricate.judged(directory.run, host, files), files)
    judge_run(directory, GATE)
    return directory


def tables(rng: random.Random, disk: Disk) -> dict[str, bytes]:
    """Return the tables of a host with this disk."""
    results: list[dict[str, Any]] = []
    rows: dict[str, list[list[object]]] = {"intervals": [], "histogram": [], "over": [], "stalls": []}
    for step, size in enumerate(BLOCK_SIZES, start=1):
        seconds = list(measure(rng, disk, size))
        found = [result(step, size, worker, seconds) for worker in (1, "all")]
        results += found
        key = [found[-1][column] for column in fabricate.KEY_COLUMNS]
        rows["intervals"] += [[*key, *row] for row in intervals(size, seconds)]
        rows["histogram"] += [[*key, *row] for row in histogram(seconds)]
        rows["over"] += [[*key, *row] for row in over(seconds)]
        rows["stalls"] += [[*key[:-1], 1, *row] for row in stalls(rng, seconds)]
    columns = {
        "intervals": "second partial operations bytes latency_sum_ns latency_min_ns latency_p50_ns latency_p99_ns "
        "latency_p99_9_ns latency_max_ns",
        "histogram": "batch latency_upper_ns operations",
        "over": "second over_ns operations latency_sum_ns",
        "stalls": "rank operation_number start_offset_ns latency_ns in_flight file offset_bytes",
    }
    return {
        "run.csv": fabricate.run_table(
            steps_planned=len(BLOCK_SIZES), option_over_ns=" ".join(map(str, fabricate.OVER_NS))
        ),
        "results.csv": fabricate.results_table(results),
        **{
            f"{name}.csv": fabricate.table((*fabricate.KEY_COLUMNS, *names.split()), rows[name])
            for name, names in columns.items()
        },
    }


def measure(rng: random.Random, disk: Disk, size: int) -> Iterator[Second]:
    """Yield the writes of each second of a step."""
    mean = disk.latency_ns + size / disk.bytes_per_s * SECOND_NS
    starts = [rng.randrange(SECONDS - 5) for _burst in range(disk.bursts)]
    slow = {start + second for start in starts for second in range(5)}
    hanging = dict(zip(rng.sample(range(SECONDS), len(disk.stalls_ns)), disk.stalls_ns))
    shapes = {
        False: shares(mean, disk.spread),
        True: shares(mean * disk.slower, disk.spread * 1.6),
    }
    for second in range(SECONDS):
        drift = 1 + 0.04 * math.sin(second / 47) + rng.gauss(0, 0.01)
        stall = hanging.get(second, 0)
        busy_ns = (SECOND_NS - stall) / (mean * drift * (disk.slower if second in slow else 1))
        counts = {
            bucket: count
            for bucket, share in shapes[second in slow].items()
            if (count := math.floor(busy_ns * share + rng.random()))
        }
        if stall:
            counts[bisect_left(BOUNDS_NS, stall)] = 1
        yield counts


def shares(mean_ns: float, spread: float) -> dict[int, float]:
    """Return the share of writes in each bucket: log-normal, with one write of 2,000 from a tail of longer ones."""
    found: Counter[int] = Counter()
    for weight, middle, width in ((0.9995, mean_ns, spread), (0.0005, 2.6 * mean_ns, 2 * spread)):
        reached = [0.5 * (1 + math.erf(math.log(bound / middle) / width / math.sqrt(2))) for bound in BOUNDS_NS]
        for bucket, (low, high) in enumerate(pairwise([0.0, *reached])):
            found[bucket] += weight * (high - low)
    return {bucket: share for bucket, share in found.items() if share > 1e-8}


def total_ns(counts: Second) -> int:
    """Return the total latency of writes."""
    return sum(count * MIDDLES_NS[bucket] for bucket, count in counts.items())


def percentiles(counts: Second, wanted: Sequence[float], weighted: bool = False) -> list[int]:
    """Return the latencies that these ascending shares of the writes, or of their time, do not exceed."""
    weights = {bucket: counts[bucket] * (MIDDLES_NS[bucket] if weighted else 1) for bucket in sorted(counts)}
    whole, below, found = sum(weights.values()), 0, []
    for bucket, weight in weights.items():
        below += weight
        while len(found) < len(wanted) and below >= wanted[len(found)] * whole:
            found.append(MIDDLES_NS[bucket])
    return found


def result(step: int, size: int, worker: int | str, seconds: Sequence[Second]) -> dict[str, Any]:
    """Return the row of results.csv of a step."""
    counts: Counter[int] = Counter()
    for second in seconds:
        counts.update(second)
    writes, time_ns = sum(counts.values()), total_ns(counts)
    each = [sum(second.values()) * size for second in seconds]
    variance = sum(count * (MIDDLES_NS[bucket] - time_ns / writes) ** 2 for bucket, count in counts.items()) / writes
    plain = percentiles(counts, (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999))
    weighted = percentiles(counts, (0.5, 0.99, 0.999), weighted=True)
    names = ("p50", "p90", "p99", "p99_9", "p99_99", "p99_999")
    figures = {
        "operations": writes,
        "bytes": writes * size,
        "bytes_per_s": round(writes * size / SECONDS, 3),
        "operations_per_s": round(writes / SECONDS, 3),
        "interval_bytes_per_s_max": max(each),
        "interval_bytes_per_s_min": min(each),
        "latency_sum_ns": time_ns,
        "latency_mean_ns": f"{time_ns / writes:.3f}",
        "latency_stddev_ns": round(math.sqrt(variance)),
        "latency_cv": round(math.sqrt(variance) * writes / time_ns, 3),
        "latency_min_ns": MIDDLES_NS[min(counts)],
        "latency_max_ns": MIDDLES_NS[max(counts)],
        **{f"latency_{name}_ns": value for name, value in zip(names, plain)},
        **{f"latency_time_weighted_{name}_ns": value for name, value in zip(("p50", "p99", "p99_9"), weighted)},
        "over_counted": 1 if worker == "all" else None,
    }
    return fabricate.result_row(step, size, 1, worker, SECONDS, **figures)


def intervals(size: int, seconds: Sequence[Second]) -> Iterator[list[object]]:
    """Yield the rows of intervals.csv of a step, without their keys."""
    for number, counts in enumerate(seconds, start=1):
        writes = sum(counts.values())
        p50, p99, p99_9 = percentiles(counts, (0.5, 0.99, 0.999))
        shortest, longest = MIDDLES_NS[min(counts)], MIDDLES_NS[max(counts)]
        yield [number, 0, writes, writes * size, total_ns(counts), shortest, p50, p99, p99_9, longest]


def histogram(seconds: Sequence[Second]) -> Iterator[list[object]]:
    """Yield the rows of histogram.csv of a step, without their keys."""
    length = SECONDS // BATCHES
    for batch in range(BATCHES):
        counts: Counter[int] = Counter()
        for second in seconds[batch * length : (batch + 1) * length]:
            counts.update(second)
        for bucket in sorted(counts):
            yield [batch + 1, BOUNDS_NS[bucket], counts[bucket]]


def over(seconds: Sequence[Second]) -> Iterator[list[object]]:
    """Yield the rows of over.csv of a step, without their keys."""
    for number, counts in enumerate(seconds, start=1):
        for over_ns in fabricate.OVER_NS:
            longer = {bucket: count for bucket, count in counts.items() if BOUNDS_NS[bucket] > over_ns}
            if longer:
                yield [number, over_ns, sum(longer.values()), total_ns(longer)]


def stalls(rng: random.Random, seconds: Sequence[Second]) -> Iterator[list[object]]:
    """Yield the rows of stalls.csv of a step, without their keys: the slowest writes."""
    slowest = sorted(
        ((max(counts), number) for number, counts in enumerate(seconds)), key=lambda each: (-each[0], each[1])
    )
    for rank, (bucket, second) in enumerate(slowest[:STALLS], start=1):
        latency_ns = MIDDLES_NS[bucket]
        start_ns = max(0, second * SECOND_NS + rng.randrange(SECOND_NS) - latency_ns)
        yield [rank, 1 + rank * 37, start_ns, latency_ns, 0, "/var/mqm/log/logdisk/QM1/logdisk.0003", rank * 4096]
