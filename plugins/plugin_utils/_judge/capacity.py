# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines the capacity of a volume: the highest load that passes, and the decisions between two rounds of the search
for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from .._run import findings
from .._run.columns import grouped
from .._run.findings import ELSEWHERE, LOAD_POINT, SEARCH_ENDED, Finding, Judgement, finding, of_judgement
from .._run.kinds import kind_named
from .._run.record import HostRecord
from .._run.tables import Tables
from .._run.tester_options import LARGEST_LOAD
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, badness, worst
from .._run.words import Words

CLOSE_ENOUGH = 0.05
"""The search ends if the lowest load that does not pass exceeds the highest one that passes by at most this share."""

LOAD_TARGET = "load_target"
"""The fact that states which load the volume must carry."""
LOAD_SEARCH = "load_search"
"""The fact that states that the load points came from a search and were not given."""


@dataclass(frozen=True)
class Point:
    """The result of the judgements of a load point. ``finding`` is the finding of the worst judgement, or None if all
    of them pass."""

    load_point: int
    verdict: str
    finding: Finding | None = None

    @property
    def passed(self) -> bool:
        """Whether all judgements pass."""
        return self.verdict in GOOD


@dataclass(frozen=True)
class Capacity:
    """The load points of a run in ascending order, and their unit."""

    load_unit: str
    points: tuple[Point, ...]

    @property
    def highest_passed(self) -> int | None:
        """The capacity. It is None if no load point passed, or if a load point failed below the lowest one that
        passed."""
        highest = None
        for point in self.points:
            if point.verdict == FAIL:
                break
            if point.passed:
                highest = point.load_point
        return highest

    @property
    def first_not_passed(self) -> Point | None:
        """The lowest load point above the capacity that did not pass."""
        return next(
            (point for point in self.points if not point.passed and point.load_point > (self.highest_passed or 0)), None
        )

    @property
    def lowest_not_passed(self) -> int | None:
        """The load of the lowest load point above the capacity that did not pass."""
        return self.first_not_passed and self.first_not_passed.load_point

    @property
    def next_load(self) -> int | None:
        """The load to try next; None if the capacity is known with sufficient accuracy."""
        return next_load(self.highest_passed, self.lowest_not_passed) if self.points else None

    def text(self, load: float) -> str:
        """Format a load for display: "80 BSU"."""
        return text_of_load(load, self.load_unit)

    def held_together_with(self, others: Mapping[str, Capacity]) -> Capacity:
        """Return the common capacity of this volume and the ``others`` (by label) that are searched together with it.
        A load point passes only if it passes on all of these volumes."""
        return replace(self, points=tuple(_on_all(point, others) for point in self.points))

    def as_dict(self) -> dict[str, Any]:
        """Return the capacity in the form used in records."""
        return {
            "load_unit": self.load_unit,
            "highest_passed": self.highest_passed,
            "lowest_not_passed": self.lowest_not_passed,
            "finding": self.first_not_passed.finding if self.first_not_passed else None,
            "next_load": self.next_load,
            "points": [dict(vars(point)) for point in self.points],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Capacity:
        """Return the object from the data that as_dict returned."""
        points = data["points"]
        return cls(
            data["load_unit"],
            tuple(Point(point["load_point"], point["verdict"], point.get("finding")) for point in points),
        )


def text_of_load(load: float, load_unit: str) -> str:
    """Format a load for display, with the unit of the load points: "80 BSU"."""
    return f"{load:g} {load_unit}" if load % 1 else Words("", "", load_unit, load_unit).load_text(int(load))


def next_load(highest_passed: int | None, lowest_not_passed: int | None, largest: int = LARGEST_LOAD) -> int | None:
    """Return the load to try next: twice a load that passed, half of a load that did not, or the middle between the
    two. It is None if no load is left to try.

    Jetstress is used in the same way: the load is increased until it fails, and then reduced until it passes. No load
    is left if the two are adjacent or within CLOSE_ENOUGH of each other, if the largest load passed, or if a load of 1
    did not.
    """
    if lowest_not_passed is None:
        return None if highest_passed == largest else min(2 * (highest_passed or 1), largest)
    if highest_passed is None:
        return lowest_not_passed // 2 or None
    if lowest_not_passed - highest_passed <= max(1, CLOSE_ENOUGH * highest_passed):
        return None
    return (highest_passed + lowest_not_passed) // 2


def capacity_of(tables: Tables, judgements: Iterable[Mapping[str, Any]], ending: Finding | None) -> Capacity:
    """Return the capacity according to the judgements of a run. ``ending`` states how the tester ended, if it did not
    measure everything."""
    steps: dict[int, set[int]] = {}
    for row in tables.results:
        steps.setdefault(row["load_point"], set()).add(row["step"])
    by_load = grouped(judgements, itemgetter("load_point"))
    complete = max(map(len, steps.values()), default=0)
    last = max(tables.results, key=lambda row: row["step"])["load_point"] if tables.results else None
    points = []
    for load_point in sorted(steps):
        point = _point(load_point, by_load.get(load_point, ()), len(steps[load_point]) == complete)
        points.append(_ended(point, ending) if ending and load_point == last else point)
    return Capacity(tables.run.get("load_unit", ""), tuple(points))


def counting(
    judgements: Sequence[Judgement], capacity: Capacity, target: float | None, is_search: bool
) -> list[dict[str, Any]]:
    """Return the judgements that count for the verdict of the volume.
    The judgements of other load points only explore the limits of the volume.

    If there is a target, the load points up to the target count. If there is no target and the load points were given,
    all of them count. In a search, the load points up to the capacity count or, if none passed, the lowest load point.
    """
    if target is None and not is_search:
        return list(judgements)
    highest = target if target is not None else capacity.highest_passed
    if highest is None:
        highest = capacity.points[0].load_point if capacity.points else LARGEST_LOAD
    return [
        judgement for judgement in judgements if judgement["load_point"] is None or judgement["load_point"] <= highest
    ]


def unproven(capacity: Capacity, target: float | None, is_search: bool) -> Finding | None:
    """Return a finding if the run does not show that the volume carries its target or, in a search, any load at all;
    otherwise None."""
    if not capacity.points or (target is None and not is_search):
        return None
    highest, stopped = capacity.highest_passed, capacity.first_not_passed
    if highest is not None and (target is None or highest >= target):
        return None
    if stopped and (target is None or stopped.load_point <= target):
        return stopped.finding
    return finding(
        findings.LOAD_TARGET, INCONCLUSIVE, target=target or 0, highest_passed=highest, load_unit=capacity.load_unit
    )


def _point(load_point: int, judgements: Sequence[Mapping[str, Any]], is_complete: bool) -> Point:
    if not judgements:
        return _proves_nothing(load_point, "no limit")
    first = min(judgements, key=badness)
    verdict = worst(judgement["verdict"] for judgement in judgements)
    if verdict in GOOD and not is_complete:
        return _proves_nothing(load_point, "incomplete")
    return Point(load_point, verdict, None if verdict == PASS else of_judgement(first))


def _proves_nothing(load_point: int, cause: str) -> Point:
    return Point(load_point, INCONCLUSIVE, finding(LOAD_POINT, INCONCLUSIVE, cause=cause))


def _ended(point: Point, ending: Finding) -> Point:
    """Return the load point at which the tester ended."""
    verdict = ending["verdict"]
    return (
        point
        if worst((point.verdict, verdict)) == point.verdict and not point.passed
        else replace(point, verdict=verdict, finding=ending)
    )


def _on_all(point: Point, others: Mapping[str, Capacity]) -> Point:
    for label, other in others.items():
        theirs = next((each for each in other.points if each.load_point == point.load_point), None)
        if theirs is None:
            theirs = _proves_nothing(point.load_point, "not measured")
        if not theirs.passed and worst((theirs.verdict, point.verdict)) != point.verdict:
            point = Point(
                point.load_point, theirs.verdict, finding(ELSEWHERE, theirs.verdict, on=label, finding=theirs.finding)
            )
    return point


SEARCH_ENDED_AFTER_ROUNDS = "search_ended_after_rounds"
"""The fact that contains the number of rounds of a search that ended before the capacity was known."""


@dataclass(frozen=True)
class Climber:
    """A volume whose capacity is being determined. ``group`` is the same for volumes that are searched together, and
    None if the volume is searched by itself. ``rounds`` is the maximum number of rounds, and ``largest`` is the largest
    load that the workload can produce."""

    record: HostRecord
    group: str | None
    largest: int
    rounds: int

    @property
    def capacity(self) -> Capacity:
        """The results so far. A volume that was not measured has no load point,
        so no load point of its group passes."""
        return Capacity.from_dict(self.record.capacity) if self.record.capacity else Capacity("", ())

    @property
    def can_go_on(self) -> bool:
        """Whether the volume can be measured again: this is not possible after an I/O error or if the run was
        stopped."""
        return (
            kind_named(self.record.kind).tests_storage
            and (self.record.tester or {}).get("exit_status") == 0
            and self.record.capacity is not None
        )


def others_of(climber: Climber, climbers: Sequence[Climber]) -> dict[str, Capacity]:
    """Return the capacities of the other volumes of its group, by their labels; empty if it is searched by itself."""
    if climber.group is None:
        return {}
    return {
        other.record.label: other.capacity
        for other in climbers
        if other is not climber and other.group == climber.group
    }


def next_loads(
    climbers: Sequence[Climber], rounds_done: int
) -> tuple[dict[tuple[str, str], int], dict[tuple[str, str], Finding]]:
    """Return the load that each volume tries next, and a note for each volume whose search ends before its capacity is
    known. Both are by host and volume."""
    loads, ended = {}, {}
    for climber in climbers:
        if not climber.can_go_on or SEARCH_ENDED_AFTER_ROUNDS in climber.record.facts:
            continue
        key = (climber.record.host, climber.record.volume)
        group = [climber] if climber.group is None else [other for other in climbers if other.group == climber.group]
        capacity = climber.capacity.held_together_with(others_of(climber, climbers))
        largest = min(other.largest for other in group)
        load = next_load(capacity.highest_passed, capacity.lowest_not_passed, largest) if capacity.points else None
        failed = [other.record.label for other in group if not other.can_go_on]
        rounds_are_over = rounds_done >= min(other.rounds for other in group)
        cause = "largest" if load is None else "others" if failed else "rounds" if rounds_are_over else ""
        if load is None and capacity.next_load is None:
            continue
        if not cause:
            loads[key] = load
            continue
        ended[key] = finding(
            SEARCH_ENDED,
            None,
            cause=cause,
            rounds=rounds_done,
            load=largest if load is None else load,
            load_unit=capacity.load_unit,
            others=failed if cause == "others" else None,
        )
    return loads, ended


def by_host(loads: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return loads by host and volume as plain data."""
    found: dict[str, dict[str, int]] = {}
    for (host, volume), load in loads.items():
        found.setdefault(host, {})[volume] = load
    return found
