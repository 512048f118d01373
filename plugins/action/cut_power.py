# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cuts the power of a host by a command on the controller, if the tester is seen to write."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction, one_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._cut_action import files_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability import witness
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.witness import WRITING
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.durability import STAGE
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory

OUTPUT_MAX_BYTES = 2000


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    stage = STAGE

    argument_spec = {
        "run_path": {"type": "str", "required": True},
        "started": {"type": "dict", "required": True},
        "volume": {"type": "str", "required": True},
        "command": {"type": "str", "default": ""},
        "after_s": {"type": "float", "default": 10},
        "limit_s": {"type": "float", "default": 120},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if self._task.check_mode:
            return {"go": False, "problem": "nothing is cut in check mode"}
        started, host = options["started"], task_vars["inventory_hostname"]
        problem = started.get("problem") or self._why_not(options, host)
        if problem:
            return {"go": False, "status": None, "output": "", "problem": problem, "seconds": 0.0}
        say(self._display, f"{host}: cutting the power (cut {started['number']})")
        done = call(options["command"], options["limit_s"]) if options["command"] else {"status": None, "output": "", "problem": "", "seconds": 0.0}
        return {"changed": True, "go": True, **done}

    def _why_not(self, options: dict[str, Any], host: str) -> str:
        """Return why the power must not be cut, after the time for which the tester is to write; empty if it may be."""
        started = options["started"]
        files = files_of(RunDirectory.open(options["run_path"]), host, options["volume"], started["number"])
        left_s = max(0.0, min(options["after_s"], started["ready_epoch_s"] + options["after_s"] - time.time()))
        state = witness.wait(files, lambda found: found.is_over, left_s)
        if state.is_over:
            return state.problem or "the connection to the tester broke before the cut"
        return "" if state.name == WRITING else "no write was acknowledged before the cut"


def call(command: str, limit_s: float) -> dict[str, Any]:
    """Run a command by the shell, and return what became of it. What it leaves running is not waited for."""
    begin_ns = time.monotonic_ns()
    status, problem = None, ""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            return {"status": None, "output": "", "problem": f"the command cannot be run: {error.strerror or error}", "seconds": 0.0}
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            problem = f"the cut command had not ended after {limit_s:g} s, so it was killed"
        ended_ns = time.monotonic_ns()
        output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_MAX_BYTES))
        said = one_line(output.read().decode("utf-8", "replace"))
    return {"status": status, "output": said, "problem": problem, "seconds": (ended_ns - begin_ns) / 1e9, "ended_ns": ended_ns}
