# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentence that every judgement carries: the figure, its limit, the row, and what the evidence covers. Reports print it as it is."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import BATCH_MEANS, SHARE_OF_OPERATIONS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Limit
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.statistics import Evidence
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import ALL_OPERATIONS, ALL_STREAMS, ALL_WORKERS, Row
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, PASS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import Words, size_text

_BROKEN = {"<=": ">", "<": ">=", ">=": "<"}


def figure_sentence(limit: Limit, row: Row, name: str, words: Words, value: float | None, at_least: bool, kept: bool, why: str) -> str:
    """Return the figure beside its limit, and which row it is of: "latency_p99 4.2 ms > 2 ms at 4 KiB, queue manager QM1 (12,345 writes)"."""
    where = _where(row, name, words)
    because = f": {why}" if why else ""
    if value is None:
        return f"{limit.text} has no figure {where}{because}"
    figure = _distinct(limit.metric.kind.format, value, limit.value)
    if at_least:
        return f"{limit.metric.name} at least {figure} (limit {limit.operator} {_limit_figure(limit)}) {where}{because}"
    operator = limit.operator if kept else _BROKEN[limit.operator]
    return f"{limit.metric.name} {figure} {operator} {_limit_figure(limit)} {where}{because}"


def evidence_sentence(limit: Limit, evidence: Evidence, row: Row) -> str:
    """Return what was found and with which confidence, what it covers, and what an open question still needs."""
    return " ".join(part for part in (_finding(limit, evidence, row), _outlook(evidence, row)) if part)


def within_chance_sentence(limit: Limit, evidence: Evidence, row: Row, workers: int, words: Words) -> str:
    """Return that the row of one worker among several is above its limit, and that this is no verdict on it."""
    side = "above" if limit.bound == "max" else "below"
    allowed = float(evidence.allowed)
    found = "" if evidence.method == BATCH_MEANS else f"{_share_found(evidence, row, allowed)} (allowed {_units.format_ratio(allowed)}). "
    chance = f"{side} the limit, within chance among {workers} {words.workers}: the row of all of them together decides."
    return f"{found}{chance[0].upper() if found else chance[0]}{chance[1:]}"


def operation_of(row: Row) -> str:
    """Return what the operations of a row are called: "write", "read", or "operation" if they are of all kinds."""
    return "operation" if row["operation"] == ALL_OPERATIONS else row["operation"]


def counted_of(row: Row) -> str:
    """Return what is counted in a row: "writes", "reads" or "operations"."""
    return f"{operation_of(row)}s"


def rare_seconds_sentence(seconds: int, share: float, confidence: float) -> str:
    """Return what a figure that no second broke says about the seconds that were not measured."""
    return (
        f"no second of {_units.format_count(seconds)} broke it, so {_confident(confidence)} fewer than "
        f"{_units.format_ratio(share, 2)} of all seconds do (once in {_units.format_count(round(1 / share))} s)"
    )


def add_to_reason(reason: str, more: str) -> str:
    """Return a reason with more to say: as one more sentence after that of evidence, as one more clause after a figure."""
    return f"{reason} {more[0].upper()}{more[1:]}." if reason.endswith(".") else f"{reason}; {more}"


def add_others(reason: str, others: int) -> str:
    """Return the reason of a limit's worst row with how many others did not pass either."""
    return add_to_reason(reason, f"{others} more of its rows did not pass") if others else reason


def _finding(limit: Limit, evidence: Evidence, row: Row) -> str:
    confident = _confident(evidence.confidence)
    if evidence.method == BATCH_MEANS:
        if evidence.outcome == FAIL:
            return f"this is beyond chance {confident}."
        if evidence.bound is None:
            return f"the {evidence.seconds} whole seconds measured are too few to say how far the figure can be trusted."
        side = "at most" if limit.bound == "max" else "at least"
        return f"{confident} {side} {_distinct(limit.metric.kind.format, evidence.bound, limit.value)}."
    allowed = float(evidence.allowed)
    bound = "" if evidence.outcome == FAIL or evidence.bound is None else f"{confident} at most {_distinct(_units.format_ratio, evidence.bound, allowed)}, "
    proven = f" This is beyond chance {confident}." if evidence.outcome == FAIL else ""
    return f"{_share_found(evidence, row, allowed)} ({bound}allowed {_units.format_ratio(allowed)}).{proven}"


