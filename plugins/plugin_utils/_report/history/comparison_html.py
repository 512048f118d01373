# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A comparison as a self-contained page: an interval for each host and class on one axis, and what else changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.changes import (
    change_text,
    fact_text,
    figure_text,
    interval,
    percent,
    row_text,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts import interval as interval_chart
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.history.comparison_txt import (
    class_sentence,
    host_sentence,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.template import render_page

SHOWN_LEFT_OUT = 200
SHOWN_CHANGES = 100
CLASSES = {"worse": "fail", "inconclusive": "inconclusive", "non-inferior": "pass"}
MARKS = {"worse": "\u2717", "inconclusive": "?", "non-inferior": "\u2713"}


def render_comparison(comparison: Mapping[str, Any], statement: str) -> Iterator[str]:
    """Yield the page's text piece by piece."""
    bounds = [
        each[key]
        for part in ("classes", "hosts")
        for each in comparison[part]
        for key in ("change", "lower_bound", "upper_bound")
    ]
    axis = interval_chart.Axis.around(bounds, comparison["margin"])
    counts = Counter(host["outcome"] for host in comparison["hosts"])
    return render_page(
        "comparison.html.j2",
        styles=["host.css", "comparison.css"],
        comparison=comparison,
        statement=statement,
        figure=figure_text(comparison["figure"]),
        margin=_units.format_ratio(comparison["margin"]),
        counts=[(outcome, counts[outcome]) for outcome in CLASSES],
        classes=CLASSES,
        marks=MARKS,
        scale=interval_chart.scale(axis),
        groups=[_group(part, axis) for part in comparison["classes"]],
        hosts=_Hosts(comparison["hosts"], axis),
        changes=[
            (each["name"], *(fact_text(each["name"], each[side]) for side in ("before", "after")), each["hosts"])
            for each in comparison["changes"]
        ][:SHOWN_CHANGES],
        left_out=comparison["left_out"][:SHOWN_LEFT_OUT],
        reasons=Counter(each["reason"] for each in comparison["left_out"]).most_common(),
    )


def _group(part: Mapping[str, Any], axis: interval_chart.Axis) -> dict[str, Any]:
    return {
        "name": part["class"],
        "hosts": part["hosts"],
        "outcome": part["outcome"],
        "runs": f"{part['runs_before']} + {part['runs_after']}",
        "picture": _picture(axis, part) if part["hold_against_class"] else "",
        "sentence": class_sentence(part),
    }


class _Hosts:
    """Views of hosts, each made when the template asks for it."""

    def __init__(self, hosts: list[Mapping[str, Any]], axis: interval_chart.Axis) -> None:
        self._hosts = hosts
        self._axis = axis

    def __len__(self) -> int:
        return len(self._hosts)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (_host(host, self._axis) for host in self._hosts)


def _host(host: Mapping[str, Any], axis: interval_chart.Axis) -> dict[str, Any]:
    row = host["worst_row"]
    return {
        "name": host["host"],
        "outcome": host["outcome"],
        "change": percent(host["change"]),
        "picture": _picture(axis, host),
        "interval": "" if host["upper_bound"] is None else interval(host["lower_bound"], host["upper_bound"]),
        "beyond": percent(host["beyond_class"]),
        "worst_row": f"{row_text(row)}: {percent(row['change'])}" if row else "",
        "smallest": "" if host["smallest_named"] is None else percent(host["smallest_named"]),
        "runs": f"{host['runs_before']} + {host['runs_after']}"
        + (f" and {host['earlier_runs']} earlier" if host["earlier_runs"] else ""),
        "sentence": host_sentence(host),
        "changes": [change_text(each, "\u2192") for each in host["changes"]],
    }


def _picture(axis: interval_chart.Axis, each: Mapping[str, Any]) -> Any:
    return interval_chart.picture(axis, each["change"], each["lower_bound"], each["upper_bound"], each["outcome"])
