# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds the sentences to the judged part of a record: the reasons, the qualification and the texts of judgements, which
record.json contains in addition to the findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._run.findings import DISTURBED, QUALIFICATION, WITHOUT_MEASUREMENT, reasons_among
from .._run.verdicts import GOOD, PASS
from .._run.words import Words
from .disturbances import disturbances_text
from .findings import in_words
from .limits import sentence_of

NOTHING_MEASURED = "nothing was measured"


def told(judged: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Return the judged part of a record with its sentences. The details of judgements that pass are then no longer
    needed."""
    findings = judged["findings"]
    judgements = []
    for judgement in judged["judgements"]:
        kept = {key: value for key, value in judgement.items() if key != "details" or judgement["verdict"] != PASS}
        judgements.append({**kept, "reason": sentence_of(judgement, words, in_words)})
    result = {
        **judged,
        "qualification": _qualification(judged, words),
        "reasons": [in_words(finding, words) for finding in reasons_among(findings)],
        "judgements": judgements,
    }
    if "capacity" in judged:
        result["disturbances"] = [
            text
            for finding in findings
            if finding["kind"] == DISTURBED
            for text in disturbances_text(finding["disturbance"])
        ]
        result["capacity"] = judged["capacity"] and _capacity(judged["capacity"], words)
    return result


def _qualification(judged: Mapping[str, Any], words: Words) -> str:
    if any(finding["kind"] in WITHOUT_MEASUREMENT for finding in judged["findings"]):
        return NOTHING_MEASURED
    if judged["verdict"] not in GOOD:
        return f"the verdict is {judged['verdict']}"
    return next((in_words(finding, words) for finding in judged["findings"] if finding["kind"] == QUALIFICATION), "")


def _capacity(capacity: Mapping[str, Any], words: Words) -> dict[str, Any]:
    return {**_with_reason(capacity, words), "points": [_with_reason(point, words) for point in capacity["points"]]}


def _with_reason(data: Mapping[str, Any], words: Words) -> dict[str, Any]:
    return {**data, "reason": in_words(data["finding"], words) if data["finding"] else ""}
