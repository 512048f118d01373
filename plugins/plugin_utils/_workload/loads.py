# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The load points that the role's variables name: numbers, or percentages of the load that the storage must carry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from ...module_utils import _units
from .._run.answers import read_list
from .._run.tester_options import OptionError

LOADS, TARGET, CLIMB, ROUNDS, POOL = "sweep_loads", "sweep_load_target", "sweep_climb", "sweep_rounds", "sweep_pool"
AUTO = "auto"
"""The value of sweep_loads that lets the controller search for the capacity."""
EACH, TOGETHER = "each", "together"
CLIMBS = (EACH, TOGETHER)
"""The ways to search: each volume by itself, or all volumes of a pool together."""
MOST_ROUNDS = 24
"""This number of rounds is enough to find any capacity from any first load."""
_PERCENT = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,4})?) ?%\Z")


def read_load_target(given: Any) -> float:
    """Return the load that the storage must carry, or 0 if none is given. Raises OptionError."""
    try:
        return _units.parse_number(given or 0)
    except _units.UnitError as error:
        raise OptionError(f"{TARGET}: {error}") from None


def is_search(given: Any) -> bool:
    """Whether the load points are to be searched for."""
    return given == AUTO or given == [AUTO]


def read_search(variables: Mapping[str, Any], first: float, largest: int) -> tuple[int, dict[str, Any]]:
    """Return the first load of a search, which is the target if there is one and otherwise ``first``, and the
    parameters of the search: whether the volumes are searched together and in which group, the largest load, and the
    number of rounds. Raises OptionError."""
    climb, rounds = variables.get(CLIMB) or EACH, variables.get(ROUNDS) or MOST_ROUNDS
    if climb not in CLIMBS:
        raise OptionError(f"{CLIMB} must be {' or '.join(CLIMBS)}, not {climb}")
    try:
        rounds = _units.parse_count(rounds)
    except _units.UnitError:
        rounds = 0
    if not 1 <= rounds <= MOST_ROUNDS:
        raise OptionError(f"{ROUNDS} must be a whole number from 1 to {MOST_ROUNDS}, not {variables[ROUNDS]}")
    first = read_load_target(variables.get(TARGET)) or first
    group = str(variables.get(POOL) or "") if climb == TOGETHER else None
    return min(max(1, round(first)), largest), {"climb": climb, "group": group, "largest": largest, "rounds": rounds}


def read_loads(given: Any, target: float) -> list[int]:
    """Return the load points in a list, which may be given as text. Raises OptionError if two elements are the same
    load point, or if one is not possible.

    In a text, a decimal comma would split a percentage into a number and another percentage. Therefore, mixing numbers
    and percentages is refused.
    """
    elements = read_list(given, quantities=True)
    if len({"%" in str(each) for each in elements}) > 1:
        raise OptionError(
            f"{LOADS}: {', '.join(map(str, elements))} mixes load points and percentages: write one or "
            "the other, with a decimal point"
        )
    loads: dict[int, Any] = {}
    for element in elements:
        load = _read_load(element, target)
        if load in loads:
            of_target = f" of {TARGET}, {target:g}" if "%" in f"{element}{loads[load]}" else ""
            raise OptionError(
                f"{LOADS}: {loads[load]} and {element} are both the load point {load}{of_target}: leave one out"
            )
        loads[load] = element
    return list(loads)


def _read_load(element: Any, target: float) -> int:
    """Return a load point: at least 1, and rounded if it is a percentage."""
    percent = _PERCENT.match(element) if isinstance(element, str) else None
    if percent and not target:
        raise OptionError(f"{LOADS}: {element} needs {TARGET}, the load that the storage must carry")
    if percent:
        return max(1, int((Decimal(percent.group(1)) * Decimal(repr(target)) / 100).to_integral_value(ROUND_HALF_UP)))
    try:
        load = _units.parse_count(element)
    except _units.UnitError:
        load = 0
    if load < 1:
        raise OptionError(
            f"{LOADS}: {element!r} is not a load point: write a whole number such as 8, or a percentage of {TARGET} "
            f"such as 90%, or only {AUTO}"
        )
    return load
