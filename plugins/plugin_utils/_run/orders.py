# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data about a host besides its records: its orders, the rounds of a search, the volumes that it is expected to
report, and the results from the history in the folder of a record."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from .names import (
    CERTIFICATE,
    DISCOVERED,
    HOSTS,
    ORDER,
    SAMPLES,
    VOLUMES,
    host_folder,
    round_folder,
    safe_name,
    volume_folder,
)
from .record import DEFAULT_VOLUME
from .records import Records
from .run_files import MAX_TABLE_BYTES, RunDirectoryError, RunFiles
from .shapes import Items, Keys, Maybe, Within, check, misfit

MAX_SAMPLES_BYTES = 80 << 20
"""The largest number of bytes that is accepted from one observer. An observer ends when its samples reach 64 MiB, but
its last sample can take the total above that."""


_ORDER = Keys(
    {
        **dict.fromkeys(("run_id", "host", "volume", "source_hash"), str),
        **dict.fromkeys(("ordered_epoch_s", "deadline_epoch_s", "clock_error_s"), Within(0, 1e11)),
        **dict.fromkeys(("options", "texts"), Keys({}, every=str)),
        "machine": Keys(dict.fromkeys(("hostname", "machine_id"), str)),
        "directories": Items(str),
        **dict.fromkeys(("facts", "workspace"), Maybe(dict)),
        "search": Maybe(
            Keys({"group": Maybe(str), **dict.fromkeys(("largest", "rounds", "round"), Within(1, 1 << 31, int))})
        ),
    }
)
"""The structure of order.json."""


class _Stored:
    """Data that is stored in the files of a run."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files


class Orders(_Stored):
    """The order for each volume and, in a search, the order for each of its rounds."""

    def write(self, order: Mapping[str, Any]) -> None:
        """Record what a host is ordered to measure, before it is started. Raises RunDirectoryError."""
        with self._files.writing(f"The order of {order['host']!r}"):
            self._files.write_json(volume_folder(order["host"], order["volume"]), ORDER, order)

    def read(self, host: str, volume: str) -> dict[str, Any]:
        """Return the order for a host. Raises RunDirectoryError, for example if there is none."""
        order = self._files.read_json(volume_folder(host, volume), ORDER)
        check(order, _ORDER, lambda part: RunDirectoryError(f"The {ORDER} of {host!r} has no usable {part}."))
        return order

    def write_round(self, order: Mapping[str, Any], number: int, tables: Mapping[str, bytes]) -> None:
        """Write the tables and the order of a round of a search, replacing earlier ones. Raises RunDirectoryError."""
        folder = round_folder(order["host"], order["volume"], number)
        with self._files.writing(f"The tables of {order['host']!r}"):
            self._files.write_json(folder, ORDER, order)
            for name, content in tables.items():
                self._files.write(folder, name, content)

    def read_round(self, host: str, volume: str, number: int, names: Iterable[str]) -> dict[str, bytes]:
        """Return the existing tables of a round. Raises RunDirectoryError if any of them cannot be read."""
        folder = round_folder(host, volume, number)
        tables = {name: self._files.read("", MAX_TABLE_BYTES, folder, name) for name in names}
        return {name: content for name, content in tables.items() if content is not None}


class Samples(_Stored):
    """The output of an observation's source for each volume, with its bytes unchanged."""

    def size(self, host: str, volume: str) -> int:
        """Return how many bytes are stored."""
        try:
            return os.lstat(self._files.path(volume_folder(host, volume), SAMPLES)).st_size
        except OSError:
            return 0

    def add(self, host: str, volume: str, content: bytes) -> None:
        """Append what an observer has written since the last time. Raises RunDirectoryError, for example if there is
        more than an observer can write."""
        folder = volume_folder(host, volume)
        if self.size(host, volume) + len(content) > MAX_SAMPLES_BYTES:
            raise RunDirectoryError(f"The observer of {host!r} sent more than {MAX_SAMPLES_BYTES >> 20} MiB.")
        with self._files.writing(f"The samples of {host!r}", folder, SAMPLES):
            self._files.make_folder(folder)
            descriptor = os.open(
                self._files.path(folder, SAMPLES),
                os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC,
                0o644,
            )
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)

    def read(self, host: str, volume: str) -> bytes:
        """Return everything that an observer has written, or empty if nothing was received. Raises
        RunDirectoryError."""
        return self._files.read("The samples", MAX_SAMPLES_BYTES, volume_folder(host, volume), SAMPLES) or b""


MAX_CERTIFICATE_BYTES = 16 << 20


