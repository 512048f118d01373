# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Sets the instant at which each host of a sweep starts."""

from __future__ import annotations

import time
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.follow_up import commands
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import least_s, time_table
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.start_instant import read_start_at, start_problem
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.kept import is_kept


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts."""

    argument_spec = {
        "mode": {"type": "str", "choices": ["together", "isolated"], "default": "together"},
        "hosts": {"type": "list", "elements": "dict", "required": True},
        "run_path": {"type": "str", "required": True},
        "start_at": {"type": "raw"},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        hosts, now, start_at = {host["host"]: host for host in options["hosts"]}, time.time(), read_start_at(options["start_at"])
        problem = start_problem(start_at, now, least_s(hosts)) if hosts else ""
        if hosts and not problem:
            say(self._display, commands(options["run_path"], is_kept(options["run_path"])))
        return {"hosts": time_table(options["mode"], now, hosts, start_at), "problem": problem}
