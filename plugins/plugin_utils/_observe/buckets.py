# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Defines the buckets in which the tester counts latencies (src/figures/distribution.h), so that the histogram of an
observation has the same buckets.

The buckets are exact below 256 ns. Above that, there are 128 buckets per octave, up to 2^42 ns. Longer latencies are
counted in the last bucket.
"""

from __future__ import annotations

from collections.abc import Mapping

BUCKETS = 4608
LONGEST_NS = (1 << 42) - 1
THRESHOLDS_NS = tuple(
    factor * 10**power for power in range(5, 10) for factor in (1, 2, 5) if factor * 10**power <= 5 * 10**9
)
"""The thresholds that over.csv always contains: 1, 2 and 5 in every decade from 100 us to 5 s."""

Counts = Mapping[int, int]
"""Operations by bucket."""


def bucket_of(latency_ns: int) -> int:
    """Return the bucket in which a latency is counted."""
    latency_ns = min(latency_ns, LONGEST_NS)
    shift = max(latency_ns.bit_length(), 8) - 8
    return (shift << 7) + (latency_ns >> shift)


def lower_ns(bucket: int) -> int:
    """Return the shortest latency that a bucket counts."""
    if bucket < 256:
        return bucket
    return (bucket % 128 + 128) << (bucket // 128 - 1)


def upper_ns(bucket: int) -> int:
    """Return the longest latency that a bucket counts."""
    return lower_ns(bucket + 1) - 1


def operations_over(counts: Counts, threshold_ns: int, longest_ns: int) -> tuple[int, int]:
    """Return how many operations over.csv counts above a threshold, and their time, calculated from the middles of
    their buckets.

    These are all operations in buckets whose upper bound is above the threshold, but none if the longest operation is
    not above it.
    """
    if longest_ns <= threshold_ns:
        return 0, 0
    first = bucket_of(threshold_ns + 1)
    above = [(bucket, operations) for bucket, operations in counts.items() if bucket >= first]
    return sum(operations for dummy, operations in above), sum(
        operations * (lower_ns(bucket) + upper_ns(bucket)) for bucket, operations in above
    ) // 2
