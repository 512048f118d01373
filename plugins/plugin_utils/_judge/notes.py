# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Notes about a measurement, as findings without a verdict: a wrong clock, a shared disk, or an unsteady latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.columns import ALL_WORKERS
from .._run.findings import AS_THEY_STAND, CLOCK, SHARED_DISK, UNSTEADY, Finding, finding, is_finding
from .._run.record import DISK_SHARED_WITH
from .._run.tables import Tables
from .profile import Profile

CLOCK_BOUND_S = 1.0
"""How much a host's clock may differ from the controller's without a note."""


def clock_notes(run: Mapping[str, Any], facts: Mapping[str, Any]) -> list[Finding]:
    """Return a note if the host's clock differs from the controller's by more than a second and by more than the
    measurement error, and one if the controller's clock was wrong when the run was opened."""
    wrong = run.get("wrong_clock")
    found = [wrong] if is_finding(wrong) else []
    offset_s, error_s = facts.get("clock_offset_s"), facts.get("clock_offset_error_s")
    if (
        isinstance(offset_s, (int, float))
        and isinstance(error_s, (int, float))
        and abs(offset_s) > max(CLOCK_BOUND_S, error_s)
    ):
        found.append(finding(CLOCK, None, offset_s=offset_s, error_s=error_s))
    return found


def sharing_notes(facts: Mapping[str, Any]) -> list[Finding]:
    """Return a note if other volumes of the host were measured on the same disk at the same time."""
    others = str(facts.get(DISK_SHARED_WITH) or "").split()
    return [finding(SHARED_DISK, None, others=others)] if others else []


def unsteady_notes(tables: Tables) -> list[Finding]:
    """Return a note if the latency of a step rose or swung from round to round."""
    keys = ("load_point", "stream", "operation") if tables.layout.by_stream else ("block_size_bytes",)
    unsteady = [row for row in tables.results if row["worker"] == ALL_WORKERS and row.get("steady_state") == 0]
    rows = dict.fromkeys(tuple(row[key] for key in keys) for row in unsteady)
    return [finding(UNSTEADY, None, rows=[dict(zip(keys, row, strict=True)) for row in rows])] if rows else []


def confidence_notes(profile: Profile) -> list[Finding]:
    """Return a note if the profile limits response times, because these are judged without its confidence."""
    if profile.confidence is None or not any(limit.metric.of_responses for limit in profile.limits):
        return []
    return [finding(AS_THEY_STAND, None)]
