# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Selects the certificates that are compared: those that a user names by runs, run directories, certificates, days or
ranges of days, and the baseline of a volume.

A baseline consists of the certificates that count as normal: those made without a comparison, and those accepted by
hand. A certificate that was compared with a baseline never becomes part of a baseline, so that neither a slow decline
nor an improvement moves it. An inconclusive run is counted together with the next runs, until a result is decided.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..._run.directory import RunDirectory
from ..._run.files import absolute, fingerprint
from ..._run.verdicts import GOOD, INCONCLUSIVE
from ..certificate import Certificate, Entry, newest_of_each_run
from ..states import day_of, of_machine
from ..store.filing import certificates_of
from ..store.history import History

MOST_BEFORE = 10
MOST_AFTER = 5
MOST_EARLIER = 20
"""How many of the newest certificates are used: those that form the baseline, those that are counted together
(including this run), and those from which it is estimated how much runs differ."""
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


# The baseline of a volume.


def named_certificates(history: History, names: Iterable[str]) -> list[str]:
    """Return the SHA-256 of the certificates that ``names`` select. Raises SelectionError and HistoryError if the
    history does not contain one of them."""
    selection = select(history, names)
    if selection.made:
        raise SelectionError(
            "gate_baseline names a run that the history does not contain: import it with "
            "playbooks/history.yml -e history_import=..."
        )
    return sorted(selection.entries)


def own_entries(own: Entry, entries: Iterable[Entry]) -> list[Entry]:
    """Return an entry for each earlier run that is about the same volume of the same machine, oldest first. Entries of
    clones are not included."""
    same = of_machine(entries, own.host, own.boot_id, own.disk_id)
    begin = min((entry.order for entry in same if entry.run_id == own.run_id), default=own.order)
    return newest_of_each_run(entry for entry in same if entry.order < begin)


def comparable_with(own: Entry, entries: Iterable[Entry], revoked: Iterable[str]) -> list[Entry]:
    """Return the entries that can be compared with the given one, according to the index of the history: undisturbed,
    within their limits, measured in the same way, and not misdated."""
    withdrawn = set(revoked)
    return [
        entry
        for entry in entries
        if entry.limits_verdict in GOOD
        and not entry.misdated
        and not entry.disturbed
        and entry.method_version == own.method_version
        and entry.parameters == own.parameters
        and entry.sha256 not in withdrawn
    ]


def last_baseline(comparable: Sequence[Entry]) -> list[Entry]:
    """Return the newest entries that were made without a comparison or that were accepted. Entries before the last
    accepted one are left out."""
    kept: list[Entry] = []
    for entry in comparable:
        if entry.accepted:
            kept = []
        if entry.accepted or entry.baseline is None:
            kept.append(entry)
    return kept[-MOST_BEFORE:]


def counting_with(comparable: Sequence[Entry], before: Sequence[Entry]) -> list[Entry]:
    """Return the entries of the runs directly before this one that were compared with the same certificates and are
    inconclusive, oldest first."""
    baseline, found = baseline_of(before), []
    for entry in reversed(comparable):
        if entry.baseline != baseline or entry.outcome != INCONCLUSIVE or len(found) == MOST_AFTER - 1:
            break
        found.append(entry)
    return found[::-1]


def baseline_of(before: Sequence[Entry]) -> str:
    """Return the identifier of a baseline, which is stored in the entries that were compared with it."""
    return fingerprint([entry.sha256 for entry in before])


def earlier_periods(comparable: Sequence[Entry], used: Iterable[Entry]) -> list[list[Entry]]:
    """Return the other entries, grouped into periods. Within a period, no entry was decided or accepted, and all were
    compared with the same baseline."""
    taken = set(used)
    left = [entry for entry in comparable if entry not in taken][-MOST_EARLIER:]
    periods: list[list[Entry]] = []
    previous: Entry | None = None
    for entry in comparable:
        if entry not in left:
            previous = None
            continue
        if (
            previous is None
            or entry.accepted
            or previous.baseline != entry.baseline
            or previous.outcome not in (None, INCONCLUSIVE)
        ):
            periods.append([])
        periods[-1].append(entry)
        previous = entry
    return periods
