# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Puts the figures of a test of locks into words: those of a pair in one line, and those of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from ....module_utils._units import format_count, format_duration
from ..._english.findings import in_words
from ..._english.phrases import phrase, plural
from ..._run.findings import LIMIT, Finding
from ..._run.lock_steps import (
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    LATE_SECTORS,
    LATE_WRITES,
    LOCK_COUNT,
    LOCKED,
    NOT_COVERED,
    POD_DELETED,
    SAME_HOST,
    SECOND_REFUSED,
    SERVER_FAILOVER,
    SETTINGS,
    STEPS,
    TAKEOVERS,
    UNDER_LOAD,
    UNLOCKED,
    Pair,
    StepRow,
    figure,
    figure_text,
    late_writes,
    rows_of,
)
from ..._run.words import words_of
from .criteria import LOCK_BROKEN, TAKEOVER, Required, required_steps
from .english import step_title
from .judging import untested_steps

Rows = Sequence[StepRow]
_WORDS = words_of("")


def pair_text(pair: Pair, required: Required, found: Sequence[Finding]) -> str:
    """Return what matters most about a pair in one line: "takeover 31 s (limit 45 s), 0 late writes, 1,000 of 1,000
    updates kept; not tested: failover of the file server". If something is broken, that comes first."""
    worst = next((each for each in found if each["kind"] in (LOCK_BROKEN, LIMIT)), None)
    fault = "" if worst is None else worst["metric"] if worst["kind"] == LIMIT else worst["code"]
    ordered = sorted(_PARTS, key=lambda part: fault not in part[0])
    told = ", ".join(filter(None, (write(pair, required) for _faults, write in ordered)))
    is_told = worst is None or any(fault in faults for faults, _write in _PARTS)
    if not told and worst is None and found:
        worst, is_told = found[0], False
    sentence = "" if worst is None or is_told else in_words(worst, _WORDS)
    has_begun = any(row["step"] != SETTINGS for row in pair["steps"])
    return "; ".join(filter(None, (sentence, told, untested_text([pair]) if has_begun else "")))


def untested_text(pairs: Sequence[Pair]) -> str:
    """Return which steps the results of some pairs say nothing about; empty if there are none. If some of the pairs
    were tested in such a step, the text says how many were not."""
    counts = Counter(step for pair in pairs for step in untested_steps(pair))
    told = [
        step_title(step)
        + (f" (in {format_count(counts[step])} of {len(pairs)} pairs)" if counts[step] < len(pairs) else "")
        for step in STEPS
        if step in counts
    ]
    return f"not tested: {', '.join(told)}" if told else ""


def requirements_told(required: Required) -> list[str]:
    """Return what a profile requires in addition to its limits: the load and the steps."""
    steps = ", ".join(map(step_title, required_steps(required)))
    return [f"load_s: minimum time in seconds of full load: {required['load_s']:,g}", f"required steps: {steps}"]


def late_writes_of(pair: Pair) -> int | None:
    """Return how many writes of hosts that had lost the lock landed; None if that is not known. A host without power
    cannot write, so a loss of power alone does not show that there are none."""
    known = [
        (row["step"], late)
        for row in rows_of(pair, *TAKEOVERS)
        if row["outcome"] != NOT_COVERED and (late := late_writes(row)) is not None
    ]
    total = sum(late for _step, late in known)
    return total if total or any(step == CUT_OFF for step, _late in known) else None


def _takeover_text(pair: Pair, required: Required) -> str:
    rows = [row for row in rows_of(pair, *TAKEOVERS) if row["outcome"] != NOT_COVERED]
    never = next((row for row in rows if row["cause"] == "never_taken_over"), None)
    bound = f"(limit {_seconds(required['takeover_s'])})"
    if never:
        waited = figure(never, "takeover_ns")
        return f"no takeover within {format_duration(waited)} {bound}" if waited else f"no takeover {bound}"
    known = [value for row in rows if (value := figure(row, "takeover_ns")) is not None]
    if not known:
        return "takeover not known" if rows else ""
    return f"takeover {format_duration(max(known))} {bound}"


def _late_writes_text(pair: Pair, required: Required) -> str:
    late = late_writes_of(pair)
    return "" if late is None else plural(late, "late write")


