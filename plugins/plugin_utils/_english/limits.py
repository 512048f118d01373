# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the sentence about a limit on a row, from the judgement or the finding: the figure, the limit, the row, and
what the evidence covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._units import format_count, format_duration, format_ratio
from .._judge.capacity import text_of_load
from .._judge.metrics import BATCH_MEANS, SHARE_OF_OPERATIONS, find_metric
from .._run.columns import ALL_OPERATIONS, ALL_STREAMS, ALL_WORKERS
from .._run.findings import ENDED_EARLY, NO_ROW
from .._run.verdicts import FAIL, PASS
from .._run.words import Words, row_size_text
from .phrases import capitalized, deviation_text, disturbances_text, phrase

Judged = Mapping[str, Any]
"""A judgement of a limit, or the finding derived from it."""

_BROKEN = {"<=": ">", "<": ">=", ">=": "<"}
_CARRIED_BY_CROWDS = 5
"""Crowded slow phases carried simulated hosts that keep a limit to up to 4.4 times the share that it allows."""
_INSTEAD = "observe with observe_source: bpftrace, which sees each write"


def sentence_of(judged: Judged, words: Words, tell: Callable[[Mapping[str, Any], Words], str]) -> str:
    """Return the sentence about a judgement, whether it passes or not. ``tell`` returns the text of another finding to
    which the judgement refers."""
    details = _details(judged)
    if (details.get("why") or {}).get("code") == NO_ROW:
        text = f"{judged['limit']}: no row to which it applies was measured{_rows_text(judged)}"
    else:
        because = why_text(judged, words, tell)
        text = figure_text(judged, words) + (f": {because}" if because else "")
        claim = _CLAIMS[details.get("claim", "")](judged, words)
        text += claim
    for more in filter(None, (_waiver(judged), _deviations(details), _disturbance(details))):
        text = _add(text, more)
    return and_others(text, judged.get("others") or 0)


def and_others(text: str, others: int) -> str:
    """Return the sentence about the worst row of a limit, with the number of other rows that did not pass."""
    return _add(text, f"{others} more of its rows did not pass") if others else text


def figure_text(judged: Judged, words: Words) -> str:
    """Return the figure beside its limit, and the row to which it belongs: "latency_p99 4.2 ms > 2 ms at 4 KiB, queue
    manager QM1 (12,345 writes)"."""
    details, value, write = _details(judged), judged["value"], _format(judged)
    if value is None:
        return f"{judged['limit']} has no figure {_where(judged, words)}"
    figure, limit = _distinct(write, value, judged["limit_value"]), write(judged["limit_value"], 12)
    metric = find_metric(judged["metric"])
    if metric and metric.text:
        return phrase(metric.text, {**details["values"], "value": figure, "limit": limit})
    operator, where = details.get("operator", "<="), _where(judged, words)
    if judged["value_at_least"]:
        return f"{judged['metric']} at least {figure} (limit {operator} {limit}) {where}"
    return f"{judged['metric']} {figure} {operator if details.get('kept') else _BROKEN[operator]} {limit} {where}"


def why_text(judged: Judged, words: Words, tell: Callable[[Mapping[str, Any], Words], str], short: bool = False) -> str:
    """Return why the figure by itself is inconclusive, or on what it is based; empty if neither applies. If ``short``
    is true, the text does not include the remedy."""
    why = _details(judged).get("why") or {}
    code, values = why.get("code"), {**why, "counted": _counted_of(judged), "operation": _operation_of(judged)}
    if code == "stopped":
        values["load"] = text_of_load(why["load"], judged["unit"])
        values["stopped"] = tell(why["finding"], words) if why.get("finding") else "it did not pass"
    elif code == "load_not_measured":
        values["load"] = text_of_load(judged["limit_value"], judged["unit"])
    text = phrase(_WHY.get(code, ""), values)
    return f"{text}: {_INSTEAD}" if code in _SEEN_BY_BPFTRACE and not short else text


_SEEN_BY_BPFTRACE = ("no_percentiles_published", "only_slowest_since_restart", "not_published")
_WHY = {
    "too_few": "too few {counted} for this figure",
    "in_flight": "the slowest {operation} was still in flight",
    "not_counted": "its slow {counted} were not counted separately",
    "stopped": "at {load}, {stopped}",
    "load_not_measured": "no load point from {load} upwards was measured: measure there",
    "estimate": "[{text}]",
    "not_reported": "the tester did not report it",
    "pauses": "how much of each second it spent writing is unknown, because it pauses or waits between writes",
    ENDED_EARLY: "not decided, because the sweep ended early",
    "no_percentiles_published": "MQ publishes rolling averages and no percentiles",
    "not_published": "MQ publishes rolling averages and not this figure",
    "slowest_since_restart": "the slowest write since the queue manager started",
    "only_slowest_since_restart": "the slowest write since the queue manager started took {slowest_ns:duration}, and "
    "MQ does not report how long the slowest observed write took",
    "no_load_keeps_others": "no load point meets all other limits",
    "no_target": "sweep_target does not state how many operations_per_s the volume must carry",
}


