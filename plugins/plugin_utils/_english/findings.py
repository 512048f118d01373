# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the sentence about a finding, and adds sentences to verdicts: to the judged part of a record (the reasons, the
qualification and the texts of judgements, which record.json contains in addition to the findings), and to the verdict
on a fleet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from .._judge.capacity import text_of_load
from .._run import findings
from .._run.findings import Finding
from .._run.kinds import KINDS, kind_named
from .._run.record import host_label
from .._run.verdicts import GOOD, PASS
from .._run.words import Words, words_of
from .limits import figure_text, sentence_of
from .notes import NOTES, SETTING_TEXT, Text
from .phrases import disturbances_text, measured_steps, named_steps, phrase

NOTHING_MEASURED = "nothing was measured"
NO_REASON = "no reason is recorded"
_SHOWN_HOSTS = 5


def in_words(finding: Finding, words: Words) -> str:
    """Return a finding as a sentence. A record is untrusted: if a finding lacks a detail, the sentence only names
    its kind."""
    kind = finding["kind"]
    text = _TEXTS.get(kind) or _texts_of_kinds().get(kind, f"[{{text}}|{NO_REASON}]")
    try:
        if isinstance(text, Mapping):
            cause = finding.get("cause", "")
            text = text[cause if cause in text or "" not in text else ""]
        return phrase(text, finding) if isinstance(text, str) else text(finding, words)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        return f"{finding['kind']} (its details cannot be read)"


@cache
def _texts_of_kinds() -> Mapping[str, Text | Mapping[str, Text]]:
    """Return the texts of findings that only some kinds of runs have."""
    return {name: text for kind in KINDS.values() for name, text in kind.english.texts.items()}


def figure_in_words(finding: Finding, words: Words) -> str:
    """Return the sentence about a finding, but without the evidence that would follow its figure."""
    if finding["kind"] == findings.LIMIT:
        return figure_text(finding, words)
    if finding["kind"] == findings.ELSEWHERE:
        return f"{finding['on']}: {figure_in_words(finding['finding'], words)}"
    return in_words(finding, words)


def _ended_early(finding: Finding, words: Words) -> str:
    steps = finding["steps"]
    left_out = ", ".join(name for name, step in named_steps(steps, words) if "measured_s" not in step)
    return phrase(
        "the sweep ended early, because {metric} broke its limit (sweep_end_early). Measured, of {planned_s:seconds} "
        "each: {measured}[; not measured: {left_out}]",
        finding,
        measured=measured_steps(steps, words),
        left_out=left_out,
    )


def _failed(finding: Finding, words: Words) -> str:
    call = finding.get("call") or ""
    what = "a read" if call.startswith("pread") else "a flush after a write" if call.endswith("sync") else "a write"
    template = f"{{what}}[ of {{block_size_bytes:size}}] failed with [{{errno}}|an I/O error][ ({{text}})]{_AT}"
    return phrase(template, finding, what=what)


def _load_target(finding: Finding, words: Words) -> str:
    unit, highest = finding["load_unit"], finding.get("highest_passed")
    return phrase(
        "the target of {target} was not reached: [the highest load point that passed is {highest}|no load point "
        "passed]. Measure at {target}",
        {},
        target=text_of_load(finding["target"], unit),
        highest=None if highest is None else text_of_load(highest, unit),
    )


def _untested(finding: Finding, words: Words) -> str:
    more = len(finding["hosts"]) - _SHOWN_HOSTS
    return phrase(
        "{queue_manager} was left out on {shown:list}[ and {more} more], because its log is not there, and no host of "
        "this run that shares its storage was tested on it: certify such a host in the same run, and name the hosts "
        "that share storage in locks_pair or locks_group",
        finding,
        shown=finding["hosts"][:_SHOWN_HOSTS],
        more=more if more > 0 else None,
    )


_AT = "[ at offset {offset_bytes} of {file}]"
_STAGE = "[{stage}: ]"
_UNMEASURED = f"{_STAGE}[{{text}}|{NO_REASON}]"

