# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the drift of a fleet: on a screen, in at most about 40 lines for any fleet, and as a self-contained page with a
chart for each volume, worst first. drift.json contains everything."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number, format_ratio
from ..._english.phrases import plural
from ..._run.record import host_label
from ..changes import Lines, change_text, figure_text, moments_text, percent, row_text, screen_text
from ..charts.drift import IMPORTED_MARK, MARKS, OTHER_MARK, chart, legend
from ..folding import brief, common_domain, without_domain
from ..page.parts import LONG_TEXT, NAME, NUMBER, TEXT, Column, filled
from ..template import render_page
from .why import why_drifting

DRAWN_VOLUMES = 1000
"""The largest number of volumes with a chart, worst first; the others are in drift.json."""
OPEN_VOLUMES = 10
CLASSES = {"drifting": "fail", "conspicuous": "warn", "changed": "inconclusive", "steady": "pass", "short": "none"}
LEVELS = {"drift": "fail", "no drift": "pass", "unknown": "inconclusive"}
OUTCOME_SIGNS = {"drift": "\u2717", "no drift": "\u2713", "unknown": "?"}
SIGNS = {"drifting": "\u2717", "conspicuous": "!", "changed": "\u2192", "steady": "\u2713", "short": "\u2013"}
STATES = {
    "drifting": "the newest two certificates are beyond the control limit",
    "conspicuous": "the newest certificate is beyond the control limit",
    "changed": "the figures changed at some time",
    "steady": "nothing changed",
    "short": "there are too few certificates",
}
"""The states of a volume, worst first, and their meanings."""

Item = Mapping[str, Any]


def drift_outcome(drift: Item) -> str:
    """Return the drift of a fleet in one or two words; unknown if no volume has enough certificates."""
    if drift["states"]["drifting"] or gating_nights(drift) or declines_of(drift):
        return "drift"
    return "unknown" if drift["states"]["short"] == len(drift["volumes"]) else "no drift"


def drift_statement(drift: Item) -> str:
    """Return the drift of a fleet as one sentence."""
    counts, volumes = drift["states"], plural(total := len(drift["volumes"]), "volume")
    drifted = [f"{counts['drifting']} of {volumes} drifted beyond the control limit, two certificates in a row"]
    drifted = drifted if counts["drifting"] else []
    drifted += [
        f"the volumes of {name} became slower together, two nights in a row"
        for name in dict.fromkeys(map(_class_of, gating_nights(drift)))
    ]
    drifted += [f"the volumes of {decline_sentence(each)}" for each in declines_of(drift)]
    if drifted:
        return "; ".join(drifted)
    if drift_outcome(drift) == "unknown":
        return f"{volumes} cannot be judged yet, because there are too few certificates that can be compared"
    parts = [f"no volume of {total} is beyond its control limit twice in a row"]
    if counts["short"]:
        parts.append(f"{counts['short']} cannot be judged yet")
    return "; ".join(parts)


def drift_finding(drift: Item) -> str:
    """Return which volume drifted most, and by how much; empty if no single volume drifted."""
    volume = next((each for each in drift["volumes"] if each["state"] == "drifting"), None)
    worst = volume and newest_of(volume)
    return f"{brief(label_of(volume))}: {worst.name} {percent(worst.change)}" if worst else ""


def gating_nights(drift: Item) -> list[Item]:
    """Return the nights that fail the gate: those on which a whole class was slow, if they are its newest two."""
    return [night for night in drift["nights"] if night["gates"]]


def declines_of(drift: Item) -> Sequence[Item]:
    """Return the classes that became slower together since their reference. Each of them fails the gate."""
    return drift.get("declines", ())


def decline_sentence(decline: Item) -> str:
    """Describe by how much a class became slower, since when, and how fast."""
    rate = "at once" if decline["per_month"] is None else f"{percent(decline['per_month'])} per month"
    return (
        f"{_class_of(decline)} became slower together: {figure_text(decline['figure'])} {percent(decline['change'])} "
        f"since {decline['since']} ({plural(decline['volumes'], 'volume')}, {rate})"
    )