def _details(judged: Judged) -> Mapping[str, Any]:
    return judged.get("details") or {}


def _rows_text(judged: Judged) -> str:
    return f" ({judged['rows']})" if judged.get("rows") else ""


def _waiver(judged: Judged) -> str:
    waiver = _details(judged).get("waiver")
    if not waiver:
        return ""
    return phrase(
        "waived until {until} ({text})" if judged["waiver"] else "the waiver {text} expired on {until}", waiver
    )


def _deviations(details: Mapping[str, Any]) -> str:
    found = ", ".join(map(deviation_text, details.get("deviations", ())))
    return found and f"the step did not do what its workload requires: {found}"


def _disturbance(details: Mapping[str, Any]) -> str:
    found = ", ".join(disturbances_text(details.get("disturbance") or ()))
    return found and f"the host was disturbed: {found}"


def _evidence(judged: Judged, words: Words) -> str:
    """Return the result with its confidence, what it covers and, if it is undecided, what is needed to decide it."""
    return ": " + " ".join(part for part in (_found(judged), _outlook(judged)) if part)


def _within_chance(judged: Judged, words: Words) -> str:
    """Return a sentence that states that the row of one of several workers is beyond the limit but does not decide the
    verdict."""
    side = "above" if judged["bound"] == "max" else "below"
    details = _details(judged)
    found = (
        ""
        if judged["method"] == BATCH_MEANS
        else f"{_share_found(judged)} (allowed {format_ratio(details['allowed'])}). "
    )
    chance = (
        f"{side} the limit, but by no more than chance explains among {details['workers']} {words.workers}: the row of "
        "all of them together decides."
    )
    return f": {found}{capitalized(chance) if found else chance}"


def _rare_seconds(judged: Judged, words: Words) -> str:
    """If no second broke the limit, return what can be concluded about seconds that were not measured."""
    details = _details(judged)
    return phrase(
        ": no second of {seconds:count} broke it, so {confident} fewer than {share:ratio,2} of all seconds do (once in "
        "{once_s:count} s)",
        details,
        confident=_confident(details["confidence"]),
        once_s=round(1 / details["share"]),
    )


_CLAIMS: dict[str, Callable[[Judged, Words], str]] = {
    "": lambda judged, words: "",
    "evidence": _evidence,
    "within_chance": _within_chance,
    "rare_seconds": _rare_seconds,
    "without_confidence": lambda judged, words: ", without confidence",
    "same_write": lambda judged, words: (
        ", as it stands: many commits end with the same write, so there is no confidence bound for them"
    ),
}


def _operation_of(judged: Judged) -> str:
    """Return the name of a row's operations: "write", "read", or "operation" if they are of all kinds."""
    return "operation" if judged["operation"] == ALL_OPERATIONS else str(judged["operation"])


def _counted_of(judged: Judged) -> str:
    """Return what is counted in a row: "writes", "reads" or "operations"."""
    return f"{_operation_of(judged)}s"


def _add(text: str, more: str) -> str:
    """Append ``more`` to a text. After evidence, the addition is a separate sentence; after a figure, it is a
    clause."""
    return f"{text} {capitalized(more)}." if text.endswith(".") else f"{text}; {more}"


def _found(judged: Judged) -> str:
    confident, outcome = _confident(judged["confidence"]), _details(judged).get("outcome")
    if judged["method"] == BATCH_MEANS:
        if outcome == FAIL:
            return f"this is beyond chance {confident}."
        if judged["value_bound"] is None:
            return (
                f"the {judged['seconds']} whole seconds measured are too few to say how far the figure can be trusted."
            )
        side = "at most" if judged["bound"] == "max" else "at least"
        return f"{confident} {side} {_distinct(_format(judged), judged['value_bound'], judged['limit_value'])}."
    allowed, bound = _details(judged)["allowed"], judged["share_bound"]
    bounded = (
        "" if outcome == FAIL or bound is None else f"{confident} at most {_distinct(format_ratio, bound, allowed)}, "
    )
    proven = f" This is beyond chance {confident}." if outcome == FAIL else ""
    return f"{_share_found(judged)} ({bounded}allowed {format_ratio(allowed)}).{proven}"


def _share_found(judged: Judged) -> str:
    details = _details(judged)
    took = (
        "of them took longer"
        if judged["method"] == SHARE_OF_OPERATIONS
        else f"of the time went into {_counted_of(judged)} that took longer"
    )
    if "counted_over_ns" in details:
        took += f" than {format_duration(details['counted_over_ns'], 12)}"
    return f"{_distinct(format_ratio, judged['share'], details['allowed'])} {took}"


