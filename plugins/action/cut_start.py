# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Starts the tester over a separate connection, together with a witness that watches it. In a preflight, writes the
record of a host whose power could be cut."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail

from ..module_utils import _units
from ..module_utils._power_cut import HOLDER
from ..plugin_utils._action_base import RemoteAction, as_dict
from ..plugin_utils._cut_action import files_of
from ..plugin_utils._durability import witness
from ..plugin_utils._durability.witness import READY, WRITING, WitnessError
from ..plugin_utils._fleet.progress import say
from ..plugin_utils._judge.durability import STAGE
from ..plugin_utils._own_connection import stream_command
from ..plugin_utils._records.host import ready
from ..plugin_utils._run.directory import RunDirectory
from ..plugin_utils._run.findings import PREFLIGHT, finding
from ..plugin_utils._run.tester_options import command_line

OF_CONTROLLER = ("run_path", "plan", "tester", "workspace", "number")
"""The options that are not sent to the host."""


class ActionModule(RemoteAction):
    """Calls ``cut_start`` on the host."""

    module_name = "mqops.logdisk.cut_start"
    stage = STAGE

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Count a failure after the first cut as the result of the next cut, so that the record keeps the earlier
        ones."""
        result, number = super().run(tmp, task_vars), int(self._task.args.get("number") or 1)
        if not result.get("failed") or number == 1:
            return result
        (volume,) = self._task.args["plan"]["volumes"]
        reason = (result.get("logdisk") or {}).get("reason") or str(result.get("msg") or "it could not be started")
        return {
            "changed": False,
            "before": {},
            "number": number,
            "volume": volume["name"],
            "ready_epoch_s": 0.0,
            "problem": reason,
        }

    def prepare(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        self._own = {name: arguments.pop(name, None) for name in OF_CONTROLLER}
        self._directory = RunDirectory.open(self._own["run_path"])
        (self._layout,) = self._own["workspace"]["volumes"]
        if not self._task.check_mode:
            stream_command(self._connection, [])  # first refuse connections that a witness cannot use
        marked = [*self._layout["run_directories"], *self._layout["paths"]]
        return {**arguments, "volume": self._layout["name"], "path": self._layout["path"], "marked": marked}

    def take_in(self, answer: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        host, before, number = (
            task_vars["inventory_hostname"],
            as_dict(answer.get("before")),
            int(self._own["number"] or 1),
        )
        plan, tester = self._own["plan"], self._own["tester"]
        (volume,) = plan["volumes"]
        if self._task.check_mode:
            sentence = ready_sentence(host, plan, before)
            facts, found = {**tester["facts"], **self._layout["facts"]}, finding(PREFLIGHT, None, text=sentence)
            self._directory.records.write(ready(self._directory.run, host, volume["name"], facts, found))
            say(self._display, f"{host}: {sentence}")
            return {"changed": True, "before": before, "number": number}
        if number == 1:
            say(self._display, f"{host}: {announcement(host, plan)}")
        started = {
            "changed": True,
            "before": before,
            "number": number,
            "volume": volume["name"],
            "ready_epoch_s": 0.0,
            "problem": "",
        }
        try:
            self._start(answer, host, number)
        except (AnsibleActionFail, WitnessError) as error:
            return {**started, "problem": str(error)}
        return {**started, **self._wait(host, number)}

    def _start(self, answer: Mapping[str, Any], host: str, number: int) -> None:
        """Start the tester and its witness. Raises WitnessError and AnsibleActionFail."""
        plan, run_id, cuts = self._own["plan"], self._task.args["run_id"], self._own["plan"]["cuts"]
        (volume,) = plan["volumes"]
        seed = secrets.randbits(63)
        tester = [
            self._own["tester"]["path"],
            *command_line(volume["tester_options"]),
            "--acknowledge",
            f"--seed={seed}",
            f"--runId={run_id}",
            f"--dir={','.join(self._layout['given'])}",
            f"--tables={answer['tables_path']}",
            f"--deadline={cuts['deadline_s']}",
            *(["--shareDevice"] if self._own["workspace"].get("share_device") else []),
        ]
        command = [str(answer["interpreter"]), "-c", HOLDER, str(answer["lock"]), run_id, *tester]
        stream = stream_command(self._connection, command)
        asked = {"run_id": run_id, "seed": seed, "bsize": cuts["bsize"], "qm": cuts["qm"]}
        files = files_of(self._directory, host, volume["name"], number)
        witness.start(stream, asked, files, cuts["deadline_s"] + cuts["wait_s"], os.getppid())

    def _wait(self, host: str, number: int) -> dict[str, Any]:
        """Wait until the tester has written its files."""
        cuts, (volume,) = self._own["plan"]["cuts"], self._own["plan"]["volumes"]
        files = files_of(self._directory, host, volume["name"], number)
        state = witness.wait(files, lambda found: found.name in (READY, WRITING) or found.is_over, cuts["ready_s"])
        if state.name in (READY, WRITING):
            return {"ready_epoch_s": time.time()}
        return {
            "problem": "" if state.is_over else f"the tester had not written its files after {cuts['ready_s']:.0f} s"
        }


def announcement(host: str, plan: Mapping[str, Any]) -> str:
    """Return a description of what will be done to a host, and of what this tests."""
    cuts = plan["cuts"]
    times = "once" if cuts["count"] == 1 else f"{cuts['count']} times"
    how = f"by: {cuts['command']}" if cuts["command"] else f"by the tasks of {cuts['task_file']}"
    return (
        f"the power of {host} is cut {times}, each time after {cuts['after_s']:g} s of writing, {how}. {cuts['tests']}"
    )


def ready_sentence(host: str, plan: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    (volume,) = plan["volumes"]
    size = _units.format_size(volume["footprint_bytes"])
    return (
        f"ready: {announcement(host, plan)} The files have {size} on {before.get('mount_point')} "
        f"({before.get('filesystem_type')})."
    )