def _night_sentences(nights: Sequence[Item]) -> list[str]:
    """Describe how much slower a class was on each night that was slow for the whole class."""
    write = moments_text(each["judged_at"] for each in nights)
    return [
        f"{write(night['judged_at'])} all {plural(night['volumes'], 'volume')} of {_class_of(night)}: "
        f"{figure_text(night['figure'])} {percent(night['change'])} together (limit {percent(night['limit'])})"
        for night in nights
    ]


def _class_of(night: Item) -> str:
    return night["class"] or "no class"


def figures_text(drift: Item) -> str:
    """Return which figures are examined: the requested one and, for volumes with imported results, the figure that
    these results contain."""
    others = {series["figure"] for volume in drift["volumes"] for series in volume["series"]} - {drift["figure"]}
    also = f" (with imported results also {', '.join(map(figure_text, sorted(others)))})" if others else ""
    return f"{figure_text(drift['figure'])}{also}"


def drift_text(drift: Item, page: str) -> str:
    """Return the lines that the playbook prints."""
    by_state = {state: [each for each in drift["volumes"] if each["state"] == state] for state in STATES}
    counts = ", ".join(f"{len(found)} {state}" for state, found in by_state.items() if found)
    figures = f"{counts}; {figures_text(drift)}, margin {format_ratio(drift['margin'])}"
    nights = sorted(drift["nights"], key=lambda each: each["judged_at"], reverse=True)
    events = [(volume, event) for volume in drift["volumes"] for event in volume["events"]]
    events.sort(key=lambda each: each[1]["judged_at"], reverse=True)
    unlike = [class_sentence(part, drift["figure"]) for part in drift["classes"] if part["unlike"]]
    groups = [
        Lines("volumes", [figures], 1, 3),
        Lines("declining", declines_of(drift), 3, 2, decline_sentence),
        Lines("slow night", _night_sentences(nights), 3),
        Lines("drifting", by_state["drifting"], 6, 3, _beyond_limit),
        Lines("conspicuous", by_state["conspicuous"], 4, 2, _beyond_limit),
        Lines("changed", events, 4, 2, lambda each: f"{label_of(each[0])}: {event_sentence(*each)}"),
        Lines("unlike", unlike, 3),
        Lines("left out", [each["text"] for each in drift["wrong_dates"]], 4),
    ]
    return screen_text(f"{drift_outcome(drift).upper()}: {drift_statement(drift)}.", groups, page)


def _beyond_limit(volume: Item) -> str:
    return f"{label_of(volume)}: {limit_sentence(volume)}"


def label_of(volume: Item) -> str:
    """Return the displayed name of a volume."""
    return host_label(volume["host"], volume["volume"])


def limit_sentence(volume: Item) -> str:
    """Describe how far a volume's newest certificate is beyond the control limit, and in which rows."""
    rows = [row for series in volume["series"] for row in series["rows"]]
    worst, newest = newest_of(volume), volume["certificates"][-1]
    if worst is None:
        return ""
    beyond = f"{sum(row['newest_is_conspicuous'] for row in rows)} of {len(rows)} rows"
    text = f"{beyond} beyond the limit, most {worst.name}: {percent(worst.change)} (limit {percent(worst.limit)})"
    return text + (
        f"; changed at the newest: {', '.join(map(change_text, newest['changes']))}" if newest["changes"] else ""
    )


def moments_of(volume: Item) -> Callable[[str], str]:
    """Return the function that formats the times of a volume's certificates."""
    return moments_text(each["judged_at"] for each in volume["certificates"])


