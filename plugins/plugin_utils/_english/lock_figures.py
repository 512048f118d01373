# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Puts the figures of a test of locks into words: those of a pair in one line, and those of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils import _units
from .._judge.lock_limits import (
    LOCK_LIMITS,
    NOTIFICATION_ID,
    NOTIFICATION_REQUIRES,
    NOTIFICATION_S,
    TAKEOVER_LIMIT,
    required_steps,
)
from .._judge.locks import untested_steps
from .._run.findings import LOCK_BROKEN, LOCK_LIMIT
from .._run.lock_steps import (
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
    figure,
    figure_text,
    late_writes,
    rows_of,
)
from .._run.words import words_of
from .findings import in_words
from .locks import step_title

Rows = Sequence[Mapping[str, Any]]
_WORDS = words_of("")


Pair = Mapping[str, Any]
Limits = Mapping[str, Any]


def pair_text(pair: Pair, limits: Limits, found: Sequence[Mapping[str, Any]]) -> str:
    """Return what matters most about a pair in one line: "takeover 31 s (limit 45 s), 0 late writes, 1,000 of 1,000
    updates kept; not tested: failover of the file server". If something is broken, that comes first."""
    worst = next((each for each in found if each["kind"] in (LOCK_BROKEN, LOCK_LIMIT)), None)
    fault = "" if worst is None else worst["limit"] if worst["kind"] == LOCK_LIMIT else worst["code"]
    ordered = sorted(_PARTS, key=lambda part: fault not in part[0])
    told = ", ".join(filter(None, (write(pair, limits) for _faults, write in ordered)))
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
        + (f" (in {_units.format_count(counts[step])} of {len(pairs)} pairs)" if counts[step] < len(pairs) else "")
        for step in STEPS
        if step in counts
    ]
    return f"not tested: {', '.join(told)}" if told else ""


def limits_told(limits: Limits) -> list[str]:
    """Return the limits of a profile with their ids, the load, and the required steps."""
    told = [f"{limit.id} {limit.key}: {limit.requires}: {limits[limit.key]:,g}" for limit in LOCK_LIMITS]
    steps = ", ".join(map(step_title, required_steps(limits)))
    return [
        *told,
        f"{NOTIFICATION_ID}: {NOTIFICATION_REQUIRES}: {NOTIFICATION_S:g}",
        f"load_s: minimum time in seconds of full load: {limits['load_s']:,g}",
        f"required steps: {steps}",
    ]


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


def _takeover_text(pair: Pair, limits: Limits) -> str:
    rows = [row for row in rows_of(pair, *TAKEOVERS) if row["outcome"] != NOT_COVERED]
    never = next((row for row in rows if row["cause"] == "never_taken_over"), None)
    bound = f"(limit {_seconds(limits[TAKEOVER_LIMIT.key])})"
    if never:
        waited = figure(never, "takeover_ns")
        return f"no takeover within {_units.format_duration(waited)} {bound}" if waited else f"no takeover {bound}"
    known = [value for row in rows if (value := figure(row, "takeover_ns")) is not None]
    if not known:
        return "takeover not known" if rows else ""
    return f"takeover {_units.format_duration(max(known))} {bound}"


def _late_writes_text(pair: Pair, limits: Limits) -> str:
    late = late_writes_of(pair)
    return "" if late is None else f"{_units.format_count(late)} late {'write' if late == 1 else 'writes'}"


def _updates_text(pair: Pair, limits: Limits) -> str:
    rows = rows_of(pair, CONCURRENT_UPDATES)
    made, kept = (sum(figure(row, name) or 0 for row in rows) for name in ("updates_made", "updates_kept"))
    return f"{_units.format_count(int(kept))} of {_units.format_count(int(made))} updates kept" if made else ""


_PARTS: Sequence[tuple[frozenset[str], Callable[[Pair, Limits], str]]] = (
    (frozenset({"never_taken_over", TAKEOVER_LIMIT.key}), _takeover_text),
    (frozenset({"late_write_landed"}), _late_writes_text),
    (frozenset({"updates_lost"}), _updates_text),
)
"""The parts of the line of a pair, each with the faults that it tells: codes of findings, and keys of limits."""


def row_text(rows: Rows) -> str:
    """Return the figures of ``rows``, which have the same step, hosts and outcome, in words."""
    parts = [write(rows) for write in _FIGURES.get(rows[0]["step"], ())]
    return ", ".join(filter(None, parts))


def _longest(rows: Rows, name: str) -> float | None:
    return max((value for row in rows if (value := figure(row, name)) is not None), default=None)


