# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether two names in the inventory refer to the same machine, and the offset of a host's clock."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._run.findings import WRONG_CLOCK, Finding, finding
from .._run.moment import CLOCK_TOLERANCE_S, utc_now
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


def clock_facts(time_epoch_s: Any, received_epoch_s: float, error_s: float) -> dict[str, float]:
    """Return the offset of a host's clock and a bound on the error of this offset. A module reads the clock on the host
    just before it ends. The offset is the difference between that time and the time at which the module's answer
    arrives. The end of the call is closer to the time of reading than the beginning: Python has to start before the
    clock can be read, but only the transfer of the answer follows the reading. The duration of the call is a bound on
    the error.
    """
    return {
        "clock_offset_s": round(float(time_epoch_s) - received_epoch_s, 3),
        "clock_offset_error_s": round(error_s, 3),
    }


def clock_of_hosts(facts: Mapping[str, Mapping[str, Any]]) -> Finding | None:
    """Return a note if the clocks of hosts differ from the controller's by more than the tolerance; None if none does.
    ``facts`` holds the facts of the hosts, by name."""
    far = {host: known["clock_offset_s"] for host, known in facts.items() if _is_far(known)}
    if not far:
        return None
    host = max(far, key=lambda name: abs(far[name]))
    counts = f"{len(far)} of {len(facts)}"
    return finding(WRONG_CLOCK, None, cause="hosts", clock=utc_now(), hosts=counts, host=host, offset_s=far[host])


def disagree(facts: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether most hosts disagree with the controller's clock. Facts without an offset are ignored."""
    found = [_is_far(known) for known in facts if isinstance(known.get("clock_offset_s"), (int, float))]
    return 2 * sum(found) > len(found)


def _is_far(known: Mapping[str, Any]) -> bool:
    offset_s, error_s = known.get("clock_offset_s"), known.get("clock_offset_error_s")
    numbers = isinstance(offset_s, (int, float)) and isinstance(error_s, (int, float))
    return numbers and abs(offset_s) > CLOCK_TOLERANCE_S + error_s
