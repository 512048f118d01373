# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Before a run is judged, looks up in the history the facts that count against its volumes, and the volumes that the
previous run measured but this run did not."""

from __future__ import annotations

from collections.abc import Iterable

from .._judge.judged_records import can_be_compared
from .._records.host import note
from .._run.directory import RunDirectory
from .._run.findings import LEFT_OUT, MOVED, WRONG_DATA, Finding, finding
from .._run.record import HostRecord, host_label
from .._run.table_reader import printable
from .._run.verdicts import GOOD
from .._run.volume_identity import identity_of_record
from .result import Result
from .standing import standing_fact, standing_facts_text
from .states import of_machine
from .store.filing import make_certificate
from .store.history import History, HistoryError
from .store.open import open_history


def note_what_was_known(directory: RunDirectory) -> None:
    """Note in each record of a run what the history contains about its volume. Raises RunDirectoryError.

    If the run needs the history and it cannot be read, nothing is known about the volumes, so none of them passes."""
    run = directory.run
    if not directory.is_test or run.get("merged_from") or run.get("history") is None:
        return
    records = {folder: directory.records.read(folder) for folder in directory.records.folders()}
    compared = {folder: record for folder, record in records.items() if can_be_compared(record)}
    by_host: dict[str, list[HostRecord]] = {}
    for record in records.values():
        by_host.setdefault(record.host, []).append(record)
    try:
        with open_history(run["history"].get("place") or "") as history:
            standing = {folder: _standing(directory, folder, record, history) for folder, record in compared.items()}
            plans = history.plans()
            notes = [
                each
                for own in by_host.values()
                for each in _notes(
                    own, _last_places(run["run_id"], own, plans.get(printable(own[0].host), ()), history)
                )
            ]
    except HistoryError as error:
        if not run["history"].get("required"):
            return  # storing the results fails as well, and says so
        unknown = (
            "the history could not be read, so it is not known whether this volume was at another mount point before, "
            f"or what counts against it: {error}. Correct that, and measure it again"
        )
        standing = {folder: unknown if record.verdict in GOOD else "" for folder, record in compared.items()}
        notes = []
    for folder, reason in standing.items():
        directory.records.note_standing(records[folder].host, records[folder].volume, reason)
    for record, found in notes:
        note(directory, record.host, record.volume, [found])


def _standing(directory: RunDirectory, folder: str, record: HostRecord, history: History) -> str:
    """Return the fact that counts against a volume although this run passes, empty if there is none. The only such fact
    is wrong data, and only if this run did not read everything back."""
    identity = identity_of_record(record)
    if identity is None or record.verdict not in GOOD:
        return ""
    boot_id = record.facts.get("boot_id")
    entries = of_machine(history.of_volume(identity.volume_id), record.host, boot_id, identity.disk_id)
    entries = [entry for entry in entries if entry.run_id != directory.run["run_id"]]
    fact = standing_fact(entries, history.revocations())
    if fact is None or WRONG_DATA not in fact.volume_facts.split():
        return ""
    made = make_certificate(directory, folder, record)
    if made is None or made.entry.verified:
        return ""
    return (
        f"it {standing_facts_text(fact)}, and this run read nothing back: only a run with sweep_verify: "
        "true that passes clears that"
    )


def _last_places(
    run_id: str, records: Iterable[HostRecord], plan: Iterable[Result], history: History
) -> dict[tuple[str, str], str]:
    """Return the name and mount point of each volume of a host that its last plan contains or, if no other run has a
    known plan, that an earlier run measured, each with that run."""
    planned = {(each.volume, each.path): each.run_id for each in plan if each.run_id != run_id}
    if planned:
        return planned
    found, revoked = {}, history.revocations()
    for record in records:
        entries = [
            entry
            for entry in history.of_name(record.host, record.volume)
            if entry.identity and entry.run_id != run_id and entry.sha256 not in revoked
        ]
        if entries:
            found[entries[-1].volume, entries[-1].path] = entries[-1].run_id
    return found


def _notes(records: list[HostRecord], last: dict[tuple[str, str], str]) -> list[tuple[HostRecord, Finding]]:
    """Return a note for each volume of a host that the last run measured and this one did not, with the record to which
    the note must be added."""
    by_name = {printable(record.volume): record for record in records}
    notes = []
    for (volume, mount_point), run_id in last.items():
        record = by_name.get(volume)
        label = host_label(printable(records[0].host), volume)
        was = {"label": label, "before": mount_point, "run_id": run_id}
        if record is None:
            notes.append((records[0], finding(LEFT_OUT, None, **was)))
            continue
        identity = identity_of_record(record)
        if identity and mount_point and identity.mount_point != mount_point:
            notes.append((record, finding(MOVED, None, volume=volume, mount_point=identity.mount_point, **was)))
    return notes
