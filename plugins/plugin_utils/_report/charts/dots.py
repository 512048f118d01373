# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows figures side by side on one line for each block size. The charts compare queue managers with each
other, and the first pass with later passes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_rate
from ..._run.columns import ALL_WORKERS
from ..._run.words import size_text
from ..figures import shown_series
from ..model import Host
from ..series import Series, series_of
from .axes import LEFT, MOST_LOADS, RIGHT, TOP, LogAxis, chart, lanes_grid, path, room_for, text, thinned

_STRIP = 24
_FAIR = 1.1
"""Up to this ratio of the slowest to the fastest p99, queue managers are considered alike."""

Figures = Mapping[str, Any]
Dots = Sequence[tuple[str, float]]
"""The dots of a line, each with its CSS class and its value in nanoseconds."""


def worker_charts(host: Host) -> list[Markup]:
    """Return charts that compare workers at each load point that has several."""
    steps: dict[int, dict[int, list[tuple[str, Figures]]]] = {}
    for row, figures in host.results():
        if (
            figures["operation"] == host.words.shown_operation
            and figures["block_size_bytes"]
            and figures["latency_p99_ns"]
        ):
            steps.setdefault(figures["load_point"], {}).setdefault(figures["block_size_bytes"], []).append(
                (row.worker_name, figures)
            )
    found = [_fairness(host, load, steps[load]) for load in thinned(sorted(steps), MOST_LOADS)]
    return [each for each in found if each]


def first_pass_charts(host: Host) -> list[Markup]:
    """Return charts that show the mean of the first pass over the test files next to the mean of later passes, for the
    smallest load point."""
    rows: dict[int, dict[Series, Figures]] = {}
    for dummy, figures in host.results():
        known = figures.get("first_pass_latency_mean_ns") and figures.get("later_passes_latency_mean_ns")
        if known and figures["worker"] == ALL_WORKERS and (series := series_of(host.words, figures)):
            rows.setdefault(figures["load_point"], {})[series] = figures
    if not rows:
        return []
    steps = rows[min(rows)]
    passes = ("first_pass_latency_mean_ns", "later_passes_latency_mean_ns")
    pairs = {series: tuple(steps[series][column] for column in passes) for series in shown_series(host, steps)}
    most, (first, later) = max(pairs.items(), key=lambda item: max(item[1][0] / item[1][1], item[1][1] / item[1][0]))
    words = "Mean of the first pass (red) and of later passes (blue) over the files. "
    words += f"They differ most {host.words.at} {most.label}: {format_duration(first)}, later {format_duration(later)}."
    lines = [(series.label, [("p99", later), ("max", first)]) for series, (first, later) in pairs.items()]
    return [_dots("passes", "First pass against later passes", words, lines)]


def _fairness(host: Host, load: int, sizes: Mapping[int, Sequence[tuple[str, Figures]]]) -> Markup:
    workers = {
        size: [(name, figures) for name, figures in sizes[size] if figures["worker"] != ALL_WORKERS]
        for size in thinned(sorted(sizes))
    }
    workers = {size: found for size, found in workers.items() if len(found) > 1}
    if not workers:
        return Markup("")
    lines = [
        (size_text(size), [("p99", figures["latency_p99_ns"]) for name, figures in found])
        for size, found in workers.items()
    ]
    return _dots(
        "fairness", f"p99 of each {host.words.worker}, {load} {host.words.load}", _fairness_text(host, workers), lines
    )


def _fairness_text(host: Host, workers: Mapping[int, Sequence[tuple[str, Figures]]]) -> str:
    ranked = {size: sorted(found, key=lambda each: each[1]["latency_p99_ns"]) for size, found in workers.items()}
    extremes = {size: (found[0], found[-1]) for size, found in ranked.items()}
    size, (fast, slow) = max(extremes.items(), key=lambda item: _ratio(item[1][1], item[1][0]))
    ratio = _ratio(slow, fast)
    if ratio <= _FAIR:
        return (
            f"All {host.words.workers} are alike: their p99 latencies differ by at most "
            f"{max(1, math.ceil(100 * (ratio - 1)))} %."
        )
    return (
        f"They differ most at {size_text(size)}: {slow[0]} has {format_duration(slow[1]['latency_p99_ns'])} and "
        f"{format_rate(slow[1]['bytes_per_s'] or 0)}, {fast[0]} has "
        f"{format_duration(fast[1]['latency_p99_ns'])} and {format_rate(fast[1]['bytes_per_s'] or 0)}."
    )


def _ratio(slow: tuple[str, Figures], fast: tuple[str, Figures]) -> float:
    return slow[1]["latency_p99_ns"] / fast[1]["latency_p99_ns"]


def _dots(kind: str, title: str, words: str, lines: Sequence[tuple[str, Dots]]) -> Markup:
    """Return a chart with a line of dots for each title."""
    x = LogAxis.around([value for dummy, dots in lines for dummy, value in dots], LEFT, RIGHT)
    bottom = TOP + _STRIP * len(lines)
    parts = [lanes_grid(x, bottom)]
    for number, (name, dots) in enumerate(lines):
        y, places = TOP + _STRIP * (number + 0.5), [x.place(value) for dummy, value in dots]
        parts.append(text("axis", LEFT - 5, y + 4, name, "end"))
        parts.append(path("reach", "M{:.1f} {:.1f}H{:.1f}", min(places), y, max(places)))
        for colour in dict.fromkeys(each for each, dummy in dots):
            marks = {f"M{x.place(value):.0f} {y:.0f}h0": value for each, value in dots if each == colour}
            values = map(format_duration, marks.values())
            parts.append(path(f"dots {colour}", "".join(marks), values=values, subject=name))
    return chart(kind, title, words, parts, bottom + 42, left=room_for(name for name, dummy in lines))
