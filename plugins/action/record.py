# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files a record of a host that was not measured: why not, or in a preflight what would be done there. Nothing is sent to the host."""

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _records, _run_directory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import SCHEMA, failure_reason


class ActionModule(ActionBase):
    """Runs on the controller alone."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        arguments = self._task.args
        host, volume = (task_vars or {})["inventory_hostname"], arguments.get("volume", "log")
        directory = _run_directory.RunDirectory.open(arguments["run_path"])
        if arguments.get("keep_existing") and is_filed(directory, host, volume):
            return {**result, "changed": False}
        facts, failed = dict(arguments.get("facts") or {}), dict(arguments.get("failed_result") or {})
        if failed:
            verdict, reason = verdict_and_reason(failed)
            record = _records.error(directory.run, host, volume, arguments["stage"], verdict, reason, facts)
        else:
            record = _records.preflight(directory.run, host, volume, facts, arguments["plan"], arguments["workspace"])
        directory.write_record(record, None)
        key = {"schema": SCHEMA, "kind": record["kind"], "host": host, "volume": volume, "verdict": record["verdict"], "run_id": record["run_id"],
               "reason": record["reasons"][0]}
        return {**result, "changed": False, "logdisk": key}


def is_filed(directory: _run_directory.RunDirectory, host: str, volume: str) -> bool:
    """True where a record of this host is filed already, whatever it says."""
    folder = os.path.join("hosts", _run_directory.safe_name(host), _run_directory.safe_name(volume))
    return os.path.lexists(os.path.join(directory.path, folder, "record.json"))


def verdict_and_reason(failed: dict[str, Any]) -> tuple[str, str]:
    """Return what a failed task's result says of its host: our own key where there is one, else the task's message."""
    key = failed.get("logdisk")
    if isinstance(key, dict) and key.get("reason"):
        return str(key.get("verdict", "error")), str(key["reason"])
    return ("unreachable" if failed.get("unreachable") else "error"), failure_reason(failed)
