# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cuts the power of a host with a command on the controller, if the tester is writing and no queue manager runs on the
host."""

from __future__ import annotations

import time
from typing import Any

from ansible.errors import AnsibleError

from ..plugin_utils._action_base import RemoteAction, one_line
from ..plugin_utils._cut_action import files_of, keep_alive, renew
from ..plugin_utils._durability import witness
from ..plugin_utils._durability.witness import WRITING
from ..plugin_utils._fleet.progress import say
from ..plugin_utils._judge.durability import STAGE
from ..plugin_utils._own_connection import call
from ..plugin_utils._run.directory import RunDirectory

OF_CONTROLLER = ("run_path", "started", "volume", "command", "after_s", "limit_s")
"""The options that are not sent to the host."""
NOT_RUN = {"status": None, "output": "", "problem": "", "seconds": 0.0}


class ActionModule(RemoteAction):
    """Calls ``cut_power`` on the host immediately before its power is cut."""

    module_name = "mqops.logdisk.cut_power"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._own = {name: arguments.pop(name, None) for name in OF_CONTROLLER}
        return arguments

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if self._task.check_mode:
            return {"changed": False, "go": False, "problem": "nothing is cut in check mode"}
        started, host = self._own["started"], task_vars["inventory_hostname"]
        problem = started.get("problem") or self._why_not(arguments, task_vars)
        if problem:
            return {"changed": False, "go": False, **NOT_RUN, "problem": problem}
        say(self._display, f"{host}: cutting the power (cut {started['number']})")
        command = str(self._own["command"] or "")
        return {
            "changed": True,
            "go": True,
            **(call(command, float(self._own["limit_s"] or 120)) if command else NOT_RUN),
        }

    def _why_not(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> str:
        """Wait while the tester writes for the required time, and return the reason if the power must not be cut; empty
        if it may be cut."""
        started, after_s = self._own["started"], float(self._own["after_s"] or 10)
        files = files_of(
            RunDirectory.open(self._own["run_path"]),
            task_vars["inventory_hostname"],
            str(self._own["volume"]),
            int(started["number"]),
        )
        left_s = max(0.0, min(after_s, started["ready_epoch_s"] + after_s - time.time()))
        state = witness.wait(files, lambda found: found.is_over, left_s)
        refusal = "" if state.is_over else self._look(arguments, task_vars)
        state = witness.look(files)
        if state.is_over:
            return state.problem or "the connection to the tester broke before the cut"
        return refusal or ("" if state.name == WRITING else "no write was acknowledged before the cut")

    def _look(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> str:
        """Return the reason that the host gives against cutting its power. A missing answer is also a reason."""
        keep_alive(self._connection)
        renew(self._connection)
        try:
            answer = super().call(arguments, task_vars)
        except AnsibleError as error:
            return f"it is not known whether queue managers are running on this host: {one_line(str(error))}"
        if answer.get("failed"):
            return f"it is not known whether queue managers are running on this host: {answer['logdisk']['reason']}"
        refusal = answer.get("refusal")
        return (
            one_line(refusal)[:1000]
            if isinstance(refusal, str)
            else "it is not known whether queue managers are running on this host"
        )
