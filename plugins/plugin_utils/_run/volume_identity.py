# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The identity of volumes: which records belong to the same volume, which volumes are similar, and which hosts
share storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .files import fingerprint
from .host_settings import VARIES, parameters_of
from .record import HostRecord
from .shapes import Facts, Run
from .table_reader import printable
from .tester_options import OptionError

SIZE_VARIES = ("zfs",)
"""File systems whose size varies with the free space. For these, the size says nothing about the volume."""
_TOO_MANY_DIGITS = 20


def volume_class(named: Any, facts: Facts) -> str:
    """Return the class of a volume, from the class that the user named, if any, or from facts about its device and file
    system."""
    if named:
        return str(named)
    model = facts.get("device_model") or facts.get("device_member_model") or "unknown device"
    file_system, size = facts.get("filesystem_type"), size_of(facts)
    return ", ".join(
        filter(None, (str(model), "" if size is None else _units.format_size(size), str(file_system or "")))
    )


def size_of(facts: Facts) -> int | None:
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


_OF_THE_VOLUME = ("machine_id", "host", "mount_point", "volume")
_OF_ITS_DISK = ("device_ids", "filesystem_uuid")


@dataclass(frozen=True)
class VolumeIdentity:
    """The identity of a volume: the SHA-256 of its defining facts, the SHA-256 of the facts about its present content,
    and its mount point."""

    volume_id: str
    disk_id: str
    mount_point: str


def facts_of_identity(record: HostRecord) -> dict[str, Any] | None:
    """Return the facts of a record that identify a volume, or None if the mount point is unknown.

    A machine without a machine-id is identified by its inventory name. The size is included because it is needed to
    compare volumes of a class.
    """
    facts = record.facts
    if not facts.get("mount_point"):
        return None
    machine_id = _text(facts.get("machine_id"))
    return {
        "machine_id": machine_id,
        "host": "" if machine_id else printable(record.host),
        "device_ids": _text(facts.get("device_ids")),
        "filesystem_uuid": _text(facts.get("filesystem_uuid")),
        "filesystem_size_bytes": size_of(facts),
        "mount_point": _text(facts.get("mount_point")),
        "volume": printable(record.volume),
    }


def identity_of(facts: Mapping[str, Any] | None) -> VolumeIdentity | None:
    """Return the identity for facts returned by :func:`facts_of_identity`, regardless of the version of this collection
    that recorded them; None if there are no facts."""
    if not facts:
        return None
    return VolumeIdentity(_hash(facts, _OF_THE_VOLUME), _hash(facts, _OF_ITS_DISK), str(facts.get("mount_point") or ""))


def identity_of_record(record: HostRecord) -> VolumeIdentity | None:
    """Return the identity of the volume of a record, or None if unknown."""
    return identity_of(facts_of_identity(record))


def _hash(facts: Facts, names: tuple[str, ...]) -> str:
    return fingerprint({name: facts.get(name) or "" for name in names})


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""


def check_group(group: str, host: str, groups: Mapping[str, Sequence[str]]) -> None:
    """Raise OptionError if a host is not in the group of the inventory that its ``locks_group`` names, so that a value
    that is set for all hosts does not make all of them share storage."""
    if group and host not in groups.get(group, ()):
        raise OptionError(f"locks_group is {group}, but the host is not in this group of the inventory")


def partners_of(run: Run, host: str) -> dict[str, Any]:
    """Return the ``partners`` and the ``group`` of a host, as recorded in run.json."""
    asked = parameters_of(run, host)
    partners, group = asked.get("locks_pair"), asked.get("locks_group")
    return {
        "partners": partners if isinstance(partners, list) else [],
        "group": group if isinstance(group, str) and group != VARIES else "",
    }


def share_storage(one: str, of_one: Mapping[str, Any], other: str, of_other: Mapping[str, Any]) -> bool:
    """Return whether two hosts share storage: at least one of them names the other, or both name the same group. Each
    host is given by its name, and by its ``partners`` and its ``group``."""
    return (
        other in of_one["partners"]
        or one in of_other["partners"]
        or bool(of_one["group"] and of_one["group"] == of_other["group"])
    )
