# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a host on the page, as data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ....module_utils._units import format_duration, format_rate
from ..._run.columns import ALL_WORKERS
from ..._run.findings import PLATEAU
from ..._run.settings import result_of, worst_settings
from ..._run.shapes import Within, dicts_in, fits
from ..._run.table_reader import printable
from ..._run.verdicts import PASS
from ..changes import UNKNOWN, compared_rows, figure_text, percent, row_text
from ..charts.distribution import distribution_charts
from ..charts.dots import first_pass_charts, worker_charts
from ..charts.latency import capacity_chart, latency_charts, load_chart, load_charts
from ..charts.rows import ChangeAxis, change_picture, change_scale, limit_bar
from ..charts.seconds import COLUMNS, MOST_STEPS, Seconds, seconds_charts
from ..estimates import estimate_section
from ..facts import ShownFact, grouped_facts
from ..figures import (
    fidelity_of,
    figure_titles,
    figures_of,
    shown_figures,
    shown_loads,
    shown_series,
    step_cell,
)
from ..folding import shorten
from ..model import Host
from ..reproduce import reproduction
from ..series import Figures, LimitEntry, judges_text, series_of
from .parts import anchor_of

SETTINGS = "Options that differ between hosts"
SHOWN_ROWS = 400
"""The maximum number of rows in a host's table of figures. If there are more, only rows of all queue managers and rows
that do not pass are shown."""

_MOST_CHANGE = 1e6


@dataclass(frozen=True)
class Detail:
    """How much is drawn of a host: the number of charts of its seconds and of the columns of each, and whether all
    other charts are drawn."""

    steps: int = MOST_STEPS
    columns: int = COLUMNS[0]
    is_full: bool = True


def host_section(
    host: Host,
    alone: bool,
    parameters: Mapping[str, Any],
    defaults: Mapping[str, Any],
    detail: Detail = Detail(),
) -> dict[str, Any]:
    """Return a host under the names that page/host.html.j2 uses. ``alone`` says whether this is the only host.
    ``parameters`` are the parameters of the run. ``defaults`` are the defaults of the options that a command
    repeats."""
    more = f" (and {len(host.reasons) - 1} more)" if len(host.reasons) > 1 else ""
    repeated = host.rows and not host.of_kind.is_live
    return {
        "of": host,
        "anchor": anchor_of(host.host, host.volume),
        "alone": alone,
        "summary": host.reasons[0] + more if host.reasons else "",
        "drift": _drift(host),
        "previous": list(_previous(host)),
        "of_its_kind": host.of_kind.view.section(host),
        "capacity_chart": capacity_chart(host) if host.intervals else "",
        "latency_charts": _latency_charts(host, detail.is_full),
        "initial_write": _initial_write(host),
        "charts": seconds_charts(_seconds(host), host.words, detail.columns, detail.steps),
        "figure_titles": figure_titles(host),
        "figures": _figures(host),
        "fidelity": fidelity_of(host),
        "estimates": estimate_section(host, detail.is_full),
        "limits": list(map(partial(_limit, host), host.limits)),
        "checked_settings": [(each, result_of(each)) for each in worst_settings(host.checked_settings)],
        "facts": _facts(host),
        "reproduction": reproduction(host.host, host.workspace, host.options, parameters, defaults)
        if repeated
        else None,
    }


def _figures(host: Host) -> list[dict[str, Any]]:
    """Return the rows of the table of figures; the row of a single queue manager is left out, because it is the same as
    the `all` row."""
    shown = shown_figures(host)
    shared = {_stream_of(figures) for dummy, figures in host.results() if figures["worker"] == 2}
    return [
        {
            "step": step_cell(host, figures),
            "who": _who(host, row.worker_name, figures["load_point"], _stream_of(figures) in shared),
            "texts": figures_of(figures, shown),
            "verdict": row.verdict,
        }
        for row, figures in host.results()
        if figures["worker"] == "all" or (_stream_of(figures) in shared and _is_shown(host, row.verdict))
    ]


def _stream_of(figures: Figures) -> tuple[Any, ...]:
    """Return what the workers of a step share."""
    return figures["step"], figures["stream"], figures["operation"]


def _is_shown(host: Host, verdict: str) -> bool:
    """Return whether the row of one of several workers is shown."""
    return verdict not in (PASS, "") or (not host.words.layout.wide and len(host.rows) <= SHOWN_ROWS)


def _who(host: Host, name: str, load: int, is_shared: bool) -> str:
    if host.words.layout.over_load:
        text = host.words.load_text(load)
        return text if name == "all" or not is_shared else f"worker {name} of {text}"
    if not host.words.load_is_workers:
        return f"{name}, {host.words.load_text(load)}"
    return f"all {load}" if name == "all" and is_shared else name


def _limit(host: Host, limit: LimitEntry) -> dict[str, Any]:
    """Return a row of the table of limits."""
    return {
        "text": limit["limit"],
        "rows": judges_text(host.words, limit["rows"], str(limit["metric"]), bool(limit["hard"])),
        "verdict": limit["verdict"],
        "sentence": limit["worst"]["reason"],
        "bar": limit_bar(limit) if host.intervals else "",
        "share": f"{limit['rows_not_passed']} of {limit['rows_judged']}" if limit["rows_judged"] else "none judged",
    }


