# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The requested and achieved values of a workload of streams, as a table with a column for each load point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .._judge.fidelity import TOLERANCE
from .._run.words import size_text
from .model import Host


@dataclass(frozen=True, slots=True)
class Achieved:
    """The achieved and requested values at a load point, and whether they differ too much."""

    achieved: str
    asked: str
    is_far: bool


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a stream, or of the workload, with the achieved value at each load point, or None if it was not
    measured."""

    stream: str
    title: str
    cells: tuple[Achieved | None, ...]


def fidelity_of(host: Host) -> tuple[list[str], list[Property]]:
    """Return the load points and the properties of a host; both are empty if its tables contain none."""
    loads = list(dict.fromkeys(row["load_point"] for row in host.fidelity))
    found: dict[tuple[Any, ...], dict[int, Mapping[str, Any]]] = {}
    for row in host.fidelity:
        found.setdefault((row["stream"], row["property"], row["item"]), {})[row["load_point"]] = row
    properties = [_property(key, rows, loads) for key, rows in found.items()]
    return [host.words.load_text(load) for load in loads], properties


def _property(key: tuple[Any, ...], rows: Mapping[int, Mapping[str, Any]], loads: Sequence[int]) -> Property:
    stream, name, item = key
    return Property(
        "all" if stream == "all" else stream,
        _title(name, item),
        tuple(_achieved(name, rows[load]) if load in rows else None for load in loads),
    )


def _title(name: str, item: str | None) -> str:
    if name == "size_share":
        return (
            f"operations of {size_text(int(item))}"
            if item and item.isascii() and item.isdigit()
            else f"operations of {item}"
        )
    if name == "capacity_share":
        return f"capacity of place {item}"
    return _TITLES.get(name, name)


_TITLES = {
    "read_share": "reads",
    "operations_share": "share of all operations",
    "operations_per_s": "operations per second",
}


def _achieved(name: str, row: Mapping[str, Any]) -> Achieved:
    achieved, asked = row["achieved"], row["asked"]
    write = _units.format_ratio if name.endswith("_share") else _units.format_number
    return Achieved(write(achieved), write(asked), abs(achieved - asked) > TOLERANCE * asked)
