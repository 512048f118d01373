# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Follows a host while it measures: polls it and, when it has finished, collects its tables and cleans up. This is a
single task because each task prints a line for each host."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Collection
from typing import Any

from ansible.errors import AnsibleError

from .._fleet.progress import COLLECTED, UNKNOWN, host_status, unanswered
from .._fleet.schedule import ENDED
from .._run.shapes import as_dict
from . import collect


class Step(collect.Step):
    """Calls ``collect`` on the host, which sends the tables once all volumes have ended. Then it removes the states of
    the volumes. If more is left on the host, it calls the action ``cleanup``.

    If a connection fails while the host is measuring, only this poll is lost. ``known`` is the last status of the host.
    With ``only_ask``, nothing is collected; with ``give_up``, the tables are collected even if volumes have not ended.
    ``clean_up`` names the volumes to clean up after the collection.
    """

    stage = "sweep"
    """The stage of the run until the tables are collected."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        known = self._task.args["known"]
        return {**known, "changed": False} if COLLECTED in known else super().run(tmp, task_vars)

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._known, self._give_up, self._clean_up, self._only_ask = (
            arguments.pop(name, default)
            for name, default in (("known", {}), ("give_up", False), ("clean_up", []), ("only_ask", False))
        )
        if self._give_up:
            self.stage = super().stage
        return {**super().prepare(arguments, task_vars), "once_ended": not self._give_up}

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        answer = super().call(arguments, task_vars)
        self._no_answer = answer["logdisk"]["reason"] if answer.get("failed") else ""
        return {} if self._no_answer and not self._give_up else answer

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        status = self._status(answer, task_vars)
        if self._only_ask or (status["state"] not in ENDED and not self._give_up):
            return {**status, "changed": False}
        self.stage = super().stage
        result = {**status, **super().take_in(answer, task_vars)}
        if not result.get("failed") and self._clean_up:
            removed = self._only_states_are_left(answer, result["collected"]) and self._remove_states()
            cleaned = removed or self._cleanup({"volumes": self._clean_up, "keep_state_of": result["kept"]}, task_vars)
            result.update(changed=removed or cleaned["changed"], cleaned_up=True)
        return result

    def _only_states_are_left(self, answer: dict[str, Any], collected: Collection[str]) -> bool:
        """Whether the host reports that only the state directories are left on it. The tables of all volumes must have
        been collected, and no volume may have counters that are still to be read again."""
        answers = as_dict(answer.get("volumes"))
        return all(
            volume["name"] in collected
            and as_dict(answers.get(volume["name"])).get("removed") is True
            and not volume.get("volume_counters")
            for volume in self._clean_up
        )

    def _remove_states(self) -> bool:
        """Remove the states with a shell command, because a module would take much more processor time on the host.
        Returns whether all of them were removed. If not, the action ``cleanup`` finds out why."""
        arguments = self._task.args
        states = [
            shell_path(f"{arguments['state_dir']}/runs/{arguments['run_id']}-{volume['name']}")
            for volume in self._clean_up
        ]
        # With -f, rm would not fail if a path were wrong.
        with contextlib.suppress(AnsibleError):
            return self._low_level_execute_command(f"rm -r -- {' '.join(states)}").get("rc") == 0
        return False

    def _volumes(self, task_vars: dict[str, Any]) -> list[str]:
        """Return the volumes that were started."""
        return list(self._task.args["known"]["volumes"])

    def _status(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the status of the host, which covers exactly the volumes that were started, regardless of what the
        host sends."""
        if self._no_answer:
            return unanswered(self._known, self._no_answer)
        answers = as_dict(answer.get("volumes"))
        asked = {name: as_dict(answers.get(name)) or {"state": UNKNOWN} for name in self._volumes(task_vars)}
        return host_status(self._known["host"], self._task.args["run_id"], {**answer, "volumes": asked})

    def _cleanup(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the result of the action ``cleanup``, which replaces the result of this action."""
        given = {name: self._task.args[name] for name in ("run_id", "run_path", "state_dir")}
        return self.result_of("cleanup", {**given, **arguments}, task_vars)


def shell_path(path: str) -> str:
    """Return an absolute path, or one that begins with ``~``, as a word of a shell command."""
    home = re.match(r"~[A-Za-z0-9_.-]*(?=/)", path)
    return home[0] + shlex.quote(path[home.end() :]) if home else shlex.quote(path)
