# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the settings of a host that matter for locks, and makes the command line that starts its tester over a separate
connection. A preflight writes the record of a host whose locks could be tested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ..module_utils._workspace import WorkspaceError, layout
from ..plugin_utils._action_base import RemoteAction, as_dict
from ..plugin_utils._dialogue.guard import guard_command
from ..plugin_utils._fleet.messages import say
from ..plugin_utils._locks.agent import SILENT_S
from ..plugin_utils._locks.step import STAGE
from ..plugin_utils._locks.steps.settings import read_settings
from ..plugin_utils._own_connection import stream_command, tester_command, words
from ..plugin_utils._records.host import ready
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.findings import PREFLIGHT, finding
from ..plugin_utils._run.lock_steps import LOCKS
from ..plugin_utils._run.settings import read_on_host

DEADLINE_S = 4 * 86_400
"""The longest time for which a tester carries out commands: one day for the load in each direction, one day until the
other host is back (options and profiles allow no more), and one day for all other steps. The tester ends earlier if its
connection ends."""


class ActionModule(RemoteAction):
    """Calls ``lock_start`` on the host."""

    module_name = "mqops.logdisk.lock_start"
    stage = STAGE

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        run_path, self._plan, self._tester = (arguments.pop(name) for name in ("run_path", "plan", "tester"))
        host = task_vars["inventory_hostname"]
        found, options = arguments.pop("pairs"), self._plan["workspace"]
        self._pairs = [pair for pair in found["pairs"] if host in (pair["first"], pair["second"])]
        if problem := found["problems"].get(host):
            raise AnsibleActionFail(problem)
        self._volume = volume = found["volumes"][host]
        self._directory = RunDirectory.open(run_path)
        names = volume["queue_managers"]
        try:
            self._run_directory = layout(volume["path"], arguments["run_id"], volume["name"], names)["run_directory"]
        except WorkspaceError as error:
            raise AnsibleActionFail(str(error)) from error
        if not self._task.check_mode:
            stream_command(self._connection, [])  # first refuse connections that a tester cannot use
        is_maker = host in {pair["maker"] for pair in self._pairs}
        return {
            **arguments,
            "volume": volume["name"],
            "path": volume["path"],
            "directory": self._run_directory,
            "marked": [self._run_directory, volume["path"]] if is_maker else [],
            "allow": options["workspace_allow"],
            "expect_mount": volume["expect_mount"],
            "settings": read_on_host(LOCKS),
        }

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, settings = task_vars["inventory_hostname"], read_settings(answer.get("settings"))
        volume = self._volume
        facts = {**self._tester["facts"], **as_dict(answer.get("facts"))}
        if self._task.check_mode:
            sentence = ready_sentence(host, self._plan["lock_test"], self._pairs, settings)
            found = finding(PREFLIGHT, None, text=sentence)
            self._directory.records.write(ready(self._directory.run, host, volume["name"], facts, found))
            say(self._display, f"{host}: {sentence}")
            return {"changed": True}
        interpreter, run_id = str(answer["interpreter"]), str(answer["run_id"])
        tester = [self._tester["path"], "--lock", f"--runId={run_id}", f"--deadline={DEADLINE_S}"]
        # With the trailing slash, the code that removes directories recognizes that this one is in use.
        tester = tester_command(answer, run_id, [*tester, f"--dir={self._run_directory}/"])
        guard = guard_command(interpreter, self._task.args["mqs_ini"])
        return {
            "changed": True,
            "settings": settings,
            "facts": facts,
            "volume": volume["name"],
            "path": volume["path"],
            "interpreter": interpreter,
            "stream": words(stream_command(self._connection, tester, SILENT_S)),
            "guard": words(stream_command(self._connection, guard, SILENT_S)),
            # What the role ``workspace`` has to clean up on a host on which it created nothing.
            "of_others": {"volumes": [{"name": volume["name"], "paths": []}], "privileged": False},
        }


def ready_sentence(
    host: str, locks: Mapping[str, Any], pairs: list[Mapping[str, Any]], settings: Mapping[str, Any]
) -> str:
    """Return a sentence about what would be done to a host."""
    others = [pair["second"] if pair["first"] == host else pair["first"] for pair in pairs]
    cuts = "The host would not be cut off, because locks_confirm is not its own name."
    if locks["confirmed"]:
        address, port = settings.get("server_address") or "an unknown file server", locks["port"]
        cuts = f"The host would be cut off from {address}, port {port}, by a packet filter"
        command = locks["command"]
        cuts += f", and its power would be cut with: {command}" if command else ", and its power would not be cut."
    server = locks["server_command"]
    fail_over = f" The command that makes the file server fail over would be: {server}" if server else ""
    return f"ready: the locks would be tested with {', '.join(others)}. {cuts}{fail_over}"
