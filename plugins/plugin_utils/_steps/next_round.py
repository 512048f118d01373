# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Decides, between two rounds of a search for the capacity, which load each volume tries next. First judges volumes
that are searched together."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ansible.errors import AnsibleActionFail

from .._action_base import ControllerAction
from .._fleet.messages import say
from .._fleet.order import SEARCH
from .._judge.capacity import SEARCH_ENDED_AFTER_ROUNDS, Climber, by_host, next_loads, others_of
from .._records.host import judge_record, missing, note, profile_of, with_notes
from .._run.directory import RunDirectory
from .._run.findings import CLIMBED_TOGETHER, finding
from .._run.record import HostRecord, host_label
from .._run.run_files import RunDirectoryError
from .._run.table_reader import TablesError
from .._run.tables import parse_tables
from .._run.words import words_of


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts. ``round`` is the number of rounds so far. If it is 0, volumes
    are only judged together.

    Returns the ``number`` of the next round, and its ``loads`` by host and volume; empty if no search continues.
    """

    stage = "sweep"

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "hosts": {"type": "list", "elements": "str", "required": True},
        "round": {"type": "int", "default": 0},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        number = options["round"]
        if not options["hosts"]:
            return {"number": number + 1, "loads": {}}
        try:
            directory = RunDirectory.open(options["run_path"])
            climbers = list(climbers_of(directory, options["hosts"]))
            judge_together(directory, climbers)
            loads, ended = next_loads(climbers, number) if number else ({}, {})
            for (host, volume), found in ended.items():
                note(directory, host, volume, [found], {SEARCH_ENDED_AFTER_ROUNDS: number})
        except RunDirectoryError as error:
            raise AnsibleActionFail(f"the next round cannot be decided: {error}") from error
        if loads:
            say(self._display, round_line(number + 1, loads))
        return {"number": number + 1, "loads": by_host(loads)}


def climbers_of(directory: RunDirectory, hosts: Iterable[str]) -> Iterator[Climber]:
    """Yield those volumes of the hosts whose orders request a search for the capacity. Raises
    RunDirectoryError."""
    for host in hosts:
        for volume in directory.volumes.expected(host):
            search = search_of(directory, host, volume)
            if search:
                record = directory.records.find(host, volume) or missing(directory.run, host, volume)
                yield Climber(record, search.get("group"), search["largest"], search["rounds"])


def search_of(directory: RunDirectory, host: str, volume: str) -> dict[str, Any]:
    """Return the parameters of a volume's search; empty if the volume was not started or there is no search."""
    try:
        return directory.orders.read(host, volume).get(SEARCH) or {}
    except RunDirectoryError:
        return {}


def judge_together(directory: RunDirectory, climbers: list[Climber]) -> None:
    """Update the stored records of volumes that are searched together. Each volume is now judged by the loads that all
    of them pass. Raises RunDirectoryError."""
    for climber in climbers:
        others = others_of(climber, climbers)
        if others and climber.record.capacity is not None:
            directory.records.write(*judged_together(directory, climber.record, others))


def judged_together(
    directory: RunDirectory, record: HostRecord, others: dict[str, Any]
) -> tuple[HostRecord, dict[str, bytes]]:
    tables = directory.records.tables(record)
    try:
        judged = judge_record(
            record, parse_tables(tables), profile_of(directory.run, record.host), datetime.date.today(), others
        )
    except TablesError as error:
        raise RunDirectoryError(f"The tables of {record.label} cannot be read again: {error}") from None
    together = finding(CLIMBED_TOGETHER, None, others=list(others))
    return with_notes(replace(record, **judged), [together], words_of(record.load_unit)), tables


def round_line(number: int, loads: dict[tuple[str, str], int]) -> str:
    """Return the line that announces a round."""
    tried = ", ".join(f"{host_label(*key)} {load}" for key, load in list(loads.items())[:5])
    more = f" and {len(loads) - 5} more" if len(loads) > 5 else ""
    return f"logdisk: round {number} of the search for the capacity: {tried}{more}"
