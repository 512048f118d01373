# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts that a host reports before and after a power cut, and the code that starts the tester over a separate
connection.

Private to this collection; it may change at any time.
"""

import os
import subprocess

from . import _machine, _marks, _time_limit, _volume_identity

VOLUME_LIMIT_S = 10
SYNC_LIMIT_S = 60
SAID_MAX_BYTES = 2000

# Arguments: the file of the lock, the ID of the run, and the tester's command, which holds the lock until it ends.
HOLDER = """
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


def look(path):
    """Return the boot ID, the facts of the volume below ``path``, and a ``problem`` if its storage does not answer."""
    found = dict(boot_id=_machine.identity()["boot_id"], problem="")
    answer = _time_limit.call_all([lambda: _facts_of(path)], VOLUME_LIMIT_S)[0]
    if isinstance(answer, dict):
        return dict(found, **answer)
    return dict(found, problem="%s: %s" % (path, answer))


def _facts_of(path):
    """Return the facts of the volume below a path, including the birth time of the root directory of its file system,
    which distinguishes this file system from another with the same UUID."""
    facts = _volume_identity.facts_of(path)
    return dict(
        facts, filesystem_born_epoch_s=_volume_identity.birth_of(facts["mount_point"]) if facts["mount_point"] else ""
    )


def sync_marks(directories):
    """Write the marks of directories to the disk, so that files that survive a power cut can be identified as belonging
    to this collection. The tester does the same for the directories.

    Raises OSError if writing fails or takes too long.
    """
    answer = _time_limit.call_all([lambda: _sync(directories)], SYNC_LIMIT_S)[0]
    if isinstance(answer, _time_limit.TimeLimitError):
        raise OSError("the marks of the workspace cannot be written to its disk: %s" % answer)


def _sync(directories):
    for directory in directories:
        path = os.path.join(directory, _marks.MARK_NAME)
        if os.path.isfile(path) and not os.path.islink(path):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            with _marks.closing(descriptor):
                os.fsync(descriptor)


def call(command, limit_s):
    """Return the exit status of a command and the end of its standard error. The status is None if the command was
    killed at its time limit."""
    # Ansible's run_command has no time limit.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    try:
        said = process.communicate(timeout=limit_s)[1]
    except subprocess.TimeoutExpired:
        # The storage that the command uses may hang, so the command may never end.
        process.kill()
        return None, "the tester had not ended after %d s, so it was killed" % limit_s
    return process.returncode, said[-SAID_MAX_BYTES:].decode("utf-8", "replace").strip()
