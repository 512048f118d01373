# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Adds sentences to verdicts: to the judged part of a record (the reasons, the qualification and the texts of
judgements, which record.json contains in addition to the findings), and to the verdict on a fleet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from .._run.findings import DISTURBED, QUALIFICATION, WITHOUT_MEASUREMENT, reasons_among
from .._run.record import host_label
from .._run.verdicts import GOOD, PASS
from .._run.words import Words, words_of
from .findings import NO_REASON, in_words
from .limits import sentence_of
from .parts import disturbances_text

NOTHING_MEASURED = "nothing was measured"


def with_sentences(judged: Mapping[str, Any], words: Words) -> dict[str, Any]:
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


def fleet_with_sentences(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict on a fleet together with its sentences: why each host does not pass, and other reasons for which
    the gate fails."""
    problems = [in_words(problem, words_of("")) for problem in verdict["problems"]]
    of_hosts = [
        f"{host_label(host['host'], host['volume'])}: {reason}"
        for host in verdict["hosts"]
        for reason in host_reasons(host)
    ]
    return {**verdict, "reasons": of_hosts + problems, "fleet_problems": problems}


def host_reasons(host: Mapping[str, Any]) -> list[str]:
    """Return sentences about why a host's volume does not pass or does not certify; none if it passes and certifies."""
    if host["verdict"] != PASS:
        return [
            f"{verdict}: {reason}"
            for verdict, reason in zip(_verdicts_of_reasons(host), host["reasons"] or [NO_REASON])
        ]
    return [] if host["certified"] or not host["qualification"] else [f"does not certify: {host['qualification']}"]


def _verdicts_of_reasons(host: Mapping[str, Any]) -> Iterable[str]:
    """Return the verdict to which each reason leads. A reason may be undecided, for example because the host was
    disturbed, even if another reason makes the volume fail. If the reasons of an edited record do not match its
    findings, each has the verdict of the volume."""
    own = [each["verdict"] for each in reasons_among(host["findings"])]
    return own if len(own) == len(host["reasons"]) > 0 else itertools.repeat(host["verdict"])
