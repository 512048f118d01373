# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes the capacity of a volume: the result of each load point of its record, with the figure of the deciding
criterion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._english.findings import figure_in_words
from .._judge.capacity import LOAD_SEARCH, LOAD_TARGET
from .._judge.closest_limit import used_share
from .._judge.metrics import find_metric
from .._run.findings import LIMIT, Finding, row_of
from .._run.record import HostRecord
from .._run.table_reader import printable
from .._run.verdicts import INCONCLUSIVE
from .._run.words import Words, words_of
from .folding import shorten

LONGEST_REASON = 300


@dataclass(frozen=True, slots=True)
class Point:
    """A load point: its verdict with the reason, the figure of the deciding criterion (empty if there is none), and
    whether the load is above the target."""

    load_point: int
    verdict: str
    reason: str
    figure: str
    explores: bool


@dataclass(frozen=True, slots=True)
class ShownCapacity:
    """The highest load that passed, the lowest load that did not, the reason (each of these may be None), and what to
    try next.

    ``metric`` belongs to the deciding criterion: the one that was broken by the lowest load that did not pass, or else
    the one that came closest to its limit. ``metric`` and ``criterion``, which is the limit in full, are empty if
    nothing was judged. ``is_asked_for`` is true if the load points come from a search, or if there is a target.
    """

    words: Words
    load_unit: str
    highest_passed: int | None
    lowest_not_passed: int | None
    reason: str
    next_load: int | None
    points: tuple[Point, ...]
    metric: str = ""
    criterion: str = ""
    is_asked_for: bool = False
    figure: str = ""

    @property
    def sentence(self) -> str:
        """The capacity and the next load to try, in one line of text."""
        highest, lowest = self.highest_passed, self.lowest_not_passed
        # Missing evidence is mentioned after the figure, because the figure by itself would seem to meet the limit.
        is_open = any(point.verdict == INCONCLUSIVE for point in self.points if point.load_point == lowest)
        did_not = "is undecided" if is_open else "did not"
        if highest is None:
            said = f"no load passed: {self._load(lowest)} {did_not}" if lowest is not None else "no load passed"
        elif lowest is None:
            said = f"{self._load(highest)} passed, and no higher load was tried"
        else:
            said = f"{self._load(highest)} passed, {lowest} {did_not}"
        reason = shorten((self.reason if is_open else self.figure or self.reason).rstrip("."), LONGEST_REASON)
        because = f": {reason}" if reason and lowest is not None else ""
        following = f". Next to try: {self._load(self.next_load)}" if self.next_load is not None else ""
        return f"{said}{because}{following}."

    def _load(self, load_point: int | None) -> str:
        return self.words.load_text(load_point or 0)

    def as_dict(self) -> dict[str, Any]:
        """Return the data for report.json."""
        return {
            **{
                key: getattr(self, key)
                for key in ("load_unit", "highest_passed", "lowest_not_passed", "reason", "next_load", "criterion")
            },
            "points": [
                {key: getattr(point, key) for key in ("load_point", "verdict", "reason", "figure")}
                for point in self.points
            ],
        }


def shown_capacity(record: HostRecord) -> ShownCapacity | None:
    """Return the capacity in a record, or None."""
    found = record.capacity
    if not found:
        return None
    unit, reason = printable(found["load_unit"]), printable(found["reason"])
    highest, lowest = found["highest_passed"], found["lowest_not_passed"]
    decisive = _decisive(record, found.get("finding"), highest if lowest is None else lowest)
    target = record.facts.get(LOAD_TARGET)
    points = tuple(
        Point(
            point["load_point"],
            printable(point["verdict"]),
            printable(point["reason"]),
            _figure(record, decisive, point["load_point"]),
            isinstance(target, (int, float)) and 0 < target < point["load_point"],
        )
        for point in found["points"]
    )
    asked = bool(record.facts.get(LOAD_SEARCH) or target)
    shown = {"metric": decisive["metric"], "criterion": printable(_criterion(decisive))} if decisive else {}
    figure = printable(figure_in_words(found["finding"], words_of(unit))) if found.get("finding") else ""
    return ShownCapacity(
        words_of(unit),
        unit,
        highest,
        lowest,
        reason,
        found["next_load"],
        points,
        **shown,
        is_asked_for=asked,
        figure=figure,
    )


def _decisive(record: HostRecord, finding: Finding | None, load_point: int | None) -> Mapping[str, Any]:
    """Return the judgement to which the finding refers, or else the judgement at a load point that is closest to its
    limit, with hard limits last; empty if there is none."""
    there = [judgement for judgement in record.judgements if judgement["load_point"] == load_point]
    told = [
        judgement
        for judgement in there
        if finding and finding["kind"] == LIMIT and row_of(judgement) == row_of(finding)
    ]
    return max(told or there, key=lambda judgement: (not judgement["hard"], _used(judgement)), default={})


def _used(judgement: Mapping[str, Any]) -> float:
    return used_share(judgement, judgement["value"]) or 0.0


def _criterion(judgement: Mapping[str, Any]) -> str:
    return f"{judgement['limit']} ({judgement['rows']})" if judgement.get("rows") else str(judgement["limit"])


def _figure(record: HostRecord, decisive: Mapping[str, Any], load_point: int) -> str:
    """Return the worst of the figures that the deciding limit judges at a load point."""
    if not decisive:
        return ""
    alike = [
        judgement
        for judgement in record.judgements
        if (judgement["limit"], judgement.get("rows"), judgement["load_point"])
        == (decisive["limit"], decisive.get("rows"), load_point)
    ]
    metric = find_metric(decisive["metric"])
    worst = max((judgement for judgement in alike if judgement["value"] is not None), key=_used, default=None)
    return metric.kind.format(worst["value"]) if worst and metric else ""
