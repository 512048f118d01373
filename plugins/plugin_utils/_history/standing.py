# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What counts against a volume until a later run clears it, and for how long power cuts without a loss are valid.

A measurement finds an I/O error, a stall or wrong data. Such a fact holds under every profile, and is cleared by a
later run that can find it and that certified the volume, under any profile. Wrong data is cleared only by a run that
read everything back.

Power cuts find lost writes. The data of their results are the number of ``cuts`` (if the verdict is pass, none of them
lost any writes), the ``reason`` for the verdict, what it proves (``claim``), what was tested (``tests``) and the
``disk_id``. If the volume is unknown, a loss counts against each volume of that host and name.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .._judge.effect import CERTIFIES
from .._judge.judged_records import can_be_compared, wanted_cuts
from .._run.directory import RunDirectory
from .._run.findings import VOLUME_FACTS, WRONG_DATA
from .._run.host_settings import profile_data
from .._run.record import HostRecord
from .._run.table_reader import printable
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .._run.volume_identity import identity_of_record
from .certificate import Entry
from .result import Result
from .store.history import History, HistoryError
from .store.open import open_history

KIND = "durability"
"""The kind of the results of power cuts."""


def standing_fact(entries: Iterable[Entry], revoked: Collection[str]) -> Entry | None:
    """Return the newest entry of a volume with a fact that no later entry cleared; None if there is none. Revoked
    entries are ignored."""
    passed = verified = False
    for entry in sorted(entries, key=lambda entry: entry.order, reverse=True):
        if entry.sha256 in revoked:
            continue
        for fact in entry.volume_facts.split():
            if not (verified if fact == WRONG_DATA else passed):
                return entry
        if entry.effect == CERTIFIES:
            passed, verified = True, verified or bool(entry.verified)
    return None


def standing_facts_text(entry: Entry) -> str:
    """Describe a fact about a volume, with the day and the run. docs/certificates.md explains how such a fact is
    cleared."""
    words = " and ".join(VOLUME_FACTS[fact] for fact in entry.volume_facts.split())
    return f"{words} on {entry.judged_at[:10]} (run {entry.run_id})"


def kept_until(result: Result, valid_days: int) -> datetime.date:
    """Return the last day on which cuts without a loss are valid. A loss has no such day."""
    return datetime.date.fromisoformat(result.judged_at[:10]) + datetime.timedelta(days=valid_days)


def newest_kept(results: Iterable[Result], valid_days: int, day: datetime.date) -> Result | None:
    """Among the runs that kept everything and are valid on a day, return the run with the most cuts. If no such run is
    valid, return the newest run that kept everything; None if there is none."""
    kept = sorted(
        (result for result in results if result.verdict == PASS and result.identity), key=lambda result: result.order
    )
    current = [result for result in kept if kept_until(result, valid_days) >= day]
    return max(reversed(current), key=lambda result: result.data["cuts"]) if current else kept[-1] if kept else None


def standing_loss(results: Sequence[Result], wanted: int = 0) -> Result | None:
    """Return the newest loss that counts, from the results of a volume, oldest first; None if there is none.

    A loss counts until a later run keeps everything in at least as many cuts, and in as many as are required.
    """
    most_kept = 0
    for result in reversed(results):
        if result.verdict == FAIL and most_kept < max(wanted, result.data["cuts"], 1):
            return result
        if result.verdict == PASS:
            most_kept = max(most_kept, result.data["cuts"])
    return None


