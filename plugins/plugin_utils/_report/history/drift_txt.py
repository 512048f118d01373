# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the drift of a fleet on a screen, in at most about 40 lines for any fleet. drift.json and the page contain the
rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._units import format_duration, format_number, format_ratio
from ..._english.phrases import plural
from ..._run.record import host_label
from ..changes import bounded, change_text, figure_text, moments_text, percent, row_text, wrapped

SHOWN_DRIFTING = 6
SHOWN_OTHERS = 4
SHOWN_CLASSES = 3
SHOWN_NIGHTS = 3

STATES = {
    "drifting": "the newest two certificates are beyond the control limit",
    "conspicuous": "the newest certificate is beyond the control limit",
    "changed": "the figures changed at some time",
    "steady": "nothing changed",
    "short": "there are too few certificates",
}
"""The states of a volume, worst first, and their meanings."""


def drift_outcome(drift: Mapping[str, Any]) -> str:
    """Return the drift of a fleet in one or two words; unknown if no volume has enough certificates."""
    if drift["states"]["drifting"] or gating_nights(drift) or declines_of(drift):
        return "drift"
    return "unknown" if drift["states"]["short"] == len(drift["volumes"]) else "no drift"


def drift_statement(drift: Mapping[str, Any]) -> str:
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


def gating_nights(drift: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the nights that fail the gate: those on which a whole class was slow, if they are its newest two."""
    return [night for night in drift["nights"] if night["gates"]]


def declines_of(drift: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the classes that became slower together since their reference. Each of them fails the gate."""
    return drift.get("declines", ())


def decline_sentence(decline: Mapping[str, Any]) -> str:
    """Describe by how much a class became slower, since when, and how fast."""
    rate = "at once" if decline["per_month"] is None else f"{percent(decline['per_month'])} per month"
    return (
        f"{_class_of(decline)} became slower together: {figure_text(decline['figure'])} {percent(decline['change'])} "
        f"since {decline['since']} ({plural(decline['volumes'], 'volume')}, {rate})"
    )


def night_sentence(night: Mapping[str, Any], write: Callable[[str], str]) -> str:
    """Describe how much slower a class was on a night that was slow for the whole class. ``write`` formats the time."""
    figure, limit = figure_text(night["figure"]), percent(night["limit"])
    return (
        f"{write(night['judged_at'])} all {plural(night['volumes'], 'volume')} of {_class_of(night)}: {figure} "
        f"{percent(night['change'])} together (limit {limit})"
    )


def _class_of(night: Mapping[str, Any]) -> str:
    return night["class"] or "no class"


def figures_text(drift: Mapping[str, Any]) -> str:
    """Return which figures are examined: the requested one and, for volumes with imported results, the figure that
    these results contain."""
    others = {series["figure"] for volume in drift["volumes"] for series in volume["series"]} - {drift["figure"]}
    also = f" (with imported results also {', '.join(map(figure_text, sorted(others)))})" if others else ""
    return f"{figure_text(drift['figure'])}{also}"


def drift_text(drift: Mapping[str, Any], page: str) -> str:
    """Return the lines that the playbook prints."""
    by_state: dict[str, list[Mapping[str, Any]]] = {state: [] for state in STATES}
    for volume in drift["volumes"]:
        by_state[volume["state"]].append(volume)
    lines = [f"{drift_outcome(drift).upper()}: {drift_statement(drift)}."]
    counts = ", ".join(f"{len(found)} {state}" for state, found in by_state.items() if found)
    lines += wrapped("volumes", f"{counts}; {figures_text(drift)}, margin {format_ratio(drift['margin'])}")
    nights = sorted(drift["nights"], key=lambda each: each["judged_at"], reverse=True)
    write = moments_text(each["judged_at"] for each in nights)
    events = [(volume, event) for volume in drift["volumes"] for event in volume["events"]]
    events.sort(key=lambda each: each[1]["judged_at"], reverse=True)
    unlike = [part for part in drift["classes"] if part["unlike"]]
    parts: tuple[tuple[str, Sequence[Any], int, int, Callable[[Any], str]], ...] = (
        ("declining", declines_of(drift), SHOWN_CLASSES, 2, decline_sentence),
        ("slow night", nights, SHOWN_NIGHTS, 2, lambda each: night_sentence(each, write)),
        ("drifting", by_state["drifting"], SHOWN_DRIFTING, 3, _beyond_limit),
        ("conspicuous", by_state["conspicuous"], SHOWN_OTHERS, 2, _beyond_limit),
        ("changed", events, SHOWN_OTHERS, 2, lambda each: f"{label_of(each[0])}: {event_sentence(*each)}"),
        ("unlike", unlike, SHOWN_CLASSES, 2, lambda each: class_sentence(each, drift["figure"])),
        ("left out", drift["wrong_dates"], SHOWN_OTHERS, 2, lambda each: each["text"]),
    )
    for title, items, most, most_lines, sentence in parts:
        lines += _section(title, items, most, most_lines, sentence)
    lines.append(f"  page          {page}")
    return "\n".join(lines)


def _section(title: str, items: Sequence[Any], most: int, most_lines: int, sentence: Callable[[Any], str]) -> list[str]:
    return bounded(items, most, lambda each: wrapped(title, sentence(each), most_lines))


def _beyond_limit(volume: Mapping[str, Any]) -> str:
    return f"{label_of(volume)}: {limit_sentence(volume)}"


def label_of(volume: Mapping[str, Any]) -> str:
    """Return the displayed name of a volume."""
    return host_label(volume["host"], volume["volume"])


def limit_sentence(volume: Mapping[str, Any]) -> str:
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


def moments_of(volume: Mapping[str, Any]) -> Callable[[str], str]:
    """Return the function that formats the times of a volume's certificates."""
    return moments_text(each["judged_at"] for each in volume["certificates"])


def event_sentence(volume: Mapping[str, Any], event: Mapping[str, Any], arrow: str = "->") -> str:
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


def class_sentence(part: Mapping[str, Any], figure: str) -> str:
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


def newest_of(volume: Mapping[str, Any]) -> Newest | None:
    """Return the row of a volume that is furthest beyond its limit or, if none is beyond, closest to its limit. The
    result is None if there are too few certificates for a limit."""
    known = [_newest(series, row) for series in volume["series"] for row in series["rows"] if row["limit"]]
    return max(known, key=lambda each: math.log1p(each.change) - math.log1p(each.limit), default=None)


def _newest(series: Mapping[str, Any], row: Mapping[str, Any]) -> Newest:
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
