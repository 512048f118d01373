# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows a comparison: on a screen, in at most about 40 lines for any fleet, and as a self-contained page with an
interval for each host and class on one axis. comparison.json contains everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_ratio
from ..._english.phrases import plural
from ..changes import (
    Lines,
    change_text,
    fact_text,
    figure_text,
    interval,
    moments_text,
    percent,
    row_text,
    screen_text,
)
from ..charts.rows import ChangeAxis, change_picture, change_scale
from ..folding import brief, common_domain, without_domain
from ..page.parts import LONG_TEXT, NAME, NUMBER, PICTURE, TEXT, Column, filled
from ..template import render_page
from .status_section import LONGEST
from .why import why_compared

SHOWN_RUNS = 3
SHOWN_REASONS = 30
SHOWN_LEFT_OUT = 200
SHOWN_CHANGES = 100
DRAWN_VOLUMES = 12
"""The largest number of volumes in the picture at the top of the page."""
CLASSES = {"worse": "fail", "inconclusive": "inconclusive", "non-inferior": "pass"}
MARKS = {"worse": "\u2717", "inconclusive": "?", "non-inferior": "\u2713"}
SIDES = ("before", "after")

Item = Mapping[str, Any]


def comparison_text(comparison: Item, statement: str, page: str) -> str:
    """Return the lines that the playbook prints."""
    by_outcome = _by_outcome(comparison)
    worse = by_outcome["worse"]
    margin, confidence = (format_ratio(comparison[key]) for key in ("margin", "confidence"))
    figure = f"{figure_text(comparison['figure'])}, margin {margin}, confidence {confidence}"
    write = moments_text(run["judged_at"] for side in SIDES for run in comparison[side]["runs"])
    groups = [
        Lines("figure", [figure], 1, 3),
        *(Lines(side, [_runs(comparison[side], write)]) for side in SIDES),
        Lines("worse", worse, 5, 4 if len(worse) < 3 else 2, _worse, "more became worse"),
        Lines("inconclusive", _by_reason(by_outcome["inconclusive"]), 3, 3, more="more reasons"),
        Lines("class", comparison["classes"], 3, 2, _class_text, "more classes"),
        Lines("changed", comparison["changes"], 3, 2, _changed_text, "more changes"),
        Lines("left out", _reasons(comparison), 2, 2, _reason_text, "more reasons"),
    ]
    return screen_text(f"{comparison['outcome'].upper()}: {statement}", groups, page)


def _by_outcome(comparison: Item) -> dict[str, list[Item]]:
    """Return the volumes by their outcome."""
    return {name: [host for host in comparison["hosts"] if host["outcome"] == name] for name in CLASSES}


def _reasons(comparison: Item) -> list[tuple[str, int]]:
    """Return why certificates were left out, the most frequent reason first, each with its number of certificates."""
    return Counter(each["reason"] for each in comparison["left_out"]).most_common()


def _reason_text(reason: tuple[str, int]) -> str:
    return f"{plural(reason[1], 'certificate')}: {reason[0]}"


def _class_text(part: Item) -> str:
    return f"{part['class']} ({plural(part['hosts'], 'volume')}): {class_sentence(part)}"


def _changed_text(change: Item) -> str:
    return f"{change_text(change)} on {plural(change['hosts'], 'volume')}"


def class_sentence(part: Item) -> str:
    """Return the result for a class as a whole in one sentence."""
    if not part["hold_against_class"]:
        alone = "fewer than 8 volumes were in every run, so each one is compared with its own runs"
        return alone + _assumption_text(part["assumption"])
    worse = f"{part['worse_hosts']} worse; " if part["worse_hosts"] else ""
    others = "the others" if worse else "all" if part["moved_together"] or part["worse_together"] else "they"
    if part["lower_bound"] is None:
        return f"{worse}too few other volumes for a result"
    bounds = f"{percent(part['change'])} ({interval(part['lower_bound'], part['upper_bound'])})"
    if part["worse_together"]:
        return (
            f"{worse}{others} became worse together, {bounds}. Only runs in turn (before, after, before, ...) "
            "tell the change from the night"
        )
    moved = "moved together" if part["moved_together"] else "did not move together"
    return f"{worse}{others} {moved}, {bounds}" + ("" if part["outcome"] != "inconclusive" else ", inconclusive")


def _assumption_text(assumption: Mapping[str, float] | None) -> str:
    if assumption is None:
        return ""
    return (
        f"; assumes that successive runs have a correlation of {assumption['correlation']:.1f}; they were made within "
        f"{max(1, round(assumption['hours']))} h"
    )


def host_sentence(host: Item) -> str:
    """Return why a host is inconclusive, and what would decide it; "" if it is decided."""
    if host["outcome"] != "inconclusive" or host["reason"]:
        return host["reason"]
    if host["runs_needed"]:
        only_after = f", or {host['after_needed']} after alone," if host["after_needed"] else ""
        return f"{host['runs_needed']} runs on either side{only_after} should decide it"
    return "its change is too close to the margin: more runs will not decide it"


def _worse(host: Item) -> str:
    row = host["worst_row"]
    text = f"{host['host']}: {percent(host['change'])} ({interval(host['lower_bound'], host['upper_bound'])})"
    text += f", {percent(host['beyond_class'])} beyond its class, worst at {row_text(row)} ({percent(row['change'])})"
    return text + (f"; changed: {', '.join(map(change_text, host['changes']))}" if host["changes"] else "")