_TEXTS: Mapping[str, Text | Mapping[str, Text]] = {
    findings.LIMIT: lambda finding, words: sentence_of(finding, words, in_words),
    **dict.fromkeys((findings.IO_ERROR, findings.WRONG_DATA), _failed),
    findings.SHORT_WRITE: lambda finding, words: phrase(
        f"{{what}} came back short{_AT}", finding, what="a read" if finding.get("call") == "preadv" else "a write"
    ),
    findings.HUNG: lambda finding, words: phrase(
        f"{{what}}{_AT} had not returned after {{age_ns:duration}} (the stall limit is {{stall_limit_ns:duration}})",
        finding,
        what="an operation" if finding["operation"] == "operation" else "a write",
    ),
    findings.INTERRUPTED: lambda finding, words: f"{kind_named(finding['cause']).ended_early}: {finding['text']}",
    findings.ENDED_EARLY: _ended_early,
    findings.NO_FIGURES: "the observation has no figures for the log: {text}",
    findings.LOAD_TARGET: _load_target,
    findings.LOAD_POINT: {
        "no limit": "no limit judges this load point",
        "incomplete": "not all steps of this load point were measured",
        "not measured": "this load point was not measured there",
    },
    findings.ELSEWHERE: lambda finding, words: f"{finding['on']}: {in_words(finding['finding'], words)}",
    findings.UNUSABLE_TABLES: f"{_STAGE}the tester's tables cannot be used: {{text}}",
    findings.UNMEASURED: _UNMEASURED,
    findings.SKIPPED: _UNMEASURED,
    findings.MISSING: {
        "never reported": "it was expected but never reported",
        "unclaimed": "it is in none of the runs that were merged: the job that was to measure it did not produce a run",
        "": _UNMEASURED,
    },
    findings.UNREADABLE: "its record cannot be read: {text}",
    findings.NO_VERDICT: "its record does not contain a verdict",
    findings.NO_HOST: "no host was expected and none reported",
    findings.LEFTOVER: lambda finding, words: (
        f"{host_label(finding['host'], finding['volume'])}: left behind on the host: {finding['text']}"
    ),
    findings.UNTESTED: _untested,
    findings.SETTING: f"{SETTING_TEXT}[; and {{others}} more][ (waived: {{waiver}})]",
    **NOTES,
}
"""The template of each kind of finding, or of each of its causes, or the function that makes the sentence."""


def judgements_with_sentences(judgements: Iterable[Mapping[str, Any]], words: Words) -> list[dict[str, Any]]:
    """Return judgements with their sentences. The details of those that pass are then no longer needed."""
    return [
        {
            **{key: value for key, value in judgement.items() if key != "details" or judgement["verdict"] != PASS},
            "reason": sentence_of(judgement, words, in_words),
        }
        for judgement in judgements
    ]


def with_sentences(judged: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Return the judged part of a record with its sentences."""
    found = judged["findings"]
    result = {
        **judged,
        "qualification": _qualification(judged, words),
        "reasons": [in_words(finding, words) for finding in findings.reasons_among(found)],
        "judgements": judgements_with_sentences(judged["judgements"], words),
    }
    if "capacity" in judged:
        result["disturbances"] = [
            text
            for finding in found
            if finding["kind"] == findings.DISTURBED
            for text in disturbances_text(finding["disturbance"])
        ]
        result["capacity"] = judged["capacity"] and _capacity(judged["capacity"], words)
    return result


def _qualification(judged: Mapping[str, Any], words: Words) -> str:
    if any(finding["kind"] in findings.WITHOUT_MEASUREMENT for finding in judged["findings"]):
        return NOTHING_MEASURED
    if judged["verdict"] not in GOOD:
        return f"the verdict is {judged['verdict']}"
    return next(
        (in_words(finding, words) for finding in judged["findings"] if finding["kind"] == findings.QUALIFICATION), ""
    )


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
    own = [each["verdict"] for each in findings.reasons_among(host["findings"])]
    return own if len(own) == len(host["reasons"]) > 0 else itertools.repeat(host["verdict"])
