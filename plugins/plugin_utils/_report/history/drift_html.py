# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The drift of a fleet as a self-contained page: a chart for each volume, worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.changes import (
    UNKNOWN,
    change_text,
    figure_text,
    percent,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.drift import (
    IMPORTED_MARK,
    MARKS,
    OTHER_MARK,
    chart,
    legend,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.drift_txt import (
    STATES,
    class_sentence,
    drift_outcome,
    drift_statement,
    event_sentence,
    figures_text,
    label_of,
    limit_sentence,
    newest_of,
    night_sentence,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import render_page

DRAWN_VOLUMES = 1000
"""The largest number of volumes with a chart, worst first; the others are in drift.json."""
OPEN_VOLUMES = 10
CLASSES = {"drifting": "fail", "conspicuous": "warn", "changed": "inconclusive", "steady": "pass", "short": "none"}
LEVELS = {"drift": "fail", "no drift": "pass", "unknown": "inconclusive"}
SIGNS = {"drifting": "\u2717", "conspicuous": "!", "changed": "\u2192", "steady": "\u2713", "short": "\u2013"}


def render_drift(drift: Mapping[str, Any]) -> Iterator[str]:
    """Yield the page's text piece by piece."""
    return render_page(
        "drift.html.j2",
        styles=["host.css", "drift.css"],
        drift=drift,
        statement=drift_statement(drift),
        outcome=drift_outcome(drift),
        level=LEVELS[drift_outcome(drift)],
        figures=figures_text(drift),
        margin=_units.format_ratio(drift["margin"]),
        states=STATES,
        classes=CLASSES,
        signs=SIGNS,
        marks={
            **{letter: name for name, letter in MARKS.items()},
            OTHER_MARK: "another fact",
            IMPORTED_MARK: "imported from mqldt",
        },
        volumes=_Volumes(drift["volumes"]),
        nights=[night_sentence(night) for night in drift.get("nights", ())],
        alike=[class_sentence(part, drift["figure"]) for part in drift["classes"]],
        rows=map(_row, drift["volumes"]),
        drawn=DRAWN_VOLUMES,
        open_volumes=OPEN_VOLUMES,
        left=max(0, len(drift["volumes"]) - DRAWN_VOLUMES),
    )


class _Volumes:
    """Views of volumes, each made when the template asks for it, so that their charts are never in memory together."""

    def __init__(self, volumes: Sequence[Mapping[str, Any]]) -> None:
        self._volumes = volumes

    def __len__(self) -> int:
        return len(self._volumes)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return map(_volume, self._volumes[:DRAWN_VOLUMES])


def _row(volume: Mapping[str, Any]) -> dict[str, Any]:
    """Return a volume as a row of the table of all volumes."""
    found = newest_of(volume)
    return {
        "label": label_of(volume),
        "state": volume["state"],
        "newest": percent(found.change) if found else UNKNOWN,
        "at": found.name if found else "",
        "limit": percent(found.limit) if found else UNKNOWN,
        "count": len(volume["certificates"]),
        "event": event_sentence(volume["events"][-1], "\u2192") if volume["events"] else "",
        "group": volume["class"],
    }


def _volume(volume: Mapping[str, Any]) -> dict[str, Any]:
    certificates = volume["certificates"]
    return {
        "label": label_of(volume),
        "state": volume["state"],
        "group": volume["class"],
        "summary": limit_sentence(volume)
        if volume["state"] in ("drifting", "conspicuous")
        else STATES[volume["state"]],
        "count": len(certificates),
        "span": f"{certificates[0]['judged_at'][:10]} to {certificates[-1]['judged_at'][:10]}",
        "charts": [_chart(series, volume) for series in volume["series"]],
        "events": [event_sentence(event, "\u2192") for event in reversed(volume["events"])],
        "changes": [
            (each["judged_at"][:10], ", ".join(change_text(change, "\u2192") for change in each["changes"]))
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
