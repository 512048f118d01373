# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Simulated disks whose share of slow writes is known. A quick write takes 400 us."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator

WRITES_PER_S = 2500

SECOND_NS = 10**9

Disk = Callable[[random.Random, int], tuple[list[int], ...]]
"""A function that takes a source of random numbers and a duration in seconds, and returns for each second the number of
writes and the number of writes over the limit. A disk that freezes also returns the time of these, and of all writes,
in ns, which belong to the second in which a write returned."""


def bursty(share: float, slow_us: int, burst_s: float, crowds_s: tuple[float, float] | None = None) -> Disk:
    """Return a disk with this share of slow writes, in bursts of exponential length with this mean.

    crowds_s has the mean lengths of windows and of the gaps between them: bursts then occur only within windows.
    """
    slow_per_s = 1e6 / slow_us
    time_share = WRITES_PER_S * share / (slow_per_s * (1 - share) + WRITES_PER_S * share)
    crowded = crowds_s[0] / sum(crowds_s) if crowds_s else 1.0

    def measure(rng: random.Random, seconds: int) -> tuple[list[int], list[int]]:
        parts = [0.0] * seconds
        windows = list(bursts(rng, seconds, crowds_s[0], crowded)) if crowds_s else [(0.0, float(seconds))]
        for first, last in windows:
            for start, end in (
                (first + start, min(first + end, last))
                for start, end in bursts(rng, last - first, burst_s, time_share / crowded)
            ):
                for second in range(int(start), math.ceil(end)):
                    parts[second] += min(end, second + 1) - max(start, second)
        slow = [math.floor(slow_per_s * part + rng.random()) for part in parts]
        return [round(WRITES_PER_S * (1 - part)) + late for part, late in zip(parts, slow)], slow

    return measure


def bursts(rng: random.Random, seconds: float, burst_s: float, time_share: float) -> Iterator[tuple[float, float]]:
    """Yield the beginnings and ends of bursts that together take this share of the time."""
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
        return [WRITES_PER_S] * seconds, [
            min(WRITES_PER_S, max(0, round(rng.gauss(mean, math.sqrt(mean))))) for _ in range(seconds)
        ]

    return measure


def freezing(share: float, freeze_s: float) -> Disk:
    """Return a disk on which one write at a time hangs for ``freeze_s``, for this share of the time."""

    def measure(rng: random.Random, seconds: int) -> tuple[list[int], ...]:
        still, slow, slow_ns = [0.0] * seconds, [0] * seconds, [0] * seconds
        now = rng.expovariate(share / (freeze_s * (1 - share)))
        while now + freeze_s < seconds:
            end = now + freeze_s
            for second in range(int(now), math.ceil(end)):
                still[second] += min(end, second + 1) - max(now, second)
            slow[int(end)] += 1
            slow_ns[int(end)] += round(freeze_s * SECOND_NS)
            now = end + rng.expovariate(share / (freeze_s * (1 - share)))
        writes = [round(WRITES_PER_S * (1 - part)) + late for part, late in zip(still, slow)]
        time_ns = [round((1 - part) * SECOND_NS) + late for part, late in zip(still, slow_ns)]
        return writes, slow, slow_ns, time_ns

    return measure
