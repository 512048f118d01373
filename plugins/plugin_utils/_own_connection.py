# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs commands outside of Ansible: makes the command line of a program that runs on a host over a separate connection,
and runs a command of the user in a shell on the controller."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from typing import Any

from ansible.errors import AnsibleActionFail

from ._action_base import one_line

SILENT_S = 2
"""The connection ends if the host does not answer for this number of seconds. If a host loses power, this is noticed
within three seconds."""

# Such a connection is not shared, because a shared one would break later. If an option is given twice, ssh uses the
# first value.
SSH_OPTIONS = (
    "ControlMaster=no",
    "ControlPath=none",
    "ServerAliveInterval=1",
    f"ServerAliveCountMax={SILENT_S}",
    "BatchMode=yes",
    "Compression=no",
)
PASSWORD = (
    "the tester uses a separate connection, which logs in by itself and cannot supply a password: let the user log in "
    "with a key{}"
)
WRONG_CONNECTION = "the tester's separate connection is possible over ssh and local only, not over {}"


def stream_command(connection: Any, command: list[str], silent_s: int = SILENT_S) -> list[bytes | str]:
    """Return the command line that runs a command on a host outside of Ansible, with the arguments of Ansible's
    connection to the host. The command ends after the host has been silent for ``silent_s`` seconds. Raises
    AnsibleActionFail."""
    text = shlex.join(command)
    if connection.become:
        if connection.become.get_option("become_pass"):
            raise AnsibleActionFail(PASSWORD.format(", and let it become the other user without one"))
        text = connection.become.build_become_command(text, connection._shell)
    if connection.transport == "local":
        return ["/bin/sh", "-c", text]
    if connection.transport != "ssh":
        raise AnsibleActionFail(WRONG_CONNECTION.format(connection.transport))
    if connection.get_option("password") or connection.get_option("pkcs11_provider"):
        raise AnsibleActionFail(PASSWORD.format(""))
    host = connection.host = connection.get_option("host")
    # Only these members know all options of Ansible's own command line and shell; Ansible has no public ones for them.
    program, *arguments = connection._build_command(connection.get_option("ssh_executable"), "ssh", "-T", host, text)
    interval_s = max(1, silent_s // 3)
    options = (f"ServerAliveInterval={interval_s}", f"ServerAliveCountMax={silent_s // interval_s}", *SSH_OPTIONS)
    return [program, *(word for option in options for word in ("-o", option)), *arguments]


def words(command: list[bytes | str]) -> list[str]:
    """Return the words of a command line as text, because a result cannot contain bytes."""
    return [os.fsdecode(word) for word in command]


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