class CutResults:
    """The results of power cuts of a fleet, indexed by volume."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._by_volume: dict[tuple[str | None, ...], list[Result]] = {}
        for result in _told_once(results):
            self._by_volume.setdefault(_key(result), []).append(result)

    def of(self, host: str, volume: str, volume_id: str | None, disk_id: str | None) -> list[Result]:
        """Return the results of a volume, oldest first, including losses for which only the name of the volume is
        known. The results of a clone are not included, because its host has a different name."""
        placed = self._by_volume.get((host, volume_id, disk_id), []) if volume_id else []
        losses = [result for result in self._by_volume.get((host, None, volume), []) if result.verdict == FAIL]
        return sorted([*placed, *losses], key=lambda result: result.order)

    def groups(self) -> Iterable[list[Result]]:
        """Return the results of each volume."""
        return self._by_volume.values()


def _key(result: Result) -> tuple[str | None, ...]:
    return (
        (result.host, result.identity, result.data["disk_id"])
        if result.identity
        else (result.host, None, result.volume)
    )


def _told_once(results: Sequence[Result]) -> list[Result]:
    """Return the results without those of an unknown volume if the same run is also stored with its volume, for example
    after importing it again."""
    known = {(result.run_id, result.host, result.volume) for result in results if result.identity}
    return [result for result in results if result.identity or (result.run_id, result.host, result.volume) not in known]


def look_up(directory: RunDirectory) -> None:
    """Store, beside each measured record, the data in the history about power cuts of its volume. Raises
    RunDirectoryError."""
    run = directory.run
    if not directory.is_test or run.get("merged_from") or run.get("history") is None:
        return
    records = {folder: directory.records.read(folder) for folder in directory.records.folders()}
    records = {folder: record for folder, record in records.items() if can_be_compared(record)}
    wanted = {folder: wanted_cuts(profile_data(run, record.host)) for folder, record in records.items()}
    try:
        with open_history(run["history"].get("place") or "") as history:
            found = {
                folder: said_of(cuts_of(history, record), wanted[folder], run) for folder, record in records.items()
            }
    except HistoryError as error:
        found = {
            folder: _said(INCONCLUSIVE, f"power cuts could not be looked up: {error}")
            for folder, cuts in wanted.items()
            if cuts
        }
    for folder, said in found.items():
        if said:
            directory.power_cuts.write(folder, said)


def said_of(results: Sequence[Result], wanted: int, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the conclusion from the results of a volume, oldest first, on the day of a run if the given number of cuts
    without a loss is required; None if there is no conclusion.

    If there is a loss that counts, it decides. Otherwise, the newest run that kept everything in enough cuts and has
    not expired decides. Cuts expire as certificates do, except for a loss and the result that cleared it.
    """
    valid_days, day = (run.get("policy") or {}).get("valid_days"), str(run.get("created_at") or "")[:10]
    kept = [result for result in results if result.verdict == PASS]
    expired = [each for each in kept if isinstance(valid_days, int) and day > kept_until(each, valid_days).isoformat()]
    loss = standing_loss(results, wanted)
    if loss:
        enough = max(wanted, loss.data["cuts"], 1)
        until = (
            f"it counts until a later run of power cuts keeps everything in at least {enough} "
            f"{'cut' if enough == 1 else 'cuts'}"
        )
        return _said(FAIL, f"a power cut {_of(loss)} lost acknowledged writes: {loss.data['reason']}; {until}", loss)
    for result in reversed(kept):
        if result.data["cuts"] >= wanted and result not in expired:
            return _said(
                PASS, f"Power cuts {_of(result)}: {result.data['claim']} {result.data['tests']}".strip(), result
            )
    if not wanted:
        return None
    most = max(
        (result for result in kept if result not in expired), key=lambda result: result.data["cuts"], default=None
    )
    said = (
        f"the largest number in one run of this volume is {most.data['cuts']}"
        if most
        else "none is known for this volume"
    )
    if expired and not most:
        said = f"those {_of(expired[-1])} expired on {kept_until(expired[-1], valid_days)}"
    return _said(
        INCONCLUSIVE,
        f"the profile requires {wanted} power cuts without a loss, and {said}: run "
        f"playbooks/power_cut.yml with cut_count: {wanted}",
    )


def _of(result: Result) -> str:
    return f"of {result.judged_at[:10]} (run {result.run_id})"


def _said(verdict: str, reason: str, result: Result | None = None) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if result:
        known = {key: result.data[key] for key in ("cuts", "claim", "tests")}
        known.update(run_id=result.run_id, judged_at=result.judged_at)
    return {"verdict": verdict, "reason": reason, **known}


def cuts_of(history: History, record: HostRecord) -> list[Result]:
    """Return the results of the volume of a record, oldest first. Raises HistoryError."""
    identity = identity_of_record(record)
    known = (identity.volume_id, identity.disk_id) if identity else (None, None)
    return CutResults(history.results(KIND, record.host, record.volume)).of(
        printable(record.host), printable(record.volume), *known
    )
