# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The records of a run with their tables, as they were stored. Other modules combine their verdicts with additional
ones."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from .files import SUFFIX, read_either
from .findings import UNREADABLE, finding
from .moment import utc_now
from .names import COMPARISON, HOSTS, POWER_CUTS, PREVIOUS, RECORD, is_table, safe_name, volume_folder
from .record import HostRecord, RecordError
from .run_files import MAX_TABLE_BYTES, ChangedError, RunDirectoryError, RunFiles
from .shapes import Run
from .verdicts import ERROR

_FROM_HISTORY = (COMPARISON, POWER_CUTS, PREVIOUS)
"""What the history says about a record becomes obsolete with it."""


class Records:
    """The records of a run, each in the folder of its volume."""

    def __init__(self, files: RunFiles, run: Run) -> None:
        self._files = files
        self._run = run

    def write(self, record: HostRecord, tables: Mapping[str, bytes] | None = None) -> str:
        """Store a host's record and its tables (bytes by file name), replacing an earlier record. Returns the folder,
        relative to the run directory.

        The size and SHA-256 of each table are added to the record. Any earlier comparison, verdict, report, certificate
        or signature becomes obsolete and is removed. Raises RunDirectoryError.
        """
        tables = tables or {}
        folder = volume_folder(record.host, record.volume)
        for name in tables:
            _check_name(name)
        filed = {
            name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for name, content in tables.items()
        }
        record = replace(
            record, run_id=record.run_id or self._run["run_id"], created_at=record.created_at or utc_now(), tables=filed
        )
        with self._files.writing(f"The record of {record.host!r}", folder):
            for name, content in tables.items():
                self._files.write(folder, name, content)
            self._files.remove(*(os.path.join(folder, name) for name in _FROM_HISTORY))
            self._write_file(folder, record)
        return folder

    def _write_file(self, folder: str, record: HostRecord) -> None:
        self._files.write_json(folder, RECORD, record.as_dict())
        self._files.outdate(folder)

    def withdraw(self, host: str, volume: str) -> None:
        """Remove everything stored for a volume that is about to be measured again, so that an old verdict cannot be
        mistaken for a new one. Raises RunDirectoryError."""
        folder = volume_folder(host, volume)
        try:
            stored = {name.removesuffix(SUFFIX) for name in os.listdir(self._files.path(folder))}
            tables = filter(is_table, stored)
            self._files.remove(*(os.path.join(folder, name) for name in (RECORD, *_FROM_HISTORY, *tables)))
            self._files.outdate(folder)
        except OSError as error:
            raise RunDirectoryError(
                f"The record of {host!r} cannot be removed from {self._files.root}: {error.strerror or error}."
            ) from None

    def note_leftovers(self, host: str, volume: str, left: Iterable[str]) -> None:
        """Add the items that the run left behind on the host to a stored record, if there is one. Raises
        RunDirectoryError."""
        self.amend(host, volume, lambda record: replace(record, leftovers=[str(item) for item in left]))

    def add_kind_data(self, host: str, volume: str, more: Mapping[str, Any]) -> None:
        """Add data to the kind-specific data of a stored record, if there is one. Raises RunDirectoryError."""
        self.amend(host, volume, lambda record: replace(record, kind_data={**(record.kind_data or {}), **more}))

    def note_standing(self, host: str, volume: str, reason: str) -> None:
        """Note in a stored record, if there is one, why its volume cannot pass, whatever its figures are. An empty
        ``reason`` means that it can pass. Raises RunDirectoryError."""
        record = self.find(host, volume)
        if record is not None and (record.standing or "") != reason:
            self.amend(host, volume, lambda record: replace(record, standing=reason or None))

    def amend(self, host: str, volume: str, change: Callable[[HostRecord], HostRecord]) -> bool:
        """Change a stored record. Returns False if there is no stored record. Raises RunDirectoryError."""
        folder = volume_folder(host, volume)
        if not self.has(host, volume):
            return False
        with self._files.writing(f"{folder}/{RECORD}"):
            self._write_file(folder, change(self.read(folder)))
        return True

    def has(self, host: str, volume: str) -> bool:
        """Whether a record of this host's volume exists."""
        return self._files.has(volume_folder(host, volume), RECORD)

    def find(self, host: str, volume: str) -> HostRecord | None:
        """Return the record of this host's volume, or None if none was stored."""
        return self.read(volume_folder(host, volume)) if self.has(host, volume) else None

    def folders(self) -> list[str]:
        """Return the folders of all records, relative to the run directory, sorted."""
        return [folder for name in self._files.folders_in(HOSTS) for folder in self._folders_below(name)]

    def folders_of(self, host: str) -> list[str]:
        """Return the folders of the records of a host, relative to the run directory, sorted."""
        return self._folders_below(safe_name(host))

    def _folders_below(self, name: str) -> list[str]:
        folder = os.path.join(HOSTS, name)
        return [
            os.path.join(folder, volume)
            for volume in self._files.folders_in(folder)
            if self._files.has(folder, volume, RECORD)
        ]

    def read(self, folder: str) -> HostRecord:
        """Return the record in a folder as it was stored. A record that cannot be trusted becomes an error record with
        the reason."""
        try:
            return _parse(self._files.read_json(folder, RECORD), folder)
        except ChangedError:
            return self.unreadable(folder, f"{folder}/{RECORD} changed since it was judged")
        except RunDirectoryError as error:
            return self.unreadable(folder, str(error))

    def unreadable(self, folder: str, cause: str) -> HostRecord:
        """Return the record that replaces an unusable one in a folder."""
        host, volume = folder.split(os.sep)[1:]
        reason = f"its record cannot be read: {cause}"
        return HostRecord(
            host=self._names_by_folder.get(host, host),
            volume=volume,
            kind="error",
            run_id=self._run["run_id"],
            error={"stage": "gate", "verdict": ERROR, "reason": reason},
            verdict=ERROR,
            qualification="nothing was measured",
            reasons=[reason],
            findings=[finding(UNREADABLE, ERROR, text=cause)],
        )

    def tables(self, record: HostRecord, wanted: Iterable[str] | None = None) -> dict[str, bytes]:
        """Return the tables of a record (or only those ``wanted``) as they were written. Raises RunDirectoryError if
        any of them is missing or has changed."""
        folder = self._files.path(volume_folder(record.host, record.volume))
        tables = {}
        for name, filed in record.tables.items():
            if wanted is not None and name not in wanted:
                continue
            _check_name(name)
            try:
                content = read_either(os.path.join(folder, name), MAX_TABLE_BYTES)
            except OSError as error:
                raise RunDirectoryError(f"{name} cannot be read: {error.strerror or error}.") from None
            if hashlib.sha256(content).hexdigest() != filed.get("sha256"):
                raise RunDirectoryError(f"{name} is not what was collected: its SHA-256 differs.")
            tables[name] = content
        return tables

    @cached_property
    def _names_by_folder(self) -> dict[str, str]:
        return {safe_name(str(name)): str(name) for name in self._run.get("expected_hosts") or []}


def _check_name(name: str) -> None:
    if not is_table(name):
        raise RunDirectoryError(f"{name!r} is not the name of a table.")


def _parse(data: dict[str, Any], folder: str) -> HostRecord:
    """Return a record from the content of its file. Raises RunDirectoryError if it does not have the shape of a record,
    or if it is in the folder of another one."""
    name = f"{folder}/{RECORD}"
    try:
        record = HostRecord.from_dict(data)
    except RecordError as error:
        raise RunDirectoryError(f"{name} {error}.") from None
    if folder != volume_folder(record.host, record.volume):
        raise RunDirectoryError(f"{name} belongs to another host or volume.")
    return record
