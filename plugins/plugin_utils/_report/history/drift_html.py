# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the drift of a fleet as a self-contained page, with a chart for each volume, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_ratio
from ..changes import change_text, figure_text, moments_text, percent
from ..charts.drift import IMPORTED_MARK, MARKS, OTHER_MARK, chart, legend
from ..page.parts import LONG_TEXT, NAME, NUMBER, TEXT, Column, filled
from ..template import render_page
from .drift_txt import (
    STATES,
    class_sentence,
    decline_sentence,
    declines_of,
    drift_outcome,
    drift_statement,
    event_sentence,
    figures_text,
    label_of,
    limit_sentence,
    moments_of,
    newest_of,
    night_sentence,
)

DRAWN_VOLUMES = 1000
"""The largest number of volumes with a chart, worst first; the others are in drift.json."""
OPEN_VOLUMES = 10
CLASSES = {"drifting": "fail", "conspicuous": "warn", "changed": "inconclusive", "steady": "pass", "short": "none"}
LEVELS = {"drift": "fail", "no drift": "pass", "unknown": "inconclusive"}
SIGNS = {"drifting": "\u2717", "conspicuous": "!", "changed": "\u2192", "steady": "\u2713", "short": "\u2013"}


def render_drift(
    drift: Mapping[str, Any], versions: Sequence[str] = (), links: Sequence[tuple[str, str]] = ()
) -> Iterator[str]:
    """Yield the page's text piece by piece. ``versions`` are those of the software that made the page. ``links`` are
    the names and addresses of other pages."""
    nights = drift["nights"]
    write = moments_text(each["judged_at"] for each in nights)
    return render_page(
        "drift.html.j2",
        styles=["host.css", "drift.css"],
        footer=f"Drift of {drift['created_at']}",
        drift=drift,
        versions=versions,
        links=links,
        statement=drift_statement(drift),
        outcome=drift_outcome(drift),
        level=LEVELS[drift_outcome(drift)],
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
        volumes=_Volumes(drift["volumes"]),
        declines=[decline_sentence(each) for each in declines_of(drift)],
        nights=[night_sentence(night, write) for night in nights],
        alike=[class_sentence(part, drift["figure"]) for part in drift["classes"]],
        table=filled(_columns(), enumerate(drift["volumes"], 1), lambda item: item[1]["state"]),
        counts=[(state, drift["states"][state]) for state in STATES],
        badge=badge,
        open_volumes=OPEN_VOLUMES,
        left=max(0, len(drift["volumes"]) - DRAWN_VOLUMES),
    )


class _Volumes:
    """Views of volumes. Each view is made only when the template uses it, so that the charts of all volumes are never
    in memory at once."""

    def __init__(self, volumes: Sequence[Mapping[str, Any]]) -> None:
        self._volumes = volumes

    def __len__(self) -> int:
        return len(self._volumes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(_volume, self._volumes[:DRAWN_VOLUMES])


def _columns() -> list[Column[tuple[int, Mapping[str, Any]]]]:
    """Return the columns of the table of all volumes. The items of the table are pairs of a volume's number (from 1)
    and its data."""
    return [
        Column("Host", NAME, lambda item: _link(*item)),
        Column("State", TEXT, lambda item: badge(item[1]["state"])),
        Column("Newest", NUMBER, lambda item: _newest(item[1])[0], lambda item: _newest(item[1])[2]),
        Column("Limit", NUMBER, lambda item: _newest(item[1])[1]),
        Column("Certificates", NUMBER, lambda item: len(item[1]["certificates"])),
        Column("Last change point", LONG_TEXT, lambda item: _last_event(item[1])),
        Column("Class", TEXT, lambda item: item[1]["class"]),
    ]


def badge(state: str) -> Markup:
    return Markup('<span class="badge v-{}">{} {}</span>').format(CLASSES[state], SIGNS[state], state)


def _link(number: int, volume: Mapping[str, Any]) -> Any:
    label = label_of(volume)
    return Markup('<a href="#v{}">{}</a>').format(number, label) if number <= DRAWN_VOLUMES else label


def _newest(volume: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the change of the newest certificate, its limit, and the row; empty if unknown."""
    found = newest_of(volume)
    return (percent(found.change), percent(found.limit), found.name) if found else ("", "", "")


def _last_event(volume: Mapping[str, Any]) -> str:
    return event_sentence(volume, volume["events"][-1], "\u2192") if volume["events"] else ""


def _volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    certificates, write = volume["certificates"], moments_of(volume)
    return {
        "label": label_of(volume),
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


def _chart(series: Mapping[str, Any], volume: Mapping[str, Any]) -> dict[str, Any]:
    events = [event for event in volume["events"] if event["figure"] == series["figure"]]
    reasons = Counter(each["reason"] for each in series["left_out"])
    return {
        "figure": figure_text(series["figure"]),
        "picture": chart(series, volume["certificates"], events),
        "legend": legend(series),
        "left_out": [f"{count}: {reason}" for reason, count in reasons.most_common()],
    }
