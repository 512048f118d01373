# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Passes the path of the tester to the host, measures the offset of the host's clock, and processes what the host found
in the directories of its workspaces."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ..plugin_utils._action_base import RemoteAction, of_volumes
from ..plugin_utils._fleet.machines import clock_facts
from ..plugin_utils._fleet.workspaces import inspected_with_host, layout, module_options, volume_layout
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._tester.sources import (
    BinaryError,
    SourcesError,
    build_name,
    cached_binaries,
    compiler_flags,
    read_binary,
    read_sources,
    source_hash,
)
from .workspace import ActionModule as Workspace
from .workspace import file_refusals, none_left

OF_ROLE = (
    *("cflags", "method", "binary", "compiler", "user", "state_dir", "discover", "mqs_ini", "planned_queue_managers"),
    *("observe_window", "observe_url", "observe_amqsrua"),
)
"""The options of the role ``tester`` that the module accepts, without their prefix."""


class ActionModule(RemoteAction):
    """Calls ``probe`` on the host."""

    module_name = "mqops.logdisk.probe"
    stage = "tester"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Inspect the host. If the tester is missing, and the host has everything that is needed, build it. This is
        done here because an include for the hosts without a tester would print the names of all of them in one line."""
        given = dict(self._task.args)
        found = super().run(tmp, task_vars)
        options, tester = given["options"], found.get("tester")
        if not tester or tester["installed"] or not can_build(options, found):
            return found
        arguments = {"options": options, "source_dir": given["source_dir"], "known": found}
        built = self.result_of("build", arguments, task_vars or {})
        return built if built.get("failed") else {**built, "tester": {**tester, "installed": True}}

    def as_single_values(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Take the options of the role as ``options``."""
        options = arguments.pop("options")
        return {
            "directory": options["tester_dir"] or options["sweep_state_dir"],
            **{name: options[f"tester_{name}"] for name in OF_ROLE},
            **arguments,
        }

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Also request the creation of the workspaces of a ``run``, if its ``plan`` allows this."""
        self._run, self._plan = arguments.pop("run", {}), arguments.pop("plan", {})
        self._volumes = [] if self._task.check_mode else inspected_with_host(self._plan)
        try:
            self._workspace = (
                {**module_options(self._plan["options"], self._volumes), "run_id": self._run["run_id"]}
                if self._volumes
                else {}
            )
            sources = read_sources(arguments["source_dir"])
            binaries = self._binaries(arguments, sources)
        except (SourcesError, BinaryError, ValueError) as error:
            raise AnsibleActionFail(str(error)) from error
        # A ready-made binary may have been built from other sources, so it reports their hash itself.
        self._source_hash = (
            "" if arguments.get("binary") and arguments.get("method") == "binary" else source_hash(sources)
        )
        parts = [
            *compiler_flags(sources, arguments.get("cflags", "")),
            arguments.get("compiler", ""),
            arguments.get("method", "compile"),
            arguments.get("binary", ""),
        ]
        self._sent_epoch_s = time.time()
        return {
            **arguments,
            "name": build_name(parts),
            "sha256": [hashlib.sha256(binary).hexdigest() for binary in binaries],
            "workspace": self._workspace,
        }

    def _binaries(self, arguments: dict[str, Any], sources: dict[str, bytes]) -> list[bytes]:
        """Return the binaries on the controller. The host's binary must be one of them."""
        if arguments.get("method", "compile") == "compile":
            return []
        if arguments.get("binary"):
            return [read_binary(arguments["binary"])]
        return cached_binaries(sources, arguments.get("cflags", ""))

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        received_epoch_s = time.time()
        # The user requested the time that is spent watching queue managers, so it must not count towards the delay of
        # the connection or the duration of a round.
        called_s = received_epoch_s - self._sent_epoch_s
        bound_s = called_s - max(0.0, min(float(answer["observed_s"]), called_s))
        answer["facts"].update(clock_facts(answer["time_epoch_s"], received_epoch_s, bound_s))
        arguments = self._task.args
        answer["facts"]["tester_method"] = arguments.get("method", "compile")
        answer["facts"]["promised_user"] = arguments.get("user") or "the connecting user"
        ready = {
            "path": answer["tester"]["path"],
            "source_hash": self._source_hash or answer["tester"]["source_hash"],
            "called_s": [self._sent_epoch_s, self._sent_epoch_s + bound_s],
        }
        answers = answer.pop("workspaces", {})
        known = {"discovered": {}, **answer, **ready, "workspace": {}}
        if not self._volumes:
            return known
        return self._with_workspace(known, answers, task_vars["inventory_hostname"])

    def _with_workspace(self, known: dict[str, Any], answers: Any, host: str) -> dict[str, Any]:
        """Return what is known about the host, with the layout of its workspaces (as returned by the action
        ``workspace``) and the ``asked`` options for creating them. If creating them requires elevated privileges, the
        layout remains empty, and the action ``workspace`` creates them."""
        planned = {volume["name"]: volume for volume in self._volumes}
        found = of_volumes({"volumes": answers}, planned)
        errors = {name: each["error"] for name, each in found.items() if each["error"]}
        if any(each.get("needs_privilege") for name, each in found.items() if name not in errors):
            return known
        directory = RunDirectory.open(self._run["path"])
        errors = file_refusals(directory, host, Workspace.stage, found, errors, known["facts"])
        ready = [volume_layout(planned[name], found[name], False) for name in planned if name not in errors]
        if not ready:
            return {**none_left(Workspace.stage, errors), "facts": known["facts"]}
        # The settings have been read, and need not be read again when the workspaces are created.
        asked = {**self._workspace, "settings": []}
        return {**known, "workspace": {**layout(ready, self._plan["options"]), "asked": asked}}


def can_build(options: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether the tester can be built or copied without installing a compiler first."""
    return options["tester_method"] != "compile" or bool(found.get("compiler") and found.get("headers"))
