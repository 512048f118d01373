# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the page about the fleet: the strips, the classes of similar volumes, and the matrix of hosts and block
sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ....module_utils._units import format_count, format_duration, format_number
from ..._numerics.likeness import FEWEST_ALIKE, likeness
from ..._run.columns import ALL_WORKERS, Step
from ..._run.verdicts import FAIL, PASS, WARN
from ..causes.cause import is_without_usable_figures
from ..charts.fleet import Mark, Strip, limit_use_chart
from ..figures import Cell, cells
from ..folding import brief
from ..headroom import share_text, used_limits
from ..model import Host, Model
from ..series import SeriesKey, stream_text
from .parts import Filter, distinguishing, numbers_of

LEVELS = (
    ("half", "meets its limits and uses at most half of each"),
    ("most", "meets its limits and uses 50 to 80 %"),
    ("near", "meets its limits and uses more than 80 %"),
    ("warn", "breaks a limit that only warns or is waived"),
    ("unsure", "not decided"),
    ("broken", "breaks a limit"),
)
"""The levels of the cells of the matrix, by their distance from the limits, with a text for each."""

_ALIKE_MARGIN = 0.1
"""How much volumes of a class may differ without being named."""
_NAMED = 5
_LATENCY, _RESPONSE = "latency", "response"


def filters_of(hosts: Sequence[Host]) -> list[Filter[Host]]:
    """Return the filters that distinguish hosts."""
    return [
        *distinguishing("class", "Class", hosts, attrgetter("volume_class")),
        *distinguishing("volume", "Volume", hosts, attrgetter("volume")),
    ]


def fleet_row(host: Host, number: int | None, steps: Sequence[Step], filters: Sequence[Filter[Host]]) -> dict[str, Any]:
    """Return a host as a row of the matrix.

    ``number`` is the number of its section on the page, or None if it has none. In the row, ``filters`` are the
    criteria by which the page can filter, as names and numbers of values, and ``cells`` are the figures in the order of
    the matrix's columns, with None if nothing was measured. ``certified`` is the end of the certificate, or whether
    there is one; it is empty if a record of this kind cannot certify.
    """
    known = cells(host)
    certified = (host.valid_until or "yes") if host.certified else "no"
    return {
        "of": host,
        "number": number,
        "filters": numbers_of(host, filters),
        "certified": "" if host.of_kind.data_key else certified,
        "comparison": _comparison(host.comparison),
        "cells": [known.get(step) for step in steps],
    }


def _comparison(found: Mapping[str, Any]) -> str:
    """Briefly describe the result of the comparison with the baseline."""
    outcome, change = found.get("outcome"), found.get("change")
    if not outcome:
        return "not compared"
    return f"{outcome} ({change:+.0%})" if isinstance(change, (int, float)) else str(outcome)


def level(cell: Cell) -> str:
    """Return how far a cell is from its limits: the first word of one of LEVELS, or "none" if no limit judges it."""
    if cell.verdict != PASS:
        return {FAIL: "broken", WARN: "warn", "": "none"}.get(cell.verdict, "unsure")
    used = cell.used or 0
    return "half" if used <= 0.5 else "most" if used <= 0.8 else "near"


def limit_use_of(model: Model) -> dict[str, Any] | None:
    """Return the picture of the fleet on the first screen, with a mark for each host, under the names that
    page/header.html.j2 uses; None if there is a single host or if no host has a figure.

    ``marks``: the CSS class of each kind of marks, and what it means. ``worst``: the worst hosts with their numbers and
    the shares of a limit that they use; ``more_over`` more hosts break a limit. ``without_figure``: hosts without a
    mark, with their numbers and verdicts, and ``more_without`` more.
    """
    found = [
        (number, host, used[0][0])
        for number, host in enumerate(model.hosts, 1)
        if (used := used_limits(host)) and not is_without_usable_figures(host)
    ]
    if len(model.hosts) < 2 or not found:
        return None
    found.sort(key=lambda each: -each[2])
    over = sum(share > 1 for number, host, share in found)
    shown = found[: max(1, min(_NAMED, over))]
    worst = [(model.shown_name(host), number, share_text(share)) for number, host, share in shown]
    known = {number for number, host, share in found}
    without = [(number, host) for number, host in enumerate(model.hosts, 1) if number not in known]
    unnamed = max(0, len(without) - _NAMED)
    named = [(model.shown_name(host), number, host.verdict) for number, host in without[:_NAMED]]
    label = (
        f"{format_count(len(found))} hosts by the share that they use of the limit to which they come closest: "
        f"{format_count(over)} of them use more than the limit; the most is {share_text(found[0][2])}"
    )
    uses = [(host.verdict, share) for number, host, share in found]
    apart = [host.verdict for number, host in without]
    label += f"; {format_count(len(without))} have no usable figure" if without else ""
    return {
        "picture": limit_use_chart(uses, label, apart),
        "marks": _mark_keys({*(verdict for verdict, _share in uses), *({FAIL} & {*apart})}),
        "worst": worst,
        "more_over": max(0, over - len(shown)),
        "without_figure": named,
        "more_without": unnamed,
    }


