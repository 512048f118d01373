# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which volumes are similar: those in a class named by the user, or else volumes with the same device model,
size and file system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils import _units

SIZE_VARIES = ("zfs",)
"""File systems whose size varies with the free space. For these, the size says nothing about the volume."""
_TOO_MANY_DIGITS = 20


def volume_class(named: Any, facts: Mapping[str, Any]) -> str:
    """Return the class of a volume, from the class that the user named, if any, or from facts about its device and file
    system."""
    if named:
        return str(named)
    model = facts.get("device_model") or facts.get("device_member_model") or "unknown device"
    file_system, size = facts.get("filesystem_type"), size_of(facts)
    return ", ".join(
        filter(None, (str(model), "" if size is None else _units.format_size(size), str(file_system or "")))
    )


def size_of(facts: Mapping[str, Any]) -> int | None:
    """Return the size of a file system in bytes, or None if it is unknown or varies. The value is a number, or text
    from the tester's table."""
    text = str(facts.get("filesystem_size_bytes"))
    known = (
        text.isascii()
        and text.isdigit()
        and len(text) < _TOO_MANY_DIGITS
        and facts.get("filesystem_type") not in SIZE_VARIES
    )
    return int(text) if known else None
