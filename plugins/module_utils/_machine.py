# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines the identity of a machine.

Private to this collection; it may change at any time.
"""

import os
import re

from . import _mounts

MACHINE_ID_PATHS = ("/etc/machine-id", "/var/lib/dbus/machine-id")
BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"
_MACHINE_ID = re.compile(r"\A[0-9a-f]{32}\Z")


def identity():
    """Return the data that identifies this machine: machine_id (empty if it has none), boot_id and hostname.

    None of these is sufficient by itself, because clones have the same machine-id and containers have the boot_id of
    their host.
    """
    ids = [text for text in map(_read, MACHINE_ID_PATHS) if _MACHINE_ID.match(text)]
    return dict(machine_id=ids[0] if ids else "", boot_id=_read(BOOT_ID_PATH), hostname=os.uname()[1])


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


def _read(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(256).decode("utf-8", "replace").strip()
    except (IOError, OSError):
        return ""
