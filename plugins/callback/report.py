# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: report
type: aggregate
short_description: Prints the verdict after the play recap and renders the report
description:
  - Prints a short summary of each certification after the play recap.
  - If a run ended before its gate, renders the report from the records that exist.
  - Prints a warning for each host variable whose name is almost that of an option.
  - If a run was refused, prints the reason. If a run was interrupted, prints the commands to end it and to collect its
    results, and the page in its run directory shows that it was interrupted.
  - The callback never changes the exit status of a run.
version_added: 1.0.0
author: mqops contributors (@mqops)
extends_documentation_fragment:
  - mqops.logdisk.report
requirements:
  - Enable it in the configuration. The playbooks of this collection load it without further configuration.
"""

import atexit
import os
import shutil
import sys
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase

from ..plugin_utils._fleet import messages, progress
from ..plugin_utils._fleet.follow_up import commands, playbooks_in, without_results
from ..plugin_utils._fleet.messages import WIDEST, first_to_say, is_json, say
from ..plugin_utils._kubernetes.manifests import follow_up
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.environment import as_started
from ..plugin_utils._run.kinds import DEFAULT, Kind
from ..plugin_utils._run.run_files import RunDirectoryError

STEP = "mqops.logdisk.step"

_COLOURS = {
    **dict.fromkeys(("fail", "error", "missing", "internal", "usage", "not ready"), constants.COLOR_ERROR),
    "unreachable": constants.COLOR_UNREACHABLE,
    **dict.fromkeys(("inconclusive", "warn"), constants.COLOR_WARN),
    **dict.fromkeys(("pass", "ready"), constants.COLOR_OK),
    "not measured": constants.COLOR_SKIP,
}
"""Ansible's colours, which it uses only on a terminal."""


class CallbackModule(CallbackBase):
    """A thin adapter: it learns the run directories from events, and renders them at the end.

    The rendering code is imported only when it is needed. Ansible compiles the files of a collection again for each
    command, and a refused command would spend most of its time on that.
    """

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "mqops.logdisk.report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._paths: list[str] = []
        self._judged: dict[str, dict[str, Any]] = {}
        self._refusals: list[tuple[str, str, str]] = []
        self._answers: list[str] = []
        self._warnings: list[str] = []
        self._in_clusters = False
        atexit.register(self._interrupted)

    def v2_playbook_on_start(self, playbook: Any) -> None:
        """Forget the runs of an earlier playbook of the same command line."""
        self._paths, self._refusals, self._warnings, self._in_clusters = [], [], [], False
        self._answers = []
        progress.watched = progress.is_watched(sys.stdout, os.environ)
        progress.shown_as = self.get_option("progress")
        progress.reasons_follow = self.get_option("summary") and not is_json(constants.DEFAULT_STDOUT_CALLBACK)
        messages.listen()

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        """Remember that this playbook does not run on hosts."""
        self._in_clusters = self._in_clusters or _step_of(task) == "claim"

    def v2_runner_on_ok(self, result: Any, **kwargs: Any) -> None:
        """Take in what a step told, instead of its result, in which secrets are masked."""
        for key in messages.told():
            self._take_in(key)

    def _take_in(self, key: dict[str, Any]) -> None:
        if key.get("kind") in ("run", "gate"):
            self._judged[str(key.get("path"))] = key
        if key.get("kind") == "run" and isinstance(key.get("path"), str) and key["path"] not in self._paths:
            self._paths.append(key["path"])
        elif key.get("kind") == "refused":
            what = "done" if key.get("command") else "measured"
            self._refusals.append((str(key.get("word", "USAGE")), str(key.get("reason")), what))
        elif key.get("kind") == "answer":
            self._answers.append(str(key.get("text")))
        elif key.get("kind") == messages.SCREEN:
            messages.show_unmasked(key["text"], key["color"])
        elif key.get("kind") == "names":
            self._warnings += map(str, key.get("warnings") or ())

    def v2_runner_on_failed(self, result: Any, **kwargs: Any) -> None:
        """Take in what a step told that failed."""
        self.v2_runner_on_ok(result)

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Render any report that the gate did not render, and print the summary."""
        paths, self._paths = self._paths, []
        for word, reason, what in self._refusals:
            if first_to_say(reason) and self.get_option("summary"):
                say(self._display, f"\n{word}: {reason}\n  Nothing was {what}.")
        for answer in self._answers:
            if first_to_say(answer) and self.get_option("summary"):
                say(self._display, f"\n{answer}")
        for path in paths:
            if not first_to_say(path):
                continue
            self._finish(path)
        for warning in self._warnings:
            if first_to_say(warning) and self.get_option("summary"):
                say(self._display, f"WARNING: {warning}", constants.COLOR_WARN)

    def _finish(self, path: str) -> None:
        from ..plugin_utils._report import finish, summary

        directory = RunDirectory.open(path)
        finish(directory)
        if self.get_option("summary"):
            judged = self._judged.get(path, {})
            self._print(summary(directory, judged.get("report_url", ""), judged.get("report_kept", False)), path)

    def _print(self, text: str, path: str) -> None:
        """Print the summary of the run in a directory: wrapped to the width of a terminal, with lines about a verdict
        in its colour unless colours are off. Ansible ends its recap with an empty line."""
        from ..plugin_utils._report.terminal import fit, verdict_of

        width = min(WIDEST, shutil.get_terminal_size().columns) if progress.watched else WIDEST
        for line in fit(text, width).splitlines():
            say(self._display, line, _COLOURS.get(verdict_of(line)), places=[path])

    def _interrupted(self) -> None:
        """At the end of the process, print the commands that are needed for runs whose playbook did not end
        normally."""
        for path in self._paths:
            if first_to_say(path):
                follow_up = self._follow_up(path)
                say(self._display, "\n" + follow_up, places=[path])
                self._end_page(path, follow_up)

    def _end_page(self, path: str, follow_up: str) -> None:
        from ..plugin_utils._report.live_page import write_interruption

        try:
            write_interruption(path, as_started(follow_up, playbooks_in()))
        except (OSError, RunDirectoryError) as error:
            self._display.warning(f"the page that shows the progress cannot be replaced: {error}")

    def _follow_up(self, path: str) -> str:
        if self._in_clusters:
            return follow_up(os.path.basename(path))
        from ..plugin_utils._history.store.kept import is_kept

        becomes = kind_at(path).if_interrupted
        return without_results(path, becomes) if becomes else commands(path, is_kept(path))


def kind_at(path: str) -> Kind:
    """Return the kind of a run. A run that cannot be read counts as a test."""
    try:
        return RunDirectory.open(path).kind
    except RunDirectoryError:
        return DEFAULT


def _step_of(task: Any) -> str:
    """Return the name of the step of a run that a task does; empty if it does not do any."""
    return str(task.args.get("name")) if task.resolved_action == STEP else ""
