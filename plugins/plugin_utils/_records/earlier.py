# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes findings for records of earlier versions. These records contain sentences instead of findings, so the findings
are made from the other data of the records. A sentence is compared with the data from which it was made. It is never
parsed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from .._judge.metrics import MARGIN
from .._run import findings as kinds
from .._run.findings import Finding, finding, of_judgement
from .._run.record import HostRecord
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS, WARN
from .._run.volume_facts import STALL
from .durability import DURABILITY

_IO_ERROR, _STOPPED = 3, 4


def findings_of(record: HostRecord) -> list[Finding]:
    """Return the findings of a record."""
    return [_recorded(record, reason) for reason in record.reasons] if record.findings is None else record.findings


def judgements_of(record: HostRecord) -> list[dict[str, Any]]:
    """Return the judgements of a record, each with the cause of its verdict."""
    return [
        judgement if "cause" in judgement else {**judgement, "cause": _cause(judgement, record)}
        for judgement in record.judgements
    ]


def _recorded(record: HostRecord, reason: str) -> Finding:
    told = [
        judgement
        for judgement in record.judgements
        if judgement["verdict"] != PASS and judgement["reason"] and reason.startswith(judgement["reason"])
    ]
    if told:
        return {**of_judgement(told[0]), "text": reason}
    for kind, said in ((kinds.BASELINE, record.comparison), (kinds.POWER_CUTS_BEFORE, record.power_cuts)):
        if said and said.get("reason") == reason:
            return finding(kind, said.get("verdict"), text=reason)
    if reason == record.standing:
        return finding(kinds.STANDING, INCONCLUSIVE, text=reason)
    if record.own and record.kind == DURABILITY:
        return _of_cuts(record.own["cuts"], reason)
    if record.error or not record.tester:
        return finding(kinds.RECORDED, record.verdict, text=reason)
    return _of_tester(record.tester, record.volume_facts or (), reason) or finding(
        kinds.RECORDED, record.verdict, text=reason
    )


def _of_cuts(cuts: Iterable[Mapping[str, Any]], reason: str) -> Finding:
    lost = any(reason.endswith(cut["reason"]) and cut["outcome"] == "lost" for cut in cuts)
    return finding(kinds.RECORDED, FAIL if lost else INCONCLUSIVE, text=reason)


def _of_tester(tester: Mapping[str, Any], facts: Iterable[str], reason: str) -> Finding | None:
    """Return the finding about a tester that did not finish, made from its exit status; None if no finding follows from
    it."""
    status = tester.get("exit_status")
    if status == _IO_ERROR:
        return finding(kinds.RECORDED, FAIL, cause=kinds.IO_ERROR, text=reason)
    if status != _STOPPED:
        return None
    verdict, cause = (FAIL, kinds.HUNG) if STALL in facts else (INCONCLUSIVE, kinds.INTERRUPTED)
    return finding(kinds.RECORDED, verdict, cause=cause, text=reason)


def _cause(judgement: Mapping[str, Any], record: HostRecord) -> str:
    verdict, value = judgement["verdict"], judgement["value"]
    if verdict == PASS:
        return ""
    if judgement.get("waiver"):
        return kinds.WAIVED
    if judgement.get("unit") == MARGIN.unit and verdict == INCONCLUSIVE:
        return kinds.NO_HEADROOM
    if value is None and judgement["metric"] == "target_operations_share":
        return kinds.NO_TARGET
    if value is None:
        return kinds.NO_ROW if judgement["worker"] is None else kinds.NO_FIGURE
    limit = judgement["limit_value"] or 0
    is_broken = value < limit if judgement["bound"] == "min" else value > limit
    if verdict != INCONCLUSIVE and not (verdict == WARN and not is_broken):
        return kinds.BROKEN
    return (
        kinds.DISTURBED
        if is_broken and record.disturbances and judgement["bound"] == "max" and _was_proven(judgement)
        else kinds.OPEN
    )


def _was_proven(judgement: Mapping[str, Any]) -> bool:
    """Whether the evidence that a limit was broken was strong enough to rule out chance. If so, only a disturbance can
    have left the limit undecided."""
    evidence, confidence = judgement.get("log_evidence"), judgement.get("confidence")
    if evidence is not None and confidence:
        return evidence >= -math.log1p(-confidence)
    return judgement.get("seconds_needed") is None
