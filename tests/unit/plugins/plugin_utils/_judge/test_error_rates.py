# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often the tests of statistics.py err: 400 runs on each of several simulated disks, the same ones every time.

    .venv-dev/bin/pytest tests/unit -m trials -rP

shows the rates. A write takes 400 us, in a burst longer than the limit; bursts are as frequent as the share of slow writes demands. That share is a multiple
of what the percentile allows: a disk above 1 breaks its limit, and must hardly ever pass; one below 1 keeps it, and must hardly ever fail.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, PASS

pytestmark = pytest.mark.trials

RUNS = 400
ALPHA = 0.05
WRITES_PER_S = 2500
FASTEST_NS = 200_000
P99, P99_9 = Fraction(1, 100), Fraction(1, 1000)

Disk = Callable[[random.Random, int], tuple[list[int], list[int]]]
"""From random numbers and a duration in seconds to the writes of each second and those over the limit."""


def bursty(share: float, slow_us: int, burst_s: float) -> Disk:
    """Return a disk with this share of slow writes, in bursts of exponential length with this mean."""
    slow_per_s = 1e6 / slow_us
    time_share = WRITES_PER_S * share / (slow_per_s * (1 - share) + WRITES_PER_S * share)

    def measure(rng: random.Random, seconds: int) -> tuple[list[int], list[int]]:
        parts = [0.0] * seconds
        for start, end in _bursts(rng, seconds, burst_s, time_share):
            for second in range(int(start), math.ceil(end)):
                parts[second] += min(end, second + 1) - max(start, second)
        slow = [math.floor(slow_per_s * part + rng.random()) for part in parts]
        return [round(WRITES_PER_S * (1 - part)) + late for part, late in zip(parts, slow)], slow

    return measure


def _bursts(rng: random.Random, seconds: int, burst_s: float, time_share: float) -> Iterator[tuple[float, float]]:
    now, bursting = 0.0, rng.random() < time_share
    while now < seconds:
        end = now + rng.expovariate(1 / burst_s if bursting else time_share / (burst_s * (1 - time_share)))
        if bursting:
            yield now, min(end, seconds)
        now, bursting = end, not bursting


def even(share: float) -> Disk:
    """Return a disk with this share of slow writes, independent of one another."""
    mean = WRITES_PER_S * share

    def measure(rng: random.Random, seconds: int) -> tuple[list[int], list[int]]:
        return [WRITES_PER_S] * seconds, [min(WRITES_PER_S, max(0, round(rng.gauss(mean, math.sqrt(mean))))) for _ in range(seconds)]

    return measure


@pytest.mark.parametrize(
    ("name", "disk", "seconds", "allowed", "limit_us", "required"),
    [
        ("W1", bursty(0.0102, 1250, 0.3), 300, P99, 1000, {PASS: (0, 7)}),
        ("W2", bursty(0.0102, 1250, 0.75), 300, P99, 1000, {PASS: (0, 7)}),
        ("W3", bursty(0.0102, 1250, 1.5), 600, P99, 1000, {PASS: (0, 7)}),
        ("W4", bursty(0.0102, 1250, 4.5), 1800, P99, 1000, {PASS: (0, 7)}),
        ("W5", bursty(0.0102, 450, 0.5), 600, P99, 420, {PASS: (0, 7)}),
        ("W6", bursty(0.00102, 5000, 0.5), 600, P99_9, 4000, {PASS: (0, 7)}),
        ("W7", even(0.01), 300, P99, 1000, {PASS: (0, 5), FAIL: (0, 5)}),
        ("P1", even(0), 139, P99, 1000, {PASS: (100, 100)}),
        ("P2", bursty(0.002, 1250, 0.2), 600, P99, 1000, {PASS: (97, 100)}),
        ("P3", even(0.005), 300, P99, 1000, {PASS: (99, 100)}),
        ("P4", even(0.0002), 600, P99_9, 4000, {PASS: (99, 100)}),
        ("P5", bursty(0.005, 1250, 0.2), 600, P99, 1000, {PASS: (82, 100)}),
        ("F1", bursty(0.0095, 1250, 1), 600, P99, 1000, {FAIL: (0, 2)}),
        ("F2", bursty(0.0095, 1250, 3), 300, P99, 1000, {FAIL: (0, 2)}),
        ("Q1", even(0.015), 60, P99, 1000, {FAIL: (98, 100), "fail at 28": (95, 100)}),
        ("Q2", bursty(0.05, 1250, 1), 300, P99, 1000, {FAIL: (98, 100), "fail at 28": (95, 100)}),
        ("Q3", bursty(0.03, 1250, 0.3), 300, P99, 1000, {FAIL: (98, 100), "fail at 28": (95, 100)}),
    ],
)
def test_share_of_operations(monkeypatch, name, disk, seconds, allowed, limit_us, required):
    monkeypatch.setattr(statistics, "_upper_bound", lambda *_: None)  # an outcome does not need its bound, which takes most of the time
    rng = random.Random(name)

    def run(judgements: int, writes: list[int], slow: list[int]) -> str:
        return statistics.share_of_operations(writes, slow, allowed, limit_us * 1000, FASTEST_NS, 1, alpha=ALPHA, judgements=judgements).outcome

    outcomes: Counter[str] = Counter()
    for _ in range(RUNS):
        measured = disk(rng, seconds)
        outcomes[run(1, *measured)] += 1
        if "fail at 28" in required:
            outcomes["fail at 28"] += run(28, *measured) == FAIL
    _check(name, outcomes, required)


@pytest.mark.parametrize(
    ("name", "correlation", "deviation", "limit_of_mean", "seconds", "required"),
    [("M1", 0.95, 0.3, 0.99, 600, {PASS: (0, 8)}), ("M2", 0.8, 0.05, 1.05, 300, {PASS: (97, 100)})],
)
def test_batch_means(name, correlation, deviation, limit_of_mean, seconds, required):
    rng = random.Random(name)
    # A second of writes that each take u holds 1/u of them, so that the mean over writes is 1 / E[1/u].
    limit_ns = 1e9 / WRITES_PER_S * math.exp(-(deviation**2) / 2) * limit_of_mean
    outcomes: Counter[str] = Counter()
    for _ in range(RUNS):
        writes, level = [], rng.gauss(0, deviation)
        for _ in range(seconds):
            writes.append(round(WRITES_PER_S * math.exp(-level)))
            level = correlation * level + rng.gauss(0, deviation * math.sqrt(1 - correlation**2))
        outcomes[statistics.ratio_within([10**9] * seconds, writes, limit_ns, "max", alpha=ALPHA, judgements=1).outcome] += 1
    _check(name, outcomes, required)


def _check(name: str, outcomes: Counter[str], required: dict[str, tuple[int, int]]) -> None:
    rates = {outcome: 100 * outcomes[outcome] / RUNS for outcome in required}
    print(f"{name}: {', '.join(f'{outcome} {rate:g} %' for outcome, rate in rates.items())}")
    assert all(low <= rates[outcome] <= high for outcome, (low, high) in required.items()), (rates, required)
