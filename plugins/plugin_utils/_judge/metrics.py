# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figures that a profile can limit, in a single table, so that a new metric is added in one place."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any

from ...module_utils import _units
from .._run.columns import Row
from .._run.kinds import KINDS
from .._run.tables import Tables
from .statistics import AS_IT_STANDS, BATCH_MEANS, SHARE_OF_OPERATIONS, SHARE_OF_TIME

EACH = "each"
"""Scope of a metric that is judged for every worker's row and for the `all` row."""
ALL = "all"
"""Scope of a metric that is judged for the `all` row only."""
RUN = "run"
"""Scope of a metric that is judged once: its figure is a value in run.csv."""
TARGET = "target"
"""Scope of a metric that is judged once: its figure is the carried load (usually an estimate) relative to the required
load."""
CAPACITY = "capacity"
"""Scope of a metric that is judged once: its figure follows from the judgements of all load points."""
HIGHEST = "highest"
"""Scope of a metric that is judged for the rows of the highest load point that meets all other limits."""
OF_KIND = "kind"
"""Scope of a metric of runs that measure no steps, such as the time of a takeover. The kind of run has its figures."""
ONCE = (RUN, TARGET, CAPACITY, OF_KIND)
"""Scopes of metrics whose figures do not belong to a row of results.csv."""


@dataclass(frozen=True)
class Kind:
    """A kind of quantity: the name of its base unit, how it is parsed, and how it is formatted for display."""

    unit: str
    parse: Callable[[object], float]
    format: Callable[..., str]


DURATION = Kind("ns", _units.parse_duration, _units.format_duration)
RATE = Kind("bytes/s", _units.parse_rate, _units.format_rate)
FREQUENCY = Kind("operations/s", _units.parse_frequency, _units.format_frequency)
RATIO = Kind("ratio", _units.parse_ratio, _units.format_ratio)
MARGIN = Kind("margin", _units.parse_ratio, _units.format_ratio)
NUMBER = Kind("number", _units.parse_number, _units.format_number)


@dataclass(frozen=True)
class Metric:
    """A figure that a limit can name: from results.csv, from run.csv if its scope is the run, or from both if its scope
    is the target.

    ``bound`` is the only useful direction of a limit: `max` if less is better, `min` if more is better.
    ``at_least_column`` names a column that is 1 if the true figure is at least the given one (because of a write still
    in flight). ``method`` is the test that decides a limit on the metric. ``allowed_share`` is the share of operations
    or of time that may be above a percentile, or None if the metric is not judged by such a share. ``adds_up``: whether
    the figures of a stream's reads and writes can be added. ``figure`` computes a value that no column contains, from a
    row and its tables; it is None if the metric has a column. ``most`` is the largest possible value of a limit, None
    if there is none. ``text`` is the template of the sentence about a figure that belongs to no row of results.csv.
    """

    name: str
    column: str
    kind: Kind
    bound: str
    scope: str
    description: str
    at_least_column: str = ""
    method: str = AS_IT_STANDS
    allowed_share: Fraction | None = None
    adds_up: bool = False
    figure: Callable[[Row, Tables], Any] | None = None
    most: float | None = None
    text: str = ""

    @property
    def of_responses(self) -> bool:
        """Whether the metric is a figure of response times, which are measured from the intended start."""
        return self.name.startswith(RESPONSES)


NOT_STARTED = "operations_not_started_share"
"""The metric that shows that a load cannot be sustained."""
TARGET_SHARE = "operations_per_s divided by the rate that sweep_target requires"
RESPONSES = "response_"
"""Prefix of the metrics of response times."""


def _latency(name: str, description: str, at_least_column: str = "", method: str = AS_IT_STANDS) -> Metric:
    return Metric(name, f"{name}_ns", DURATION, "max", EACH, description, at_least_column, method)


_PERCENTILES = (
    (
        "latency_time_weighted_",
        SHARE_OF_TIME,
        "latency that the write in progress does not exceed at {} % of all instants",
    ),
    ("latency_", SHARE_OF_OPERATIONS, "latency that {} % of the writes do not exceed"),
    (
        RESPONSES,
        AS_IT_STANDS,
        "time since the intended start that {} % of the operations do not exceed, at a fixed rate",
    ),
)
"""The beginnings of the names of percentiles, with the test that decides them and their description."""


def _percentile(name: str, scope: str = EACH) -> Metric:
    """Return the metric of a percentile over operations, over time or over response times; its name contains the
    percentile, as in latency_p99_9."""
    percent = name.rpartition("_p")[2].replace("_", ".")
    method, description = next((test, text) for prefix, test, text in _PERCENTILES if name.startswith(prefix))
    share = 1 - Fraction(percent) / 100
    described = description.format(percent)
    return Metric(name, f"{name}_ns", DURATION, "max", scope, described, method=method, allowed_share=share)


def _rate(
    name: str,
    kind: Kind,
    description: str,
    method: str = AS_IT_STANDS,
    figure: Callable[[Row, Tables], Any] | None = None,
) -> Metric:
    return Metric(name, name, kind, "min", ALL, description, method=method, adds_up=True, figure=figure)


