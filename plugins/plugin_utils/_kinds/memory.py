# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a kind of run reads from and writes to the history. The defaults are for a kind that does not use the
history."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._history.certificate import Certificate
    from .._history.store.history import Result
    from .._run.directory import RunDirectory
    from .._run.record import HostRecord


class Memory:
    """What a run of some kind reads from the history before the run is judged, and what it stores there afterwards."""

    def look_up(self, directory: RunDirectory) -> str:
        """Note what the history contains about the volumes of a run before the run is judged. Returns the reason if the
        volumes could not be compared; otherwise an empty string. Raises OSError.
        """
        return ""

    def certificate_of(self, directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
        """Return the certificate of a record in a folder, or None if it was not judged. Raises CertificateError,
        RunDirectoryError and TablesError."""
        return None

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return what the history stores about a run in addition to its certificates; by default nothing. Raises
        RunDirectoryError."""
        return []
