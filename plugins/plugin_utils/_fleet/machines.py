# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether two names in the inventory refer to the same machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.table_reader import printable

MACHINE_KEYS = ("machine_id", "boot_id", "hostname")
"""Facts that identify the machine of a host. All of them are needed, because clones have the first one in common, and
containers on one host the second."""


def doubles(facts: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """For each host that is the same machine as another host, return a sentence that states this. ``facts`` holds the
    facts of the hosts, by name."""
    names: dict[tuple[str, ...], list[str]] = {}
    for host, known in facts.items():
        machine = tuple(str(known.get(key) or "") for key in MACHINE_KEYS)
        if known.get("boot_id") and known.get("hostname"):
            names.setdefault(machine, []).append(host)
    return {
        host: _sentence(sorted(hosts), machine) for machine, hosts in names.items() if len(hosts) > 1 for host in hosts
    }


def _sentence(hosts: list[str], machine: tuple[str, ...]) -> str:
    machine_id, dummy, hostname = machine
    identity = f"hostname {hostname}" + (f", machine-id {machine_id}" if machine_id else "")
    return (
        f"{', '.join(hosts[:-1])} and {hosts[-1]} are the same machine ({printable(identity)[:200]}): name it once in "
        "the inventory, or exclude the other names with certify_hosts"
    )
