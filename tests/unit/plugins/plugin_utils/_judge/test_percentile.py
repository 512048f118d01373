# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Percentiles from a step's histogram equal those that the tester writes to results.csv."""

from __future__ import annotations

from fractions import Fraction

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.limits import Case, judge_limit
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import (
    METRICS,
    SHARE_OF_OPERATIONS,
    find_metric,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.rows import figure_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.percentile import percentile_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate


@pytest.fixture(params=["measured", "interrupted"])
def recorded(request):
    folder = fabricate.PROJECT / "tests/fixtures/tables" / request.param
    return parse_tables({path.name: path.read_bytes() for path in folder.iterdir()})


def test_a_percentile_from_the_histogram_is_that_of_results(recorded):
    checked = 0
    for row in (row for row in recorded.results if row["worker"] == "all"):
        for metric in (metric for metric in METRICS.values() if metric.method == SHARE_OF_OPERATIONS):
            without = {column: value for column, value in row.items() if column != metric.column}
            assert figure_of(metric, without, recorded) == figure_of(metric, row, recorded) == row[metric.column]
            checked += row[metric.column] is not None
    assert checked > 4


def test_another_percentile_lies_between_its_neighbours(recorded):
    row = next(row for row in recorded.results if row["worker"] == "all")
    assert row["latency_p50_ns"] < figure_of(find_metric("latency_p77_7"), row, recorded) < row["latency_p90_ns"]


def test_a_histogram_that_is_not_of_all_operations_is_refused(recorded):
    row = next(row for row in recorded.results if row["worker"] == "all")
    for other in ({**row, "operations": row["operations"] + 1}, {**row, "worker": 1}):
        with pytest.raises(TablesError, match=r"histogram\.csv and results\.csv differ in the operations of step 1"):
            figure_of(find_metric("latency_p77_7"), other, recorded)


def test_a_limit_on_any_percentile_is_judged(recorded):
    profile = load_profile(
        {"name": "mine", "limits": [{"metric": "latency_p77_7", "max": "1 s", "block_size": "4K", "load_point": 1}]}
    )
    judgement = judge_limit(profile.limits[0], Case(HostRecord("db07"), recorded, profile, None, fabricate.TODAY))[0]
    assert (judgement["worker"], judgement["verdict"], judgement["value"] > 0) == ("all", "pass", True)


@pytest.mark.parametrize(
    ("buckets", "share", "expected"),
    [
        ([(10, 99), (20, 1)], Fraction(1, 100), 10),
        ([(10, 98), (20, 2)], Fraction(1, 100), 19),
        ([(20, 2), (10, 49), (10, 49)], Fraction(1, 100), 19),
        ([(10, 99)], Fraction(1, 100), None),
        ([(10, 1999), (20, 1)], Fraction(1, 2000), 10),
        ([(10, 1999)], Fraction(1, 2000), None),
        ([(5, 1), (10, 99)], Fraction(99, 100), 5),
        ([], Fraction(1, 100), None),
    ],
)
def test_the_nearest_rank(buckets, share, expected):
    assert percentile_ns(buckets, share, 19) == expected
