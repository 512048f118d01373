# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The volumes that each host is expected to report, as recorded before the host was measured, and which of them have
not been reported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .names import DISCOVERED, HOSTS, VOLUMES, host_folder, safe_name
from .record import DEFAULT_VOLUME
from .records import Records
from .run_files import RunDirectoryError, RunFiles
from .shapes import Items, Keys, misfit

_SHAPE = Items(Keys({"name": str}))


class Volumes:
    """The volumes of each host. A host without such a record has only the default volume."""

    def __init__(self, files: RunFiles, records: Records) -> None:
        self._files = files
        self._records = records

    def note(self, host: str, volumes: Iterable[Mapping[str, Any]]) -> None:
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

    def noted(self, host: str) -> list[dict[str, Any]] | None:
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
        noted = self.noted(host)
        if noted is not None:
            return [volume["name"] for volume in noted]
        return [self._records.read(folder).volume for folder in self._records.folders_of(host)] or [DEFAULT_VOLUME]

    def missing(self, hosts: Iterable[str]) -> list[tuple[str, str]]:
        """Return the host and the volume of every expected record that has not been stored. Only the given hosts are
        considered, in the given order. Raises RunDirectoryError."""
        filed = set(self._files.folders_in(HOSTS))
        return [(host, volume) for host in hosts for volume in self._missing_of(host, safe_name(host) in filed)]

    def _missing_of(self, host: str, has_folder: bool) -> list[str]:
        noted = self.noted(host) if has_folder else None
        if noted is None:
            return [] if has_folder and self._records.folders_of(host) else [DEFAULT_VOLUME]
        return [volume["name"] for volume in noted if not self._records.has(host, volume["name"])]
