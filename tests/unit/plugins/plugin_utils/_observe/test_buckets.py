# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The buckets equal those in the tester's own tables."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import (
    BUCKETS,
    LONGEST_NS,
    THRESHOLDS_NS,
    bucket_of,
    lower_ns,
    operations_over,
    upper_ns,
)

MEASURED = Path(__file__).parents[4] / "fixtures/tables/measured"


def rows(name):
    return list(csv.DictReader((MEASURED / name).read_text(encoding="utf-8").splitlines()))


def test_every_latency_lies_in_its_bucket():
    source = random.Random(7)
    for latency_ns in [
        0,
        1,
        255,
        256,
        257,
        LONGEST_NS,
        *(source.randrange(1 << source.randrange(1, 43)) for dummy in range(5000)),
    ]:
        bucket = bucket_of(latency_ns)
        assert lower_ns(bucket) <= latency_ns <= upper_ns(bucket)
        assert upper_ns(bucket) - lower_ns(bucket) <= latency_ns / 128


def test_buckets_follow_each_other_without_a_gap():
    assert [lower_ns(bucket + 1) - upper_ns(bucket) for bucket in range(BUCKETS)] == [1] * BUCKETS
    assert (bucket_of(0), bucket_of(LONGEST_NS), bucket_of(LONGEST_NS * 1000)) == (0, BUCKETS - 1, BUCKETS - 1)


def test_the_bounds_in_the_testers_histogram_are_bounds_here():
    for row in rows("histogram.csv"):
        upper = int(row["latency_upper_ns"])
        assert upper_ns(bucket_of(upper)) == upper


def test_the_thresholds_are_the_testers():
    asked = dict(line.split(",", 1) for line in (MEASURED / "run.csv").read_text(encoding="utf-8").splitlines())[
        "option_over_ns"
    ]
    assert asked.split()[2:] == [str(threshold) for threshold in THRESHOLDS_NS]  # the first two are the requested ones


@pytest.mark.parametrize("over_ns", [1000, 20000])
def test_operations_over_a_threshold_are_the_testers(over_ns):
    """The tester's histogram is not split into seconds, so the seconds of over.csv are added up. If the slowest write
    of a second is below the threshold, no write of that second is counted."""
    by_step = {}
    for row in rows("histogram.csv"):
        counts = by_step.setdefault(row["step"], Counter())
        counts[bucket_of(int(row["latency_upper_ns"]))] += int(row["operations"])
    for step, counts in by_step.items():
        of_all = [
            row
            for row in rows("over.csv")
            if (row["step"], int(row["over_ns"]), row["worker"]) == (step, over_ns, "all")
        ]
        wanted = sum(int(row["operations"]) for row in of_all)
        longest_ns = max(int(row["latency_max_ns"] or 0) for row in rows("intervals.csv") if row["step"] == step)
        assert operations_over(counts, over_ns, longest_ns)[0] == wanted


def test_time_over_a_threshold_is_that_of_the_middles():
    assert operations_over({bucket_of(1000): 3, bucket_of(5000): 2}, 2000, 5010) == (
        2,
        lower_ns(bucket_of(5000)) + upper_ns(bucket_of(5000)),
    )
    assert operations_over({bucket_of(1000): 3}, 2000, 1005) == (0, 0)


def test_the_bucket_of_a_threshold_counts_if_the_longest_operation_is_above_it():
    assert bucket_of(2000) == bucket_of(2001)
    assert operations_over({bucket_of(2000): 1}, 2000, 2000) == (0, 0)
    assert operations_over({bucket_of(2000): 1}, 2000, 2001)[0] == 1
