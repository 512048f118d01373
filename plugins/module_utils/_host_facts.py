# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts about the host that every record contains.

Private to this collection; it may change at any time.
"""

import os
import platform
import pwd

from . import _machine, _user


def facts():
    """Return the operating system, the user that this process runs as, and the identity of the machine."""
    return dict(
        os=os_release().get("PRETTY_NAME") or platform.platform(),
        kernel=platform.release(),
        architecture=platform.machine(),
        user=_user.name(),
        home=_home(),
        python_version=platform.python_version(),
        cpus=os.sysconf("SC_NPROCESSORS_ONLN"),
        memory_bytes=_memory_bytes(),
        **_machine.identity(),
    )


def os_release():
    """Return /etc/os-release as a dict."""
    pairs = (line.partition("=") for line in _read_lines("/etc/os-release") if "=" in line)
    return dict((key.strip(), value.strip().strip("\"'")) for key, dummy, value in pairs)


def _read_lines(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(65536).decode("utf-8", "replace").splitlines()
    except (IOError, OSError):
        return []


def _memory_bytes():
    for line in _read_lines("/proc/meminfo"):
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _home():
    """Return the expansion of ~."""
    return os.environ.get("HOME") or pwd.getpwuid(os.geteuid()).pw_dir
