# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds the comparison of a host's volume with its baseline to the verdict of the limits. The comparison is the content
of comparison.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._kinds import kind_named
from .._run.findings import BASELINE
from .._run.record import HostRecord
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE
from .added_verdict import is_usable, judged_also

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
