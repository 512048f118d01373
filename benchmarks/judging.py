#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Measures how long it takes to judge a limit with confidence, with and without its bound, for simulated disks that are
slow in bursts. Also measures how long it takes to find change points.

    PYTHONPATH=collections .venv-dev/bin/python benchmarks/judging.py

(`make link lint` creates `collections` and `.venv-dev`.) The targets in processor time are at most 10 ms to judge a
measurement of 600 s including its bound, for the disk that takes longest; at most 50 ms for a host with 16 queue
managers; and at most 20 ms to find the change points of 200 certificates, for the history that takes longest. The
fastest of several rounds is compared with the targets, so that other load on the machine does not matter.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from unittest import mock

from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.change_points import (
    MOST_FOR_CHANGE_POINTS,
    change_points,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import means, statistics

LIMIT_MS = 10
HOST_LIMIT_MS = 50
LIMIT_SECONDS = 600
CHANGE_POINTS_LIMIT_MS = 20
WRITES_PER_S = 2500
FREEZE_NS = 300_000_000

Run = Callable[[], statistics.Evidence]


def cases(seconds: int) -> dict[str, Run]:
    """Return the functions to measure, by name. Each judges a measurement of the given length."""
    rng = random.Random("judging")
    p99, p99_99 = Fraction(1, 100), Fraction(1, 10_000)

    def operations(allowed: Fraction, bursts_every_s: float = 0, burst_s: int = 2) -> Run:
        starts = {start for start in range(seconds) if bursts_every_s and rng.random() < 1 / bursts_every_s}
        # A burst takes several seconds, so the blocks have to grow.
        slow = [
            rng.randint(200, 400) if starts.intersection(range(second - burst_s + 1, second + 1)) else 0
            for second in range(seconds)
        ]
        writes = [WRITES_PER_S + rng.randint(-50, 50) - late for late in slow]
        return lambda: statistics.share_of_operations(
            writes, slow, allowed, 1_000_000, 200_000, 1, alpha=0.05, judgements=28
        )

    freezes = [FREEZE_NS if rng.random() < 0.02 else 0 for _ in range(seconds)]
    times = [10**9 - rng.randint(0, 10**6) for _ in range(seconds)]
    writes = [WRITES_PER_S + rng.randint(-50, 50) for _ in range(seconds)]
    return {
        "p99, clean": operations(p99),
        "p99, bursts": operations(p99, 30),
        "p99, long bursts": operations(p99, 100, 12),
        "p99.99, bursts": operations(p99_99, 30),
        "time-weighted p99, freezes": lambda: statistics.share_of_time(
            times, freezes, p99, 1, alpha=0.05, judgements=28
        ),
        "mean": lambda: means.ratio_within(times, writes, means.Question(450_000, "max", 0.05, 28)),
    }


def hosts() -> dict[str, Callable[[], object]]:
    """Return the functions to measure, by name. Each judges one limit on a host with 16 queue managers: the row of all
    queue managers, and the rows of those that exceed the limit."""
    rng = random.Random("hosts")
    per_cent, risk = Fraction(1, 100), {"alpha": 0.05, "judgements": 357}

    def judge(share: float) -> Callable[[], object]:
        rows = []
        for _ in range(16):
            slow = [rng.randint(200, 400) if rng.random() < share / 0.12 else 0 for _ in range(LIMIT_SECONDS)]
            rows.append(([WRITES_PER_S - late for late in slow], slow))
        writes, slow = (list(map(sum, zip(*columns))) for columns in zip(*rows))

        def run() -> None:
            statistics.share_of_operations(writes, slow, per_cent, 1_000_000, 200_000, 16, **risk)
            for own, late in rows:
                if sum(late) > sum(own) / 100:
                    part = (sum(own), sum(writes))
                    statistics.share_of_operations(
                        writes, late, per_cent, 1_000_000, 200_000, 1, **risk, part_of=part, rows=16
                    )

        return run

    def judge_freezes(every_s: int) -> None:
        freezes = [
            [FREEZE_NS if (second + row) % every_s == 0 else 0 for second in range(LIMIT_SECONDS)] for row in range(16)
        ]
        together = list(map(sum, zip(*freezes)))
        statistics.share_of_time([16 * 10**9] * LIMIT_SECONDS, together, per_cent, 16, **risk)
        for own in freezes:
            statistics.share_of_time([10**9] * LIMIT_SECONDS, own, per_cent, 1, **risk, rows=16)

    return {
        "16 queue managers, all freeze": lambda: judge_freezes(10),
        "16 queue managers, healthy": judge(0.005),
        "16 queue managers, at the limit": judge(0.01),
        "16 queue managers, all bad": judge(0.03),
    }


def histories() -> dict[str, list[float]]:
    """Return histories by name. Each contains the figures of as many certificates as drift examines."""
    rng = random.Random("histories")
    return {
        name: [
            400_000 * math.exp(rng.gauss(step * (certificate // every), 0.02))
            for certificate in range(MOST_FOR_CHANGE_POINTS)
        ]
        for name, step, every in (("unmoved", 0.0, 1), ("moved every 20", 0.3, 20), ("moved every 3", 0.3, 3))
    }


def milliseconds(run: Callable[[], object], rounds: int) -> float:
    """Return the processor time of the fastest round."""
    fastest = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        run()
        fastest = min(fastest, time.process_time() - start)
    return 1000 * fastest


def main() -> int:
    """Run the benchmark. Returns 1 if a target is missed, and otherwise 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    dearest = 0.0
    print(f"{'ms a judgement':28}{'seconds':>8}{'block_s':>8}{'without bound':>15}{'with bound':>12}")
    for seconds in (LIMIT_SECONDS, 6 * LIMIT_SECONDS):
        for name, run in cases(seconds).items():
            with_bound = milliseconds(run, options.rounds)
            with mock.patch.object(statistics, "_upper_bound", lambda *_: None):
                without = milliseconds(run, options.rounds)
            print(f"{name:28}{seconds:8}{run().block_s:8}{without:15.2f}{with_bound:12.2f}")
            dearest = max(dearest, with_bound if seconds == LIMIT_SECONDS else 0)
    dearest_host = 0.0
    for name, run in hosts().items():
        host = milliseconds(run, options.rounds)
        print(f"{name:36}{host:38.2f}")
        dearest_host = max(dearest_host, host)
    print(f"\n{f'ms for {MOST_FOR_CHANGE_POINTS} certificates':28}{'points':>8}")
    dearest_history = 0.0
    for name, figures in histories().items():
        points = milliseconds(lambda figures=figures: change_points(figures, margin=0.1), options.rounds)
        print(f"{name:28}{len(change_points(figures, margin=0.1)):8}{points:15.2f}")
        dearest_history = max(dearest_history, points)
    return (
        0 if dearest <= LIMIT_MS and dearest_host <= HOST_LIMIT_MS and dearest_history <= CHANGE_POINTS_LIMIT_MS else 1
    )


if __name__ == "__main__":
    sys.exit(main())
