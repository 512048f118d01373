# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the record of a host that was not measured: the reason, or in a preflight what would be done. Nothing is sent to the host."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, failure_reason
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import error, preflight
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory

STAGE_OF_OTHERS = "tester"
"""The stage of a failed task whose module is not ours: only the tester role has such tasks, which install a compiler."""


class ActionModule(ActionBase):
    """Runs on the controller alone."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        arguments = self._task.args
        host, volume = (task_vars or {})["inventory_hostname"], arguments["volume"]
        directory = RunDirectory.open(arguments["run_path"])
        if arguments.get("keep_existing") and directory.is_known(host, volume):
            return {**result, "changed": False}
        facts, failed = dict(arguments.get("facts") or {}), dict(arguments.get("failed_result") or {})
        if failed:
            record = error(directory.run, host, volume, *stage_verdict_and_reason(failed), facts)
        else:
            record = preflight(directory.run, host, volume, facts, arguments["plan"], arguments["workspace"])
        directory.write_record(record)
        key = {"schema": SCHEMA, "kind": record.kind, "host": host, "volume": volume, "verdict": record.verdict, "run_id": record.run_id}
        return {**result, "changed": False, "logdisk": {**key, "reason": record.reasons[0]}}


def stage_verdict_and_reason(failed: dict[str, Any]) -> tuple[str, str, str]:
    """Return stage, verdict and reason of a failed task: from our own key if there is one, otherwise from the task's message."""
    key = failed.get("logdisk")
    if isinstance(key, dict) and key.get("reason"):
        return str(key.get("stage", "")), str(key.get("verdict", "error")), str(key["reason"])
    return STAGE_OF_OTHERS, ("unreachable" if failed.get("unreachable") else "error"), failure_reason(failed)
