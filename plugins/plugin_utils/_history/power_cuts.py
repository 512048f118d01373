# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the results of power cuts mean for a volume: how long a loss, or cuts without a loss, remain valid, and what
they say about a certification of the volume.

The data of a result are the number of ``cuts`` (if the verdict is pass, none of them lost any writes), the ``reason``
for the verdict, what it proves (``claim``), what was tested (``tests``) and the ``disk_id``. If its volume is unknown,
a loss counts against each volume of that host and name.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._judge.judged_records import can_be_compared, wanted_cuts
from .._run.directory import RunDirectory
from .._run.host_settings import profile_data
from .._run.record import HostRecord
from .._run.table_reader import printable
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .._run.volume_identity import identity_of_record
from .result import Result
from .store.history import History, HistoryError
from .store.open import open_history

KIND = "durability"
"""The kind of the results of power cuts."""


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
                folder: said_of(current(cuts_of(history, record), run), wanted[folder])
                for folder, record in records.items()
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


@dataclass(frozen=True)
class Current:
    """The results of a volume, oldest first. The results in ``expired`` are too old to be valid on the day of a run,
    according to its ``valid_days``."""

    results: Sequence[Result]
    expired: Sequence[Result] = ()
    valid_days: int = 0


def current(results: Sequence[Result], run: Mapping[str, Any]) -> Current:
    """Return the results, together with those that have expired. They expire as certificates do, except for a loss and
    the result that cleared it."""
    valid_days, day = (run.get("policy") or {}).get("valid_days"), str(run.get("created_at") or "")[:10]
    if not isinstance(valid_days, int) or not day:
        return Current(results)
    return Current(
        results,
        [result for result in results if result.verdict == PASS and kept_until(result, valid_days).isoformat() < day],
        valid_days,
    )


def said_of(known: Current, wanted: int) -> dict[str, Any] | None:
    """Return the conclusion from the results of a volume if the given number of cuts without a loss is required; None
    if there is no conclusion.

    If there is a loss that counts, it decides. Otherwise, the newest run that kept everything in enough cuts and has
    not expired decides.
    """
    loss = standing_loss(known.results, wanted)
    if loss:
        enough = max(wanted, loss.data["cuts"], 1)
        until = (
            f"it counts until a later run of power cuts keeps everything in at least {enough} "
            f"{'cut' if enough == 1 else 'cuts'}"
        )
        return _said(FAIL, f"a power cut {_of(loss)} lost acknowledged writes: {loss.data['reason']}; {until}", loss)
    kept = [result for result in known.results if result.verdict == PASS]
    for result in reversed(kept):
        if result.data["cuts"] >= wanted and result not in known.expired:
            return _said(
                PASS, f"Power cuts {_of(result)}: {result.data['claim']} {result.data['tests']}".strip(), result
            )
    if not wanted:
        return None
    most = max(
        (result for result in kept if result not in known.expired), key=lambda result: result.data["cuts"], default=None
    )
    said = (
        f"the largest number in one run of this volume is {most.data['cuts']}"
        if most
        else "none is known for this volume"
    )
    if known.expired and not most:
        said = f"those {_of(known.expired[-1])} expired on {kept_until(known.expired[-1], known.valid_days)}"
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
