# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats figures for every format of a report, and compares what a workload of streams achieved with what was
requested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._units import format_count, format_duration, format_number, format_rate, format_ratio
from .._judge.fidelity import TOLERANCE
from .._judge.metrics import NOT_STARTED
from .._run.columns import ALL_WORKERS, Step
from .._run.verdicts import WORST_FIRST
from .._run.words import Words, mean_size_text, size_text
from .charts.axes import MOST_LINES, MOST_LOADS, thinned
from .model import Host
from .series import Figures, Series, SeriesKey, series_of, stream_text

MARKS = {
    "pass": "\u2713",
    "warn": "!",
    "inconclusive": "?",
    "missing": "\u2205",
    "unreachable": "\u21af",
    "error": "\u2715",
    "fail": "\u2717",
}
"""A sign for each verdict, so that verdicts never differ in colour alone."""

FIGURES = (
    ("Writes", "operations", format_count),
    ("Writes/s", "operations_per_s", format_number),
    ("Throughput", "bytes_per_s", format_rate),
    ("Mean", "latency_mean_ns", format_duration),
    ("p50", "latency_p50_ns", format_duration),
    ("p99", "latency_p99_ns", format_duration),
    ("p99.9", "latency_p99_9_ns", format_duration),
    ("Max", "latency_max_ns", format_duration),
)
"""The figures of a row that tables for people show: title, column and formatter."""

_RESPONSES = {
    "latency_mean_ns": ("Mean response", "response_mean_ns", format_duration),
    "latency_p99_ns": ("p99 response", "response_p99_ns", format_duration),
    "latency_max_ns": ("Not started", "operations_not_started", format_count),
}
"""Additional figures of streams with a rate, by the column after which they appear."""


Shown = tuple[tuple[str, str, Any], ...]
"""Figures that tables show: title, column and formatter of each."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A host's figures at one load point and block size: those of the `all` row, with the worst verdict of all rows.

    ``used`` is the largest share that any of the rows uses of a limit, or None if no limit judges them.
    """

    verdict: str
    used: float | None
    figures: Figures
    operation: str

    @property
    def p99_ns(self) -> float | None:
        return self.figures.get("latency_p99_ns")

    @property
    def mean_ns(self) -> float | None:
        return self.figures.get("latency_mean_ns")

    @property
    def p99(self) -> str:
        return figure(self.figures, "latency_p99_ns", format_duration) or "\u2013"

    @property
    def mean(self) -> str:
        return figure(self.figures, "latency_mean_ns", format_duration) or "\u2013"

    @property
    def title(self) -> str:
        """All figures, with the verdict. They are formatted only if they are asked for: in a large fleet, few cells are
        shown."""
        texts = zip(_titles(self.operation), figures_of(self.figures), strict=True)
        return f"{self.verdict or 'not judged'}: " + ", ".join(f"{name} {text}" for name, text in texts if text)


def figure(figures: Figures, column: str, write: Any) -> str:
    """Format a figure for display: "" if there is none, and with "≥" if it is known to be too low."""
    value = figures.get(column)
    if value is None:
        return ""
    too_low = (column == "latency_max_ns" and figures.get("latency_max_in_flight") == 1) or (
        column.startswith("response_") and is_behind(figures)
    )
    return ("\u2265 " if too_low else "") + write(value)


def is_behind(figures: Figures) -> bool:
    """Return whether operations of a row were due and had not started when the step ended,
    so that its response figures are too low."""
    return bool(figures.get("operations_not_started"))


def shown_figures(host: Host) -> Shown:
    """Return the columns that tables show for the rows of a host: title, column and formatter."""
    if not host.words.layout.paced:
        return FIGURES
    columns = {
        column
        for dummy, figures in host.results()
        for title, column, write in _RESPONSES.values()
        if figures.get(column)
    }
    added = ((each, _RESPONSES.get(each[1], each)) for each in FIGURES)
    return tuple(
        figure for each, response in added for figure in ((each, response) if response[1] in columns else (each,))
    )


def figures_of(figures: Figures, shown: Shown = FIGURES) -> list[str]:
    """Format the displayed figures of one row."""
    return [figure(figures, column, write) for title, column, write in shown]


def figure_titles(host: Host) -> list[str]:
    """Return the titles of the figures that are shown for the rows of a host."""
    return _titles(host.words.any_operation, shown_figures(host))


def _titles(operation: str, shown: Shown = FIGURES) -> list[str]:
    return [title.replace("Writes", f"{operation}s".capitalize()) for title, column, write in shown]


def step_cell(host: Host, figures: Figures) -> str:
    """Format the size of a row's step, with the operation if the step has several. For streams, this is the stream with
    its own size."""
    if host.words.layout.mixed:
        return mean_size_text(figures["block_size_bytes"]) if figures["block_size_bytes"] else str(figures["stream"])
    size = size_text(figures["block_size_bytes"])
    if host.words.layout.by_stream:
        named = stream_text(figures["stream"], figures["operation"])
        return named if figures["stream"] == ALL_WORKERS else f"{named}, {size}"
    return f"{size}, {figures['operation']}s" if host.words.operation else size


