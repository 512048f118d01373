# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about its locks: for each other host, the steps with their figures, and a picture of
each takeover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ..._english.findings import in_words
from ..._english.phrases import phrase
from ..._report.model import Host
from ..._run.columns import Row
from ..._run.lock_steps import CONCURRENT_UPDATES, KEPT, NOT_COVERED, SETTINGS, STEPS, TAKEOVERS, figure, rows_of
from ..._run.verdicts import PASS, rank
from ..._run.words import words_of
from .criteria import LOCK_NOT_COVERED, LOCK_UNDECIDED
from .english import step_title, why_not_covered, why_open
from .figures import row_text
from .pairs import ShownPair, findings_about
from .timeline import takeover_chart

OPEN_PAIRS = 3
"""Up to this number of other hosts, the results of each are expanded from the start."""

MOST_CHARTS = 8
"""The largest number of pictures for a pair: each takeover has one, the slowest first."""

_NOTHING = words_of("")


Findings = Sequence[Mapping[str, Any]]


def locks_section(host: Host) -> dict[str, Any]:
    """Return the locks of a host under the names that section.html.j2 uses: whether the results of each other host are
    expanded only on demand, and the pairs, worst first."""
    pairs = sorted(host.own["pairs"], key=lambda pair: rank(pair["verdict"]))
    return {"is_folded": len(pairs) > OPEN_PAIRS, "pairs": [_part(host, pair) for pair in pairs]}


def _part(host: Host, pair: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pair with the other host, the directory with the file server, the lines of its table, and the pictures
    of its takeovers."""
    drawn = (takeover_chart(row, host.own["required"]["takeover_s"]) for row in rows_of(pair, *TAKEOVERS))
    return {
        "other": pair["second"] if pair["first"] == host.host else pair["first"],
        "place": phrase("{directory}[, from {server}]", pair),
        "verdict": pair["verdict"],
        "text": pair["text"],
        "lines": list(_lines(host, pair)),
        "charts": [chart for chart in drawn if chart][:MOST_CHARTS],
    }


def worst_takeover_chart(pair: ShownPair) -> Markup | str:
    """Return the picture of the worst takeover of a pair: one that failed, or else the longest. Empty if none has a
    known length."""
    rows = sorted(
        rows_of(pair.results, *TAKEOVERS),
        key=lambda row: (row["outcome"] != KEPT, figure(row, "takeover_ns") or 0),
        reverse=True,
    )
    return next(filter(None, (takeover_chart(row, pair.takeover_s) for row in rows)), "")


def _lines(host: Host, pair: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the table of steps. The findings about a step of a holder are in its first line."""
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for each in findings_about(host, pair):
        found.setdefault((str(each.get("step")), str(each["at"].get("holder"))), []).append(each)
    rows = sorted(pair["steps"], key=_order)
    for (step, holder, other, outcome, _cause), group in groupby(rows, key=lambda row: [row[name] for name in _ALIKE]):
        yield _line(step, holder, other, outcome, found.pop((step, holder), []), list(group))
    for (step, holder), own in found.items():
        yield _line(step, holder, own[0]["at"]["other"], "", own, [])


_ALIKE = ("step", "holder", "other", "outcome", "cause")


def _order(row: Row) -> tuple[Any, ...]:
    step = row["step"]
    return (STEPS.index(step) if step in STEPS else len(STEPS), *(row[name] for name in _ALIKE))


def _line(
    step: str,
    holder: str,
    other: str,
    outcome: str,
    found: Findings,
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a line for rows of the same outcome: the step, the roles of the hosts, the verdict, the figures, and the
    sentences about what is wrong."""
    verdicts = [str(each["verdict"]) for each in found]
    verdict = min(verdicts, key=rank) if verdicts else PASS if outcome == KEPT else ""
    return {
        "title": step_title(step),
        "roles": _roles(step, holder, other),
        "verdict": verdict,
        "figures": row_text(rows) if rows else "",
        "sentences": [_sentence(each) for each in found] or _unjudged(step, holder, other, outcome, rows),
    }


def _roles(step: str, holder: str, other: str) -> str:
    """Return the roles of the hosts in a step."""
    if step in (SETTINGS, CONCURRENT_UPDATES):
        return "both"
    return holder if holder == other or not other else f"{holder} holds, {other} wants"


def _sentence(finding: Mapping[str, Any]) -> str:
    """Return what is wrong, without the step and the hosts, which the table shows."""
    if finding["kind"] == LOCK_UNDECIDED:
        return why_open(finding)
    return why_not_covered(finding) if finding["kind"] == LOCK_NOT_COVERED else in_words(finding, _NOTHING)


def _unjudged(step: str, holder: str, other: str, outcome: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return why an optional step was not carried out."""
    if outcome != NOT_COVERED:
        return []
    row = {"step": step, "code": rows[0]["cause"], "at": {"holder": holder, "other": other}}
    return [f"not covered: {why_not_covered(row)}"]
