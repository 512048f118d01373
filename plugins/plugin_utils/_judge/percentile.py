# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figure of a row that a limit judges: a column of the row, or a percentile that only the step's histogram carries."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import SHARE_OF_OPERATIONS, Metric
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import KEY_COLUMNS, Row, Tables, TablesError


def figure_of(metric: Metric, row: Row, tables: Tables) -> Any:
    """Return the figure of a row in the metric's base unit, None if there is none: without an operation only one in flight can have a figure.

    Raises TablesError if the histogram does not have all operations of the row.
    """
    if not row["operations"] and not metric.at_least_column:
        return None
    if metric.column in row or metric.method != SHARE_OF_OPERATIONS:
        return row.get(metric.column)
    key = [row[column] for column in KEY_COLUMNS]
    buckets = [(bucket["latency_upper_ns"], bucket["operations"]) for bucket in tables.histogram if [bucket[column] for column in KEY_COLUMNS] == key]
    if sum(operations for dummy, operations in buckets) != row["operations"]:
        raise TablesError(f"histogram.csv and results.csv differ in the operations of step {row['step']}.")
    return percentile_ns(buckets, metric.allowed_share, row["latency_max_ns"])


def percentile_ns(buckets: Iterable[tuple[int, int]], allowed_share: Fraction, longest_ns: int) -> int | None:
    """Return the nearest-rank percentile that leaves a share of the operations above it, as the tester computes it; None if it has too few for it.

    buckets are pairs of upper bound and number of operations in any order, a bound may come more than once. The answer is the bound of the bucket with
    the operation of that rank, but not more than longest_ns.
    """
    ordered = sorted(buckets)
    count = sum(operations for dummy, operations in ordered)
    if count * allowed_share < 1:
        return None
    rank = max(1, math.ceil(count * (1 - allowed_share)))
    seen = 0
    for upper_ns, operations in ordered:
        seen += operations
        if seen >= rank:
            return min(upper_ns, longest_ns)
    return None
