# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The suspicion that a synchronous write does not flush anything. Only a power cut can prove this, so it is a note and
never a verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.findings import NO_FLUSH, Finding, finding
from .._run.table_reader import DECIMAL_PATTERN

PROBE_PREFIX = "sync_probe_"
"""Prefix of the keys in run.csv with the cost of a plain and a synchronous write before the test; these keys are
added to the facts of the host."""

NO_FLUSH_BELOW = 1.2
"""Below this ratio of the medians, a synchronous write costs as much as a plain one. Disks that acknowledge flushes at
once have shown ratios of 1.7 and more."""

_BARRIERS_OFF = ("nobarrier", "barrier=0")


def flush_notes(facts: Mapping[str, Any]) -> list[Finding]:
    """Return a note if no flush seems to be sent to the device; none if this is unknown, as for a network file
    system."""
    off = [option for option in str(facts.get("mount_options") or "").split(",") if option in _BARRIERS_OFF]
    if off:
        return [finding(NO_FLUSH, None, cause="mounted", option=off[0])]
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
