# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cleans up a run on the host, and notes in the host's record what could not be removed, and how long the volume was limited."""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, one_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.throttling import limit_notes, volume_limits
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory


class ActionModule(RemoteAction):
    """Calls ``cleanup`` on the host. It never fails: the gate decides what a leftover means."""

    module_name = "mqops.logdisk.cleanup"
    stage = "cleanup"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments.pop("run_path", None)
        return {**arguments, "volume_counters": bool(arguments.get("volume_counters"))}

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            answer = {"changed": False, "removed": [], "left": [f"could not clean up: {answer['logdisk']['reason']}"]}
        left = [one_line(str(item)) for item in answer.get("left") or []]
        if left:
            self._display.warning(f"{task_vars['inventory_hostname']}: left behind: {'; '.join(left)}")
        self._note(task_vars["inventory_hostname"], left, volume_limits(self._task.args.get("volume_counters"), answer.get("volume_counters")))
        return answer

    def _note(self, host: str, left: list[str], limits: dict[str, Any]) -> None:
        run_path, volume = self._task.args.get("run_path"), self._task.args["volume"]
        if run_path and left:
            RunDirectory.open(run_path).note_leftovers(host, volume, left)
        if run_path and limits:
            RunDirectory.open(run_path).note_facts(host, volume, limits, limit_notes(limits))
