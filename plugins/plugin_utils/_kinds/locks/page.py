# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about its locks: for each other host, the steps with their figures, and a picture of
each takeover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from ..._english.findings import in_words
from ..._report.model import Host
from ..._run.columns import Row
from ..._run.lock_steps import CONCURRENT_UPDATES, KEPT, NOT_COVERED, SETTINGS, STEPS, TAKEOVERS, rows_of
from ..._run.verdicts import PASS, rank
from ..._run.words import words_of
from .criteria import LOCK_NOT_COVERED, LOCK_UNDECIDED
from .english import step_title, why_not_covered, why_open
from .figures import row_text
from .pairs import findings_about
from .timeline import takeover_chart

OPEN_PAIRS = 3
"""Up to this number of other hosts, the results of each are expanded from the start."""

MOST_CHARTS = 8
"""The largest number of pictures for a pair: each takeover has one, the slowest first."""

_NOTHING = words_of("")


@dataclass(frozen=True)
class StepLine:
    """A line of the table of steps: the step, the roles of the hosts, the verdict, the figures, and the sentences about
    what is wrong."""

    title: str
    roles: str
    verdict: str
    figures: str
    sentences: Sequence[str]


@dataclass(frozen=True)
class PairPart:
    """What is shown about a pair: the other host, the directory with the file server, the verdict, the figures in one
    line, the lines of its table, and the pictures of its takeovers."""

    other: str
    place: str
    verdict: str
    text: str
    lines: Sequence[StepLine]
    charts: Sequence[Markup]


class LocksSection:
    """Locks in the form that locks/section.html.j2 needs."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._takeover_s = host.own["required"]["takeover_s"]

    @property
    def is_folded(self) -> bool:
        """Whether there are so many other hosts that the results of each are expanded only on demand."""
        return len(self._host.own["pairs"]) > OPEN_PAIRS

    @property
    def pairs(self) -> list[PairPart]:
        """The pairs of the host, worst first."""
        return [self._part(pair) for pair in sorted(self._host.own["pairs"], key=lambda pair: rank(pair["verdict"]))]

    def _part(self, pair: Mapping[str, Any]) -> PairPart:
        server = f", from {pair['server']}" if pair["server"] else ""
        return PairPart(
            pair["second"] if pair["first"] == self._host.host else pair["first"],
            f"{pair['directory']}{server}",
            pair["verdict"],
            pair["text"],
            list(self._lines(pair)),
            list(self._charts(pair)),
        )

    def _lines(self, pair: Mapping[str, Any]) -> Iterator[StepLine]:
        found = self._findings(pair)
        told: set[tuple[str, str]] = set()
        rows = sorted(pair["steps"], key=_order)
        for key, group in groupby(rows, key=lambda row: [row[name] for name in _ALIKE]):
            step, holder, other, outcome, _cause = key
            own = found.get((step, holder), []) if (step, holder) not in told else []
            told.add((step, holder))
            yield _line(step, holder, other, outcome, own, list(group))
        for (step, holder), own in found.items():
            if (step, holder) not in told:
                yield _line(step, holder, own[0]["at"]["other"], "", own, [])

    def _findings(self, pair: Mapping[str, Any]) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
        """Return the findings about a pair by step and holder."""
        found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for each in findings_about(self._host, pair):
            found.setdefault((str(each.get("step")), str(each["at"].get("holder"))), []).append(each)
        return found

    def _charts(self, pair: Mapping[str, Any]) -> Iterator[Markup]:
        rows = rows_of(pair, *TAKEOVERS)
        drawn = [chart for row in rows if (chart := takeover_chart(row, self._takeover_s))]
        yield from drawn[:MOST_CHARTS]


_ALIKE = ("step", "holder", "other", "outcome", "cause")


def _order(row: Row) -> tuple[Any, ...]:
    step = row["step"]
    return (STEPS.index(step) if step in STEPS else len(STEPS), *(row[name] for name in _ALIKE))


def _line(
    step: str,
    holder: str,
    other: str,
    outcome: str,
    found: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
) -> StepLine:
    """Return a line for rows of the same outcome, with the findings about them."""
    verdicts = [str(each["verdict"]) for each in found]
    verdict = min(verdicts, key=rank) if verdicts else PASS if outcome == KEPT else ""
    return StepLine(
        step_title(step),
        _roles(step, holder, other),
        verdict,
        row_text(rows) if rows else "",
        [_sentence(each) for each in found] or _unjudged(step, holder, other, outcome, rows),
    )


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
