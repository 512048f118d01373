# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs commands of the user in a shell on the controller, also while a step continues."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .._run.table_reader import printable

OUTPUT_MAX_BYTES = 2000


@dataclass(frozen=True)
class CommandResult:
    """How a command of the user ended: its exit status (None if it has none), the end of its output, why it has no
    status, how long it took, and when it had ended, by the monotonic clock. A command that is not ``done`` was not
    called; ``problem`` is then the reason."""

    status: int | None = None
    output: str = ""
    problem: str = ""
    seconds: float = 0.0
    ended_ns: int = 0
    done: bool = True


def call(command: str, limit_s: float) -> CommandResult:
    """Run a command in the shell. It is killed with its children after ``limit_s`` seconds. Does not wait for processes
    that the command leaves behind."""
    begin_ns = time.monotonic_ns()
    status, problem = None, ""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            problem = f"the command cannot be run: {error.strerror or error}"
            return CommandResult(problem=problem, ended_ns=time.monotonic_ns())
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            problem = f"the command had not ended after {limit_s:g} s, so it was killed"
        ended_ns = time.monotonic_ns()
        output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_MAX_BYTES))
        said = printable(" ".join(output.read().decode("utf-8", "replace").split()))
    return CommandResult(status, said, problem, (ended_ns - begin_ns) / 1e9, ended_ns)


class Background:
    """Calls a function in a thread. ``result`` is None until it has returned."""

    def __init__(self, function: Callable[[], CommandResult]) -> None:
        self.result: CommandResult | None = None
        self._function = function
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        self.result = self._function()
