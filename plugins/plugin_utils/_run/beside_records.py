# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files in the same folder as a record: the results from the history about its volume, and its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .names import CERTIFICATE, COMPARISON, POWER_CUTS
from .run_files import RunDirectoryError, RunFiles

MAX_CERTIFICATE_BYTES = 16 << 20


class Said:
    """A file with a result about the volume of a folder, in addition to the record, which compares the volume with its
    limits. ``name`` is the name of the file, and ``what`` describes its content."""

    def __init__(self, files: RunFiles, name: str, what: str) -> None:
        self._files = files
        self._name = name
        self._what = what

    def write(self, folder: str, said: Mapping[str, Any]) -> None:
        """Write the result, and remove data that it makes obsolete. Nothing is removed if the result is unchanged.
        Raises RunDirectoryError."""
        if self.read(folder) == said:
            return
        with self._files.writing(self._what, folder, self._name):
            self._files.write_json(folder, self._name, said)
            self._files.outdate(folder)

    def read(self, folder: str) -> dict[str, Any] | None:
        """Return the result, or None. A file that cannot be read is treated as empty."""
        if not self._files.has(folder, self._name):
            return None
        try:
            return self._files.read_json(folder, self._name)
        except RunDirectoryError:
            return {}


def comparisons(files: RunFiles) -> Said:
    """Return the files with the comparisons of volumes with their baselines."""
    return Said(files, COMPARISON, "The comparison")


def power_cuts(files: RunFiles) -> Said:
    """Return the files with the results of power cuts that the history contains for measured volumes."""
    return Said(files, POWER_CUTS, "What is known about power cuts")


class Certificates:
    """The certificates of records, as they were written."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files

    def write(self, folder: str, text: str) -> None:
        """Write the certificate of the record in a folder. Raises RunDirectoryError."""
        with self._files.writing("The certificate", folder, CERTIFICATE):
            self._files.write(folder, CERTIFICATE, text.encode("ascii"))

    def read(self, folder: str) -> bytes | None:
        """Return the certificate of the record in a folder, or None. Raises RunDirectoryError."""
        return self._files.read("The certificate", MAX_CERTIFICATE_BYTES, folder, CERTIFICATE)
