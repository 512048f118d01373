# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines with which certificates a volume is compared, and which ones are counted together with this run.

A baseline consists of the certificates that count as normal: those made without a comparison, and those accepted by
hand. A certificate that was compared with a baseline never becomes part of a baseline, so that neither a slow decline
nor an improvement moves it. An inconclusive run is counted together with the next runs, until a result is decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..._run.files import fingerprint
from ..._run.verdicts import GOOD, INCONCLUSIVE
from ..certificate import Entry, newest_of_each_run
from ..states import volumes
from ..store.history import History
from .selection import SelectionError, select

MOST_BEFORE = 10
MOST_AFTER = 5
MOST_EARLIER = 20
"""How many of the newest certificates are used: those that form the baseline, those that are counted together
(including this run), and those from which it is estimated how much runs differ."""


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
    (volume,) = (volume for volume in volumes([*entries, own]) if own in volume.entries)
    begin = min(entry.order for entry in volume.entries if entry.run_id == own.run_id)
    return newest_of_each_run(entry for entry in volume.entries if entry.order < begin)


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
