# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects the tables of a host, compares them with the orders, stores them, and judges each volume.

If the tables of a volume differ from the order, or come from another machine, its verdict is error, and the tables are
kept on the host. A volume without tables does not affect the others."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Mapping
from typing import Any

from ...module_utils._command_lines import extra_variable
from ...module_utils._runs import TABLE_NAMES
from .._action_base import RemoteAction, failure, host_result, of_volumes
from .._fleet.order import SEARCH, machine_differences, table_differences
from .._records.host import file_error, measurement
from .._run.directory import RunDirectory
from .._run.files import unpack
from .._run.joined_tables import join_tables
from .._run.record import HostRecord
from .._run.run_files import RunDirectoryError
from .._run.shapes import as_dict
from .._run.table_reader import TablesError
from .._run.tables import parse_tables
from .._run.verdicts import ERROR, worst


class NotAccepted(Exception):
    """Raised if the tables that a host sent for a volume are not accepted. The message gives the reason."""


STAGES_OF_TESTER = ("start", "ended")
"""The stages at which a tester can end without tables, as the host reports them."""


class Step(RemoteAction):
    """Calls ``collect`` on the host and works in the run directory on the controller."""

    module_name = "mqops.logdisk.collect"
    stage = "collect"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        sent = {name: value for name, value in arguments.items() if name != "run_path"}
        return {**sent, "volumes": self._volumes(task_vars)}

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        return {**answer, "kept": arguments["volumes"]} if answer.get("failed") else answer

    def _volumes(self, task_vars: dict[str, Any]) -> list[str]:
        """Return the requested volumes, or else all volumes that the host is expected to report."""
        return self._task.args.get("volumes") or RunDirectory.open(self._task.args["run_path"]).volumes.expected(
            task_vars["inventory_hostname"]
        )

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, directory = task_vars["inventory_hostname"], RunDirectory.open(self._task.args["run_path"])
        answers = of_volumes(answer, self._volumes(task_vars))
        records, errors = {}, {}
        for volume, sent in answers.items():
            try:
                records[volume] = self._accepted(directory, host, volume, sent, as_dict(answer.get("machine")))
            except NotAccepted as problem:
                errors[volume] = str(problem)
        kept = [volume for volume in errors if answers[volume].get("state") not in ("dead", "absent", "running")]
        for volume, reason in errors.items():
            stage = self._stage_of(answers[volume])
            try:
                file_error(directory, host, volume, stage, reason, facts_of_order(directory, host, volume))
            except RunDirectoryError:  # the volume will be reported as missing
                self._display.warning(f"{host}: {volume}: {reason}")
        if not records:
            return {**failure(self.stage, "error", "; ".join(dict.fromkeys(errors.values()))), "kept": kept}
        verdicts = {volume: record.verdict for volume, record in records.items()}
        verdicts.update(dict.fromkeys(errors, ERROR))
        key = host_result(
            directory.run["run_id"], directory.kind.name, host, worst(verdicts.values()), volumes=verdicts
        )
        return {"changed": False, "collected": list(records), "kept": kept, "logdisk": key}

    def _stage_of(self, answer: Mapping[str, Any]) -> str:
        """Return the stage to which the error of a volume belongs. Only what the host could not read can be collected
        by another try."""
        if answer.get("stage") in STAGES_OF_TESTER:
            return str(answer["stage"])
        return "sweep" if answer.get("state") in ("finished", "dead", "absent", "running") else self.stage

    def _accepted(
        self, directory: RunDirectory, host: str, volume: str, sent: dict[str, Any], machine: dict[str, Any]
    ) -> HostRecord:
        """Store the tables of a volume with its record, and return the record. Raises NotAccepted."""
        if sent["error"]:
            raise NotAccepted(sent["error"])
        try:
            tables = unpack_tables(sent.get("tables"))
        except ValueError as error:
            raise NotAccepted(f"the tables that the host sent cannot be read: {error}") from error
        try:
            order = directory.orders.read(host, volume)
        except RunDirectoryError as error:
            raise NotAccepted(
                f"the order of this host is not known, so its tables are not accepted: {error} Measure this host again"
            ) from error
        reason = why_not_ordered(order, as_dict(sent.get("start")), machine, tables)
        if reason:
            raise NotAccepted(reason)
        tables = of_all_rounds(directory, order, tables) if order.get(SEARCH) else tables
        record = measurement(
            directory.run,
            host,
            volume,
            order.get("facts") or {},
            order.get("workspace") or {},
            tables,
            datetime.date.today(),
        )
        try:
            directory.records.write(record, tables)
        except RunDirectoryError as error:
            raise NotAccepted(
                f"{error} The tables are kept on the host. When the problem is solved, collect them with "
                f"playbooks/collect.yml {extra_variable('collect_run', directory.path)}"
            ) from error
        return record


def of_all_rounds(directory: RunDirectory, order: Mapping[str, Any], tables: dict[str, bytes]) -> dict[str, bytes]:
    """Store the tables of one round of a search. Return the tables of all rounds so far, joined as if they came from a
    single run. Raises NotAccepted."""
    host, volume, number = order["host"], order["volume"], order[SEARCH]["round"]
    try:
        directory.orders.write_round(order, number, tables)
        return join_tables(
            [directory.orders.read_round(host, volume, each, TABLE_NAMES) for each in range(1, number + 1)]
        )
    except RunDirectoryError as error:
        raise NotAccepted(f"{error} The tables of this round are kept on the host") from error
    except TablesError as error:
        raise NotAccepted(
            f"the tables of the rounds of this search cannot be joined: {error} Measure this host again"
        ) from error


def facts_of_order(directory: RunDirectory, host: str, volume: str) -> dict[str, Any]:
    """Return the facts about a volume that were known when its tester was started; empty if the order cannot be
    read."""
    try:
        return directory.orders.read(host, volume).get("facts") or {}
    except RunDirectoryError:
        return {}


def why_not_ordered(
    order: dict[str, Any], start: dict[str, Any], machine: dict[str, Any], tables: dict[str, bytes]
) -> str:
    """Return how the answer of a host differs from its order; empty if it does not differ. Tables that cannot be read
    are reported in the record instead."""
    differences = machine_differences(order, start, machine)
    if differences:
        return (
            f"the machine that answered is not the one that was started: {'; '.join(differences)}. Correct the "
            "inventory and run playbooks/collect.yml"
        )
    with contextlib.suppress(TablesError):
        differences = table_differences(order, parse_tables(tables))
    if not differences:
        return ""
    return (
        f"the tables do not match the order: {'; '.join(differences)}. Find out which tester wrote "
        "them, and measure this host again"
    )


def unpack_tables(packed: Any) -> dict[str, bytes]:
    """Return the tables that a host sent, by name. Raises ValueError if they are malformed or too large."""
    if not isinstance(packed, dict):
        raise ValueError("no tables")
    return {name: unpack(name, content) for name, content in packed.items() if name in TABLE_NAMES}
