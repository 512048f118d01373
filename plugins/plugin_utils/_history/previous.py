# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The previous run of each volume of a run, as the history knows it when the run is judged. It is stored with the run,
so that a report can show it later without the history. Nothing judges it."""

from __future__ import annotations

from typing import Any

from .._judge.judged_records import can_be_compared
from .._run.directory import RunDirectory
from .._run.record import HostRecord
from .._run.volume_identity import identity_of_record
from .certificate import ROW_KEYS, Entry
from .states import of_machine
from .store.history import History, HistoryError
from .store.open import open_history

FIGURES = ("latency_p50_ns", "latency_p99_ns", "latency_max_ns")
"""The figures that are stored for each row."""


def note_previous(directory: RunDirectory) -> None:
    """Store, beside each measured record, the figures of the newest earlier run of its volume, unless they are already
    stored. Nothing is stored if the history cannot be read, which the gate reports. Raises RunDirectoryError."""
    run = directory.run
    if not directory.is_test or run.get("merged_from") or run.get("history") is None:
        return
    folders = [folder for folder in directory.records.folders() if not directory.previous.read(folder)]
    records = {folder: record for folder in folders if can_be_compared(record := directory.records.read(folder))}
    try:
        with open_history(run["history"].get("place") or "") as history:
            revoked = history.revocations()
            found = {folder: _newest(history, record, run["run_id"]) for folder, record in records.items()}
            known = {folder: each for folder, each in found.items() if each and each.sha256 not in revoked}
            contents = history.contents([each.sha256 for each in known.values()])
    except HistoryError:
        return
    for (folder, entry), content in zip(known.items(), contents, strict=True):
        directory.previous.write(folder, _data(entry, content))


def _newest(history: History, record: HostRecord, run_id: str) -> Entry | None:
    """Return the newest entry of the volume of a record that was judged before it, None if there is none. Clones of the
    volume and replaced disks are other volumes."""
    identity = identity_of_record(record)
    if identity is None:
        return None
    entries = history.of_volume(identity.volume_id)
    own = of_machine(entries, record.host, record.facts.get("boot_id"), identity.disk_id)
    earlier = (
        each for each in own if each.run_id != run_id and each.judged_at < record.created_at and not each.misdated
    )
    return max(earlier, key=lambda entry: entry.order, default=None)


def _data(entry: Entry, content: dict[str, Any]) -> dict[str, Any]:
    rows = [{key: row.get(key) for key in (*ROW_KEYS, *FIGURES)} for row in content["rows"]]
    return {"run_id": entry.run_id, "judged_at": entry.judged_at, "verdict": entry.verdict, "rows": rows}
