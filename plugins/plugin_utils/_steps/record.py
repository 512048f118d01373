# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Writes the records of a host that was not measured. They state the reason or, in a preflight, what would be done.
Nothing is sent to the host."""

from __future__ import annotations

from typing import Any

from .._action_base import ControllerAction, failure_reason, host_result
from .._records.host import file_error, preflight
from .._run.directory import RunDirectory
from .._run.record import HostRecord
from . import step_named

OURS = "mqops.logdisk."
STEP = f"{OURS}step"
STAGE_OF_OTHERS = "tester"
"""The stage of a failed task whose action is not part of this collection. Only the role tester has such tasks; they
install a compiler."""


class Step(ControllerAction):
    """Runs only on the controller. With ``failed_result``, the records state the verdict and its reason, and records
    that already exist are kept. Otherwise, they describe what a measurement would do."""

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "failed_result": {"type": "dict", "default": {}},
        "plan": {"type": "dict", "default": {}},
        "workspace": {"type": "dict", "default": {}},
        "facts": {"type": "dict", "default": {}},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, directory = task_vars["inventory_hostname"], RunDirectory.open(options["run_path"])
        if options["failed_result"]:
            stage, verdict, reason = stage_verdict_and_reason(
                options["failed_result"], self._stage_of_failed(task_vars)
            )
            found = {volume["name"]: volume["facts"] for volume in options["workspace"].get("volumes") or []}
            filed = (
                file_error(
                    directory, host, volume, stage, reason, {**options["facts"], **found.get(volume, {})}, verdict
                )
                for volume in directory.volumes.expected(host)
            )
            records = [record for record in filed if record]
        else:
            records = preflights(directory, host, options)
            for record in records:
                directory.records.write(record)
        if not records:
            return {}
        reasons = {record.volume: record.reasons[0] for record in records}
        return {"logdisk": host_result(records[0].run_id, records[0].kind, host, records[0].verdict, volumes=reasons)}

    def _stage_of_failed(self, task_vars: dict[str, Any]) -> str:
        """Return the stage that the failed task belongs to. If Ansible itself ends a task after a time limit, the
        task's result does not contain it."""
        failed = task_vars.get("ansible_failed_task") or {}
        name = str(failed.get("action") or "")
        if not name.startswith(OURS):
            return STAGE_OF_OTHERS
        if name == STEP:
            return step_named(failed["args"]["name"]).stage
        return str(getattr(self._shared_loader_obj.action_loader.get(name, class_only=True), "stage", ""))


def preflights(directory: RunDirectory, host: str, options: dict[str, Any]) -> list[HostRecord]:
    """Return the records of the volumes that are ready to be measured."""
    plans = {volume["name"]: volume for volume in options["plan"]["volumes"]}
    return [
        preflight(
            directory.run, host, volume["name"], {**options["facts"], **volume["facts"]}, plans[volume["name"]], volume
        )
        for volume in options["workspace"]["volumes"]
    ]


def stage_verdict_and_reason(failed: dict[str, Any], stage: str) -> tuple[str, str, str]:
    """Return the stage and the verdict of a failed task, and why it failed. They come from this collection's key in the
    result or, if there is no such key, from the stage of the task and its message."""
    key = failed.get("logdisk")
    if isinstance(key, dict) and key.get("reason"):
        return str(key.get("stage", "")), str(key.get("verdict", "error")), str(key["reason"])
    limit = " (the time limit is Ansible's own: ANSIBLE_TASK_TIMEOUT or task_timeout)" if failed.get("timedout") else ""
    return stage, ("unreachable" if failed.get("unreachable") else "error"), failure_reason(failed) + limit
