# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts the sizes in the role's options to numbers, and inspects or creates the workspace on the host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ..plugin_utils._action_base import RemoteAction, failure, of_volumes
from ..plugin_utils._fleet.workspaces import layout, module_options, volume_layout
from ..plugin_utils._records.host import file_error
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.shapes import as_dict
from ..plugin_utils._run.verdicts import ERROR


class ActionModule(RemoteAction):
    """Calls ``workspace`` on the host."""

    module_name = "mqops.logdisk.workspace"
    stage = "workspace"

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Take the options of the role as ``options``. The host's ``facts`` determine the owner of directories that
        root creates."""
        options, privileged = arguments["options"], bool(arguments["privileged"])
        owner = arguments["facts"]["user"] if privileged else ""
        try:
            self._asked = module_options(options, self._wanted(), privileged, owner)
        except ValueError as error:
            raise AnsibleActionFail(str(error)) from error
        return {**{name: arguments[name] for name in ("run_id", "state_dir", "privileged")}, **self._asked}

    def _wanted(self) -> list[dict[str, Any]]:
        """Return the volumes to request: all of them, or those that need elevated privileges according to an earlier
        answer."""
        wanting = as_dict(self._task.args.get("known")).get("wanting")
        return [volume for volume in self._task.args["volumes"] if wanting is None or volume["name"] in wanting]

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """If a second call fails as a whole, only the volumes in that call may be affected."""
        answer = super().call(arguments, task_vars)
        if answer.get("failed") and as_dict(self._task.args.get("known")).get("volumes"):
            return {"volumes": {volume["name"]: {"error": answer["logdisk"]["reason"]} for volume in self._wanted()}}
        return answer

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the data that later roles need: the volumes that are ready, each with its paths and facts about its
        file system."""
        arguments, planned = self._task.args, {volume["name"]: volume for volume in self._wanted()}
        answers = of_volumes(answer, planned)
        wanting = [name for name in planned if answers[name].get("needs_privilege") and not answers[name]["error"]]
        errors = {name: answers[name]["error"] for name in planned if answers[name]["error"]}
        if not self._asked["may_ask_for_privilege"]:
            errors.update(dict.fromkeys(wanting, "the host asks for a privilege that it already has or must not get"))
            wanting = []
        errors = file_refusals(
            RunDirectory.open(arguments["run_path"]),
            task_vars["inventory_hostname"],
            self.stage,
            answers,
            errors,
            arguments["facts"],
        )
        privileged = bool(arguments["privileged"])
        ready = [
            volume_layout(planned[name], answers[name], privileged)
            for name in planned
            if name not in errors and name not in wanting
        ]
        ready = [*(as_dict(arguments.get("known")).get("volumes") or []), *ready]
        if not ready and not wanting:
            return none_left(self.stage, errors)
        return {"changed": bool(answer.get("changed")), **layout(ready, arguments["options"], wanting)}


def file_refusals(
    directory: RunDirectory,
    host: str,
    stage: str,
    answers: Mapping[str, Mapping[str, Any]],
    errors: Mapping[str, str],
    facts: Mapping[str, Any],
) -> dict[str, str]:
    """Store the records of a host's volumes that have an error. Return the errors, phrased for the kind of run.
    ``answers`` are the host's answers about its volumes, and ``facts`` are the facts about the host itself. Raises
    RunDirectoryError."""
    told = {name: directory.kind.in_its_terms(reason) for name, reason in errors.items()}
    for name, reason in told.items():
        file_error(directory, host, name, stage, reason, {**facts, **as_dict(answers[name].get("facts"))})
    return told


def none_left(stage: str, errors: Mapping[str, str]) -> dict[str, Any]:
    """Return the result of a task that leaves no volume to test."""
    reasons = errors.values() if len(errors) == 1 else (f"{name}: {reason}" for name, reason in errors.items())
    return failure(stage, ERROR, "; ".join(reasons))
