# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Stores the record of a volume that was not measured because of an error, or because the host does not have this
volume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.directory import RunDirectory
from .._run.record import HostRecord
from .._run.verdicts import ERROR, MISSING
from .host import error, skipped


def file_error(
    directory: RunDirectory,
    host: str,
    volume: str,
    stage: str,
    reason: str,
    facts: Mapping[str, Any],
    verdict: str = ERROR,
) -> HostRecord | None:
    """Store the record of a volume with the reason, and return it. Returns None if the volume already has a record,
    which contains more information.

    Raises RunDirectoryError.
    """
    filed = directory.records.find(host, volume)
    if filed is not None and filed.verdict != MISSING:
        return None
    record = error(directory.run, host, volume, stage, verdict, reason, dict(facts))
    directory.records.write(record)
    return record


def file_skipped(
    directory: RunDirectory, host: str, volume: str, stage: str, reason: str, queue_manager: str
) -> HostRecord:
    """Store the record of a queue manager that was left out on a host because its log is not there. Raises
    RunDirectoryError."""
    record = skipped(directory.run, host, volume, stage, reason, queue_manager)
    directory.records.write(record)
    return record
