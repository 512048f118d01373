# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sets the instant at which each host of a sweep starts."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.follow_up import commands
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import start_times


class ActionModule(ActionBase):
    """Runs on the controller alone, once for all hosts."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(
            argument_spec={
                "mode": {"type": "str", "choices": ["together", "isolated"], "default": "together"},
                "hosts": {"type": "list", "elements": "str", "required": True},
                "run_id": {"type": "str", "required": True},
                "run_path": {"type": "path", "required": True},
            }
        )
        known = {name: (task_vars or {})["hostvars"][name].get("sweep_ready") or {} for name in options["hosts"]}
        hosts = {name: ready for name, ready in known.items() if ready.get("run_id") == options["run_id"]}
        starts = start_times(options["mode"], time.time(), hosts)
        if starts:
            say(self._display, commands(options["run_path"]))
        return {**result, "changed": False, "starts": starts}
