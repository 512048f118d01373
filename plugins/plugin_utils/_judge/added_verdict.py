# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Additional verdicts on a host besides the verdict of its limits: the comparison with its baseline, and the power
cuts in the history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._kinds import kind_named
from .._run.findings import BASELINE, POWER_CUTS_BEFORE, finding
from .._run.record import HostRecord
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, WORST_FIRST, worst


def is_usable(said: Mapping[str, Any]) -> bool:
    """Return whether data that was read from a file contains a verdict and a reason."""
    return said.get("verdict") in (FAIL, INCONCLUSIVE, PASS) and isinstance(said.get("reason"), str)


def noted(record: HostRecord, said: Mapping[str, Any], kind: str) -> HostRecord:
    """Return a record, with the reason in ``said`` added as a note. ``kind`` is the kind of the finding, which quotes
    the reason."""
    return replace(
        record, notes=[*record.notes, said["reason"]], noted=[*record.noted, finding(kind, None, text=said["reason"])]
    )


def judged_also(record: HostRecord, said: Mapping[str, Any], kind: str) -> HostRecord:
    """Return a measured record with the worse of two verdicts: its own, and the one in ``said``. The record has the
    findings and reasons of both. A pass is only added as a note.

    ``kind`` is the kind of the finding, which quotes the reason.
    """
    if said["verdict"] == PASS:
        return noted(record, said, kind)
    before = record.verdict or PASS
    verdict = worst([before, said["verdict"]])
    is_worse = WORST_FIRST.index(said["verdict"]) < WORST_FIRST.index(before)
    reasons = [said["reason"], *record.reasons] if is_worse else [*record.reasons, said["reason"]]
    found = finding(kind, said["verdict"], text=said["reason"])
    findings = [found, *record.findings] if is_worse else [*record.findings, found]
    return replace(
        record,
        verdict=verdict,
        findings=findings,
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
    said = not_made(NOT_MADE) if comparison is None else dict(comparison)
    if not is_usable(said):
        said = not_made(UNUSABLE)
    kept = replace(
        record,
        comparison={**said, "limits_verdict": record.verdict},
    )
    return judged_also(kept, said, BASELINE)


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
    said = {"verdict": INCONCLUSIVE, "reason": NOT_LOOKED_UP} if said is None else dict(said)
    if not is_usable(said):
        said = {"verdict": INCONCLUSIVE, "reason": "the results of power cuts in the history cannot be used"}
    kept = replace(record, power_cuts=said)
    return (
        noted(kept, said, POWER_CUTS_BEFORE)
        if said["verdict"] == INCONCLUSIVE and not wanted
        else judged_also(kept, said, POWER_CUTS_BEFORE)
    )
