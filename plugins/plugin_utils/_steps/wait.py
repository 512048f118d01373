# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits on the controller until it is time to poll the hosts again, and shows the progress of the fleet."""

from __future__ import annotations

import time
from typing import Any

from .._action_base import ControllerAction
from .._fleet.progress import COLLECTED, show, show_finished
from .._fleet.schedule import ENDED, MAX_POLLS, next_poll_s
from .._history.store.history import STARTED
from .._history.store.kept import keep_if_asked
from .._report.live_page import write_round
from .._run.directory import RunDirectory


class Step(ControllerAction):
    """Runs only on the controller, once for all hosts: no fork is occupied while hosts measure.

    ``hosts`` are the last statuses of the hosts. ``answers`` are what hosts answered since then, ignored for those in
    ``looked_at``. With ``everyone``, every host is polled each time, because observations that are not polled end.
    ``started``: the hosts have just been started. ``told`` are the lines about finished steps so far. Replaces the page
    that shows the progress. Returns the hosts to poll (``look_at``), or one host to ``ask`` on behalf of all, the hosts
    that are ``given_up``, and whether the expected end has passed (``over``).
    """

    stage = "sweep"

    argument_spec = {
        "hosts": {"type": "list", "elements": "dict", "required": True},
        "schedule": {"type": "dict", "required": True},
        "interval_s": {"type": "float", "default": 30},
        "polls": {"type": "int", "default": 0},
        "looked_at": {"type": "list", "elements": "str", "default": []},
        "run_path": {"type": "str", "required": True},
        "started": {"type": "bool", "default": False},
        "told": {"type": "list", "elements": "str", "default": []},
        "everyone": {"type": "bool", "default": False},
        "answers": {"type": "dict", "default": {}},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if options["started"]:
            # The orders are kept, because they are needed to collect the tables even if this controller is lost.
            problem = keep_if_asked(options["run_path"], STARTED)
            if problem:
                self._display.warning(problem)
        schedule, polls = options["schedule"], options["polls"]
        statuses = {status["host"]: status for status in options["hosts"]}
        pending = [name for name, status in statuses.items() if COLLECTED not in status]
        # The status of a host that was polled is newer than its earlier answer.
        asked = [name for name in pending if name in options["answers"] and name not in options["looked_at"]]
        answers = {name: options["answers"][name] for name in asked}
        result = {"over": True, "ask": "", "look_at": [], "given_up": [], "polls": polls, "answers": answers}
        result["told"] = options["told"]
        if not pending:
            return result
        end_epoch_s, give_up_epoch_s = (
            max(schedule[name][key] for name in pending) for key in ("end_epoch_s", "give_up_epoch_s")
        )
        early = {name: schedule[name]["start_epoch_s"] for name in pending if schedule[name].get("ends_early")}
        # If a host has ended early, others may also have ended.
        ended = any(answer["state"] in ENDED for answer in answers.values())
        if not ended:
            start_epoch_s = min(times["start_epoch_s"] for times in schedule.values())
            now, left = time.time(), MAX_POLLS - polls
            since = early_since(early, now)
            sleep_s = next_poll_s(now, end_epoch_s, give_up_epoch_s, options["interval_s"], left, since)
            known = {**statuses, **answers}
            result["told"] = show_finished(self._display, known, schedule, options["told"])
            self._write_page(options["run_path"], known, schedule, now + sleep_s)
            show(self._display, known, sleep_s, start_epoch_s, end_epoch_s, first=not polls)
        now = time.time()
        over = now >= end_epoch_s
        # Polling one host at a time is enough to notice that a run was stopped, but not that one of several hosts has
        # ended early.
        begun = [name for name, start in early.items() if start <= now]
        everyone = over or ended or options["everyone"] or len(begun) > 1
        candidates = begun or pending
        return {
            **result,
            "over": over,
            "ask": "" if everyone else candidates[polls % len(candidates)],
            "look_at": pending if everyone else [],
            "given_up": [name for name in pending if now >= schedule[name]["give_up_epoch_s"]],
            "polls": polls + 1,
        }

    def _write_page(self, run_path: str, statuses: dict[str, Any], schedule: dict[str, Any], wake: float) -> None:
        """Replace the page that shows the progress. The run continues without it."""
        try:
            write_round(RunDirectory.open(run_path), statuses, schedule, wake)
        except Exception as error:  # hosts are measuring, and no problem with a page may end that
            self._display.warning(f"the page that shows the progress cannot be written: {error}")


def early_since(starts: dict[str, float], now: float) -> float:
    """Return the start of the sweep that began last or, if none has begun, of the one that will begin first. ``starts``
    holds the start times of hosts whose sweeps may end early. Returns 0 if there are none."""
    return max((start for start in starts.values() if start <= now), default=min(starts.values(), default=0.0))
