# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets the instant at which each host of a sweep starts."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _follow_up, _progress, _schedule


class ActionModule(ActionBase):
    """Runs on the controller alone, once for all hosts."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(argument_spec={
            "mode": {"type": "str", "choices": ["together", "isolated"], "default": "together"},
            "hosts": {"type": "list", "elements": "str", "required": True},
            "run_path": {"type": "path", "required": True},
        })
        hostvars = (task_vars or {})["hostvars"]
        hosts = {}
        for name in options["hosts"]:
            plan = hostvars[name].get("sweep_plan")
            if plan and hostvars[name].get("workspace_layout"):
                hosts[name] = {"planned_s": plan["planned_s"], "format_s": plan["format_s"], "called_s": hostvars[name]["tester_ready"]["called_s"],
                               "pool": plan["pool"]}
        starts = _schedule.start_times(options["mode"], time.time(), hosts)
        if starts:
            _progress.say(self._display, _follow_up.commands(options["run_path"]))
        return {**result, "changed": False, "starts": starts}
