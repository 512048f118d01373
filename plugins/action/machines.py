# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds hosts of the inventory that are one machine."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.machines import doubles


class ActionModule(ActionBase):
    """Runs on the controller alone, once for all hosts."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "list", "elements": "str", "required": True},
            }
        )
        hostvars = (task_vars or {})["hostvars"]
        facts = {name: (hostvars[name].get("tester_probe") or {}).get("facts") or {} for name in options["hosts"]}
        return {**result, "changed": False, "doubles": doubles(facts)}