def event_sentence(volume: Item, event: Item, arrow: str = "->") -> str:
    """Return lines that state when the figures of a volume changed, by how much, and what else changed at that time."""
    changes = [row["change"] for row in event["rows"]]
    span = percent(changes[0]) if len(changes) == 1 else f"{percent(min(changes))} to {percent(max(changes))}"
    rows = row_text(event["rows"][0]) if len(changes) == 1 else f"{len(changes)} rows"
    text = f"{moments_of(volume)(event['judged_at'])} {figure_text(event['figure'])} {span} at {rows}"
    if event["preliminary"]:
        text += ", preliminary: it may be a spike"
    return text + (
        f"; changed then: {', '.join(change_text(each, arrow) for each in event['changes'])}"
        if event["changes"]
        else ""
    )


def class_sentence(part: Item, figure: str) -> str:
    """Return which volumes of a class differ from the others, or the range of all volumes."""
    write: Callable[[float], str] = (
        format_duration if figure.endswith("_ns") else (lambda value: format_number(1 / value))
    )
    name = f"{part['class']} ({plural(part['volumes'], 'volume')})"
    text = f"{name}: {write(part['lowest'])} to {write(part['highest'])}, median {write(part['middle'])}"
    unlike = [f"{each['host']} {percent(each['deviation'])}" for each in part["unlike"]]
    more = f" and {len(unlike) - 5} more" if len(unlike) > 5 else ""
    return text + (f"; unlike the others: {', '.join(unlike[:5])}{more}" if unlike else "")


@dataclass(frozen=True)
class Newest:
    """How much worse than usual the newest certificate of a row is, how much worse it may be, and the figure and the
    row."""

    change: float
    limit: float
    name: str


def newest_of(volume: Item) -> Newest | None:
    """Return the row of a volume that is furthest beyond its limit or, if none is beyond, closest to its limit. The
    result is None if there are too few certificates for a limit."""
    known = [_newest_of_row(series, row) for series in volume["series"] for row in series["rows"] if row["limit"]]
    return max(known, key=lambda each: math.log1p(each.change) - math.log1p(each.limit), default=None)


def _newest_of_row(series: Item, row: Item) -> Newest:
    left_out = {each["place"] for each in series["left_out"]}
    newest = next(
        value
        for place, value in reversed(list(enumerate(row["values"])))
        if value is not None and place not in left_out
    )
    name = f"{figure_text(series['figure'])} at {row_text(row)}"
    if series["figure"].endswith("_per_s"):
        return Newest(row["usual"] / newest - 1, row["usual"] / row["limit"] - 1, name)
    return Newest(newest / row["usual"] - 1, row["limit"] / row["usual"] - 1, name)