def _share_found(evidence: Evidence, row: Row, allowed: float) -> str:
    took = "of them took longer" if evidence.method == SHARE_OF_OPERATIONS else f"of the time went into {counted_of(row)} that took longer"
    if evidence.counted_over_ns is not None:
        took += f" than {_units.format_duration(evidence.counted_over_ns, 12)}"
    return f"{_distinct(_units.format_ratio, evidence.value, allowed)} {took}"


def _confident(confidence: float) -> str:
    """Return a confidence in full: one of 99.99 % must not read as certainty."""
    return f"with {_units.format_ratio(confidence, 12)} confidence"


def _outlook(evidence: Evidence, row: Row) -> str:
    if evidence.outcome == FAIL:
        return ""
    if evidence.outcome == PASS:
        return "" if evidence.episode_s is None else _coverage(evidence)
    if evidence.counted_over_ns is not None:
        return f"The tester did not count the {counted_of(row)} over the limit itself: measure again with this profile."
    if evidence.undecidable and row["latency_max_in_flight"] == 1:
        return f"The figure does not include the {operation_of(row)} that was still in flight."
    if evidence.undecidable:
        return "The figure lies at the limit, so measuring longer will not decide it."
    if not evidence.resolved:
        together = f"Slow phases come in crowds that hang together for longer than {evidence.block_s} s, so there are too few witnesses."
        return f"{together} Measuring for {_units.format_count(evidence.seconds_needed)} s in all may decide it."
    return f"Measuring for {_units.format_count(evidence.seconds_needed)} s in all should decide it."


def _coverage(evidence: Evidence) -> str:
    """Return how long slow phases may be that a pass speaks for, what crowded ones count as, and what it does not speak for."""
    longest = _units.format_duration(evidence.episode_s * 1e9, 2)
    rare = f"Not covered: longer ones, and what comes less often than once in {_units.format_count(evidence.seconds // 3)} s."
    if evidence.method == BATCH_MEANS:
        return f"Covered: standstills of up to {longest} each. {rare}"
    seen = "no slow time" if not evidence.crowded_s else f"at most {_units.format_duration(evidence.crowded_s * 1e9, 2)} of slow time"
    return (
        f"Covered: slow phases of up to {longest} each that come independently; crowded ones count as one, with their slow time added. "
        f"Seen: {seen} within 30 s. {rare}"
    )


def _limit_figure(limit: Limit) -> str:
    return limit.metric.kind.format(limit.value, 12)


def _distinct(write: Callable[..., str], value: float, other: float) -> str:
    """Write a figure with as many digits as it takes not to look like another one that it is compared with."""
    texts = (write(value, digits) for digits in range(3, 13))
    return next((text for text in texts if value == other or text != write(other, 12)), str(value))


def _where(row: Row, name: str, words: Words) -> str:
    """Return which row it is, for people."""
    if row["worker"] is None:
        return "in this run"
    count = f"({_units.format_count(row['operations'])} {counted_of(row)})"
    if words.of_streams:
        return f"for {_what(row)}{'' if row['worker'] == ALL_WORKERS else f', worker {name},'} at {words.load_text(row['load_point'])} {count}"
    return f"at {size_text(row['block_size_bytes'])}, {_who(row, name, words)} {count}"


def _what(row: Row) -> str:
    if row["stream"] == ALL_STREAMS:
        return "the whole workload"
    return f"{'reads and writes' if row['operation'] == ALL_OPERATIONS else counted_of(row)} of {row['stream']}"


def _who(row: Row, name: str, words: Words) -> str:
    if not words.load_is_workers:
        load = words.load_text(row["load_point"])
        return f"{load} of each {words.worker}" if name == ALL_WORKERS else f"{load} of {words.worker} {name}"
    if name != ALL_WORKERS:
        return f"{words.worker} {name}" if row["load_point"] == 1 else f"{words.worker} {name} of {row['load_point']}"
    return f"all {row['load_point']} {words.workers}"
