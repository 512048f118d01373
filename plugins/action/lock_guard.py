# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the command line that starts the guard of a host as root, over a separate connection. Nothing is sent to the
host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.action.lock_start import words
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.guard import guard_command
from ansible_collections.mqops.logdisk.plugins.plugin_utils._own_connection import stream_command


class ActionModule(ActionBase):
    """Uses the connection of the task, with its privilege, without a call. If becoming root needs a password, there is
    no command line."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        interpreter, mqs_ini = self._task.args["started"]["interpreter"], self._task.args["mqs_ini"]
        try:
            command = words(stream_command(self._connection, guard_command(interpreter, mqs_ini)))
        except AnsibleActionFail as error:
            return {**result, "changed": False, "command": [], "problem": str(error)}
        return {**result, "changed": False, "command": command, "problem": ""}
