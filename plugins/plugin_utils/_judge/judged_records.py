# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the records of a run in the form that its verdict uses: judged by their limits when they were stored, and now
also by later results about their volumes, such as the comparison with the baseline and power cuts in the history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from .._run.directory import RunDirectory
from .._run.findings import BASELINE, OTHER_MOUNT, POWER_CUTS_BEFORE, STANDING, THROTTLED, finding
from .._run.host_settings import compares_with_baseline, profile_data
from .._run.kinds import kind_named
from .._run.record import HostRecord
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, worst
from .early_end import doubt_about_kept_steps
from .notes import doubt_about_mount


def is_usable(said: Mapping[str, Any]) -> bool:
    """Return whether data that was read from a file contains a verdict and a reason."""
    return said.get("verdict") in (FAIL, INCONCLUSIVE, PASS) and isinstance(said.get("reason"), str)


def judged_also(record: HostRecord, said: Mapping[str, Any], kind: str, only_note: bool = False) -> HostRecord:
    """Return a measured record with the worse of two verdicts: its own, and the one in ``said``. The record has the
    findings and reasons of both. A pass is only added as a note.

    ``kind`` is the kind of the finding, which quotes the reason. ``only_note``: whether the verdict does not count.
    """
    reason = said["reason"]
    if only_note or said["verdict"] == PASS:
        return replace(record, notes=[*record.notes, reason], noted=[*record.noted, finding(kind, None, text=reason)])
    verdict = worst([record.verdict or PASS, said["verdict"]])
    found = [finding(kind, said["verdict"], text=reason), *record.findings]
    reasons = [reason, *record.reasons]
    if verdict == (record.verdict or PASS):  # what is not worse than the rest comes last
        found, reasons = [*found[1:], found[0]], [*reasons[1:], reason]
    return replace(
        record,
        verdict=verdict,
        findings=found,
        reasons=reasons,
        certified=False,
        qualification=f"the verdict is {verdict}",
    )


NOT_MADE = "it has not been compared with its baseline, because the gate ended before the comparison"
UNUSABLE = "its comparison.json cannot be used, so the result of the comparison is not known"


def can_be_compared(record: HostRecord) -> bool:
    """Return whether there is anything to compare. A host that was not measured already has a verdict."""
    return kind_named(record.kind).tests_storage and record.verdict in (*GOOD, FAIL, INCONCLUSIVE)


def not_made(reason: str) -> dict[str, Any]:
    """Return the comparison of a volume that was not compared with anything, with the reason. The volume can be
    compared later."""
    return {"outcome": None, "verdict": INCONCLUSIVE, "reason": reason}


def judged_with(record: HostRecord, comparison: Mapping[str, Any] | None) -> HostRecord:
    """Return a record with the worse of two verdicts: the verdict of the limits, and that of the comparison.

    Without a comparison, the host is inconclusive.
    """
    if not can_be_compared(record):
        return record
    said = dict(comparison or ())
    if not is_usable(said):
        said = not_made(NOT_MADE if comparison is None else UNUSABLE)
    return judged_also(replace(record, comparison={**said, "limits_verdict": record.verdict}), said, BASELINE)


NOT_LOOKED_UP = "power cuts were not looked up in the history, because the gate ended before that"


def wanted_cuts(profile: Mapping[str, Any]) -> int:
    """Return how many power cuts without a loss a profile requires, 0 if none."""
    cuts = (profile.get("durability") or {}).get("cuts")
    return cuts if isinstance(cuts, int) else 0


def judged_with_cuts(record: HostRecord, said: Mapping[str, Any] | None, wanted: int) -> HostRecord:
    """Return a record that is also judged by the power cuts in the history. The worse of the two verdicts applies.

    A loss is a fail, regardless of what the profile requires. If a number of cuts is required but the cuts were not
    looked up, nothing is proven.
    """
    if not can_be_compared(record) or (said is None and not wanted):
        return record
    found = dict(said or ())
    if not is_usable(found):
        reason = NOT_LOOKED_UP if said is None else "the results of power cuts in the history cannot be used"
        found = {"verdict": INCONCLUSIVE, "reason": reason}
    only_note = found["verdict"] == INCONCLUSIVE and not wanted
    return judged_also(replace(record, power_cuts=found), found, POWER_CUTS_BEFORE, only_note)


def judged_record(directory: RunDirectory, folder: str) -> HostRecord:
    """Return the record in a folder, judged by its limits, by whether its steps ended early on a throttled volume and,
    if the run and the profile require it, by its comparison with the baseline and by power cuts.

    The records of a merged run were judged by the original runs.
    """
    record = directory.records.read(folder)
    record = (
        judged_with(record, directory.comparisons.read(folder)) if compares_with_baseline(directory.run) else record
    )
    if directory.run.get("merged_from") or not directory.is_test:
        return record
    doubts = ((STANDING, _standing), (THROTTLED, doubt_about_kept_steps), (OTHER_MOUNT, doubt_about_mount))
    for kind, doubt_about in doubts:
        said = doubt_about(record)
        record = judged_also(record, said, kind) if said else record
    return judged_with_cuts(
        record, directory.power_cuts.read(folder), wanted_cuts(profile_data(directory.run, record.host))
    )


def _standing(record: HostRecord) -> dict[str, str] | None:
    return {"verdict": INCONCLUSIVE, "reason": record.standing} if record.standing else None


def judged_records(directory: RunDirectory) -> Iterator[HostRecord]:
    """Yield every judged record of a run, one at a time, because the records of a fleet can be large."""
    for folder in directory.records.folders():
        yield judged_record(directory, folder)
