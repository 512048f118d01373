# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the command line that starts the guard of a host as root, over a separate connection. Nothing is sent to the
host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from .._action_base import ControllerAction, as_dict
from .._dialogue.guard import guard_command
from .._locks.agent import SILENT_S
from .._locks.step import STAGE
from .._own_connection import stream_command, words


class Step(ControllerAction):
    """Uses the settings of the task's connection, including those for becoming root, without contacting the host. If a
    password for becoming root is set, there is no command line, because the separate connection cannot supply it. If
    becoming root needs a password that is not set, the command line fails when it is used."""

    stage = STAGE

    argument_spec = {
        "started": {"type": "dict", "required": True},
        "mqs_ini": {"type": "path", "default": "/var/mqm/mqs.ini"},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if command := command_of_root(options["started"]):
            return {"command": command, "problem": ""}
        interpreter = options["started"]["interpreter"]
        try:
            guard = guard_command(interpreter, options["mqs_ini"])
            command = words(stream_command(self._connection, guard, SILENT_S))
        except AnsibleActionFail as error:
            return {"command": [], "problem": str(error)}
        return {"command": command, "problem": ""}


def command_of_root(started: Mapping[str, Any]) -> list[str]:
    """Return the command line of a host whose tester already runs as root, empty if it does not. Such a host need not
    have sudo."""
    return list(started["guard"]) if as_dict(started.get("settings")).get("uid") == 0 else []