def step_text(step: Step, several: bool, words: Words) -> str:
    """Format a load point and block size: the block size alone if there is only one load point."""
    if words.layout.over_load:
        return words.load_text(step[0])
    if words.layout.mixed:
        return "Log writes"
    size = size_text(step[1])
    return f"{step[0]} {words.load} \u00d7 {size}" if several else size


def cells(host: Host) -> dict[Step, Cell]:
    """Return a host's cells by load point and block size."""
    verdicts: dict[Step, str] = {}
    used: dict[Step, float] = {}
    together: dict[Step, Mapping[str, Any]] = {}
    for row, figures in host.results():
        step = host.words.layout.step_of(figures)
        known = [verdict for verdict in (verdicts.get(step, ""), row.verdict) if verdict]
        verdicts[step] = min(known, key=WORST_FIRST.index) if known else ""
        if row.used is not None:
            used[step] = max(row.used, used.get(step, 0.0))
        if host.words.layout.stands_for_step(figures):
            together[step] = figures
    return {
        step: Cell(verdicts[step], used.get(step), figures, host.words.shown_operation)
        for step, figures in together.items()
    }


def shown_series(host: Host, found: Iterable[Series]) -> list[Series]:
    """Return the series that a chart shows, sorted by block size or, for streams, in their original order. If there are
    too many streams, those that a limit judges come first."""
    ordered = list(dict.fromkeys(found))
    if not host.words.layout.by_stream:
        return thinned(sorted(ordered, key=lambda series: series.block_size_bytes or 0))
    judged = judged_series(host)
    kept = sorted(ordered, key=lambda series: series.key not in judged)[:MOST_LINES]
    return [series for series in ordered if series in kept]


def judged_series(host: Host) -> set[SeriesKey]:
    """Return the streams and operations that the limits of a profile judge. Limits that apply to every run are ignored,
    because they judge nearly all streams."""
    own = (
        (limit, span)
        for limit, span in zip(host.limits, host.spans, strict=True)
        if not limit["hard"] and limit["metric"] != NOT_STARTED
    )
    return {key for limit, span in own for key in span.series}


def shown_loads(host: Host, found: Iterable[int]) -> list[int]:
    """Return the load points for which a kind of chart is drawn: those around the capacity, and some of the others."""
    ordered = sorted({*found})
    capacity = host.climbed
    around = {capacity.highest_passed, capacity.lowest_not_passed}.intersection(ordered) if capacity else set()
    return sorted({*around, *thinned([load for load in ordered if load not in around], MOST_LOADS - len(around))})


def colours_of(host: Host, shown: Sequence[Series]) -> dict[Series, str]:
    """Return the CSS class for the line of each series. The class depends on the position of the series. A stream has
    the same class in all charts of a host."""
    if not host.words.layout.by_stream:
        return {series: f"s{number}" for number, series in enumerate(shown)}
    known = dict.fromkeys(series for dummy, figures in host.results() if (series := series_of(host.words, figures)))
    # Neighbours in this order, such as the reads and writes of a stream, are given colours that are easy to
    # distinguish.
    return {series: f"s{3 * number % MOST_LINES}" for number, series in enumerate(known)}


def count_words(counts: list[tuple[str, int]]) -> str:
    """Format the counts of the verdicts that occur: "1 fail, 2 pass"."""
    return ", ".join(f"{format_count(count)} {verdict}" for verdict, count in counts if count)


def fidelity_of(host: Host) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the load points and the properties of the streams and of the workload of a host; both are empty if its
    tables contain none. A property has a cell for each load point, which is None if it was not measured there."""
    loads = list(dict.fromkeys(row["load_point"] for row in host.fidelity))
    found: dict[tuple[Any, ...], dict[int, Mapping[str, Any]]] = {}
    for row in host.fidelity:
        found.setdefault((row["stream"], row["property"], row["item"]), {})[row["load_point"]] = row
    properties = [
        {
            "stream": stream,
            "title": _property_title(name, item),
            "cells": [_achieved(name, rows[load]) if load in rows else None for load in loads],
        }
        for (stream, name, item), rows in found.items()
    ]
    return [host.words.load_text(load) for load in loads], properties


def _property_title(name: str, item: str | None) -> str:
    if name == "size_share":
        return (
            f"operations of {size_text(int(item))}"
            if item and item.isascii() and item.isdigit()
            else f"operations of {item}"
        )
    if name == "capacity_share":
        return f"capacity of place {item}"
    return _PROPERTY_TITLES.get(name, name)


_PROPERTY_TITLES = {
    "read_share": "reads",
    "operations_share": "share of all operations",
    "operations_per_s": "operations per second",
}


def _achieved(name: str, row: Figures) -> dict[str, Any]:
    """Return the achieved and the requested value, and whether they differ too much."""
    achieved, asked = row["achieved"], row["asked"]
    write = format_ratio if name.endswith("_share") else format_number
    return {"achieved": write(achieved), "asked": write(asked), "is_far": abs(achieved - asked) > TOLERANCE * asked}
