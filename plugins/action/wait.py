# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits on the controller until it is time to poll the hosts again, and shows the progress of the fleet."""

from __future__ import annotations

import time
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import show
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import MAX_POLLS, is_pending, next_poll_s
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.kept import keep_if_asked
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store import STARTED


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts: no fork is held while hosts measure."""

    argument_spec = {
        "hosts": {"type": "list", "elements": "dict", "required": True},
        "schedule": {"type": "dict", "required": True},
        "interval_s": {"type": "float", "default": 30},
        "polls": {"type": "int", "default": 0},
        "run_path": {"type": "str"},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if options["run_path"]:
            # Whatever becomes of this controller, the orders are needed to collect the tables.
            problem = keep_if_asked(options["run_path"], STARTED)
            if problem:
                self._display.warning(problem)
        schedule, polls, now = options["schedule"], options["polls"], time.time()
        statuses = {status["host"]: status for status in options["hosts"]}
        pending = [name for name, status in statuses.items() if is_pending(status, schedule[name]["give_up_epoch_s"], now)]
        if pending:
            end_epoch_s, give_up_epoch_s = (max(schedule[name][key] for name in pending) for key in ("end_epoch_s", "give_up_epoch_s"))
            start_epoch_s = min(times["start_epoch_s"] for times in schedule.values())
            sleep_s = next_poll_s(now, end_epoch_s, give_up_epoch_s, options["interval_s"], MAX_POLLS - polls)
            show(self._display, statuses, sleep_s, start_epoch_s, end_epoch_s, first=not polls)
        return {"pending": bool(pending), "pending_hosts": pending, "polls": polls + bool(pending)}
