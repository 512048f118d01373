# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The last status of a host in a sweep, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.shapes import as_dict
from .schedule import ENDED

COLLECTED = "collected"
"""The key that the status of a host has after its tables were collected. Its value contains the names of the volumes
that sent tables."""
FINISHED, UNKNOWN, RUNNING = "finished", "unknown", "running"


def host_status(host: str, run_id: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status of a host from its answer, which is untrusted.

    A template collects the statuses of all hosts. Only text is kept, so that a value from a host cannot make the
    template fail.
    """
    volumes = as_dict(answer.get("volumes"))
    status = {
        "host": host,
        "run_id": run_id,
        "state": "",
        "volumes": {str(name): _volume_status(as_dict(volume)) for name, volume in volumes.items()},
        "reason": str(answer.get("reason") or ""),
    }
    status["state"] = _state([volume["state"] for volume in status["volumes"].values()])
    if "ansible_facts" in answer:  # the interpreter that Ansible itself discovered on the host
        status["ansible_facts"] = answer["ansible_facts"]
    return status


def unanswered(known: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return the status of a host that did not answer: volumes that have not ended become unknown."""
    volumes = {
        name: volume if volume["state"] in ENDED else {**volume, "state": UNKNOWN}
        for name, volume in known["volumes"].items()
    }
    return {
        **known,
        "state": _state([volume["state"] for volume in volumes.values()]),
        "volumes": volumes,
        "reason": reason,
    }


def _volume_status(volume: Mapping[str, Any]) -> dict[str, Any]:
    progress = as_dict(volume.get("progress"))
    return {"state": str(volume.get("state")), "progress": {str(key): str(value) for key, value in progress.items()}}


def _state(states: list[str]) -> str:
    """Return the state of a host. The host is running until all of its volumes have ended."""
    going_on = [state for state in states if state not in ENDED]
    if going_on or not states:
        return UNKNOWN if UNKNOWN in going_on or not states else RUNNING
    return FINISHED if FINISHED in states else states[0]
