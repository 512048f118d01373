# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the sentence about a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils import _units
from .._judge.capacity import text_of_load
from .._kinds import kind_named
from .._run import findings
from .._run.record import host_label
from .._run.words import Words
from .limits import figure_text, sentence_of
from .locks import broken_text, limit_text, not_covered_text, short_lease_text, undecided_text
from .notes import NOTES
from .qualifications import qualification_text
from .steps import measured_steps, named_steps

NO_REASON = "no reason is recorded"


def in_words(finding: Mapping[str, Any], words: Words) -> str:
    """Return a finding as a sentence. A record is untrusted: if a finding lacks a detail, the sentence only names
    its kind."""
    write = _WRITE.get(finding["kind"])
    try:
        return write(finding, words) if write else _quoted(finding, words)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        return f"{finding['kind']} (its details cannot be read)"


def figure_in_words(finding: Mapping[str, Any], words: Words) -> str:
    """Return the sentence about a finding, but without the evidence that would follow its figure."""
    if finding["kind"] == findings.LIMIT and "text" not in finding:
        return figure_text(finding, words)
    if finding["kind"] == findings.ELSEWHERE:
        return f"{finding['on']}: {figure_in_words(finding['finding'], words)}"
    return in_words(finding, words)


def _limit(finding: Mapping[str, Any], words: Words) -> str:
    return finding["text"] if "text" in finding else sentence_of(finding, words, in_words)


def _failed_operation(finding: Mapping[str, Any], words: Words) -> str:
    message = f" ({finding['text']})" if finding.get("text") else ""
    return f"{finding.get('call', 'a write')} failed with {finding.get('errno', 'I/O error')}{message}{_at(finding)}"


def _short_write(finding: Mapping[str, Any], words: Words) -> str:
    return f"{'a read' if finding.get('call') == 'preadv' else 'a write'} came back short{_at(finding)}"


def _hung(finding: Mapping[str, Any], words: Words) -> str:
    what = "an operation" if finding["operation"] == "operation" else "a write"
    age, limit = (_units.format_duration(finding[key]) for key in ("age_ns", "stall_limit_ns"))
    return f"{what}{_at(finding)} had not returned after {age} (the stall limit is {limit})"


def _at(finding: Mapping[str, Any]) -> str:
    return f" at offset {finding['offset_bytes']} of {finding.get('file')}" if "offset_bytes" in finding else ""


def _interrupted(finding: Mapping[str, Any], words: Words) -> str:
    return f"{kind_named(finding['cause']).ended_early}: {finding['text']}"


def _ended_early(finding: Mapping[str, Any], words: Words) -> str:
    left_out = [name for name, step in named_steps(finding["steps"], words) if "measured_s" not in step]
    planned = _units.format_duration(finding["planned_s"] * 1e9)
    not_measured = f"; not measured: {', '.join(left_out)}" if left_out else ""
    return (
        f"the sweep ended early, because {finding['metric']} broke its limit (sweep_end_early). Measured, of {planned} "
        f"each: {measured_steps(finding['steps'], words)}{not_measured}"
    )


def _load_target(finding: Mapping[str, Any], words: Words) -> str:
    target, unit, highest = finding["target"], finding["load_unit"], finding.get("highest_passed")
    known = (
        "no load point passed"
        if highest is None
        else f"the highest load point that passed is {text_of_load(highest, unit)}"
    )
    return (
        f"the target of {text_of_load(target, unit)} was not reached: {known}. Measure at {text_of_load(target, unit)}"
    )


_LOAD_POINTS = {
    "no limit": "no limit judges this load point",
    "incomplete": "not all steps of this load point were measured",
    "not measured": "this load point was not measured there",
}


def _no_tables(finding: Mapping[str, Any], words: Words) -> str:
    left = "left no usable tables"
    ended = (
        f"the tester ended with status {finding['status']} and {left}" if "status" in finding else f"the tester {left}"
    )
    return f"{ended}: {finding['text']}" if finding.get("text") else ended


def _unmeasured(finding: Mapping[str, Any], words: Words) -> str:
    return _at_stage(finding, finding.get("text") or NO_REASON)


def _unusable(finding: Mapping[str, Any], words: Words) -> str:
    return _at_stage(finding, f"the tester's tables cannot be used: {finding['text']}")


def _at_stage(finding: Mapping[str, Any], text: str) -> str:
    return f"{finding['stage']}: {text}" if finding.get("stage") else text


_MISSING = {
    "never reported": "it was expected but never reported",
    "unclaimed": "it is in none of the runs that were merged: the job that was to measure it did not produce a run",
}


def _missing(finding: Mapping[str, Any], words: Words) -> str:
    return _MISSING.get(finding.get("cause", ""), "") or _unmeasured(finding, words)


_SHOWN_HOSTS = 5


def _untested(finding: Mapping[str, Any], words: Words) -> str:
    name, hosts = finding["queue_manager"], finding["hosts"]
    more = f" and {len(hosts) - _SHOWN_HOSTS} more" if len(hosts) > _SHOWN_HOSTS else ""
    shown = ", ".join(hosts[:_SHOWN_HOSTS]) + more
    return (
        f"{name} was left out on {shown}, because its log is not there, and no host of this run that shares its "
        "storage was tested on it: certify such a host in the same run, and name the hosts that share "
        "storage in locks_pair or locks_group"
    )


def _quoted(finding: Mapping[str, Any], words: Words) -> str:
    return str(finding.get("text") or NO_REASON)


_WRITE: dict[str, Callable[[Mapping[str, Any], Words], str]] = {
    findings.LIMIT: _limit,
    findings.IO_ERROR: _failed_operation,
    findings.WRONG_DATA: _failed_operation,
    findings.SHORT_WRITE: _short_write,
    findings.HUNG: _hung,
    findings.INTERRUPTED: _interrupted,
    findings.ENDED_EARLY: _ended_early,
    findings.NO_FIGURES: lambda finding, words: f"the observation has no figures for the log: {finding['text']}",
    findings.LOAD_TARGET: _load_target,
    findings.LOAD_POINT: lambda finding, words: _LOAD_POINTS[finding["cause"]],
    findings.ELSEWHERE: lambda finding, words: f"{finding['on']}: {in_words(finding['finding'], words)}",
    findings.NO_TABLES: _no_tables,
    findings.UNUSABLE_TABLES: _unusable,
    findings.UNMEASURED: _unmeasured,
    findings.SKIPPED: _unmeasured,
    findings.MISSING: _missing,
    findings.UNREADABLE: lambda finding, words: f"its record cannot be read: {finding['text']}",
    findings.NO_VERDICT: lambda finding, words: "its record does not contain a verdict",
    findings.NO_HOST: lambda finding, words: "no host was expected and none reported",
    findings.LEFTOVER: lambda finding, words: (
        f"{host_label(finding['host'], finding['volume'])}: left behind on the host: {finding['text']}"
    ),
    findings.UNTESTED: _untested,
    findings.POWER_CUT: lambda finding, words: f"cut {finding['number']}: {finding['text']}",
    findings.TOO_FEW_CUTS: lambda finding, words: (
        f"{_units.format_count(finding['made'])} of {_units.format_count(finding['asked'])} cuts were made"
    ),
    findings.LOCK_BROKEN: broken_text,
    findings.LOCK_LIMIT: limit_text,
    findings.LOCK_UNDECIDED: undecided_text,
    findings.LOCK_NOT_COVERED: not_covered_text,
    findings.SHORT_LEASE: short_lease_text,
    findings.QUALIFICATION: qualification_text,
    **NOTES,
}