def _confident(confidence: float) -> str:
    """Return a confidence with all of its digits: 99.99 % must not be rounded to 100 %."""
    return f"with {format_ratio(confidence, 12)} confidence"


def _outlook(judged: Judged) -> str:
    details = _details(judged)
    outcome, needed = details.get("outcome"), judged["seconds_needed"]
    if outcome == FAIL:
        return _crowds(judged)
    if outcome == PASS:
        return "" if judged["episode_s"] is None else _coverage(judged)
    if "counted_over_ns" in details:
        text = "The tester did not count the {counted} over the limit itself: measure again with this profile."
    elif needed is None and details.get("in_flight"):
        text = "The figure does not include the {operation} that was still in flight."
    elif needed is None:
        text = "The figure lies at the limit, so measuring longer will not decide it."
    elif not judged["resolved"]:
        text = (
            "Slow phases come in clusters longer than {block_s} s, so there is too little independent evidence. "
            "Measuring for {seconds_needed:count} s in all may decide it."
        )
    else:
        text = "Measuring for {seconds_needed:count} s in all should decide it."
    return phrase(text, {**judged, "counted": _counted_of(judged), "operation": _operation_of(judged)})


def _crowds(judged: Judged) -> str:
    """Return how crowded the slow phases were if crowds alone may have carried a good share so far beyond its limit
    (docs/error_rates.md: hosts that fail although they keep their limits)."""
    if judged["method"] == BATCH_MEANS or judged["share"] > _CARRIED_BY_CROWDS * _details(judged)["allowed"]:
        return ""
    return phrase(
        "Seen: at most {crowded_s:seconds,2} of slow time within 30 s. Of hosts just within their limit, up to 15 % "
        "also fail if their slow phases come in crowds.",
        judged,
    )


def _coverage(judged: Judged) -> str:
    """Return which slow phases a pass covers, how clusters of phases are counted, and what the pass does not cover."""
    beyond = ", which is more than covered" if (judged["crowded_s"] or 0) > judged["episode_s"] else ""
    return phrase(
        "Covered: {phases} of up to {episode_s:seconds,2} each that come independently; crowded ones count as one, "
        "with their slow time added. Seen: [at most {crowded:seconds,2} of|no] slow time within 30 s[{beyond}]. Not "
        "covered: longer ones, and anything that occurs less often than once in {third_s:count} s.",
        judged,
        phases="standstills" if judged["method"] == BATCH_MEANS else "slow phases",
        crowded=judged["crowded_s"] or None,
        beyond=beyond,
        third_s=judged["seconds"] // 3,
    )


def _format(judged: Judged) -> Callable[..., str]:
    """Return the function that formats figures of the metric. The unit of a capacity is that of the load points."""
    if judged["metric"] == "capacity":
        return lambda load, digits=3: text_of_load(load, judged["unit"])
    metric = find_metric(judged["metric"])
    return metric.kind.format if metric else lambda value, digits=3: f"{value:.{digits}g}"


def _distinct(write: Callable[..., str], value: float, other: float) -> str:
    """Format a figure with enough digits to distinguish it from the figure with which it is compared."""
    texts, exact = (write(value, digits) for digits in range(3, 13)), write(other, 12)
    return next((text for text in texts if value == other or text != exact), str(value))


def _where(judged: Judged, words: Words) -> str:
    """Return the displayed name of the row."""
    if judged["worker"] is None:
        return "in this run"
    count, load_point = f"({format_count(judged['samples'])} {_counted_of(judged)})", _row_load(judged)
    if words.layout.by_stream:
        worker = "" if judged["worker"] == ALL_WORKERS else f", worker {judged['worker_name']},"
        return f"for {_what(judged)}{worker} at {words.load_text(load_point)} {count}"
    return f"at {row_size_text(judged['block_size_bytes'])}, {_who(judged, load_point, words)} {count}"


def _row_load(judged: Judged) -> int:
    """Return the load point of the row; if the judgement does not belong to a single load point, it is in the
    details."""
    return judged["load_point"] if judged["load_point"] is not None else _details(judged).get("load_point", 0)


def _what(judged: Judged) -> str:
    if judged["stream"] == ALL_STREAMS:
        return "the whole workload"
    return (
        f"{'reads and writes' if judged['operation'] == ALL_OPERATIONS else _counted_of(judged)} of {judged['stream']}"
    )


def _who(judged: Judged, load_point: int, words: Words) -> str:
    name = judged["worker_name"]
    if not words.load_is_workers:
        load = words.load_text(load_point)
        return f"{load} of each {words.worker}" if name == ALL_WORKERS else f"{load} of {words.worker} {name}"
    if name != ALL_WORKERS:
        return f"{words.worker} {name}" if load_point == 1 else f"{words.worker} {name} of {load_point}"
    return f"all {load_point} {words.workers}"
