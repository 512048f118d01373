# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits on the controller until it is time to poll the hosts again, and shows the progress of the fleet."""

from __future__ import annotations

import time
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import progress
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import show
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import MAX_POLLS, next_poll_s
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import COLLECTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import STARTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.kept import keep_if_asked

SAMPLE = 1
"""How many hosts are polled at once before the expected end, one after the other, without a terminal:
enough to notice that a run was stopped."""


class ActionModule(ControllerAction):
    """Runs only on the controller, once for all hosts: no fork is held while hosts measure."""

    stage = "sweep"

    argument_spec = {
        "hosts": {"type": "list", "elements": "dict", "required": True},
        "schedule": {"type": "dict", "required": True},
        "interval_s": {"type": "float", "default": 30},
        "polls": {"type": "int", "default": 0},
        "looked_at": {"type": "list", "elements": "str", "default": []},
        "run_path": {"type": "str"},
        "everyone": {"type": "bool", "default": False},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if options["run_path"]:
            # The orders are needed to collect the tables, even if this controller is lost.
            problem = keep_if_asked(options["run_path"], STARTED)
            if problem:
                self._display.warning(problem)
        schedule, polls = options["schedule"], options["polls"]
        statuses = {status["host"]: status for status in options["hosts"]}
        pending = [name for name, status in statuses.items() if COLLECTED not in status]
        if not pending:
            return {"over": True, "look_at": [], "given_up": [], "polls": polls}
        end_epoch_s, give_up_epoch_s = (
            max(schedule[name][key] for name in pending) for key in ("end_epoch_s", "give_up_epoch_s")
        )
        # If a host has ended early, others may have as well.
        unseen = [name for name in pending if name not in options["looked_at"]]
        if not (unseen and any(name not in pending for name in options["looked_at"])):
            start_epoch_s = min(times["start_epoch_s"] for times in schedule.values())
            sleep_s = next_poll_s(time.time(), end_epoch_s, give_up_epoch_s, options["interval_s"], MAX_POLLS - polls)
            show(self._display, statuses, sleep_s, start_epoch_s, end_epoch_s, first=not polls)
            unseen = pending if progress.watched or options["everyone"] else pending[polls % len(pending) :][:SAMPLE]
        now = time.time()
        over = now >= end_epoch_s
        return {
            "over": over,
            "look_at": pending if over else unseen,
            "given_up": [name for name in pending if now >= schedule[name]["give_up_epoch_s"]],
            "polls": polls + 1,
        }