def _duration_of(name: str, text: str) -> Callable[[Rows], str]:
    """Return a function that formats the longest duration of some rows; the text is empty if none is known."""
    return lambda rows: (
        "" if (longest := _longest(rows, name)) is None else text.format(_units.format_duration(longest))
    )


def _count_of(name: str, text: str, total: str = "") -> Callable[[Rows], str]:
    """Return a function that formats the sum of the figure ``name`` over some rows and, if ``total`` names another
    figure, also the sum of that one; the text is empty if either sum is not known."""

    def write(rows: Rows) -> str:
        known = [
            int(sum(figure(row, each) or 0 for row in rows))
            for each in filter(None, (name, total))
            if any(figure(row, each) is not None for row in rows)
        ]
        return text.format(*map(_units.format_count, known)) if len(known) == 1 + bool(total) else ""

    return write


def _text_of(name: str, text: str) -> Callable[[Rows], str]:
    """Return a function that formats the distinct texts of some rows."""

    def write(rows: Rows) -> str:
        told = list(dict.fromkeys(filter(None, (figure_text(row, name) for row in rows))))
        return text.format(", ".join(told)) if told else ""

    return write


def _load_text(rows: Rows) -> str:
    longest = _longest(rows, "load_s")
    return "" if longest is None else f"{_seconds(longest)} of load"


def _late_text(rows: Rows) -> str:
    """Return how many late writes each of the two logs contains, with their sectors if there are any."""
    logs = (
        _count_of(writes, "{} in the " + title)(rows) + _some_sectors(rows, sectors)
        for writes, sectors, title in (
            (LATE_WRITES[LOCKED], LATE_SECTORS[LOCKED], "locked log"),
            (LATE_WRITES[UNLOCKED], LATE_SECTORS[UNLOCKED], "log without a lock"),
        )
    )
    told = ", ".join(filter(None, logs))
    return f"late writes: {told}" if told else ""


def _some_sectors(rows: Rows, name: str) -> str:
    sectors = int(sum(figure(row, name) or 0 for row in rows))
    return f" ({_units.format_count(sectors)} sectors)" if sectors else ""


_REFUSALS = (_count_of("tries", "{} tries"), _text_of("errno", "{}"))
_PAUSE = _duration_of("write_pause_max_ns", "longest pause of the writes {}")
_VERIFICATION = (
    _count_of("verifications", "{} verifications"),
    _duration_of("verification_max_ns", "the longest {}"),
)
_TAKEN_OVER = (_duration_of("takeover_ns", "takeover {}"), _count_of("tries", "refused {} times"))
_RETURNED = (
    _duration_of("back_ns", "back after {}"),
    _count_of("refused_after_return", "then refused {} times"),
    _late_text,
)
_ACKNOWLEDGED = _count_of("acknowledged_lost", "{} of {} acknowledged writes lost", "acknowledged")
_FIGURES: Mapping[str, Sequence[Callable[[Rows], str]]] = {
    SETTINGS: (_duration_of("visible_after_ns", "data visible after {}"),),
    SECOND_REFUSED: _REFUSALS,
    SAME_HOST: (
        *_REFUSALS,
        _count_of("tries_after_close", "{} tries of the other host after a close"),
        _count_of("tries_after_read", "{} after a read"),
    ),
    HAND_OVER: (
        _duration_of("wait_ns", "waiting {}"),
        _duration_of("poll_ns", "polling {}"),
        _duration_of("try_ns", "one request {}"),
        _text_of("way", "after {}"),
    ),
    CONCURRENT_UPDATES: (_count_of("updates_kept", "{} of {} updates kept", "updates_made"),),
    UNDER_LOAD: (_load_text, *_VERIFICATION, _PAUSE, _text_of("errno", "{}")),
    HOST_LOST: (*_TAKEN_OVER, *_RETURNED, _ACKNOWLEDGED),
    CUT_OFF: (*_TAKEN_OVER, *_RETURNED, _text_of("errno", "its pending write ended with {}"), _ACKNOWLEDGED),
    SERVER_FAILOVER: (
        _PAUSE,
        *_VERIFICATION,
        _count_of("tries", "the other host refused {} times"),
        _ACKNOWLEDGED,
        _text_of("errno", "{}"),
    ),
    LOCK_COUNT: (_count_of("locks_held", "{} locks"), _text_of("errno", "then {}")),
    POD_DELETED: (_duration_of("takeover_ns", "takeover {}"), _count_of("tries", "refused {} times")),
}
"""The functions that format the figures of rows, by step."""


def _seconds(value: float) -> str:
    return _units.format_duration(value * 1e9)
