# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines the identity of a machine.

Private to this collection; it may change at any time.
"""

import os
import platform
import pwd
import re

from . import _mounts, _user

MACHINE_ID_PATHS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"
_MACHINE_ID = re.compile(r"\A[0-9a-f]{32}\Z")


def identity():
    """Return the data that identifies this machine: machine_id (empty if it has none), boot_id and hostname.

    None of these is sufficient by itself, because clones have the same machine-id and containers have the boot_id of
    their host.
    """
    ids = [text for text in (read_text(path).strip() for path in MACHINE_ID_PATHS) if _MACHINE_ID.match(text)]
    return dict(machine_id=ids[0] if ids else "", boot_id=read_text(BOOT_ID_PATH).strip(), hostname=os.uname()[1])


def is_this(machine, path):
    """True if ``machine``, as returned by :func:`identity` when it created ``path``, is this machine, even after a
    restart.

    Only a clone has the same machine-id. It has another host name, but so has this machine if it was renamed. Therefore
    the name decides only if a clone could have created the path.
    """
    now = identity()
    if not isinstance(machine, dict) or machine.get("machine_id") != now["machine_id"]:
        return False
    return machine.get("hostname") == now["hostname"] or (bool(now["machine_id"]) and is_local(path))


def is_this_boot(machine):
    """True if ``machine`` has not been restarted since, provided that it is this machine."""
    return machine.get("boot_id") == identity()["boot_id"]


def is_local(path):
    """True if only this machine can have created ``path``, because its file system is local."""
    try:
        return _mounts.is_local(_mounts.mount_at(path).get("filesystem_type"))
    except OSError:
        return False


def name_of(machine):
    """Return the host name of ``machine``, as stored in a mark, for use in a message."""
    name = str(machine.get("hostname") or "") if isinstance(machine, dict) else ""
    return name if re.match(r"\A[0-9A-Za-z._-]{1,253}\Z", name) else "an unknown host"


def host_facts():
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
        **identity(),
    )


def os_release():
    """Return /etc/os-release as a dict."""
    pairs = (line.partition("=") for line in read_text("/etc/os-release").splitlines() if "=" in line)
    return dict((key.strip(), value.strip().strip("\"'")) for key, dummy, value in pairs)


def _memory_bytes():
    for line in read_text("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return None


def _home():
    """Return the expansion of ~."""
    return os.environ.get("HOME") or pwd.getpwuid(os.geteuid()).pw_dir


def read_text(path, default="", most_bytes=1 << 20):
    """Return the text of a file of the system, for example below /proc; ``default`` if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(most_bytes).decode("utf-8", "replace")
    except (IOError, OSError):
        return default
