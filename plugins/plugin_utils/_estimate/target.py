# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The required load of a volume: the size and the rate of messages, and the number of clients of one queue manager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .._run.shapes import Facts

MOST_CLIENTS = 100_000
LARGEST_MESSAGE_BYTES = 100 << 20
"""MQ's largest message."""

_MESSAGE_FACTS = ("target_message_bytes", "target_messages_per_s", "target_clients")
_OPERATIONS_FACT = "target_operations_per_s"
TARGET_FACTS = (*_MESSAGE_FACTS, _OPERATIONS_FACT)
"""The facts of a host that contain its target for messages or operations."""

_OPERATIONS_KEY = "operations_per_s"
_KEYS = ("message_size", "messages_per_s", "clients")


@dataclass(frozen=True, slots=True)
class Target:
    """The load that a volume is required to carry."""

    message_bytes: int
    messages_per_s: float
    clients: int

    @property
    def text(self) -> str:
        """The target as text for display."""
        clients = f"{_units.format_count(self.clients)} client{'' if self.clients == 1 else 's'}"
        return (
            f"{_units.format_number(self.messages_per_s)} messages/s of "
            f"{_units.format_size(self.message_bytes)} from {clients}"
        )

    def as_facts(self) -> dict[str, Any]:
        """Return the target as facts of a host."""
        return dict(zip(_MESSAGE_FACTS, (self.message_bytes, self.messages_per_s, self.clients), strict=True))


@dataclass(frozen=True, slots=True)
class OperationsTarget:
    """The required load of a volume for workloads other than MQ's."""

    operations_per_s: float

    def as_facts(self) -> dict[str, Any]:
        """Return the target as facts of a host."""
        return {_OPERATIONS_FACT: self.operations_per_s}


def target_of(facts: Facts) -> Target | None:
    """Return the target for messages from a host's facts, or None."""
    values = [facts.get(key) for key in _MESSAGE_FACTS]
    return Target(int(values[0]), float(values[1]), int(values[2])) if all(map(_is_usable, values)) else None


def operations_target_of(facts: Facts) -> float | None:
    """Return the target for operations per second from a host's facts, or None."""
    value = facts.get(_OPERATIONS_FACT)
    return float(value) if _is_usable(value) else None


def _is_usable(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0


def read_target(value: Any) -> Target | OperationsTarget | None:
    """Return the target that a variable states, or None if it is empty. Raises ValueError with a clause that states
    what is wrong with the variable."""
    if value in (None, "") or value == {}:
        return None
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a dictionary with the keys {', '.join(_KEYS)}")
    if set(value) == {_OPERATIONS_KEY}:
        return OperationsTarget(_read(value, _OPERATIONS_KEY, _units.parse_number, _units.LARGEST))
    unknown = sorted(str(key) for key in value if key not in _KEYS)
    missing = [key for key in _KEYS if value.get(key) in (None, "")]
    if unknown or missing:
        problem = f"has the unknown key {unknown[0]}" if unknown else f"lacks the key {missing[0]}"
        example = "for example {message_size: 2K, messages_per_s: 5000, clients: 60}"
        raise ValueError(f"{problem}: it must have {', '.join(_KEYS)}, {example}, or only {_OPERATIONS_KEY}")
    return Target(
        _read(value, "message_size", _units.parse_size, LARGEST_MESSAGE_BYTES),
        _read(value, "messages_per_s", _units.parse_number, _units.LARGEST),
        _read(value, "clients", _units.parse_count, MOST_CLIENTS),
    )


def _read(value: Mapping[str, Any], key: str, parse: Any, most: int) -> Any:
    try:
        number = parse(value[key])
    except _units.UnitError as error:
        raise ValueError(f"has an unusable value in {key}: {error}") from None
    if not 0 < number <= most:
        raise ValueError(f"has {value[key]!r} in {key}, which must be above 0 and at most {_units.format_count(most)}")
    return number
