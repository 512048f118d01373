# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects the tables of a host, compares them with the order, stores them, and judges the host."""

from __future__ import annotations

import base64
import binascii
import contextlib
import datetime
import zlib
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, RemoteAction, failure
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.order import machine_differences, table_differences
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import measurement
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import TABLE_NAMES, TablesError, parse_tables

TABLE_MAX_BYTES = 64 << 20


class ActionModule(RemoteAction):
    """Calls ``collect`` on the host and works in the run directory on the controller."""

    module_name = "mqops.logdisk.collect"
    stage = "collect"

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments = self._task.args
        host, volume = task_vars["inventory_hostname"], arguments["volume"]
        directory = RunDirectory.open(arguments["run_path"])
        try:
            tables = unpack_tables(answer.get("tables"))
        except ValueError as error:
            return failure(self.stage, "error", f"the tables that the host sent cannot be read: {error}")
        try:
            order = directory.read_order(host, volume)
        except RunDirectoryError as error:
            return failure(self.stage, "error", f"the order of this host is not known, so its tables are not accepted: {error} Measure this host again")
        reason = why_not_ordered(order, answer, tables)
        if reason:
            return failure(self.stage, "error", reason)
        record = measurement(directory.run, host, volume, as_dict(order.get("facts")), as_dict(order.get("workspace")), tables, datetime.date.today())
        try:
            directory.write_record(record, tables)
        except RunDirectoryError as error:
            reason = (
                f"{error} The tables are kept on the host. When the problem is solved, collect them with playbooks/collect.yml -e collect_run={directory.path}"
            )
            return failure(self.stage, "error", reason)
        key = {"schema": SCHEMA, "kind": record.kind, "host": host, "volume": volume, "verdict": record.verdict, "run_id": record.run_id}
        return {"changed": False, "logdisk": key}


def why_not_ordered(order: dict[str, Any], answer: dict[str, Any], tables: dict[str, bytes]) -> str:
    """Return how the answer of a host differs from its order, empty if it does not. The record reports tables that cannot be read."""
    differences = machine_differences(order, as_dict(answer.get("start")), as_dict(answer.get("machine")))
    if differences:
        return f"the machine that answered is not the one that was started: {'; '.join(differences)}. Correct the inventory and run playbooks/collect.yml"
    with contextlib.suppress(TablesError):
        differences = table_differences(order, parse_tables(tables))
    if not differences:
        return ""
    return f"the tables do not match the order: {'; '.join(differences)}. Find out which tester wrote them, and measure this host again"


def as_dict(value: Any) -> dict[str, Any]:
    """Return ``value`` if it is a dict, else an empty one: a host can send anything."""
    return value if isinstance(value, dict) else {}


def unpack_tables(packed: Any) -> dict[str, bytes]:
    """Return the tables that a host sent, by name. Raises ValueError if they are malformed or too large."""
    if not isinstance(packed, dict):
        raise ValueError("no tables")
    return {name: unpack(name, content) for name, content in packed.items() if name in TABLE_NAMES}


def unpack(name: str, content: Any) -> bytes:
    """Return one table; a table that would unpack to more than 64 MiB is refused before it is unpacked."""
    try:
        engine = zlib.decompressobj()
        table = engine.decompress(base64.b64decode(str(content), validate=True), TABLE_MAX_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"{name}: {error}") from error
    if engine.unconsumed_tail:
        raise ValueError(f"{name} is larger than {TABLE_MAX_BYTES >> 20} MiB")
    return table
