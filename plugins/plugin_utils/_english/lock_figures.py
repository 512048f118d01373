# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Puts the figures of a test of locks into words: those of a pair in one line, and those of each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.lock_limits import (
    TAKEOVER_LIMIT,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import (
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    LOCK_COUNT,
    NOT_COVERED,
    SAME_HOST,
    SECOND_REFUSED,
    SERVER_FAILOVER,
    TAKEOVERS,
    UNDER_LOAD,
    figure,
    figure_text,
    rows_of,
)

Rows = Sequence[Mapping[str, Any]]


def pair_text(pair: Mapping[str, Any], limits: Mapping[str, Any]) -> str:
    """Return what matters most about a pair in one line: "takeover 31 s (limit 45 s), 0 late writes, 1,000 of 1,000
    updates kept"."""
    parts = [_takeover_text(pair, limits), _late_writes_text(pair), _updates_text(pair)]
    return ", ".join(filter(None, parts))


def _takeover_text(pair: Mapping[str, Any], limits: Mapping[str, Any]) -> str:
    rows = [row for row in rows_of(pair, *TAKEOVERS) if row["outcome"] != NOT_COVERED]
    never = next((row for row in rows if row["cause"] == "never_taken_over"), None)
    bound = f"(limit {_seconds(limits[TAKEOVER_LIMIT.key])})"
    if never:
        waited = figure(never, "takeover_ns")
        return f"no takeover within {_units.format_duration(waited)} {bound}" if waited else f"no takeover {bound}"
    known = [value for row in rows if (value := figure(row, "takeover_ns")) is not None]
    if not known:
        return "takeover not tested" if not rows else "takeover not known"
    return f"takeover {_units.format_duration(max(known))} {bound}"


def _late_writes_text(pair: Mapping[str, Any]) -> str:
    rows = [row for row in rows_of(pair, CUT_OFF) if figure(row, "late_sectors") is not None]
    if not rows:
        return "late writes not tested"
    late = int(sum(figure(row, "late_sectors") or 0 for row in rows))
    return f"{_units.format_count(late)} late {'write' if late == 1 else 'writes'}"


def _updates_text(pair: Mapping[str, Any]) -> str:
    rows = rows_of(pair, CONCURRENT_UPDATES)
    made, kept = (sum(figure(row, name) or 0 for row in rows) for name in ("updates_made", "updates_kept"))
    return f"{_units.format_count(int(kept))} of {_units.format_count(int(made))} updates kept" if made else ""


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


_REFUSALS = (_count_of("tries", "{} tries"), _text_of("errno", "{}"))
_PAUSE = _duration_of("write_pause_max_ns", "longest pause of the writes {}")
_FIGURES: Mapping[str, Sequence[Callable[[Rows], str]]] = {
    SECOND_REFUSED: _REFUSALS,
    SAME_HOST: _REFUSALS,
    HAND_OVER: (
        _duration_of("wait_ns", "waiting {}"),
        _duration_of("poll_ns", "polling {}"),
        _text_of("way", "after {}"),
    ),
    CONCURRENT_UPDATES: (_count_of("updates_kept", "{} of {} updates kept", "updates_made"),),
    UNDER_LOAD: (
        _load_text,
        _count_of("verifications", "{} verifications"),
        _duration_of("verification_max_ns", "the longest {}"),
        _PAUSE,
        _text_of("errno", "{}"),
    ),
    HOST_LOST: (_duration_of("takeover_ns", "takeover {}"), _count_of("tries", "refused {} times")),
    CUT_OFF: (
        _duration_of("takeover_ns", "takeover {}"),
        _count_of("tries", "refused {} times"),
        _duration_of("back_ns", "back after {}"),
        _count_of("late_sectors", "{} late writes"),
        _text_of("errno", "its pending write ended with {}"),
    ),
    SERVER_FAILOVER: (_PAUSE, _count_of("tries", "the other host refused {} times"), _text_of("errno", "{}")),
    LOCK_COUNT: (_count_of("locks_held", "{} locks"), _text_of("errno", "then {}")),
}
"""The functions that format the figures of rows, by step."""


def _seconds(value: float) -> str:
    return _units.format_duration(value * 1e9)
