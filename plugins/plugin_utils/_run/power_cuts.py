# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the history knows about power cuts of a volume whose latency was measured, and what that does to its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.comparison import can_be_compared
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, PASS, WORST_FIRST, worst

NOT_LOOKED_UP = "power cuts were not looked up in the history, because the gate did not come to it"
_VERDICTS = (FAIL, INCONCLUSIVE, PASS)


def wanted_cuts(profile: Mapping[str, Any]) -> int:
    """Return how many power cuts without a loss a profile asks for, 0 if for none."""
    cuts = (profile.get("durability") or {}).get("cuts")
    return cuts if isinstance(cuts, int) else 0


def judged_with_cuts(record: HostRecord, said: Mapping[str, Any] | None, wanted: int) -> HostRecord:
    """Return a record, judged by what the history said of its power cuts as well: the worse of the two counts.

    A loss is a fail whatever the profile asks for. If so many cuts are wanted, what nobody looked up proves nothing.
    """
    if not can_be_compared(record) or (said is None and not wanted):
        return record
    said = {"verdict": INCONCLUSIVE, "reason": NOT_LOOKED_UP} if said is None else dict(said)
    if said.get("verdict") not in _VERDICTS or not isinstance(said.get("reason"), str):
        said = {"verdict": INCONCLUSIVE, "reason": "what was looked up about power cuts cannot be used"}
    kept = replace(record, power_cuts=said)
    if said["verdict"] == PASS or (said["verdict"] == INCONCLUSIVE and not wanted):
        return replace(kept, notes=[*record.notes, said["reason"]])
    verdict = worst([record.verdict or PASS, said["verdict"]])
    is_worse = WORST_FIRST.index(said["verdict"]) < WORST_FIRST.index(record.verdict or PASS)
    reasons = [said["reason"], *record.reasons] if is_worse else [*record.reasons, said["reason"]]
    return replace(kept, verdict=verdict, reasons=reasons, certified=False, qualification=f"the verdict is {verdict}")
