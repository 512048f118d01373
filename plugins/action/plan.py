# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Works out what the sweep will do on a host; nothing is sent there."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _plan


class ActionModule(ActionBase):
    """Runs on the controller alone."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(argument_spec={
            "block_sizes": {"type": "list", "elements": "str", "required": True},
            "load_points": {"type": "list", "elements": "str", "default": []},
            "queue_managers": {"type": "int", "required": True},
            "duration_s": {"type": "int", "required": True},
            "warmup_s": {"type": "int", "default": 0},
            "file_size": {"type": "str", "required": True},
            "files": {"type": "int", "required": True},
            "sync": {"type": "str", "default": ""},
            "direct": {"type": "str", "default": ""},
            "rate_per_s": {"type": "float", "default": 0},
            "delay_us": {"type": "int", "default": 0},
            "verify": {"type": "bool", "default": False},
            "deadline_s": {"type": "int", "default": 0},
        })
        try:
            plan = _plan.make_plan(options, options["queue_managers"])
        except _plan.PlanError as error:
            raise AnsibleActionFail(str(error)) from error
        return {**result, "changed": False, "plan": plan}
