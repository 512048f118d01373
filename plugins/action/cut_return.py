# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Waits until the connection of the witness is lost, and until the host is back with the same file system."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleError

from ..plugin_utils._action_base import RemoteAction, one_line
from ..plugin_utils._cut_action import command_of, files_of, keep_alive, renew
from ..plugin_utils._durability import witness
from ..plugin_utils._durability.cut import why_other_volume
from ..plugin_utils._fleet.progress import say
from ..plugin_utils._judge.durability import STAGE
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.shapes import as_dict

BREAK_S = 120
"""How long the connection may last after the cut command. Some commands return before they take effect."""
UNCHANGED_S = 60
"""How long a host may continue to answer with the same boot ID. The network of a host may be cut before its power."""
MOUNT_S = 120
"""How long a host may take to mount its file systems when it answers again."""
PAUSE_S = 2
OF_CONTROLLER = ("run_path", "started", "command", "problem", "wait_s", "workspace")
"""The options that are not sent to the host."""


class ActionModule(RemoteAction):
    """Calls ``cut_return`` on the host until it is back."""

    module_name = "mqops.logdisk.cut_return"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._own = {name: arguments.pop(name, None) for name in OF_CONTROLLER}
        return arguments

    def call(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        begun_ns = time.monotonic_ns()
        host, started = task_vars["inventory_hostname"], self._own["started"]
        command = command_of(self._own["command"], str(self._own["problem"] or ""))
        wait_s = float(self._own["wait_s"] or 600)
        files = files_of(RunDirectory.open(self._own["run_path"]), host, str(started["volume"]), int(started["number"]))
        broken = self._is_broken(files, command.done, wait_s)
        begin_s = time.monotonic()
        if command.done and broken:
            say(self._display, f"{host}: the connection is lost; waiting for the host for up to {wait_s:g} s")
        found = self._look_until_back(arguments, task_vars, wait_s, must_boot=command.done and broken)
        return {
            "changed": False,
            **found,
            "broken": broken,
            "waited_s": time.monotonic() - begin_s,
            "begun_ns": begun_ns,
        }

    def _is_broken(self, files: witness.Files, done: bool, wait_s: float) -> bool:
        """Wait for the end of the witness. Return whether its stream ended by itself."""
        state = witness.wait(files, lambda found: found.is_over, min(BREAK_S, wait_s) if done else 0)
        if state.is_over:
            return state.name == witness.OVER
        witness.stop(files)
        return False

    def _look_until_back(
        self, arguments: dict[str, Any], task_vars: dict[str, Any], wait_s: float, must_boot: bool
    ) -> dict[str, Any]:
        now = time.monotonic()
        end_s, unchanged_s, mount_s = now + wait_s, now + min(wait_s, UNCHANGED_S), 0.0
        before, found = self._own["started"]["before"], {"after": None, "problem": ""}
        keep_alive(self._connection)
        while True:
            answer = self._look(arguments, task_vars)
            now = time.monotonic()
            if answer.get("failed"):
                found["problem"] = answer["logdisk"]["reason"]
            else:
                after = as_dict(answer.get("after"))
                found = {
                    "after": after,
                    "problem": str(after.get("problem") or ""),
                    "tester_is_there": answer.get("tester_is_there") is True,
                }
                if not must_boot:
                    return found
                if is_booted(before, after):
                    mount_s = mount_s or min(end_s, now + MOUNT_S)
                    if now > mount_s or not (found["problem"] or why_other_volume(before, after)):
                        return found
                elif now > unchanged_s:
                    return found
            if now > end_s:
                return found
            time.sleep(PAUSE_S)

    def _look(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """Return the host's answer over a new connection. The previous connection may have died with the host without
        being noticed."""
        renew(self._connection)
        try:
            self.cleanup()  # the temporary directory of the last call may no longer exist
            return super().call(arguments, task_vars)
        except AnsibleError as error:
            return {"failed": True, "logdisk": {"reason": one_line(str(error))}}


def is_booted(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return bool(after.get("boot_id")) and after["boot_id"] != before.get("boot_id")