def _drift(host: Host) -> dict[str, Any]:
    """Return the result of comparing the host with its earlier certificates, and its picture if the change is known;
    empty if no comparison was requested."""
    said = host.comparison
    if not said:
        return {}
    change, bound, margin = (_number(said.get(key)) for key in ("change", "bound", "margin"))
    drawn: dict[str, Any] = {
        "reason": said.get("reason") or "",
        "figure": figure_text(str(said.get("figure") or "")),
        "rows": list(_side_by_side(said)),
        "picture": "",
    }
    if change is not None and bound is not None and margin is not None:
        # On the logarithmic scale, the two bounds have the same distance from the change.
        lower = (1 + change) ** 2 / (1 + bound) - 1
        axis = ChangeAxis.around((lower, change, bound), margin)
        drawn["scale"] = change_scale(axis)
        drawn["picture"] = change_picture(axis, change, lower, bound, str(said.get("outcome")))
    return drawn


def _initial_write(host: Host) -> str:
    """Return a sentence about the cost of formatting the test files; empty if unknown."""
    if not host.initial_write:
        return ""
    rate, slowest_ns = host.initial_write
    return (
        f"The test files were formatted at {format_rate(rate)}, and the slowest of these writes took "
        f"{format_duration(slowest_ns)}. Formatting is the first write to the storage, and is not included "
        "in any latency here."
    )


def _latency_charts(host: Host, is_full: bool) -> list[Markup]:
    """Return charts of the measured figures over block sizes or loads, and percentiles, for hosts whose tables were
    read. The workers of a stream are not compared."""
    if not host.intervals:
        return []
    distributions = distribution_charts(host, is_full)
    if host.words.layout.over_load:
        return [*load_charts(host), *distributions, *first_pass_charts(host)]
    over_load = load_chart(host, "latency_p99")
    return [
        *latency_charts(host),
        *distributions,
        *worker_charts(host),
        *([over_load] if over_load else []),
        *first_pass_charts(host),
    ]


def _seconds(host: Host) -> Seconds:
    """Return what the charts of the seconds show."""
    plateaus = [finding for finding in host.findings if finding["kind"] == PLATEAU]
    return Seconds(_charted_seconds(host), host.stalls, host.slow_counts, plateaus)


def _charted_seconds(host: Host) -> Sequence[Mapping[str, Any]]:
    """Return the seconds that have charts: if a workload has many streams and loads, only some of the seconds."""
    if not host.words.layout.by_stream:
        return host.intervals
    loads = shown_loads(host, (row["load_point"] for row in host.intervals))
    found = filter(None, (series_of(host.words, row) for row in host.intervals))
    shown = {series.key for series in shown_series(host, found)}
    return [row for row in host.intervals if row["load_point"] in loads and (row["stream"], row["operation"]) in shown]


def _facts(host: Host) -> list[tuple[str, list[ShownFact]]]:
    """Return facts, workspace, how the tester ended, and the options that are not the same for all hosts, by group."""
    settings = [ShownFact(name, shorten(str(value))) for name, value in host.settings.items()]
    return [
        *grouped_facts(host.facts, host.workspace, host.tester),
        *([(SETTINGS, settings)] if settings else []),
    ]


def _side_by_side(said: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of a comparison with their figures before and after, and the change for the worse. Runs of earlier
    versions have no such rows."""
    rates = str(said.get("figure")).endswith("_per_s")
    write = format_rate if rates else format_duration
    for row in compared_rows(said):
        worse = (row["before"] / row["after"] if rates else row["after"] / row["before"]) - 1
        yield row_text(row), write(row["before"]), write(row["after"]), percent(worse)


_COMPARED_FIGURES = ("latency_p50_ns", "latency_p99_ns", "latency_max_ns")
_ROW = ("block_size_bytes", "load_point", "stream", "operation")
_FIGURE = Within(1, 1 << 64)


def _previous(host: Host) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the rows that this run and the previous run of the volume have in common: the name of the row, and its p50,
    p99 and maximum before and now; empty texts are not known."""
    before = {tuple(str(row.get(key)) for key in _ROW): row for row in dicts_in(host.previous.get("rows"))}
    for dummy, figures in host.results():
        earlier = before.get(tuple(str(figures[key]) for key in _ROW))
        if earlier and figures["worker"] == ALL_WORKERS:
            sides = [[each.get(name) for name in _COMPARED_FIGURES] for each in (earlier, figures)]
            texts = [[format_duration(value) if fits(value, _FIGURE) else UNKNOWN for value in side] for side in sides]
            yield row_text(figures), list(zip(*texts, strict=True))


def raw_files(run_path: str, folder: str) -> list[tuple[str, str]]:
    """Return the stored files of a record, sorted by name: the name of each, and its address relative to the page."""
    if not folder:
        return []
    try:
        with os.scandir(os.path.join(run_path, folder)) as entries:
            names = sorted(each.name for each in entries if each.is_file(follow_symlinks=False))
    except OSError:
        return []
    return [(printable(name), quote(f"{folder}/{name}")) for name in names if not name.startswith(".")]


def _number(value: Any) -> float | None:
    """Return a relative change, or None if it cannot be drawn."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and -1 < value < _MOST_CHANGE
    return float(value) if usable else None
