# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calculates how long commits wait for the log if they arrive at a given rate, independently of each other."""

from __future__ import annotations

import math
from dataclasses import replace

from .commits import Load, estimate_commits, most_commits_per_ns
from .line import Line

_ROUNDS = 100


def mean_commit_wait_ns(line: Line, load: Load, commits_per_s: float, variation: float) -> float | None:
    """Return the mean time from a commit to the end of its write, or None if the log cannot keep up with the rate.

    Commits arrive at random (Poisson). If no write is in flight, a commit is written at once. Otherwise it waits for
    the rest of the write in flight, and then for its own write, which takes everything that arrived in the meantime.
    This is a queue with bulk service; docs/estimates.md says when it holds. load describes a commit; its number of
    applications is not used. variation is the standard deviation of the latency divided by its mean, for writes with a
    single commit. The deviation is assumed to be the same for larger writes.
    """
    rate = commits_per_s / 1e9
    most = most_commits_per_ns(line.latency_ns, load)
    if rate >= most:
        return None
    alone = estimate_commits(line.latency_ns, replace(load, applications=1)).commit_latency_ns
    # The bytes that each additional commit adds to a write. A commit that is larger than the log buffer needs separate
    # writes.
    more = load.record_bytes / line.bytes_per_ns if load.record_bytes <= load.buffer_bytes else 1 / most
    fixed, variance = max(0.0, alone - more), (variation * alone) ** 2
    idle = 1.0
    for _round in range(_ROUNDS):
        # The mean and the second moment of the duration of a write. The write contains the commits that arrived during
        # the previous write, or a single commit after an idle time.
        mean = (fixed + more * idle) / (1 - rate * more)
        commits = rate * mean + idle
        square = (fixed**2 + variance + 2 * fixed * more * commits + more**2 * commits) / (1 - (rate * more) ** 2)
        idle = _none_arrives(rate * mean, square / mean**2 - 1)
    waiting = rate * square / 2 + fixed * rate * mean + more * (rate**2 * square + rate * mean)
    return (waiting + idle * alone) / commits


def _none_arrives(expected: float, variation_square: float) -> float:
    """Return the probability that nothing arrives during a write, whose duration is assumed to be gamma-distributed."""
    return (
        math.exp(-expected)
        if variation_square < 1e-9
        else math.exp(-math.log1p(expected * variation_square) / variation_square)
    )
