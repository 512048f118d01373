# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds notes to a record, as data and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from .._english.findings import in_words
from .._run.directory import RunDirectory
from .._run.findings import Finding, is_finding
from .._run.record import HostRecord
from .._run.words import Words, words_of


def with_notes(record: HostRecord, notes: Iterable[Finding], words: Words) -> HostRecord:
    """Return a record with additional notes, without duplicates. A note is left out if its figures, which come from
    hosts, are not valid in a record."""
    known = [note for note in notes if is_finding(note) and note not in record.noted]
    return replace(
        record, noted=[*record.noted, *known], notes=[*record.notes, *(in_words(note, words) for note in known)]
    )


def note(
    directory: RunDirectory, host: str, volume: str, notes: Iterable[Finding], facts: Mapping[str, Any] | None = None
) -> bool:
    """Add notes and facts to a stored record. Returns False if there is no stored record. Raises RunDirectoryError."""

    def change(record: HostRecord) -> HostRecord:
        return replace(with_notes(record, notes, words_of(record.load_unit)), facts={**record.facts, **(facts or {})})

    return directory.records.amend(host, volume, change)
