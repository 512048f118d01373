# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of latency and response over the load, with a line for each stream's operation, the limits on them, and the
highest load that passed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration
from ..._english.phrases import capitalized
from ..._run.columns import ALL_WORKERS
from ..figures import colours_of, is_behind, shown_series
from ..model import Host
from ..series import Series, series_of
from .axes import LEFT, RIGHT, LogAxis
from .plot import Curve, Level, Plot

METRICS = ("latency_mean", "latency_p99", "response_mean", "response_p99")
"""Metrics that always have a chart if they have figures. Other metrics have one if there is a limit on them."""
_DURATIONS = ("latency_", "response_")

Points = Sequence[tuple[int, float]]
"""Load points and figures in nanoseconds."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """A limit in nanoseconds, with its line (empty for all lines), its CSS class, and the load points that it
    judges."""

    value: float
    on: str
    name: str
    first: int
    last: int

    @property
    def words(self) -> str:
        return f"limit{self.on and f' of {self.on}'} {format_duration(self.value)}"

    @property
    def label(self) -> str:
        """The label of the line itself, for which there is little room."""
        limit = f"\u2264 {format_duration(self.value)}"
        return f"{self.on} {limit}" if self.on else self.words


def capacity_chart(host: Host) -> Markup:
    """Return the chart of the metric that decides the capacity, or of the mean if this metric is not a latency. The
    chart is empty if there are figures for fewer than two load points."""
    return load_chart(host, _capacity_metric(host)) if host.climbed else Markup("")


def _capacity_metric(host: Host) -> str:
    metric = host.climbed.metric if host.climbed else ""
    return metric if metric.startswith(_DURATIONS) else "latency_mean"


def load_charts(host: Host) -> list[Markup]:
    """Return a chart for every judged metric, and for each of METRICS, that has figures for at least two load points.
    The metric of the capacity chart is left out."""
    judged = [
        str(limit["metric"])
        for limit in host.limits
        if limit["unit"] == "ns" and limit["bound"] == "max" and not limit["hard"]
    ]
    shown = dict.fromkeys((*judged, *METRICS))
    if host.climbed:
        shown.pop(_capacity_metric(host), None)
    found = [load_chart(host, metric) for metric in shown]
    return [each for each in found if each]


def _title(metric: str) -> str:
    """Return the displayed name of a metric: "Mean latency", "p99.9 of the response"."""
    kind, dummy, figure = metric.partition("_")
    name = figure.replace("time_weighted_", "time-weighted ").replace("_", ".")
    return f"Mean {kind}" if name == "mean" else f"{name} of the {kind}"


def load_chart(host: Host, metric: str) -> Markup:
    """Return the chart of a metric over the load, or empty if there are figures for fewer than two load points."""
    title, reserved = _title(metric), ", without confidence" if metric.startswith("response_") else ""
    curves, behind = _curves(host, metric)
    if not curves:
        return Markup("")
    loads = sorted({load for points in curves.values() for load, value in points})
    colours = colours_of(host, list(curves))
    bounds = _bounds(host, metric, colours)
    highest = host.climbed.highest_passed if host.climbed and host.climbed.highest_passed in loads else None
    plot = Plot(
        LogAxis.around(loads, LEFT, RIGHT),
        f"Load in {host.words.loads}",
        [(load, str(load)) for load in loads],
        [
            Curve(f"size {colours[series]}", points, series.label, colours[series], dots=True)
            for series, points in curves.items()
        ],
        [Level(bound.value, bound.first, bound.last, bound.name, bound.label) for bound in bounds],
        passed=highest,
        title="Response" if reserved else "Latency",
    )
    described = _description(host, curves, bounds, highest, behind)
    return plot.chart("load", f"{title} over the load{reserved}", described, (series.label for series in curves))


def _curves(host: Host, metric: str) -> tuple[dict[Series, Points], bool]:
    """Return the points of each series that has at least two, and whether some figures are only lower bounds."""
    found: dict[Series, list[tuple[int, float]]] = {}
    behind = False
    for dummy, figures in host.results():
        series, value = series_of(host.words, figures), figures.get(f"{metric}_ns")
        if series and value and figures["worker"] == ALL_WORKERS:
            found.setdefault(series, []).append((figures["load_point"], value))
            behind = behind or (metric.startswith("response_") and is_behind(figures))
    several = {series: sorted(points) for series, points in found.items() if len({load for load, value in points}) > 1}
    return {series: several[series] for series in shown_series(host, several)}, behind


def _bounds(host: Host, metric: str, colours: Mapping[Series, str]) -> list[_Bound]:
    """Return the limits except for the hard limits. For streams, these are the tightest limits of each stream.
    Otherwise, each limit is returned once, because it is the same for all block sizes."""
    found: dict[Any, _Bound] = {}
    limits = [
        (float(limit["limit_value"]), span)
        for limit, span in zip(host.limits, host.spans, strict=True)
        if limit["metric"] == metric
        and limit["bound"] == "max"
        and limit["limit_value"]
        and not limit["hard"]
        and span.loads
    ]
    for (value, span), (series, colour) in itertools.product(
        sorted(limits, key=lambda limit: limit[0]), colours.items()
    ):
        if span.judges(series):
            by_stream = host.words.layout.by_stream
            bound = _Bound(
                value,
                series.label if by_stream else "",
                f"limit {colour}" if by_stream else "limit any",
                *(span.loads or ()),
            )
            found.setdefault(series if by_stream else value, bound)
    return list(found.values())


def _description(
    host: Host, curves: Mapping[Series, Points], bounds: Sequence[_Bound], highest: int | None, behind: bool
) -> str:
    steepest, points = max(curves.items(), key=lambda item: item[1][-1][1] / item[1][0][1])
    (first, before), (last, after) = points[0], points[-1]
    parts = [
        f"{capitalized(steepest.label)}: {format_duration(before)} at {host.words.load_text(first)} and "
        f"{format_duration(after)} at {host.words.load_text(last)}."
    ]
    if bounds:
        parts.append(f"Dashed: {', '.join(bound.words for bound in bounds)}.")
    if highest is not None:
        parts.append(f"The upright strokes are at {host.words.load_text(highest)}, the highest load that passed.")
    if behind:
        parts.append("Some operations were due and did not start in time, so their response figures are lower bounds.")
    return " ".join(parts)
