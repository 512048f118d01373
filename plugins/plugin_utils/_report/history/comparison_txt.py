# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows a comparison on a screen, in at most about 40 lines for any fleet. comparison.json and the page contain the
rest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ....module_utils._units import format_ratio
from ..._english.phrases import plural
from ..changes import bounded, change_text, figure_text, interval, moments_text, percent, row_text, wrapped

SHOWN_WORSE = 5
SHOWN_UNDECIDED = 3
SHOWN_CLASSES = 3
SHOWN_CHANGES = 3
SHOWN_REASONS = 2
SHOWN_RUNS = 3


def comparison_text(comparison: Mapping[str, Any], statement: str, page: str) -> str:
    """Return the lines that the playbook prints."""
    hosts = comparison["hosts"]
    worse = [host for host in hosts if host["outcome"] == "worse"]
    undecided = [host for host in hosts if host["outcome"] == "inconclusive"]
    lines = [f"{comparison['outcome'].upper()}: {statement}"]
    measure = (
        f"{figure_text(comparison['figure'])}, margin {format_ratio(comparison['margin'])}, confidence "
        f"{format_ratio(comparison['confidence'])}"
    )
    lines += wrapped("figure", measure)
    write = moments_text(run["judged_at"] for side in ("before", "after") for run in comparison[side]["runs"])
    for side in ("before", "after"):
        lines += wrapped(side, _runs(comparison[side], write), 2)
    lines += bounded(
        worse, SHOWN_WORSE, lambda host: wrapped("worse", _worse(host), 4 if len(worse) < 3 else 2), "more became worse"
    )
    lines += bounded(
        _by_reason(undecided),
        SHOWN_UNDECIDED,
        lambda each: wrapped("inconclusive", f"{each[0]}: {each[1]}"),
        "more reasons",
    )
    lines += bounded(
        comparison["classes"],
        SHOWN_CLASSES,
        lambda part: wrapped(
            "class", f"{part['class']} ({plural(part['hosts'], 'volume')}): {class_sentence(part)}", 2
        ),
        "more classes",
    )
    changes = comparison["changes"]
    lines += bounded(
        changes,
        SHOWN_CHANGES,
        lambda each: wrapped("changed", f"{change_text(each)} on {plural(each['hosts'], 'volume')}", 2),
        "more changes",
    )
    reasons = Counter(each["reason"] for each in comparison["left_out"]).most_common()
    lines += bounded(
        reasons,
        SHOWN_REASONS,
        lambda each: wrapped("left out", f"{plural(each[1], 'certificate')}: {each[0]}", 2),
        "more reasons",
    )
    lines.append(f"  page          {page}")
    return "\n".join(lines)


def class_sentence(part: Mapping[str, Any]) -> str:
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


def host_sentence(host: Mapping[str, Any]) -> str:
    """Return why a host is inconclusive, and what would decide it; "" if it is decided."""
    if host["outcome"] != "inconclusive" or host["reason"]:
        return host["reason"]
    if host["runs_needed"]:
        only_after = f", or {host['after_needed']} after alone," if host["after_needed"] else ""
        return f"{host['runs_needed']} runs on either side{only_after} should decide it"
    return "its change is too close to the margin: more runs will not decide it"


def _worse(host: Mapping[str, Any]) -> str:
    row = host["worst_row"]
    text = f"{host['host']}: {percent(host['change'])} ({interval(host['lower_bound'], host['upper_bound'])})"
    text += f", {percent(host['beyond_class'])} beyond its class, worst at {row_text(row)} ({percent(row['change'])})"
    return text + (f"; changed: {', '.join(map(change_text, host['changes']))}" if host["changes"] else "")


def _by_reason(hosts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the reasons without duplicates, each with its hosts. For a class that was measured only once, one sentence
    is enough."""
    by_reason: dict[str, list[str]] = {}
    for host in hosts:
        known = "" if host["change"] is None else f"{host['host']} {percent(host['change'])}"
        by_reason.setdefault(host_sentence(host), []).append(known or host["host"])
    ordered = sorted(by_reason.items(), key=lambda each: -len(each[1]))
    return [
        (reason, ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else ""))
        for reason, names in ordered
    ]


def _runs(side: Mapping[str, Any], write: Callable[[str], str]) -> str:
    runs = side["runs"]
    if not runs:
        return f"none of these hosts ({', '.join(side['selected'])})"
    days = [write(instant) for instant in sorted({runs[0]["judged_at"], runs[-1]["judged_at"]})]
    names = ", ".join(run["run_id"] for run in runs[:SHOWN_RUNS]) + (", ..." if len(runs) > SHOWN_RUNS else "")
    return f"{plural(len(runs), 'run')}, {' to '.join(days)}: {names}"
