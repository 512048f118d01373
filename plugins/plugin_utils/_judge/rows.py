# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which rows of the tables a limit judges, and the figure of such a row: a column, a percentile, or an
average that MQ's own statistics contain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .._numerics.percentile import percentile_ns
from .._run.columns import ALL_STREAMS, Row
from .._run.table_reader import TablesError
from .._run.tables import Tables
from .metrics import METRICS, NOT_STARTED, SHARE_OF_OPERATIONS, Metric
from .profile import Limit
from .profile_reader import of_every_profile

MOST_NOT_STARTED = 0.001
"""The share of due operations that may remain unstarted. Aerospike's ACT stops if its queues back up; here, this share
defines when that is the case."""


def limits_on_pace(tables: Tables) -> list[Limit]:
    """Return the limits that every run has on its streams with a rate: a load that cannot be sustained fails,
    regardless of the profile."""
    paced = (
        dict.fromkeys(row["stream"] for row in tables.streams_together if row.get("operations_not_started") is not None)
        if tables.layout.paced
        else ()
    )
    share, source = MOST_NOT_STARTED, "the workload's rate"
    return [Limit(METRICS[NOT_STARTED], "max", False, share, share, stream=stream, source=source) for stream in paced]


def rows_of(limit: Limit, tables: Tables) -> list[Row]:
    """Return the rows that a limit judges.

    If a stream has only one worker, its row is not judged, because the row `all` has the same figures. The rate of a
    stream is that of its reads and writes together, unless the limit names one of them. The limit on the longest stall,
    which every profile has, judges every stream.
    """
    if not tables.layout.of_mq and limit.metric.name == "latency_max" and of_every_profile(limit):
        streams = dict.fromkeys(row["stream"] for row in tables.results if row["stream"] != ALL_STREAMS)
        return [row for stream in streams for row in _of_stream(replace(limit, stream=stream), tables)]
    return _of_stream(limit, tables)


def is_beside_the_point(limit: Limit, tables: Tables) -> bool:
    """Return whether a limit without a row is simply not judged. Every profile has hard limits on the log, but the
    workload may not have a log."""
    return not tables.layout.of_mq and of_every_profile(limit)


def _of_stream(limit: Limit, tables: Tables) -> list[Row]:
    together = tables.layout.adds_up and limit.metric.adds_up and not limit.operation and limit.stream != ALL_STREAMS
    rows = tables.streams_together if together else tables.results
    return [row for row in rows if limit.applies_to(row, tables.step_size) and not tables.repeats_all(row)]


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
