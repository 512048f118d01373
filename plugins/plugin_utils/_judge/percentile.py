# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the figure of a row that a limit judges: a column of the row, or a value from the step's histograms or
seconds."""

from __future__ import annotations

from typing import Any

from .._numerics.percentile import percentile_ns
from .._run.columns import Row
from .._run.table_reader import TablesError
from .._run.tables import Tables
from .metrics import SHARE_OF_OPERATIONS, Metric


def figure_of(metric: Metric, row: Row, tables: Tables) -> Any:
    """Return the figure of a row in the metric's base unit, or None. If no operation returned, there is
    a figure only for metrics that also count an operation in flight, or one that was due but did not start.

    Raises TablesError if the histogram does not contain all operations of the row.
    """
    if metric.figure:
        return metric.figure(row, tables)
    not_started = row.get("operations_not_started") or 0
    if not row["operations"] and not metric.at_least_column and not (metric.of_responses and not_started):
        return None
    if metric.column in row or metric.allowed_share is None:
        return row.get(metric.column)
    if metric.method == SHARE_OF_OPERATIONS:
        return _percentile(metric, tables.latencies_of(row), row, row["operations"], "latency_max_ns", "histogram.csv")
    if metric.of_responses and tables.layout.paced and row.get("operations_not_started") is not None:
        return _percentile(
            metric, tables.responses_of(row), row, row["operations"] + not_started, "response_max_ns", "responses.csv"
        )
    return None


def _percentile(
    metric: Metric, buckets: list[tuple[int, int]], row: Row, operations: int, longest: str, table: str
) -> int | None:
    if sum(count for dummy, count in buckets) != operations:
        raise TablesError(f"{table} and results.csv differ in the operations of step {row['step']}.")
    return percentile_ns(buckets, metric.allowed_share, row[longest])