class StoredResults:
    """Files with a result from the history about the volume of a folder, in addition to the record, which compares the
    volume with its limits. ``name`` is the name of each file, and ``what`` describes its content."""

    def __init__(self, files: RunFiles, name: str, what: str) -> None:
        self._files = files
        self._name = name
        self._what = what

    def write(self, folder: str, result: Mapping[str, Any]) -> None:
        """Write the result, and remove data that it makes obsolete. Nothing is removed if the result is unchanged.
        Raises RunDirectoryError."""
        if self.read(folder) == result:
            return
        with self._files.writing(self._what, folder, self._name):
            self._files.write_json(folder, self._name, result)
            self._files.outdate(folder)

    def read(self, folder: str) -> dict[str, Any] | None:
        """Return the result, or None. A file that cannot be read is treated as empty."""
        if not self._files.has(folder, self._name):
            return None
        try:
            return self._files.read_json(folder, self._name)
        except RunDirectoryError:
            return {}


class Certificates(_Stored):
    """The certificates of records, as they were written."""

    def write(self, folder: str, text: str) -> None:
        """Write the certificate of the record in a folder. Raises RunDirectoryError."""
        with self._files.writing("The certificate", folder, CERTIFICATE):
            self._files.write(folder, CERTIFICATE, text.encode("ascii"))

    def read(self, folder: str) -> bytes | None:
        """Return the certificate of the record in a folder, or None. Raises RunDirectoryError."""
        return self._files.read("The certificate", MAX_CERTIFICATE_BYTES, folder, CERTIFICATE)


_SHAPE = Items(Keys({"name": str}))


class Volumes:
    """The volumes of each host. A host without such a record has only the default volume."""

    def __init__(self, files: RunFiles, records: Records) -> None:
        self._files = files
        self._records = records

    def write(self, host: str, volumes: Iterable[Mapping[str, Any]]) -> None:
        """Record the volumes that a host is expected to report, each with its ``name`` and any other data from the
        plan. Raises RunDirectoryError.

        Nothing is written if there is only the default volume, because this is what a host without such a file is
        expected to report.
        """
        volumes = [dict(volume) for volume in volumes]
        folder = host_folder(host)
        if [volume["name"] for volume in volumes] == [DEFAULT_VOLUME] and not self._files.has(folder, VOLUMES):
            return
        with self._files.writing(f"The volumes of {host!r}"):
            self._files.write_json(folder, VOLUMES, {"host": host, "volumes": volumes})

    def write_discovered(self, host: str, text: str) -> str:
        """Write the discovered volumes of a host as variables, for people, and return the path of the file. Raises
        RunDirectoryError."""
        with self._files.writing(f"The discovered volumes of {host!r}"):
            self._files.write(host_folder(host), DISCOVERED, text.encode())
        return self._files.path(host_folder(host), DISCOVERED)

    def read(self, host: str) -> list[dict[str, Any]] | None:
        """Return the recorded data about the volumes that a host is expected to report, or None if nothing was
        recorded. Raises RunDirectoryError."""
        names = (host_folder(host), VOLUMES)
        if not self._files.has(*names):
            return None
        data = self._files.read_json(*names)
        volumes = data.get("volumes")
        if data.get("host") != host or not isinstance(volumes, list) or not volumes:
            raise RunDirectoryError(f"{self._files.path(*names)} does not contain the volumes of {host!r}.")
        if misfit(volumes, _SHAPE) is not None:
            raise RunDirectoryError(f"{self._files.path(*names)} contains a volume without a name.")
        return volumes

    def expected(self, host: str) -> list[str]:
        """Return the names of the volumes that a host is expected to report: as recorded, or else the volumes that it
        reported, or else the default volume."""
        recorded = self.read(host)
        if recorded is not None:
            return [volume["name"] for volume in recorded]
        return [self._records.read(folder).volume for folder in self._records.folders_of(host)] or [DEFAULT_VOLUME]

    def missing(self, hosts: Iterable[str]) -> list[tuple[str, str]]:
        """Return the host and the volume of every expected record that has not been stored. Only the given hosts are
        considered, in the given order. Raises RunDirectoryError."""
        filed = set(self._files.folders_in(HOSTS))
        return [(host, volume) for host in hosts for volume in self._missing_of(host, safe_name(host) in filed)]

    def _missing_of(self, host: str, has_folder: bool) -> list[str]:
        recorded = self.read(host) if has_folder else None
        if recorded is None:
            return [] if has_folder and self._records.folders_of(host) else [DEFAULT_VOLUME]
        return [volume["name"] for volume in recorded if not self._records.has(host, volume["name"])]
