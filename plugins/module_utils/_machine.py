# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines the identity of a machine.

Private to this collection; it may change at any time.
"""

import os
import re

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


def is_this(machine, now=None):
    """True if ``machine``, as returned by :func:`identity` earlier, is this machine, even after a restart."""
    now = now or identity()
    return isinstance(machine, dict) and all(machine.get(key) == now[key] for key in ("machine_id", "hostname"))


def is_this_boot(machine):
    """True if ``machine`` is this machine, and it was not restarted since."""
    now = identity()
    return is_this(machine, now) and machine.get("boot_id") == now["boot_id"]


def _read(path):
    try:
        with open(path, "rb") as stream:
            return stream.read(256).decode("utf-8", "replace").strip()
    except (IOError, OSError):
        return ""