def _updates_text(pair: Pair, required: Required) -> str:
    rows = rows_of(pair, CONCURRENT_UPDATES)
    made, kept = (sum(figure(row, name) or 0 for row in rows) for name in ("updates_made", "updates_kept"))
    return f"{format_count(int(kept))} of {format_count(int(made))} updates kept" if made else ""


_PARTS: Sequence[tuple[frozenset[str], Callable[[Pair, Required], str]]] = (
    (frozenset({"never_taken_over", TAKEOVER.name}), _takeover_text),
    (frozenset({"late_write_landed"}), _late_writes_text),
    (frozenset({"updates_lost"}), _updates_text),
)
"""The parts of the line of a pair, each with the faults that it tells: codes of findings, and metrics."""


_ACKNOWLEDGED = "{acknowledged_lost:count} of {acknowledged:count} acknowledged writes lost"
_ERRNO, _TRIES = "{errno}", "{tries:count} tries"
_PAUSE = "longest pause of the writes {write_pause_max_ns:duration}"
_VERIFICATION = ("{verifications:count} verifications", "the longest {verification_max_ns:duration}")
_TAKEN_OVER = ("takeover {takeover_ns:duration}", "refused {tries:count} times")
_RETURNED = ("back after {back_ns:duration}", "then refused {refused_after_return:count} times", "late writes: {late}")
_FIGURES: Mapping[str, Sequence[str]] = {
    SETTINGS: ("data visible after {visible_after_ns:duration}",),
    SECOND_REFUSED: (_TRIES, _ERRNO),
    SAME_HOST: (
        _TRIES,
        _ERRNO,
        "{tries_after_close:count} tries of the other host after a close",
        "{tries_after_read:count} after a read",
    ),
    HAND_OVER: (
        "waiting {wait_ns:duration}",
        "polling {poll_ns:duration}",
        "one request {try_ns:duration}",
        "after {way}",
    ),
    CONCURRENT_UPDATES: ("{updates_kept:count} of {updates_made:count} updates kept",),
    UNDER_LOAD: ("{load_s:seconds} of load", *_VERIFICATION, _PAUSE, _ERRNO),
    HOST_LOST: (*_TAKEN_OVER, *_RETURNED, _ACKNOWLEDGED),
    CUT_OFF: (*_TAKEN_OVER, *_RETURNED, "its pending write ended with {errno}", _ACKNOWLEDGED),
    SERVER_FAILOVER: (_PAUSE, *_VERIFICATION, "the other host refused {tries:count} times", _ACKNOWLEDGED, _ERRNO),
    LOCK_COUNT: ("{locks_held:count} locks", "then {errno}"),
    POD_DELETED: _TAKEN_OVER,
}
"""The templates for the figures of rows, by step. One with an unknown figure is left out."""
_LOGS = (
    (LATE_WRITES[LOCKED], LATE_SECTORS[LOCKED], "locked log"),
    (LATE_WRITES[UNLOCKED], LATE_SECTORS[UNLOCKED], "log without a lock"),
)


def row_text(rows: Rows) -> str:
    """Return the figures of ``rows``, which have the same step, hosts and outcome, in words: the longest duration, and
    the sum of counts."""
    names = dict.fromkeys(name for row in rows for name in row.get("figures") or {})
    known = {name: _together(rows, name) for name in names}
    logs = (
        phrase("{0:count} in the {2}[ ({1:count} sectors)]", {"0": writes, "1": known.get(sectors) or None, "2": log})
        for name, sectors, log in _LOGS
        if (writes := known.get(name)) is not None
    )
    known["late"] = ", ".join(logs)
    return ", ".join(filter(None, (phrase(f"[{part}]", known) for part in _FIGURES.get(rows[0]["step"], ()))))


def _together(rows: Rows, name: str) -> float | str | None:
    """Return a figure of several rows, or their distinct texts; None if it is not known."""
    known = [value for row in rows if (value := figure(row, name)) is not None]
    if known:
        return max(known) if name.endswith(("_ns", "_s")) else int(sum(known))
    return ", ".join(dict.fromkeys(filter(None, (figure_text(row, name) for row in rows)))) or None


def _seconds(value: float) -> str:
    return format_duration(value * 1e9)
