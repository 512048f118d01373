# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Has the host leave nothing of a run, and notes in the host's record what stays."""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, one_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory


class ActionModule(RemoteAction):
    """Calls ``cleanup`` on the host. It never fails: the gate decides what a leftover means."""

    module_name = "mqops.logdisk.cleanup"
    stage = "cleanup"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments.pop("run_path", None)
        return arguments

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            answer = {"changed": False, "removed": [], "left": [f"could not clean up: {answer['logdisk']['reason']}"]}
        left = [one_line(str(item)) for item in answer.get("left") or []]
        if left:
            host = task_vars["inventory_hostname"]
            self._display.warning(f"{host}: left behind: {'; '.join(left)}")
            self._note(host, arguments.get("volume", "log"), left)
        return answer

    def _note(self, host: str, volume: str, left: list[str]) -> None:
        run_path = self._task.args.get("run_path")
        if run_path:
            RunDirectory.open(run_path).note_leftovers(host, volume, left)
