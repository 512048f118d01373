# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""An additional verdict on a host besides the verdict of its limits, for example from a comparison with its baseline.
The worse of the two verdicts applies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._run.findings import finding
from .._run.record import HostRecord
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS, WORST_FIRST
from .worst import worst


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
