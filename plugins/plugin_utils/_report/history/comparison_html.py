# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows a comparison as a self-contained page: an interval for each host and class on one axis, and other changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_ratio
from ..changes import change_text, fact_text, figure_text, interval, percent, row_text
from ..charts.rows import ChangeAxis, change_picture, change_scale
from ..page.parts import LONG_TEXT, NAME, NUMBER, PICTURE, TEXT, Column, filled
from ..template import render_page
from .comparison_txt import class_sentence, host_sentence

SHOWN_LEFT_OUT = 200
SHOWN_CHANGES = 100
CLASSES = {"worse": "fail", "inconclusive": "inconclusive", "non-inferior": "pass"}
MARKS = {"worse": "\u2717", "inconclusive": "?", "non-inferior": "\u2713"}


def render_comparison(
    comparison: Mapping[str, Any], statement: str, versions: Sequence[str] = (), links: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the page's text piece by piece. ``versions`` are those of the software that made the page. ``links`` are
    the names and addresses of other pages."""
    bounds = [
        each[key]
        for part in ("classes", "hosts")
        for each in comparison[part]
        for key in ("change", "lower_bound", "upper_bound")
    ]
    axis = ChangeAxis.around(bounds, comparison["margin"])
    counts = Counter(host["outcome"] for host in comparison["hosts"])
    return render_page(
        "comparison.html.j2",
        styles=["host.css", "comparison.css"],
        footer=f"Comparison of {comparison['created_at']}",
        comparison=comparison,
        versions=versions,
        links=links,
        statement=statement,
        figure=figure_text(comparison["figure"]),
        margin=format_ratio(comparison["margin"]),
        counts=[(outcome, counts[outcome]) for outcome in CLASSES],
        classes=CLASSES,
        marks=MARKS,
        groups=filled(_class_columns(axis), comparison["classes"], lambda part: part["outcome"]),
        hosts=filled(_host_columns(axis), comparison["hosts"], lambda host: host["outcome"]),
        changes=[
            (each["name"], *(fact_text(each["name"], each[side]) for side in ("before", "after")), each["hosts"])
            for each in comparison["changes"]
        ][:SHOWN_CHANGES],
        left_out=comparison["left_out"][:SHOWN_LEFT_OUT],
        reasons=Counter(each["reason"] for each in comparison["left_out"]).most_common(),
    )


def _class_columns(axis: ChangeAxis) -> list[Column[Mapping[str, Any]]]:
    return [
        Column("Class", NAME, lambda part: part["class"]),
        Column("Outcome", TEXT, lambda part: _badge(part["outcome"])),
        Column("Volumes", NUMBER, lambda part: part["hosts"]),
        Column("Runs", NUMBER, lambda part: f"{part['runs_before']} + {part['runs_after']}"),
        Column(
            change_scale(axis),
            PICTURE,
            lambda part: _picture(axis, part) if part["hold_against_class"] else "",
        ),
        Column("The class as a whole", LONG_TEXT, class_sentence),
    ]


def _host_columns(axis: ChangeAxis) -> list[Column[Mapping[str, Any]]]:
    return [
        Column("Host", NAME, lambda host: host["host"]),
        Column("Change", NUMBER, _change, _interval),
        Column(change_scale(axis), PICTURE, lambda host: _picture(axis, host)),
        Column("Outcome", TEXT, lambda host: _badge(host["outcome"])),
        Column("Beyond its class", NUMBER, _beyond, _worst_row),
        Column("Runs", NUMBER, _runs, _smallest),
        Column("Remarks", LONG_TEXT, _remarks),
    ]


def _badge(outcome: str) -> Markup:
    return Markup('<span class="badge v-{}">{} {}</span>').format(CLASSES[outcome], MARKS[outcome], outcome)


def _change(host: Mapping[str, Any]) -> str:
    return "" if host["change"] is None else f"{MARKS[host['outcome']]} {percent(host['change'])}"


def _interval(host: Mapping[str, Any]) -> str:
    return "" if host["upper_bound"] is None else interval(host["lower_bound"], host["upper_bound"])


def _beyond(host: Mapping[str, Any]) -> str:
    """Return the change of a volume beyond the change of its class; nothing if the class has no change."""
    return "" if host["beyond_class"] in (None, host["change"]) else percent(host["beyond_class"])


def _worst_row(host: Mapping[str, Any]) -> str:
    row = host["worst_row"]
    return f"{row_text(row)}: {percent(row['change'])}" if row and _beyond(host) else ""


def _runs(host: Mapping[str, Any]) -> str:
    earlier = f" and {host['earlier_runs']} earlier" if host["earlier_runs"] else ""
    return f"{host['runs_before']} + {host['runs_after']}{earlier}"


def _smallest(host: Mapping[str, Any]) -> str:
    return "" if host["smallest_named"] is None else f"detects {percent(host['smallest_named'])}"


def _remarks(host: Mapping[str, Any]) -> Markup:
    changes = (Markup('<span class="second">{}</span>').format(change_text(each, "\u2192")) for each in host["changes"])
    row = host["worst_row"] if not _beyond(host) else None
    most = (
        [Markup('<span class="second">most at {}: {}</span>').format(row_text(row), percent(row["change"]))]
        if row
        else []
    )
    return Markup("").join([host_sentence(host), *most, *changes])


def _picture(axis: ChangeAxis, each: Mapping[str, Any]) -> Any:
    return change_picture(axis, each["change"], each["lower_bound"], each["upper_bound"], each["outcome"])
