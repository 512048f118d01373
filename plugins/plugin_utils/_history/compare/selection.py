# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Resolves runs, run directories, certificates, days and ranges of days to certificates."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ..._run.directory import RunDirectory
from ..._run.files import absolute
from ..certificate import Certificate, Entry
from ..states import day_of
from ..store.filing import certificates_of
from ..store.history import History

_SHA256 = re.compile(r"[0-9a-f]{6,64}")
_DAYS = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:\.\.([0-9]{4}-[0-9]{2}-[0-9]{2}))?")


class SelectionError(ValueError):
    """A term does not name a certificate. The message contains the term and the possible forms."""


@dataclass
class Selection:
    """Certificates by their SHA-256. ``made`` holds the certificates of run directories that are not in the history."""

    terms: tuple[str, ...]
    entries: dict[str, Entry] = field(default_factory=dict)
    made: dict[str, Certificate] = field(default_factory=dict)


def select(history: History, terms: Iterable[str]) -> Selection:
    """Return the certificates that the terms name, including those that cannot be compared. Raises SelectionError,
    HistoryError and RunDirectoryError."""
    selection = Selection(tuple(term.strip() for term in terms if term.strip()))
    if not selection.terms:
        raise SelectionError("nothing is selected: name runs, run directories, certificates, days or ranges of days")
    for term in selection.terms:
        is_directory = not _DAYS.fullmatch(term) and os.path.isdir(absolute(term))
        found = _of_directory(history, selection, term) if is_directory else _of_history(history, term)
        if not found:
            raise SelectionError(
                f"the history {history.place} has nothing under {term!r}: name a run by its ID or "
                "directory, a certificate by the beginning of its SHA-256, a day (2026-01-31) or a range "
                "of days (2026-01-01..2026-01-31)"
            )
        selection.entries.update((entry.sha256, entry) for entry in found)
    return selection


def _of_history(history: History, term: str) -> list[Entry]:
    days = _DAYS.fullmatch(term)
    if days:
        return history.between(*_range(days[1], days[2] or days[1]))
    found = history.of_run(term)
    if found or not _SHA256.fullmatch(term):
        return found
    named = history.certificate(term).entry
    return [entry for entry in history.of_run(named.run_id) if entry.sha256 == named.sha256]


def _of_directory(history: History, selection: Selection, term: str) -> list[Entry]:
    """Return the certificates of a run directory. If the history does not contain the run, the certificates are made
    from the directory, which is left unchanged."""
    directory = RunDirectory.open(absolute(term))
    found = history.of_run(str(directory.run["run_id"]))
    if found:
        return found
    certificates, problems = certificates_of(directory)
    if not certificates:
        why = "; ".join(problems) or (
            "it was merged from others, was a preflight, an observation or a run of power "
            "cuts, or none of its results was judged"
        )
        raise SelectionError(f"{term}: the run has no certificates: {why}")
    selection.made.update((certificate.sha256, certificate) for certificate in certificates)
    return history.placed([certificate.entry for certificate in certificates])


def _range(first: str, last: str) -> tuple[datetime.date, datetime.date]:
    try:
        days = day_of(first), day_of(last)
    except ValueError as error:
        raise SelectionError(str(error)) from None
    if days[1] < days[0]:
        raise SelectionError(f"the range of days {first}..{last} ends before it begins")
    return days
