# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The base class of the action plugins that use only the history, and the options that they share (see the
documentation fragments)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ansible.release import __version__ as ansible_version

from ._action_base import SCHEMA, ControllerAction
from ._fleet.expectation import ExpectationError
from ._fleet.messages import say
from ._fleet.outcome import INTERNAL, USAGE, artifacts, make_outcome, with_fleet
from ._history.store.history import History
from ._history.store.open import open_history, place_of
from ._records.host import collection_version
from ._report.page.parts import versions
from ._run.environment import report_directory
from ._run.tester_options import OptionError

HOSTS = {"hosts": {"type": "raw", "required": True}}
HISTORY = {"history": {"type": "str", "default": ""}, "report_dir": {"type": "str", "required": True}}
PLAY_HOSTS = {"play_hosts": {"type": "list", "elements": "str", "required": True}}
CHANGE = {"figure": {"type": "str", "default": "latency_mean"}, "margin": {"type": "raw", "required": True}}


DECLINES_FILE = "declines.json"
"""The declines of classes alone, for the status, because drift.json of a large fleet takes long to read."""
STATUS_PAGE = "Status of the fleet", "status.html"
"""The title and the file name of the page to which the other pages link."""


def existing_pages(folder: str, pages: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the given pages that exist, each with its title and its address relative to a directory."""
    return [(name, address) for name, address in pages if os.path.isfile(os.path.join(folder, address))]


def versions_here() -> list[str]:
    """Return the versions of the software that makes a page from the history."""
    return versions(collection_version(), ansible_version)


class HistoryAction(ControllerAction):
    """Runs only on the controller. A problem with the history, a file or an option fails the task with its message."""

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            place = place_of(options["history"], options["report_dir"])
            return self.consult(
                {**options, "place": place, "report_dir": report_directory(options["report_dir"])}, task_vars
            )
        except (OSError, ValueError, ExpectationError, OptionError) as error:
            return self.unanswered(error, options, task_vars)

    def unanswered(self, error: Exception, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the result for a failed task."""
        return {"failed": True, "msg": str(error), **self.refused(error)}

    def refused(self, error: Exception) -> dict[str, Any]:
        """Return the key by which the callback prints after the recap why the command could not do its work."""
        word = "ERROR" if isinstance(error, OSError) else "USAGE"
        return {"logdisk": {"schema": SCHEMA, "kind": "refused", "command": True, "word": word, "reason": str(error)}}

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the task's result. In ``options``, ``report_dir`` is an absolute path, and ``place`` is the location
        of the history."""
        raise NotImplementedError

    def history(self, options: dict[str, Any], create: bool = False) -> History:
        """Open the history that the options name."""
        return open_history(options["place"], create)

    def write_to(self, folder: str) -> bool:
        """Whether files are to be written. Creates the folder for them, because a newly cloned project does not have
        one. Raises OSError."""
        if not self._task.check_mode:
            os.makedirs(folder, exist_ok=True)
        return not self._task.check_mode

    def page(self, path: str) -> str:
        """Return the path of a page as shown on the screen."""
        return "not written in check mode" if self._task.check_mode else path


class FleetAction(HistoryAction):
    """Base class of actions that judge a fleet. ``failures`` holds the message of each host that is to fail; later
    tasks fail these hosts. ``artifacts`` are for workflows."""

    kind = ""
    """The name that the artifact contains."""

    def unanswered(self, error: Exception, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        outcome = make_outcome(INTERNAL if isinstance(error, OSError) else USAGE, str(error))
        found = self.result(outcome, {}, [str(error)], options["play_hosts"], task_vars)
        return {**found, **self.refused(error)}

    def tell(self, text: str) -> dict[str, Any]:
        """Print the answer. Return the key by which the callback repeats the first line, the next steps and the path of
        the page after the recap."""
        say(self._display, text)
        first, *others, last = text.split("\n")
        lines = [first, *(f"  {line}" for line in others if line.startswith("Next:")), f"  {last}"]
        return {"logdisk": {"schema": SCHEMA, "kind": "answer", "text": "\n".join(lines)}}

    def result(
        self,
        outcome: dict[str, Any],
        failures: dict[str, str],
        fleet_problems: list[str],
        play_hosts: list[str],
        task_vars: dict[str, Any],
    ) -> dict[str, Any]:
        """Return the artifacts, and which hosts fail. The failure of a host that is not in the play becomes a problem
        of the fleet."""
        elsewhere = [failures[host] for host in sorted(set(failures) - set(play_hosts))]
        return {
            "artifacts": artifacts(task_vars, self.kind, outcome),
            "failures": with_fleet(failures, [*fleet_problems, *elsewhere], play_hosts),
        }
