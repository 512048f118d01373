# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Starts processes that outlive the process that started them, and ends them.

Private to this collection; it may change at any time.
"""

import contextlib
import fcntl
import os
import time


def detached(function, descriptors=()):
    """Call ``function`` in a process with its own session and no open files other than ``descriptors``; return its pid.

    A program that reads the output of this program does not wait for the new process. All modules that the function
    needs must already be imported, because the files of an Ansible module are removed when it ends.
    """
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            _keep_only(descriptors)
            function()
        finally:
            os._exit(0)
    return pid


def _keep_only(descriptors):
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in descriptors:
            with contextlib.suppress(OSError):  # this was the descriptor of the listing itself
                os.close(int(name))


def send(pid, number):
    """Send a process a signal, unless the process has ended or belongs to another user. The caller must check whether
    it has ended."""
    with contextlib.suppress(OSError):
        os.kill(pid, number)


def wait_until(is_done, patience_s, look_s=0.05):
    """Wait until ``is_done()`` returns true, for ``patience_s`` seconds at most. Returns whether it became true."""
    end = time.monotonic() + patience_s
    while not is_done():
        if time.monotonic() >= end:
            return False
        time.sleep(look_s)
    return True


def is_locked(path):
    """Return whether a process holds the lock (flock) of a file; false if the file cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
