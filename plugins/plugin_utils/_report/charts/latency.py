# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of latency over block size and over load, with limits. Over block size, they show the line that the latency
follows: a fixed time for each write plus a time for each byte. Over load, they show the highest load that passed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number, format_rate
from ..._english.phrases import capitalized
from ..._estimate.line import Line, NoLine, fit_line
from ..._run.columns import ALL_WORKERS
from ..._run.words import size_text
from ..changes import compared_rows
from ..figures import colours_of, is_behind, shown_series
from ..model import Host
from ..series import Figures, Series, series_of
from .axes import LEFT, MOST_LOADS, RIGHT, LogAxis, thinned
from .plot import Curve, Level, Plot

SERIES = (("max", "latency_max_ns"), ("p99", "latency_p99_ns"), ("mean", "latency_mean_ns"), ("p50", "latency_p50_ns"))
"""The lines over block size, each with its name (the metric without its prefix) and its column."""
METRICS = ("latency_mean", "latency_p99", "response_mean", "response_p99")
"""Metrics that always have a chart over the load if they have figures. Others have one if there is a limit on them."""

_KEYS = ("load_point", "block_size_bytes", "stream", "operation")

Points = Sequence[tuple[int, float]]
"""Block sizes or load points, and figures in nanoseconds."""
Bounds = Sequence[tuple[Level, str]]
"""The limits in a chart, each with its words in the description."""


def latency_charts(host: Host) -> list[Markup]:
    """Return a chart over block size for each load point that has at least two block sizes."""
    loads: dict[int, list[Figures]] = {}
    for dummy, figures in host.results():
        if (
            figures["worker"] == ALL_WORKERS
            and figures["block_size_bytes"]
            and figures["operation"] == host.words.shown_operation
        ):
            loads.setdefault(figures["load_point"], []).append(figures)
    drawn = (
        _size_chart(host, f", {load} {host.words.load}" if len(loads) > 1 else "", loads[load])
        for load in thinned(sorted(loads), MOST_LOADS)
    )
    return [each for each in drawn if each]


def _size_chart(host: Host, load: str, rows: Sequence[Figures]) -> Markup:
    sizes = sorted({row["block_size_bytes"] for row in rows if any(row.get(column) for name, column in SERIES)})
    if len(sizes) < 2:
        return Markup("")
    lines = {
        name: sorted((row["block_size_bytes"], row[column]) for row in rows if row.get(column))
        for name, column in SERIES
    }
    bounds, before = _size_bounds(host, sizes), _before(host, rows)
    # Commits wait for writes whose sizes differ from those of the commits.
    fitted = None if host.words.operation else _fitted(lines["mean"])
    steps = [sizes[0] * (sizes[-1] / sizes[0]) ** (number / 24) for number in range(25)] if fitted else []
    curves = [Curve(name, points, name, dots=True, subject=name) for name, points in lines.items() if points]
    curves += [Curve("mean reference", before, "before", "before", subject="mean before")] if before else []
    curves += [Curve("fit", [(size, fitted.latency_ns(size)) for size in steps], derived=True)] if fitted else []
    plot = Plot(
        LogAxis.around(sizes, LEFT, RIGHT),
        host.words.size.capitalize(),
        [(size, size_text(size)) for size in sizes],
        curves,
        [level for level, words in bounds],
        first_on_top=True,
        write_x=lambda size: size_text(int(size)),
    )
    (first, lowest), *dummy, (last, highest) = 2 * (lines["mean"] or next(filter(None, lines.values())))
    ends = f"{format_duration(lowest)} at {size_text(first)} and {format_duration(highest)} at {size_text(last)}"
    parts = [f"Mean {ends}.", *_dashed(bounds)]
    parts += [f"{line_sentence(fitted)} The dotted line shows this."] if fitted else []
    parts += ["Before: the mean of the earlier runs."] if before else []
    what = f"Latency of {host.words.operation}s" if host.words.operation else "Latency"
    return plot.chart("latency", f"{what} over {host.words.size}{load}", " ".join(parts))


def _before(host: Host, rows: Sequence[Figures]) -> list[tuple[int, float]]:
    """Return the means of the runs with which the host was compared, by block size, for the load and the stream of some
    rows."""
    if host.comparison.get("figure") != "latency_mean_ns":
        return []
    keys = {tuple(row[name] for name in _KEYS) for row in rows if row["latency_mean_ns"]}
    compared = (row for row in compared_rows(host.comparison) if tuple(row[name] for name in _KEYS) in keys)
    return sorted((row["block_size_bytes"], row["before"]) for row in compared)


def _fitted(means: Points) -> Line | None:
    try:
        return fit_line(means)
    except NoLine:
        return None


def line_sentence(fitted: Line) -> str:
    """Describe the line that the writes follow, and how well they follow it."""
    per_us = 1000 * fitted.bytes_per_ns
    amount = f"{format_number(per_us / 1000)} KB" if per_us >= 1000 else f"{format_number(per_us)} B"
    return (
        f"Each write costs about {format_duration(fitted.base_ns)} plus 1 us per {amount} "
        f"({format_rate(1e9 * fitted.bytes_per_ns)}); the means follow this within "
        f"{max(1, math.ceil(100 * fitted.worst))} %."
    )


