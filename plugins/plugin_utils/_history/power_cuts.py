# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Power cuts in the history: the result of each run, and the results for the volume of a certification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._durability.cut import LOST
from .._judge.judged_records import can_be_compared, wanted_cuts
from .._run.directory import RunDirectory
from .._run.profiles import profile_data
from .._run.record import HostRecord
from .._run.table_reader import printable
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .._run.volume_identity import identity_of_record
from .cut_result import CutResult, CutResults, standing_loss
from .dating import result_of
from .store.history import History, HistoryError
from .store.open import open_history


def results_of(directory: RunDirectory) -> list[CutResult]:
    """Return the result of each volume of a run of power cuts. A volume whose power was not cut does not have one."""
    records = (directory.records.read(folder) for folder in directory.records.folders())
    return [_result(directory, record) for record in records if record.kind_data and record.kind == directory.kind.name]


def _result(directory: RunDirectory, record: HostRecord) -> CutResult:
    cuts = (record.kind_data or {})["cuts"]
    lost = next((f"cut {cut['number']}: {cut['reason']}" for cut in cuts if cut["outcome"] == LOST), "")
    identity = identity_of_record(record)
    return result_of(
        CutResult,
        directory,
        record,
        **{name: getattr(identity, name, None) for name in ("volume_id", "disk_id", "mount_point")},
        verdict=str(record.verdict),
        cuts=len(cuts),
        reason=printable(lost or (record.reasons or [""])[0]),
        **{name: printable(str((record.kind_data or {})[name])) for name in ("claim", "tests")},
    )


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

    results: Sequence[CutResult]
    expired: Sequence[CutResult] = ()
    valid_days: int = 0


def current(results: Sequence[CutResult], run: Mapping[str, Any]) -> Current:
    """Return the results, together with those that have expired. They expire as certificates do, except for a loss and
    the result that cleared it."""
    valid_days, day = (run.get("policy") or {}).get("valid_days"), str(run.get("created_at") or "")[:10]
    if not isinstance(valid_days, int) or not day:
        return Current(results)
    return Current(
        results,
        [result for result in results if result.verdict == PASS and result.valid_until(valid_days).isoformat() < day],
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
        enough = max(wanted, loss.cuts, 1)
        until = (
            f"it counts until a later run of power cuts keeps everything in at least {enough} "
            f"{'cut' if enough == 1 else 'cuts'}"
        )
        return _said(FAIL, f"a power cut {_of(loss)} lost acknowledged writes: {loss.reason}; {until}", loss)
    kept = [result for result in known.results if result.verdict == PASS]
    for result in reversed(kept):
        if result.cuts >= wanted and result not in known.expired:
            return _said(PASS, f"Power cuts {_of(result)}: {result.claim} {result.tests}".strip(), result)
    if not wanted:
        return None
    most = max((result for result in kept if result not in known.expired), key=lambda result: result.cuts, default=None)
    said = f"the largest number in one run of this volume is {most.cuts}" if most else "none is known for this volume"
    if known.expired and not most:
        said = f"those {_of(known.expired[-1])} expired on {known.expired[-1].valid_until(known.valid_days)}"
    return _said(
        INCONCLUSIVE,
        f"the profile requires {wanted} power cuts without a loss, and {said}: run "
        f"playbooks/power_cut.yml with cut_count: {wanted}",
    )


def _of(result: CutResult) -> str:
    return f"of {result.judged_at[:10]} (run {result.run_id})"


def _said(verdict: str, reason: str, result: CutResult | None = None) -> dict[str, Any]:
    known = {key: getattr(result, key) for key in ("run_id", "judged_at", "cuts", "claim", "tests")} if result else {}
    return {"verdict": verdict, "reason": reason, **known}


def cuts_of(history: History, record: HostRecord) -> list[CutResult]:
    """Return the results of the volume of a record, oldest first. Raises HistoryError."""
    identity = identity_of_record(record)
    known = (identity.volume_id, identity.disk_id) if identity else (None, None)
    return CutResults(history.power_cuts_of(record.host, record.volume)).of(
        printable(record.host), printable(record.volume), *known
    )
