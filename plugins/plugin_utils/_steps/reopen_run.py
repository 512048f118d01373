# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the directory of an earlier run, from the user's working directory or from the history."""

from __future__ import annotations

import os
from typing import Any

from ansible.errors import AnsibleActionFail

from .._action_base import SCHEMA, ControllerAction
from .._fleet.settings import shown
from .._history.store.kept import find
from .._history.store.open import place_of
from .._judge.fleet import PolicyError, given_policy
from .._run.directory import RunDirectory
from .._run.environment import report_directory
from .._run.names import latest
from .._run.run_files import RunDirectoryError

NAME_IT = (
    "Name a run by -e collect_run=, followed by its ID, which is in the first lines of its output, or by the "
    "path of its directory. A run ID is searched for in gate_report_dir and in gate_history, which contains the runs "
    "with gate_keep_report: true."
)


class Step(ControllerAction):
    """Runs only on the controller. ``run`` may be a run ID or a path, and the default is the latest run. A run that is
    not on this controller is restored if the history keeps it, also in check mode. Returns the ``run``, as
    ``open_run`` does."""

    argument_spec = {
        "run": {"type": "str"},
        "report_dir": {"type": "str", "required": True},
        "history": {"type": "str", "default": ""},
        "sign_key": {"type": "str", "default": ""},
        "upload_url": {"type": "str", "default": ""},
        "policy": {"type": "dict", "default": {}},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            directory = measured(reopened(options["run"], options["report_dir"], options["history"]))
            policy = given_policy(options["policy"])
        except OSError as error:
            raise AnsibleActionFail(f"{error} {NAME_IT}") from None
        except PolicyError as error:
            raise AnsibleActionFail(str(error)) from None
        run = {"run_id": directory.run["run_id"], "path": directory.path, "expected_hosts": directory.expected_hosts}
        recorded = (directory.run.get("history") or {}).get("place")
        # If a command sets neither the report directory nor the history, it has no history of its own.
        is_said = bool(options["history"] or options["report_dir"])
        place = place_of(options["history"], options["report_dir"]) if is_said or not recorded else recorded
        run.update(sign_key=options["sign_key"], upload_url=options["upload_url"], history=place, policy=policy)
        if recorded and recorded != place:
            self._display.warning(
                f"this run was opened with gate_history {recorded}, but its certificates are stored in "
                f"{place}, according to this command"
            )
        if self._task.check_mode:  # nothing is stored in this case, so there is nothing to show
            return {"run": run}
        return {"run": run, "logdisk": {"schema": SCHEMA, "kind": "run", "run_id": run["run_id"], "path": run["path"]}}


def measured(directory: RunDirectory) -> RunDirectory:
    """Return a run whose results may still be on hosts. Raises RunDirectoryError if it was merged from others, or if
    its kind cannot be collected."""
    sources = directory.run.get("merged_from") or []
    if sources:
        which = "that one" if len(sources) == 1 else "those"
        raise RunDirectoryError(
            f"{directory.path} was merged from {shown([str(each) for each in sources])}, and hosts "
            f"have results of {which} only."
        )
    if directory.kind.why_not_collected:
        raise RunDirectoryError(f"{directory.path} {directory.kind.why_not_collected}")
    return directory


def reopened(named: str | None, report_dir: str, history: str) -> RunDirectory:
    """Return the named run, or else the newest one. Raises OSError."""
    directory = report_directory(report_dir)
    if named:
        return find(named, directory, place_of(history, report_dir))
    if not os.path.lexists(latest(directory)):
        raise RunDirectoryError(f"No run is named, and there is none in {directory}.")
    return RunDirectory.open(latest(directory))