def _mark_keys(verdicts: set[str]) -> list[tuple[str, str]]:
    others = " or ".join(sorted(verdicts - {PASS, FAIL}))
    keys = [("passes", "passes" if PASS in verdicts else ""), ("fails", "fails" if FAIL in verdicts else "")]
    return [(key, words) for key, words in [*keys, ("neither", others)] if words]


def strips_of(model: Model, steps: Sequence[Step], titles: Sequence[str]) -> list[Strip]:
    """Return a strip for each load point and block size, with every host that measured it; for streams, a strip for
    each stream that a limit judges."""
    if model.words.layout.by_stream:
        return _strips_by_stream(model, steps, titles)
    marks: dict[Step, list[Mark]] = {step: [] for step in steps}
    for host in model.hosts:
        for step, cell in cells(host).items():
            if step in marks:
                marks[step].append(Mark(model.shown_name(host), cell.p99_ns, cell.mean_ns, cell.verdict == FAIL))
    return [
        Strip(title, marks[step], _tightest(model, "latency_p99", step), _tightest(model, "latency_mean", step))
        for step, title in zip(steps, titles, strict=True)
    ]


def _strips_by_stream(model: Model, steps: Sequence[Step], titles: Sequence[str]) -> list[Strip]:
    """Return the strips of those streams and operations that limits judge; a strip shows the response if only the
    response is judged."""
    shown = _judged_streams(model.hosts) or {(ALL_WORKERS, ALL_WORKERS): _LATENCY}
    marks: dict[tuple[int, SeriesKey], list[Mark]] = {}
    for host in model.hosts:
        for row, figures in host.results():
            key = figures["stream"], figures["operation"]
            if key in shown and figures["worker"] == ALL_WORKERS:
                p99_ns, mean_ns = (figures.get(f"{shown[key]}_{figure}_ns") for figure in ("p99", "mean"))
                marks.setdefault((figures["load_point"], key), []).append(
                    Mark(model.shown_name(host), p99_ns, mean_ns, row.verdict == FAIL)
                )
    return [
        Strip(
            title,
            marks[step[0], key],
            *(_tightest(model, f"{kind}_{figure}", step, key) for figure in ("p99", "mean")),
            subtitle=stream_text(*key),
            figures=kind if kind == _RESPONSE else "",
        )
        for step, title in zip(steps, titles, strict=True)
        for key, kind in shown.items()
        if (step[0], key) in marks
    ]


def _judged_streams(hosts: Iterable[Host]) -> dict[SeriesKey, str]:
    """Return the streams and operations that limits on durations judge and, for each, whether to show its latency or
    its response."""
    kinds: dict[SeriesKey, set[str]] = {}
    for host in hosts:
        for limit, span in host.duration_limits():
            for key in span.series:
                kinds.setdefault(key, set()).add(str(limit["metric"]).partition("_")[0])
    order = dict.fromkeys(
        (figures["stream"], figures["operation"]) for host in hosts for dummy, figures in host.results()
    )
    return {key: _RESPONSE if kinds[key] == {_RESPONSE} else _LATENCY for key in order if key in kinds}


def _tightest(model: Model, metric: str, step: Step, key: SeriesKey | None = None) -> float | None:
    stream, operation, step_size = model.words.layout.of_step
    stream, operation = key or (stream, operation)
    row = {
        "worker": "all",
        "load_point": step[0],
        "block_size_bytes": step[1],
        "stream": stream,
        "operation": operation,
    }
    return min(
        (
            limit.value
            for dummy, limit in model.criteria
            if limit.metric.name == metric and limit.applies_to(row, step_size)
        ),
        default=None,
    )


def classes_of(hosts: Sequence[Host]) -> list[dict[str, Any]]:
    """Return the classes of similar volumes that were measured, the largest first: the number of volumes, the median of
    their mean latencies over the block sizes, the range, and which volumes differ from the median and by how much."""
    members: dict[str, dict[str, dict[Any, float]]] = {}
    for host in hosts:
        means = {step: cell.mean_ns for step, cell in cells(host).items() if cell.mean_ns}
        if means and host.volume_class:
            members.setdefault(host.volume_class, {})[host.label] = means
    found = [_class(name, volumes) for name, volumes in members.items()]
    return sorted((each for each in found if each), key=lambda each: (-each["count"], each["name"]))


def _class(name: str, volumes: dict[str, dict[Any, float]]) -> dict[str, Any] | None:
    common = set.intersection(*(set(means) for means in volumes.values()))
    if not common:
        return None
    alike = likeness(
        {label: [means[step] for step in sorted(common)] for label, means in volumes.items()}, margin=_ALIKE_MARGIN
    )
    departing = sorted(alike.conspicuous.items(), key=lambda item: -item[1])
    named = [f"{brief(label)} ({_departure(share)})" for label, share in departing[:_NAMED]]
    named += [f"and {format_count(len(departing) - _NAMED)} more"] if len(departing) > _NAMED else []
    return {
        "name": name,
        "count": len(volumes),
        **{key: format_duration(getattr(alike, key)) for key in ("middle", "lowest", "highest")},
        "departing": named,
        "too_few": len(volumes) < FEWEST_ALIKE,
    }


def _departure(share: float) -> str:
    if share >= 2:
        return f"{format_number(1 + share, 2)} times the median"
    return f"{abs(share) * 100:.0f} % {'slower' if share > 0 else 'faster'}"
