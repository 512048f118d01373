# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The pairs of hosts in the status of a fleet: which hosts share a directory, how long a takeover took, and until when
the result counts."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...module_utils import _units
from .._run import open_metrics as om
from .lock_result import PairStatus
from .problem import LOCKS, Problem
from .states import EXPIRED, FAILED, MOST_URGENT_FIRST, NONE, REVOKED, Today

_STATES = tuple(state for state in MOST_URGENT_FIRST if state != REVOKED)


def pair_problems(pairs: Iterable[PairStatus]) -> Iterator[tuple[str, Problem]]:
    """Yield each pair that failed or expired as a problem of each of its hosts."""
    for pair in pairs:
        if pair.state == FAILED:
            steps = ", ".join(step.replace("_", " ") for step in pair.failed_steps)
            reason = f"the test of locks failed ({steps})" if steps else "no test of locks has passed since one failed"
            next_step = (
                "correct what the report of the run names as the cause, and test the locks again: only a test that "
                "passes, including the failed steps, clears this"
            )
        elif pair.state == EXPIRED:
            reason, next_step = "the result of the test of locks expired", "test the locks again"
        else:
            continue
        for host in dict.fromkeys(pair.hosts):
            yield host, Problem(pair.label, pair.state, pair_sentence(pair), reason, next_step, LOCKS)


def states_by_host(pairs: Iterable[PairStatus]) -> dict[str, list[str]]:
    """Return, by host, the states of its pairs that count against it in addition to the states of its volumes."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        for host in pair.hosts if pair.state in (FAILED, EXPIRED) else ():
            found.setdefault(host, []).append(pair.state)
    return found


def pair_sentence(pair: PairStatus) -> str:
    """Return the state of a pair with its dates."""
    decides = pair.deciding
    if decides is None:
        tried = pair.newest
        return f"locks are not certified: {tried.verdict} on {tried.judged_at[:10]} (run {tried.run_id})"
    later = pair.newest
    tried = "" if later == decides else f"; {later.verdict} on {later.judged_at[:10]}"
    if pair.state == FAILED:
        return f"locks failed on {decides.judged_at[:10]} (run {decides.run_id}): {decides.reason}{tried}"
    until = f" until {decides.valid_until}" if decides.valid_until else ""
    return f"locks: {decides.text}; {decides.profile}{until} (run {decides.run_id}){tried}"


def pair_entry(pair: PairStatus, today: Today) -> dict[str, Any]:
    """Return a pair in the form of status.json."""
    decides, newest = pair.deciding, pair.newest
    until = decides.valid_until if decides else None
    return {
        "label": pair.label,
        "first": newest.first,
        "second": newest.second,
        "volume": newest.volume,
        "directory": newest.directory,
        "server": newest.server or None,
        "state": pair.state,
        "sentence": pair_sentence(pair),
        "profile": decides.profile if decides else None,
        "run_id": decides.run_id if decides else None,
        "judged_at": decides.judged_at if decides else None,
        "valid_until": until,
        "days_left": (datetime.date.fromisoformat(until) - today.date).days if until else None,
        "takeover_ns": decides.takeover_ns if decides else None,
        "failed_steps": list(pair.failed_steps),
        "newest": {"run_id": newest.run_id, "verdict": newest.verdict, "judged_at": newest.judged_at},
    }


def pair_lines(pairs: Sequence[PairStatus], shown: int) -> list[str]:
    """Return a line for the screen for each of the most urgent pairs."""
    lines = [f"  {pair.state:9} {pair.label}  {pair_sentence(pair)}" for pair in pairs[:shown]]
    left = len(pairs) - shown
    return [*lines, f"  and {_units.format_count(left)} more pairs, see status.json"] if left > 0 else lines


def pair_metrics(pairs: Sequence[PairStatus]) -> Iterator[str]:
    """Yield the state of each pair, the end of its validity, and its longest takeover."""
    labelled = [(_labels(pair), pair) for pair in pairs]
    yield om.family("logdisk_lock_state", "Whether the locks of the pair are in this state.")
    for own, pair in labelled:
        yield om.states("logdisk_lock_state", own, "state", _STATES, pair.state)
    yield om.family("logdisk_lock_end_timestamp_seconds", "End of the last day on which the test of the locks counts.")
    for own, pair in labelled:
        if pair.deciding and pair.deciding.valid_until:
            end = om.end_of_day_s(pair.deciding.valid_until)
            yield om.sample("logdisk_lock_end_timestamp_seconds", own, end)
    yield om.family("logdisk_lock_takeover_seconds", "Longest takeover in the test that decides the state.")
    for own, pair in labelled:
        if pair.deciding and pair.deciding.takeover_ns is not None and pair.state not in (FAILED, NONE):
            yield om.sample("logdisk_lock_takeover_seconds", own, pair.deciding.takeover_ns / 1e9)


def _labels(pair: PairStatus) -> str:
    newest = pair.newest
    named = {"first": newest.first, "second": newest.second, "volume": newest.volume, "directory": newest.directory}
    return om.labels(named)
