# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What holding a host's volume against its baseline adds to what its limits say of it. The comparison is what comparison.json holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import MEASUREMENT, HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, GOOD, INCONCLUSIVE, PASS, WORST_FIRST, worst

SCHEMA_VERSION = 1

LAST = "last"
CERTIFICATES = "certificates"
"""Kinds of a baseline: the newest certificates of each volume, or those that are named."""

NOT_MADE = "it has not been held against its baseline, because the gate did not come to it"
UNUSABLE = "its comparison.json cannot be used, so what it says about the baseline is not known"
_VERDICTS = (FAIL, INCONCLUSIVE, PASS)


def is_asked(run: Mapping[str, Any]) -> bool:
    """Whether the hosts of a run are to be held against a baseline. A merged run has the comparisons of the runs that it comes from."""
    return bool((run.get("baseline") or {}).get("kind")) and not run.get("merged_from")


def can_be_compared(record: HostRecord) -> bool:
    """Whether there is anything to compare: a host that was not measured has a verdict of its own."""
    return record.kind == MEASUREMENT and record.verdict in (*GOOD, FAIL, INCONCLUSIVE)


def not_made(reason: str) -> dict[str, Any]:
    """Return the comparison of a volume that was not held against anything, for a reason; it can be made later."""
    return {"schema": SCHEMA_VERSION, "outcome": None, "verdict": INCONCLUSIVE, "reason": reason}


def judged_with(record: HostRecord, comparison: Mapping[str, Any] | None) -> HostRecord:
    """Return a record that its limits have judged, judged by the comparison as well: the worse of the two counts.

    A comparison that does not exist proves nothing, so the host is inconclusive without one.
    """
    if not can_be_compared(record):
        return record
    said = not_made(NOT_MADE) if comparison is None else dict(comparison)
    if said.get("verdict") not in _VERDICTS or not isinstance(said.get("reason"), str):
        said = not_made(UNUSABLE)
    kept = replace(record, comparison={**{key: value for key, value in said.items() if key != "schema"}, "limits_verdict": record.verdict})
    if said["verdict"] == PASS:
        return replace(kept, notes=[*record.notes, said["reason"]])
    verdict = worst([record.verdict, said["verdict"]])
    is_worse = WORST_FIRST.index(said["verdict"]) < WORST_FIRST.index(record.verdict)
    reasons = [said["reason"], *record.reasons] if is_worse else [*record.reasons, said["reason"]]
    return replace(kept, verdict=verdict, reasons=reasons, certified=False, qualification=f"the verdict is {verdict}")
