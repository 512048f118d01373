# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the record of a host that was not measured: the reason, or in a preflight what would be done. Nothing is sent to the host."""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, ControllerAction, failure_reason
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.host import error, preflight
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory

STAGE_OF_OTHERS = "tester"
"""The stage of a failed task whose module is not ours: only the tester role has such tasks, which install a compiler."""


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "volume": {"type": "str", "required": True},
        "failed_result": {"type": "dict", "default": {}},
        "keep_existing": {"type": "bool", "default": False},
        "plan": {"type": "dict", "default": {}},
        "workspace": {"type": "dict", "default": {}},
        "facts": {"type": "dict", "default": {}},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, volume, facts = task_vars["inventory_hostname"], options["volume"], options["facts"]
        directory = RunDirectory.open(options["run_path"])
        if options["keep_existing"] and directory.is_known(host, volume):
            return {}
        if options["failed_result"]:
            record = error(directory.run, host, volume, *stage_verdict_and_reason(options["failed_result"]), facts)
        else:
            record = preflight(directory.run, host, volume, facts, options["plan"], options["workspace"])
        directory.write_record(record)
        key = {"schema": SCHEMA, "kind": record.kind, "host": host, "volume": volume, "verdict": record.verdict, "run_id": record.run_id}
        return {"logdisk": {**key, "reason": record.reasons[0]}}


def stage_verdict_and_reason(failed: dict[str, Any]) -> tuple[str, str, str]:
    """Return stage, verdict and reason of a failed task: from our own key if there is one, otherwise from the task's message."""
    key = failed.get("logdisk")
    if isinstance(key, dict) and key.get("reason"):
        return str(key.get("stage", "")), str(key.get("verdict", "error")), str(key["reason"])
    return STAGE_OF_OTHERS, ("unreachable" if failed.get("unreachable") else "error"), failure_reason(failed)
