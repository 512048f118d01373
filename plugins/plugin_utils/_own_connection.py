# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the command line of a program that runs on a host over a separate connection, outside of Ansible."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleActionFail

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


# Arguments: the file of the lock, the ID of the run, and the tester's command, which holds the lock until it ends.
_HOLDER = """
import fcntl, os, sys
lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except OSError:
    sys.exit("another certification is running on this host: %s" % os.read(lock, 200).decode("utf-8", "replace"))
os.ftruncate(lock, 0)
os.write(lock, sys.argv[2].encode("ascii"))
os.set_inheritable(lock, True)
os.umask(0o077)
os.execv(sys.argv[3], sys.argv[3:])
"""


def tester_command(begun: Mapping[str, Any], run_id: str, tester: Sequence[str]) -> list[str]:
    """Return the command that starts a tester which holds the lock of a host's state directory until it ends. ``begun``
    is the answer of the module that created the state of the run."""
    return [str(begun["interpreter"]), "-c", _HOLDER, str(begun["lock"]), run_id, *tester]
