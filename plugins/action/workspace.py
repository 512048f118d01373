# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts the role's sizes to numbers, and inspects or creates the workspace on the host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import RemoteAction


class ActionModule(RemoteAction):
    """Calls ``workspace`` on the host."""

    module_name = "mqops.logdisk.workspace"
    stage = "workspace"

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return what later roles need, flat: the paths, facts about the file system, and how the directories were created."""
        arguments = self._task.args
        layout = {} if answer.get("needs_privilege") else answer.get("workspace") or {}
        about = {
            "queue_managers": arguments["queue_managers"],
            "volume": arguments["volume"],
            "owner": arguments.get("run_as", ""),
            "share_device": "device_in_use" in (arguments.get("allow") or []),
        }
        return {**{key: value for key, value in answer.items() if key != "workspace"}, **layout, **about}

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        arguments.pop("run_as", None)
        reserve = str(arguments.pop("reserve", "0")).strip()
        try:
            if reserve.endswith("%"):
                share = float(reserve[:-1]) / 100
                if not 0 <= share < 1:
                    raise ValueError("the share must be from 0 to below 100 %")
                return {**arguments, "reserve_share": share}
            return {**arguments, "reserve_bytes": _units.parse_size(reserve)}
        except ValueError as error:
            raise AnsibleActionFail(f"workspace_reserve: {reserve!r}: {error}") from error
