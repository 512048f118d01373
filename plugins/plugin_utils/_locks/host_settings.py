# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the settings that a host reports. They are untrusted, but they are stored and shown, and root uses the address
of the file server in the rules of a packet filter."""

from __future__ import annotations

import ipaddress
from typing import Any

from .._run.shapes import Within, as_dict, fits
from .._run.table_reader import printable

IDENTITIES = (
    "machine_id",
    "boot_id",
    "hostname",
    "pid_namespace",
    "mount_namespace",
    "recover_lost_locks",
    "nfs4_unique_id",
)
PLACE = ("path", "directory_errno")
MOUNT = ("mount_point", "mount_source", "mount_options", "filesystem_type")
LONGEST_TEXTS = {**dict.fromkeys(IDENTITIES, 256), **dict.fromkeys((*MOUNT, *PLACE), 4096)}
NUMBERS = ("uid", "gid", "lease_s")


def read_settings(given: Any) -> dict[str, Any]:
    """Return the settings that are known to this collection. Texts are shortened, and their invisible characters are
    replaced. A value of another type is unknown: a text is then empty, and a number is None."""
    answer = as_dict(given)
    return {
        **{name: _text(answer.get(name))[:most] for name, most in LONGEST_TEXTS.items()},
        **{name: _number(answer.get(name)) for name in NUMBERS},
        "server_address": _address(answer.get("server_address")),
        "directory_exists": answer.get("directory_exists") is True,
    }


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if fits(value, Within(0, (1 << 32) - 1, int)) else None


def _address(value: Any) -> str:
    """Return an IP address; empty if the value is none. An IPv6 address with a zone is none, because a zone can be any
    text."""
    try:
        return str(ipaddress.ip_address(value)) if isinstance(value, str) and "%" not in value else ""
    except ValueError:
        return ""
