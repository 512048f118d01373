# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The decisions between two rounds of a search for the capacity: which load each volume tries next, and which load the
volumes of a group can carry. Either each volume is searched by itself, or the volumes of a group are searched together.
In a group, all volumes try the same load in the same round, and a load passes only if it passes on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._kinds import kind_named
from .._run.findings import SEARCH_ENDED, Finding, finding
from .._run.record import HostRecord
from .capacity import Capacity, next_load

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
        key = (climber.record.host, climber.record.volume)
        group = [climber] if climber.group is None else [other for other in climbers if other.group == climber.group]
        capacity = climber.capacity.held_together_with(others_of(climber, climbers))
        largest = min(other.largest for other in group)
        load = next_load(capacity.highest_passed, capacity.lowest_not_passed, largest) if capacity.points else None
        failed = [other.record.label for other in group if not other.can_go_on]
        most = min(other.rounds for other in group)
        if not climber.can_go_on or SEARCH_ENDED_AFTER_ROUNDS in climber.record.facts:
            continue
        if load is None and capacity.next_load is not None:
            ended[key] = finding(
                SEARCH_ENDED, None, cause="largest", rounds=rounds_done, load=largest, load_unit=capacity.load_unit
            )
        elif load is None:
            continue
        elif failed:
            ended[key] = finding(
                SEARCH_ENDED,
                None,
                cause="others",
                rounds=rounds_done,
                load=load,
                load_unit=capacity.load_unit,
                others=failed,
            )
        elif rounds_done >= most:
            ended[key] = finding(
                SEARCH_ENDED, None, cause="rounds", rounds=rounds_done, load=load, load_unit=capacity.load_unit
            )
        else:
            loads[key] = load
    return loads, ended


def by_host(loads: Mapping[tuple[str, str], int]) -> dict[str, dict[str, int]]:
    """Return loads by host and volume as plain data."""
    found: dict[str, dict[str, int]] = {}
    for (host, volume), load in loads.items():
        found.setdefault(host, {})[volume] = load
    return found
