# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options that hosts were measured with: run.json contains the options that all hosts share and, for each host, the
options in which hosts differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VARIES = "differs between hosts"


def parameters_of_hosts(values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the keys of run.json for the options of each host, by host and name.
    Values that are None are left out, because the host computes them."""
    common: dict[str, Any] = {}
    for own in values.values():
        for name, value in own.items():
            if common.setdefault(name, value) != value:
                common[name] = VARIES
    for own in values.values():
        common.update((name, VARIES) for name in common if common[name] is not None and name not in own)
    differing = [name for name, value in common.items() if value == VARIES]
    own = {
        host: {name: own[name] for name in differing if own.get(name) not in (None, VARIES)}
        for host, own in values.items()
    }
    return {
        "parameters": {name: value for name, value in common.items() if value is not None},
        "host_parameters": {host: settings for host, settings in own.items() if settings},
    }


def parameters_of(run: Mapping[str, Any], host: str) -> dict[str, Any]:
    """Return all options of a host. An option is VARIES if it differs between hosts and the host has no value of it."""
    return {**(run.get("parameters") or {}), **((run.get("host_parameters") or {}).get(host) or {})}
