# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs a command of the user in a shell on the controller."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from typing import Any

from ._action_base import one_line

OUTPUT_MAX_BYTES = 2000


def call(command: str, limit_s: float) -> dict[str, Any]:
    """Run a command in the shell, and return its ``status`` (None if it has none), the end of its ``output``, the
    ``problem`` if it has no status, its duration in ``seconds``, and when it had ended (``ended_ns``, by the monotonic
    clock). Does not wait for processes that the command leaves behind."""
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
            return {
                "status": None,
                "output": "",
                "problem": f"the command cannot be run: {error.strerror or error}",
                "seconds": 0.0,
            }
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            problem = f"the command had not ended after {limit_s:g} s, so it was killed"
        ended_ns = time.monotonic_ns()
        output.seek(max(0, output.seek(0, os.SEEK_END) - OUTPUT_MAX_BYTES))
        said = one_line(output.read().decode("utf-8", "replace"))
    return {
        "status": status,
        "output": said,
        "problem": problem,
        "seconds": (ended_ns - begin_ns) / 1e9,
        "ended_ns": ended_ns,
    }
