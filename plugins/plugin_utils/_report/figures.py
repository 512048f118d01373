# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Figures as a report shows them to people, the same in every format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import Host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import Words, size_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import WORST_FIRST

MARKS = {"pass": "\u2713", "warn": "!", "inconclusive": "?", "missing": "\u2205", "unreachable": "\u21af", "error": "\u2715", "fail": "\u2717"}
"""A sign for each verdict, so that colour is never all that tells them apart."""

FIGURES = (
    ("Writes", "operations", _units.format_count),
    ("Writes/s", "operations_per_s", _units.format_number),
    ("Throughput", "bytes_per_s", _units.format_rate),
    ("Mean", "latency_mean_ns", _units.format_duration),
    ("p50", "latency_p50_ns", _units.format_duration),
    ("p99", "latency_p99_ns", _units.format_duration),
    ("p99.9", "latency_p99_9_ns", _units.format_duration),
    ("Max", "latency_max_ns", _units.format_duration),
)
"""The figures that tables for people show of a row: title, column, formatter."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A host's figures at one load point and block size: the `all` row, under the worst verdict of all rows there.

    used is the largest share that any of the rows uses of a limit, None if nothing judged them.
    """

    verdict: str
    p99: str
    mean: str
    title: str
    used: float | None
    p99_ns: float | None
    mean_ns: float | None


def figure(figures: Mapping[str, Any], column: str, write: Any) -> str:
    """Write a figure for people, "" if there is none, and "≥" before one that is known to be too low."""
    value = figures.get(column)
    if value is None:
        return ""
    prefix = "\u2265 " if column == "latency_max_ns" and figures.get("latency_max_in_flight") == 1 else ""
    return prefix + write(value)


def figures_of(figures: Mapping[str, Any]) -> list[str]:
    """Write the figures of FIGURES for one row."""
    return [figure(figures, column, write) for title, column, write in FIGURES]


def figure_titles(host: Host) -> list[str]:
    """Return the titles of figures_of for the rows of a host."""
    return _titles(host.words.any_operation)


def _titles(operation: str) -> list[str]:
    return [title.replace("Writes", f"{operation}s".capitalize()) for title, column, write in FIGURES]


def step_cell(host: Host, figures: Mapping[str, Any]) -> str:
    """Write the size of a row's step, with the operation if the step has rows of several."""
    size = size_text(figures["block_size_bytes"])
    return f"{size}, {figures['operation']}s" if host.words.operation else size


def step_text(step: tuple[int, int], several: bool, words: Words) -> str:
    """Write a load point and block size: the block size alone if there is only one load point."""
    size = size_text(step[1])
    return f"{step[0]} {words.load} \u00d7 {size}" if several else size


def cells(host: Host) -> dict[tuple[int, int], Cell]:
    """Return a host's cells by load point and block size."""
    verdicts: dict[tuple[int, int], str] = {}
    used: dict[tuple[int, int], float] = {}
    together: dict[tuple[int, int], Mapping[str, Any]] = {}
    for row, figures in host.results():
        step = figures["load_point"], figures["block_size_bytes"]
        known = [verdict for verdict in (verdicts.get(step, ""), row.verdict) if verdict]
        verdicts[step] = min(known, key=WORST_FIRST.index) if known else ""
        if row.used is not None:
            used[step] = max(row.used, used.get(step, 0.0))
        if host.words.stands_for_step(figures):
            together[step] = figures
    return {step: _cell(verdicts[step], used.get(step), figures, _titles(host.words.shown_operation)) for step, figures in together.items()}


def _cell(verdict: str, used: float | None, figures: Mapping[str, Any], titles: list[str]) -> Cell:
    texts = dict(zip(titles, figures_of(figures), strict=True))
    title = ", ".join(f"{name} {text}" for name, text in texts.items() if text)
    return Cell(
        verdict,
        texts["p99"] or "\u2013",
        texts["Mean"] or "\u2013",
        f"{verdict or 'not judged'}: {title}",
        used,
        figures.get("latency_p99_ns"),
        figures.get("latency_mean_ns"),
    )


def count_words(counts: list[tuple[str, int]]) -> str:
    """Write counts of verdicts: "1 fail, 2 pass"."""
    return ", ".join(f"{_units.format_count(count)} {verdict}" for verdict, count in counts)