def _by_reason(hosts: Sequence[Item]) -> list[str]:
    """Return each reason once, with its hosts. For a class that was measured only once, one sentence is enough."""
    by_reason: dict[str, list[str]] = {}
    for host in hosts:
        known = "" if host["change"] is None else f"{host['host']} {percent(host['change'])}"
        by_reason.setdefault(host_sentence(host), []).append(known or host["host"])
    ordered = sorted(by_reason.items(), key=lambda each: -len(each[1]))
    return [
        f"{reason}: {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        for reason, names in ordered
    ]


def _runs(side: Item, write: Callable[[str], str]) -> str:
    runs = side["runs"]
    if not runs:
        return f"none of these hosts ({', '.join(side['selected'])})"
    days = [write(instant) for instant in sorted({runs[0]["judged_at"], runs[-1]["judged_at"]})]
    names = ", ".join(run["run_id"] for run in runs[:SHOWN_RUNS]) + (", ..." if len(runs) > SHOWN_RUNS else "")
    return f"{plural(len(runs), 'run')}, {' to '.join(days)}: {names}"


def render_comparison(
    comparison: Item, statement: str, versions: Sequence[str] = (), links: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the page's text piece by piece. ``versions`` are those of the software that made the page. ``links`` are
    the names and addresses of other pages."""
    both = [*comparison["classes"], *comparison["hosts"]]
    bounds = [each[key] for each in both for key in ("change", "lower_bound", "upper_bound")]
    axis = ChangeAxis.around(bounds, comparison["margin"])
    domain = common_domain(host["host"] for host in comparison["hosts"])
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
        counts=[(outcome, len(hosts)) for outcome, hosts in _by_outcome(comparison).items()],
        domain=domain[1:],
        classes=CLASSES,
        why=list(why_compared(comparison, host_sentence))[:SHOWN_REASONS],
        scale=change_scale(axis),
        drawn=[
            (brief(without_domain(host["host"], domain), LONGEST), _picture(axis, host), _change(host))
            for host in comparison["hosts"]
            if host["upper_bound"] is not None
        ][:DRAWN_VOLUMES],
        badge=_badge,
        brief=brief,
        marks=MARKS,
        groups=filled(_class_columns(axis), comparison["classes"], lambda part: part["outcome"]),
        hosts=filled(_host_columns(axis, domain), comparison["hosts"], lambda host: host["outcome"]),
        changes=[
            (each["name"], *(fact_text(each["name"], each[side]) for side in ("before", "after")), each["hosts"])
            for each in comparison["changes"]
        ][:SHOWN_CHANGES],
        left_out=comparison["left_out"][:SHOWN_LEFT_OUT],
        reasons=_reasons(comparison),
    )


def _class_columns(axis: ChangeAxis) -> list[Column[Item]]:
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


def _host_columns(axis: ChangeAxis, domain: str) -> list[Column[Item]]:
    return [
        Column("Host", NAME, lambda host: without_domain(host["host"], domain)),
        Column("Change", NUMBER, _change, _interval),
        Column(change_scale(axis), PICTURE, lambda host: _picture(axis, host)),
        Column("Outcome", TEXT, lambda host: _badge(host["outcome"])),
        Column("Beyond its class", NUMBER, _beyond, _worst_row),
        Column("Runs", NUMBER, _run_counts, _smallest),
        Column("Remarks", LONG_TEXT, _remarks),
    ]


def _badge(outcome: str) -> Markup:
    return Markup('<span class="badge v-{}">{} {}</span>').format(CLASSES[outcome], MARKS[outcome], outcome)


def _change(host: Item) -> str:
    return "" if host["change"] is None else f"{MARKS[host['outcome']]} {percent(host['change'])}"


def _interval(host: Item) -> str:
    return "" if host["upper_bound"] is None else interval(host["lower_bound"], host["upper_bound"])


def _beyond(host: Item) -> str:
    """Return the change of a volume beyond the change of its class; nothing if the class has no change."""
    return "" if host["beyond_class"] in (None, host["change"]) else percent(host["beyond_class"])


def _worst_row(host: Item) -> str:
    row = host["worst_row"]
    return f"{row_text(row)}: {percent(row['change'])}" if row and _beyond(host) else ""


def _run_counts(host: Item) -> str:
    earlier = f" and {host['earlier_runs']} earlier" if host["earlier_runs"] else ""
    return f"{host['runs_before']} + {host['runs_after']}{earlier}"


def _smallest(host: Item) -> str:
    return "" if host["smallest_named"] is None else f"detects {percent(host['smallest_named'])}"


def _remarks(host: Item) -> Markup:
    changes = (Markup('<span class="second">{}</span>').format(change_text(each, "\u2192")) for each in host["changes"])
    row = host["worst_row"] if not _beyond(host) else None
    most = (
        [Markup('<span class="second">most at {}: {}</span>').format(row_text(row), percent(row["change"]))]
        if row
        else []
    )
    return Markup("").join([host_sentence(host), *most, *changes])


def _picture(axis: ChangeAxis, each: Item) -> Any:
    return change_picture(axis, each["change"], each["lower_bound"], each["upper_bound"], each["outcome"])