def _slowest_second(row: Row, tables: Tables) -> float | None:
    """Return the bytes of the slowest whole second. Rows that add up several streams or operations have no such
    column."""
    if not row["operations"]:
        return None
    known = row.get("interval_bytes_per_s_min")
    return (
        min((second["bytes"] for second in tables.seconds_of(row) if not second["partial"]), default=None)
        if known is None
        else known
    )


def _not_started_share(row: Row, tables: Tables) -> float | None:
    """Return the share of due operations that did not start, or None without a rate. The share is 0 if it is too small
    to show that the load cannot be sustained.

    At any instant, an operation of each worker may be about to start. Even if the load is sustained, the length of the
    queue varies by about the square root of the number of due operations.
    """
    not_started = row.get("operations_not_started")
    if not_started is None:
        return None
    due = row["operations"] + not_started
    return not_started / due if not_started > max(tables.workers_of(row), math.sqrt(due)) else 0.0


_TABLE = (
    _latency("latency_mean", "mean latency of all writes", method=BATCH_MEANS),
    _latency("latency_stddev", "standard deviation of the latency"),
    Metric(
        "latency_cv",
        "latency_cv",
        RATIO,
        "max",
        EACH,
        "coefficient of variation of the latency (standard deviation divided by mean)",
    ),
    _latency("latency_min", "fastest write"),
    _percentile("latency_p50"),
    _percentile("latency_p90"),
    _percentile("latency_p99"),
    _percentile("latency_p99_9"),
    _percentile("latency_p99_99"),
    _percentile("latency_p99_999"),
    _latency("latency_max", "slowest write, including one that has not returned at the end", "latency_max_in_flight"),
    _latency("latency_time_weighted_mean", "mean latency of the write that is in progress at a random instant"),
    _percentile("latency_time_weighted_p50"),
    _percentile("latency_time_weighted_p99"),
    _percentile("latency_time_weighted_p99_9"),
    _latency("flush_mean", "mean time of the flush alone, in sync modes that have one"),
    _latency("flush_p99", "time that 99 % of the flushes do not exceed"),
    _latency("flush_p99_9", "time that 99.9 % of the flushes do not exceed"),
    _latency("flush_max", "slowest flush"),
    _latency("response_mean", "mean time since the intended start of an operation, at a fixed rate"),
    _percentile("response_p50"),
    _percentile("response_p99"),
    _percentile("response_p99_9"),
    _latency("response_max", "longest time since the intended start of an operation, at a fixed rate"),
    _rate("bytes_per_s", RATE, "bytes divided by elapsed time, all workers together", BATCH_MEANS),
    _rate("interval_bytes_per_s_min", RATE, "bytes in the slowest complete second", figure=_slowest_second),
    _rate("operations_per_s", FREQUENCY, "operations divided by elapsed time, all workers together", BATCH_MEANS),
    Metric(
        "target_operations_share",
        "operations_per_s",
        RATIO,
        "min",
        HIGHEST,
        TARGET_SHARE,
        method=BATCH_MEANS,
        adds_up=True,
    ),
    Metric(
        NOT_STARTED,
        NOT_STARTED,
        RATIO,
        "max",
        ALL,
        "operations that were due and did not start, divided by all that were due, at a fixed rate",
        adds_up=True,
        figure=_not_started_share,
    ),
    Metric(
        "cpu_steal_share", "cpu_steal_share", RATIO, "max", RUN, "share of the processor time that the hypervisor took"
    ),
    Metric(
        "headroom_margin",
        "headroom_margin",
        MARGIN,
        "min",
        TARGET,
        "share by which the volume carries more than sweep_target requires: 20 % is a fifth more",
    ),
    Metric(
        "capacity",
        "capacity",
        NUMBER,
        "min",
        CAPACITY,
        "highest load point that passes all other limits, in the unit of the workload's load points",
    ),
    Metric("ring_passes", "ring_passes", NUMBER, "min", EACH, "how often the whole set of files was written"),
)

METRICS = MappingProxyType({metric.name: metric for metric in _TABLE})
"""The metrics of measurements by name, in the order in which the documentation lists them."""


@cache
def all_metrics() -> Mapping[str, Metric]:
    """Return all metrics by name: those of measurements, followed by those of the other kinds of runs."""
    return {**METRICS, **{metric.name: metric for kind in KINDS.values() for metric in kind.criteria.metrics}}


_ANY_PERCENTILE = re.compile(r"(latency|response)_p[1-9][0-9]?(_[0-9]{0,5}[1-9])?\Z")
"""A percentile from 1 to 99.999999 in its canonical form: latency_p99_9, not latency_p99_90."""


def find_metric(name: str) -> Metric | None:
    """Return the metric with a name, or None if there is none. It is one of ``all_metrics``, or any other percentile
    over operations or over response times.

    These other percentiles are not in results.csv. They come from histogram.csv or responses.csv, which contain only
    all workers together, so they are judged only for all workers together.
    """
    if name in METRICS:
        return METRICS[name]
    return _percentile(name, ALL) if _ANY_PERCENTILE.match(name) else all_metrics().get(name)
