# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The section of a host on the page, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_rate
from ..._run.verdicts import PASS
from ..changes import compared_rows, figure_text, percent, row_text
from ..charts.distribution import distribution_charts
from ..charts.dots import first_pass_charts, worker_charts
from ..charts.latency import capacity_chart, latency_charts, load_chart, load_charts
from ..charts.rows import ChangeAxis, change_picture, change_scale, limit_bar
from ..charts.seconds import seconds_charts
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

SETTINGS = "Options that differ between hosts"
SHOWN_ROWS = 400
"""The maximum number of rows in a host's table of figures. If there are more, only rows of all queue managers and rows
that do not pass are shown."""

_MOST_CHANGE = 1e6


def host_section(
    host: Host, number: int, alone: bool, parameters: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a host under the names that page/host.html.j2 uses. ``number`` is the position of the host on the page,
    from 1, and ``alone`` says whether this is the only host. ``parameters`` are the parameters of the run. ``defaults``
    are the defaults of the options that a command repeats."""
    more = f" (and {len(host.reasons) - 1} more)" if len(host.reasons) > 1 else ""
    repeated = host.rows and not host.of_kind.is_live
    return {
        "of": host,
        "number": number,
        "alone": alone,
        "summary": host.reasons[0] + more if host.reasons else "",
        "drift": _drift(host),
        "of_its_kind": host.of_kind.view.section(host),
        "capacity_chart": capacity_chart(host) if host.intervals else "",
        "latency_charts": _latency_charts(host),
        "initial_write": _initial_write(host),
        "charts": seconds_charts(_charted_seconds(host), host.words, host.stalls),
        "figure_titles": figure_titles(host),
        "figures": _figures(host),
        "fidelity": fidelity_of(host),
        "estimates": estimate_section(host),
        "limits": list(map(partial(_limit, host), host.limits)),
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


def _latency_charts(host: Host) -> list[Markup]:
    """Return charts of the measured figures over block sizes or loads, and percentiles, for hosts whose tables were
    read. The workers of a stream are not compared."""
    if not host.intervals:
        return []
    if host.words.layout.over_load:
        return [*load_charts(host), *distribution_charts(host), *first_pass_charts(host)]
    over_load = load_chart(host, "latency_p99")
    return [
        *latency_charts(host),
        *distribution_charts(host),
        *worker_charts(host),
        *([over_load] if over_load else []),
        *first_pass_charts(host),
    ]


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


def _number(value: Any) -> float | None:
    """Return a relative change, or None if it cannot be drawn."""
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and -1 < value < _MOST_CHANGE
    return float(value) if usable else None
