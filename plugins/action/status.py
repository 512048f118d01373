# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Polls a run. If a connection fails, only this poll is lost."""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction, as_dict
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import UNKNOWN, host_status, unanswered


class ActionModule(RemoteAction):
    """Calls ``status`` on the host."""

    module_name = "mqops.logdisk.status"
    stage = "sweep"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._known = dict(arguments.pop("known", None) or {})
        return arguments

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            return {**unanswered(self._known, answer["logdisk"]["reason"]), "changed": False}
        answers = as_dict(answer.get("volumes"))
        # Those that were asked for, whatever the host says: what is waited for is collected.
        asked = {name: as_dict(answers.get(name)) or {"state": UNKNOWN} for name in arguments["volumes"]}
        return {**host_status(task_vars["inventory_hostname"], arguments["run_id"], {**answer, "volumes": asked}), "changed": False}
