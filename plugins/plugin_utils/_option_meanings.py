# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks of options beyond their type: for example whether a profile exists, or whether a time can be parsed. With
these checks, all problems with the options of a run are reported at once, before any host is planned. Each value is
checked only once, no matter how many hosts have it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ._estimate.target import read_target
from ._fleet.settings import MEANINGS
from ._judge.fleet import PolicyError, check_policy
from ._judge.profile_reader import load_profile
from ._options.reading import reserve_option
from ._run.definitions import DefinitionError
from ._workload.reader import load_workload

ROLES = Path(__file__).resolve().parents[2] / "roles"
PROFILES = str(ROLES / "gate/files/profiles")
WORKLOADS = str(ROLES / "sweep/files/workloads")

CHECKS: dict[str, Callable[[Any], Any]] = {
    **MEANINGS,
    "gate_profile": lambda value: load_profile(value, PROFILES),
    "gate_fail_on": check_policy,
    "sweep_workload": lambda value: load_workload(value, WORKLOADS),
    "sweep_target": read_target,
    "workspace_reserve": lambda value: reserve_option(str(value)),
}
"""The checks raise DefinitionError, PolicyError or ValueError."""


def problems_of_meaning(values: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Return the problems with the values of options, by host. ``values`` holds the values that are set for each host,
    as they were read."""
    known: dict[tuple[str, str], str] = {}
    found: dict[str, list[str]] = {}
    for host, given in values.items():
        for name in CHECKS.keys() & given.keys():
            key = (name, repr(given[name]))
            if key not in known:
                known[key] = _problem(name, given[name])
            if known[key]:
                found.setdefault(host, []).append(known[key])
    return found


def _problem(name: str, value: Any) -> str:
    try:
        CHECKS[name](value)
    except (DefinitionError, PolicyError, TypeError, ValueError) as error:
        return f"{name}: {str(error).removeprefix(f'{name}: ')}"
    return ""
