# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds the results of power cuts in the history to the verdict on a volume whose latency was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._run.findings import POWER_CUTS_BEFORE
from .._run.record import HostRecord
from .._run.verdicts import INCONCLUSIVE
from .added_verdict import is_usable, judged_also, noted
from .comparison import can_be_compared

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