def _size_bounds(host: Host, sizes: Sequence[int]) -> Bounds:
    """Return the limits on each line over the block sizes that they judge, without those that a tighter one covers."""
    found: set[tuple[str, float, int, int]] = set()
    for limit, span in host.duration_limits():
        name = str(limit["metric"]).removeprefix("latency_")
        judged = [size for size in sizes if span.sizes and span.sizes[0] <= size <= span.sizes[1]]
        if judged and name in dict(SERIES) and limit["worst"]["operation"] == host.words.shown_operation:
            found.add((name, float(limit["limit_value"]), judged[0], judged[-1]))
    shown = sorted(each for each in found if not any(_covers(other, each) for other in found - {each}))
    texts = [f"limit of {name} {format_duration(value)}" for name, value, *dummy in shown]
    return [
        (Level(value, first, last, f"limit {name}", text), text)
        for (name, value, first, last), text in zip(shown, texts, strict=True)
    ]


def _covers(tighter: tuple[str, float, int, int], limit: tuple[str, float, int, int]) -> bool:
    """Return whether a limit is covered by another one on the same line."""
    return tighter[0] == limit[0] and tighter[1] <= limit[1] and tighter[2] <= limit[2] and limit[3] <= tighter[3]


def _dashed(bounds: Bounds) -> list[str]:
    return [f"Dashed: {', '.join(words for level, words in bounds)}."] if bounds else []


def capacity_chart(host: Host) -> Markup:
    """Return the chart of the metric that decides the capacity, or of the mean if this metric is not a latency. The
    chart is empty if there are figures for fewer than two load points."""
    return load_chart(host, _capacity_metric(host)) if host.climbed else Markup("")


def _capacity_metric(host: Host) -> str:
    metric = host.climbed.metric if host.climbed else ""
    return metric if metric.startswith(("latency_", "response_")) else "latency_mean"


def load_charts(host: Host) -> list[Markup]:
    """Return a chart for every judged metric, and for each of METRICS, that has figures for at least two load points.
    The metric of the capacity chart is left out."""
    shown = dict.fromkeys((*(str(limit["metric"]) for limit, span in host.duration_limits()), *METRICS))
    if host.climbed:
        shown.pop(_capacity_metric(host), None)
    found = [load_chart(host, metric) for metric in shown]
    return [each for each in found if each]


def load_chart(host: Host, metric: str) -> Markup:
    """Return the chart of a metric over the load, or empty if there are figures for fewer than two load points."""
    kind, dummy, figure = metric.partition("_")
    name = figure.replace("time_weighted_", "time-weighted ").replace("_", ".")
    curves, behind = _curves(host, metric)
    if not curves:
        return Markup("")
    loads = sorted({load for points in curves.values() for load, value in points})
    colours = colours_of(host, list(curves))
    bounds = _load_bounds(host, metric, colours)
    highest = host.climbed.highest_passed if host.climbed and host.climbed.highest_passed in loads else None
    plot = Plot(
        LogAxis.around(loads, LEFT, RIGHT),
        f"Load in {host.words.loads}",
        [(load, str(load)) for load in loads],
        [
            Curve(f"size {colours[series]}", points, series.label, colours[series], dots=True, subject=series.label)
            for series, points in curves.items()
        ],
        [level for level, words in bounds],
        passed=highest,
        title=kind.capitalize(),
        write_x=lambda load: host.words.load_text(int(load)),
    )
    title = f"{f'Mean {kind}' if name == 'mean' else f'{name} of the {kind}'} over the load"
    return plot.chart(
        "load",
        f"{title}, without confidence" if kind == "response" else title,
        _load_description(host, curves, bounds, highest, behind),
        (series.label for series in curves),
    )


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


def _load_bounds(host: Host, metric: str, colours: Mapping[Series, str]) -> Bounds:
    """Return the limits on a metric. For streams, these are the tightest limits of each stream. Otherwise, each limit
    is returned once, because it is the same for all block sizes."""
    found: dict[Series | float, tuple[Level, str]] = {}
    limits = [(limit["limit_value"], span) for limit, span in host.duration_limits() if limit["metric"] == metric]
    for value, span in sorted(limits, key=lambda limit: limit[0]):
        duration = format_duration(value)
        for series, colour in colours.items():
            if not span.loads or not span.judges(series):
                continue
            if host.words.layout.by_stream:
                # There is little room for the label of the line itself.
                level = Level(value, *span.loads, f"limit {colour}", f"{series.label} \u2264 {duration}")
                found.setdefault(series, (level, f"limit of {series.label} {duration}"))
            else:
                words = f"limit {duration}"
                found.setdefault(value, (Level(value, *span.loads, "limit any", words), words))
    return list(found.values())


def _load_description(
    host: Host, curves: Mapping[Series, Points], bounds: Bounds, highest: int | None, behind: bool
) -> str:
    steepest, points = max(curves.items(), key=lambda item: item[1][-1][1] / item[1][0][1])
    (first, before), (last, after) = points[0], points[-1]
    rates = {
        figures["load_point"]: format_rate(figures["bytes_per_s"] or 0)
        for dummy, figures in host.results()
        if figures["worker"] == ALL_WORKERS and series_of(host.words, figures) == steepest
    }
    operation = host.words.shown_operation
    together = f", and all together {operation} {rates[last]} instead of {rates[first]}"
    parts = [
        f"{capitalized(steepest.label)}: {format_duration(before)} at {host.words.load_text(first)} and "
        f"{format_duration(after)} at {host.words.load_text(last)}{together if host.words.layout.of_mq else ''}.",
        *_dashed(bounds),
    ]
    if highest is not None:
        parts.append(f"The upright strokes are at {host.words.load_text(highest)}, the highest load that passed.")
    if behind:
        parts.append("Some operations were due and did not start in time, so their response figures are lower bounds.")
    return " ".join(parts)
