# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Follows a run; a poll that the connection swallowed costs nothing but itself."""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import RemoteAction


class ActionModule(RemoteAction):
    """Calls ``status`` on the host."""

    module_name = "mqops.logdisk.status"

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        if answer.get("failed"):
            answer = {"changed": False, "state": "unknown", "progress": {}, "reason": answer["logdisk"]["reason"]}
        return {**answer, "run_id": arguments["run_id"]}
