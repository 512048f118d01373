# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Notes about a measurement, as findings without a verdict: a wrong clock, writes that seem not to be flushed, another
mount point than before."""

from __future__ import annotations

from typing import Any

from ...module_utils import _mounts
from .._run.columns import ALL_WORKERS
from .._run.findings import AS_THEY_STAND, CLOCK, MOVED, NO_FLUSH, SHARED_DISK, UNSTEADY, Finding, finding, is_finding
from .._run.record import DISK_SHARED_WITH, HostRecord
from .._run.shapes import Facts, Run
from .._run.table_reader import DECIMAL_PATTERN
from .._run.tables import Tables
from .._run.verdicts import INCONCLUSIVE
from .profile import Profile

CLOCK_BOUND_S = 1.0
"""How much a host's clock may differ from the controller's without a note."""


def clock_notes(run: Run, facts: Facts) -> list[Finding]:
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


def sharing_notes(facts: Facts) -> list[Finding]:
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


PROBE_PREFIX = "sync_probe_"
"""Prefix of the keys in run.csv with the cost of a plain and a synchronous write before the test; these keys are
added to the facts of the host."""

NO_FLUSH_BELOW = 1.2
"""Below this ratio of the medians, a synchronous write costs as much as a plain one. Disks that acknowledge flushes at
once have shown ratios of 1.7 and more."""


def flush_notes(facts: Facts) -> list[Finding]:
    """Return a note if no flush seems to be sent to the device; none if this is unknown, as for a network file
    system."""
    plain_ns, sync_ns = (_number(facts.get(f"{PROBE_PREFIX}{kind}_p50_ns")) for kind in ("plain", "sync"))
    cache = facts.get("device_write_cache")
    if not cache or not plain_ns or not sync_ns or sync_ns / plain_ns >= NO_FLUSH_BELOW:
        return []
    return [
        finding(
            NO_FLUSH,
            None,
            cause="write through" if cache == "write through" else "unknown",
            sync_ns=sync_ns,
            plain_ns=plain_ns,
        )
    ]


def _number(value: Any) -> float | None:
    return float(value) if DECIMAL_PATTERN.match(str(value)) else None


def moved_unasked(record: HostRecord) -> Finding | None:
    """Return the note about the other mount point, unless the user named the new one."""
    named = _mounts.points_in(str(record.workspace.get("expect_mount") or ""))
    return next((note for note in record.noted if note["kind"] == MOVED and note["mount_point"] not in named), None)


def doubt_about_mount(record: HostRecord) -> dict[str, str] | None:
    """Return a verdict with its reason if it is not known whether the right file system was measured; otherwise
    None."""
    note = moved_unasked(record)
    if note is None:
        return None
    return {
        "verdict": INCONCLUSIVE,
        "reason": f"it measured {note['volume']} at {note['mount_point']}, and not at {note['before']}, as the run "
        f"{note['run_id']} did: mount the file system and measure it again or, if it has moved, set "
        f"workspace_expect_mount: {note['mount_point']}",
    }
