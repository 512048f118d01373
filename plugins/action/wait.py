# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits on the controller until it is time to poll the hosts again, and shows the progress of the fleet."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import progress
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import show
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import ENDED, MAX_POLLS, next_poll_s
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import COLLECTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import STARTED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.kept import keep_if_asked


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
        "answers": {"type": "dict", "default": {}},
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
        answers = {name: options["answers"][name] for name in pending if name in options["answers"]}
        result = {"over": True, "ask": "", "look_at": [], "given_up": [], "polls": polls, "answers": answers}
        if not pending:
            return result
        end_epoch_s, give_up_epoch_s = (
            max(schedule[name][key] for name in pending) for key in ("end_epoch_s", "give_up_epoch_s")
        )
        look_at = unseen_since_an_end(pending, options["looked_at"], answers)
        if not look_at:
            start_epoch_s = min(times["start_epoch_s"] for times in schedule.values())
            sleep_s = next_poll_s(time.time(), end_epoch_s, give_up_epoch_s, options["interval_s"], MAX_POLLS - polls)
            known = {**statuses, **answers}
            show(self._display, known, sleep_s, start_epoch_s, end_epoch_s, first=not polls)
        now = time.time()
        over = now >= end_epoch_s
        # One host at a time is enough to notice that a run was stopped.
        ask = "" if over or look_at or progress.watched or options["everyone"] else pending[polls % len(pending)]
        return {
            **result,
            "over": over,
            "ask": ask,
            "look_at": [] if ask else pending if over else look_at or pending,
            "given_up": [name for name in pending if now >= schedule[name]["give_up_epoch_s"]],
            "polls": polls + 1,
        }


def unseen_since_an_end(
    pending: Sequence[str], looked_at: Sequence[str], answers: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """Return the pending hosts that were not polled since one has ended early, because others may have ended as well;
    empty if none has."""
    unseen = [name for name in pending if name not in looked_at]
    ended = any(name not in pending for name in looked_at)
    ended = ended or any(answers[name]["state"] in ENDED for name in unseen if name in answers)
    return unseen if ended else []