def render_drift(drift: Item, versions: Sequence[str] = (), links: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the page's text piece by piece. ``versions`` are those of the software that made the page. ``links`` are
    the names and addresses of other pages."""
    outcome = drift_outcome(drift)
    domain = common_domain(volume["host"] for volume in drift["volumes"])
    declines = list(map(decline_sentence, declines_of(drift)))
    return render_page(
        "drift.html.j2",
        styles=["host.css", "drift.css"],
        footer=f"Drift of {drift['created_at']}",
        drift=drift,
        versions=versions,
        links=links,
        finding=drift_finding(drift),
        statement=drift_statement(drift),
        outcome=outcome,
        level=LEVELS[outcome],
        signs_of_outcomes=OUTCOME_SIGNS,
        figures=figures_text(drift),
        margin=format_ratio(drift["margin"]),
        states=STATES,
        classes=CLASSES,
        signs=SIGNS,
        marks={
            **{letter: name for name, letter in MARKS.items()},
            OTHER_MARK: "another fact",
            IMPORTED_MARK: "imported from mqldt",
        },
        # One after the other, so that the charts of all volumes are never in memory at once.
        volumes=(_volume(volume, domain) for volume in drift["volumes"][:DRAWN_VOLUMES]),
        domain=domain[1:],
        declines=declines,
        nights=_night_sentences(drift["nights"]),
        alike=[class_sentence(part, drift["figure"]) for part in drift["classes"]],
        table=filled(_columns(domain), enumerate(drift["volumes"], 1), lambda item: item[1]["state"]),
        counts=[(state, drift["states"][state]) for state in STATES],
        badge=badge,
        brief=brief,
        why=list(why_drifting(drift, _beyond_limit, _night_sentences(gating_nights(drift)), declines)),
        worst=_worst_chart(drift, domain),
        open_volumes=OPEN_VOLUMES,
        left=max(0, len(drift["volumes"]) - DRAWN_VOLUMES),
    )


def _columns(domain: str) -> list[Column[tuple[int, Item]]]:
    """Return the columns of the table of all volumes. The items of the table are pairs of a volume's number (from 1)
    and its data."""
    return [
        Column("Host", NAME, lambda item: _link(item[0], without_domain(label_of(item[1]), domain))),
        Column("State", TEXT, lambda item: badge(item[1]["state"])),
        Column("Newest", NUMBER, lambda item: _newest(item[1])[0], lambda item: _newest(item[1])[2]),
        Column("Limit", NUMBER, lambda item: _newest(item[1])[1]),
        Column("Certificates", NUMBER, lambda item: len(item[1]["certificates"])),
        Column("Last change point", LONG_TEXT, lambda item: _last_event(item[1])),
        Column("Class", TEXT, lambda item: item[1]["class"]),
    ]


def badge(state: str) -> Markup:
    return Markup('<span class="badge v-{}">{} {}</span>').format(CLASSES[state], SIGNS[state], state)


def _link(number: int, label: str) -> Any:
    return Markup('<a href="#v{}">{}</a>').format(number, label) if number <= DRAWN_VOLUMES else label


def _newest(volume: Item) -> tuple[str, str, str]:
    """Return the change of the newest certificate, its limit, and the row; empty if unknown."""
    found = newest_of(volume)
    return (percent(found.change), percent(found.limit), found.name) if found else ("", "", "")


def _last_event(volume: Item) -> str:
    return event_sentence(volume, volume["events"][-1], "\u2192") if volume["events"] else ""


def _volume(volume: Item, domain: str) -> dict[str, Any]:
    certificates, write = volume["certificates"], moments_of(volume)
    return {
        "label": without_domain(label_of(volume), domain),
        "state": volume["state"],
        "group": volume["class"],
        "summary": limit_sentence(volume)
        if volume["state"] in ("drifting", "conspicuous")
        else STATES[volume["state"]],
        "count": len(certificates),
        "span": " to ".join(write(each["judged_at"]) for each in (certificates[0], certificates[-1])),
        "charts": [_chart(series, volume) for series in volume["series"]],
        "events": [event_sentence(volume, event, "\u2192") for event in reversed(volume["events"])],
        "changes": [
            (write(each["judged_at"]), ", ".join(change_text(change, "\u2192") for change in each["changes"]))
            for each in reversed(certificates)
            if each["changes"]
        ],
    }


def _worst_chart(drift: Item, domain: str) -> dict[str, Any] | None:
    """Return the first chart of the worst volume with its name, if that volume drifts; otherwise None."""
    worst = next(iter(drift["volumes"]), None)
    if worst is None or worst["state"] != "drifting" or not worst["series"]:
        return None
    return {"label": without_domain(label_of(worst), domain), **_chart(worst["series"][0], worst)}


def _chart(series: Item, volume: Item) -> dict[str, Any]:
    events = [event for event in volume["events"] if event["figure"] == series["figure"]]
    reasons = Counter(each["reason"] for each in series["left_out"])
    return {
        "figure": figure_text(series["figure"]),
        "picture": chart(series, volume["certificates"], events),
        "legend": legend(series),
        "left_out": [f"{count}: {reason}" for reason, count in reasons.most_common()],
    }
