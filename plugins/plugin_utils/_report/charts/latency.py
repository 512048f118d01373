# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of latency over block size, with limits, and with the line that the latency follows: a fixed time for each
write plus a time for each byte."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number, format_rate
from ..._estimate.line import Line, NoLine, fit_line
from ..._run.columns import ALL_WORKERS
from ..._run.words import size_text
from ..changes import compared_rows
from ..model import Host
from ..series import Figures
from .axes import LEFT, MOST_LOADS, RIGHT, LogAxis, thinned
from .plot import Curve, Level, Plot

SERIES = (("max", "latency_max_ns"), ("p99", "latency_p99_ns"), ("mean", "latency_mean_ns"), ("p50", "latency_p50_ns"))
"""The lines, each with its name (the metric without its prefix) and its column."""

_KEYS = ("load_point", "block_size_bytes", "stream", "operation")


def latency_charts(host: Host) -> list[Markup]:
    """Return a chart for each load point that has at least two block sizes."""
    loads: dict[int, list[Mapping[str, Any]]] = {}
    for dummy, figures in host.results():
        if (
            figures["worker"] == ALL_WORKERS
            and figures["block_size_bytes"]
            and figures["operation"] == host.words.shown_operation
        ):
            loads.setdefault(figures["load_point"], []).append(figures)
    several = len(loads) > 1
    return [_chart(host, f", {load} {host.words.load}" if several else "", rows) for load, rows in _shown(loads)]


def _shown(loads: Mapping[int, list[Mapping[str, Any]]]) -> list[tuple[int, list[Mapping[str, Any]]]]:
    return [(load, loads[load]) for load in thinned(sorted(loads), MOST_LOADS) if _sizes(loads[load])]


def _sizes(rows: Sequence[Figures]) -> list[int]:
    """Return the block sizes of a chart; none if there are fewer than two."""
    sizes = sorted({row["block_size_bytes"] for row in rows if any(row.get(column) for name, column in SERIES)})
    return sizes if len(sizes) > 1 else []


def _chart(host: Host, load: str, rows: Sequence[Figures]) -> Markup:
    sizes = _sizes(rows)
    lines = {
        name: sorted((row["block_size_bytes"], row[column]) for row in rows if row.get(column))
        for name, column in SERIES
    }
    limits, before = _limits(host, sizes), _before(host, rows)
    # Commits wait for writes whose sizes differ from those of the commits.
    fitted = None if host.words.operation else _fitted(lines["mean"])
    steps = [sizes[0] * (sizes[-1] / sizes[0]) ** (number / 24) for number in range(25)] if fitted else []
    curves = [Curve(name, points, name, dots=True) for name, points in lines.items() if points]
    curves += [Curve("mean reference", before, "before", "before")] if before else []
    curves += [Curve("fit", [(size, fitted.latency_ns(size)) for size in steps], derived=True)] if fitted else []
    plot = Plot(
        LogAxis.around(sizes, LEFT, RIGHT),
        host.words.size.capitalize(),
        [(size, size_text(size)) for size in sizes],
        curves,
        [Level(value, *span, f"limit {name}", _limit_text(name, value)) for name, value, *span in limits],
        first_on_top=True,
    )
    what = f"Latency of {host.words.operation}s" if host.words.operation else "Latency"
    described = _description(lines, limits, fitted) + (" Before: the mean of the earlier runs." if before else "")
    return plot.chart("latency", f"{what} over {host.words.size}{load}", described)


def _before(host: Host, rows: Sequence[Figures]) -> list[tuple[int, float]]:
    """Return the means of the runs with which the host was compared, by block size, for the load and the stream of some
    rows."""
    if host.comparison.get("figure") != "latency_mean_ns":
        return []
    keys = {tuple(row[name] for name in _KEYS) for row in rows if row["latency_mean_ns"]}
    compared = (row for row in compared_rows(host.comparison) if tuple(row[name] for name in _KEYS) in keys)
    return sorted((row["block_size_bytes"], row["before"]) for row in compared)


def _fitted(means: Sequence[tuple[int, float]]) -> Line | None:
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


def _limits(host: Host, sizes: Sequence[int]) -> list[tuple[str, float, int, int]]:
    """Return the upper limits on each line with the block sizes that they judge. Hard limits, and limits that are
    covered by a tighter one, are left out."""
    found: set[tuple[str, float, int, int]] = set()
    for limit, span in zip(host.limits, host.spans, strict=True):
        name = str(limit["metric"]).removeprefix("latency_")
        if (
            span.sizes
            and limit["bound"] == "max"
            and limit["limit_value"]
            and not limit["hard"]
            and name in dict(SERIES)
            and limit["worst"]["operation"] == host.words.shown_operation
        ):
            judged = [size for size in sizes if span.sizes[0] <= size <= span.sizes[1]]
            if judged:
                found.add((name, float(limit["limit_value"]), judged[0], judged[-1]))
    return sorted(each for each in found if not any(_covers(other, each) for other in found - {each}))


def _covers(tighter: tuple[str, float, int, int], limit: tuple[str, float, int, int]) -> bool:
    """Return whether a limit is covered by another one on the same line."""
    return tighter[0] == limit[0] and tighter[1] <= limit[1] and tighter[2] <= limit[2] and limit[3] <= tighter[3]


def _limit_text(name: str, value: float) -> str:
    return f"limit of {name} {format_duration(value)}"


def _description(
    lines: Mapping[str, Sequence[tuple[int, float]]], limits: Sequence[tuple[str, float, int, int]], fitted: Line | None
) -> str:
    points = lines["mean"] or next(points for points in lines.values() if points)
    first, last = points[0], points[-1]
    parts = [
        f"Mean {format_duration(first[1])} at {size_text(first[0])} and "
        f"{format_duration(last[1])} at {size_text(last[0])}."
    ]
    if limits:
        parts.append(f"Dashed: {', '.join(_limit_text(name, value) for name, value, *span in limits)}.")
    if fitted:
        parts.append(f"{line_sentence(fitted)} The dotted line shows this.")
    return " ".join(parts)
