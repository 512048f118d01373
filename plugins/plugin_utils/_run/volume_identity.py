# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The identity of volumes. The history, merging, comparisons, power cuts and observations all use this definition.

A volume is identified by its machine, its name and its mount point. A different mount point is a different volume. The
content at a mount point is identified by the UUID of the file system and the identifiers of its disks. If the content
is replaced, the volume remains the same, but the new content needs its own pass. The size is not used, because a file
system can grow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .canonical import fingerprint
from .record import HostRecord
from .table_reader import printable
from .volume_class import size_of

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


def _hash(facts: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return fingerprint({name: facts.get(name) or "" for name in names})


def _text(value: Any) -> str:
    return printable(value) if isinstance(value, str) else ""
