# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The states of pairs of hosts on a given day, which follow from the results of their tests of locks, and how a status
shows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..._history.problems import LOCKS, Problem
from ..._history.result import Result, facts
from ..._history.states import EXPIRED, FAILED, MOST_URGENT_FIRST, NONE, VALID, Today, days_left, validity
from ..._run.record import DEFAULT_VOLUME
from ..._run.verdicts import FAIL, GOOD


@dataclass(frozen=True)
class PairStatus:
    """The present state of a pair: its newest result, the result that decides the state (None if nothing does), and the
    steps that failed and have not passed since."""

    newest: Result
    state: str
    deciding: Result | None
    failed_steps: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The displayed name of the pair."""
        volume = "" if self.newest.volume == DEFAULT_VOLUME else f" ({self.newest.volume})"
        return f"{self.newest.label}{volume}"


def pair_states(results: Iterable[Result], today: Today) -> list[PairStatus]:
    """Return the states of all pairs, the most urgent first."""
    by_pair: dict[tuple[Any, ...], list[Result]] = {}
    for result in sorted(results, key=lambda result: result.order):
        by_pair.setdefault(result.subject, []).append(result)
    found = [_state(own, today) for own in by_pair.values()]
    return sorted(found, key=lambda status: (MOST_URGENT_FIRST.index(status.state), status.label))


def _state(results: Sequence[Result], today: Today) -> PairStatus:
    """Return the state of a pair from its results, oldest first."""
    failed: dict[str, Result] = {}
    passed: Result | None = None
    last_fail: Result | None = None
    for result in results:
        for step in result.data["passed_steps"]:
            failed.pop(step, None)
        if result.verdict == FAIL:
            failed.update(dict.fromkeys(result.data["failed_steps"], result))
            passed, last_fail = None, result
        elif result.verdict in GOOD:
            passed = result
    newest = results[-1]
    if failed:
        return PairStatus(newest, FAILED, max(failed.values(), key=lambda result: result.order), tuple(failed))
    if last_fail and not passed:
        return PairStatus(newest, FAILED, last_fail)
    if not passed:
        return PairStatus(newest, NONE, None)
    return PairStatus(newest, validity(passed.valid_until, today) if passed.valid_until else VALID, passed)


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
        for host in dict.fromkeys(pair.newest.hosts):
            yield host, Problem(pair.label, pair.state, _sentence(pair), reason, next_step, LOCKS)


def _sentence(pair: PairStatus) -> str:
    """Return the state of a pair with its dates."""
    decides = pair.deciding
    if decides is None:
        tried = pair.newest
        return f"locks are not certified: {tried.verdict} on {tried.judged_at[:10]} (run {tried.run_id})"
    later = pair.newest
    tried = "" if later == decides else f"; {later.verdict} on {later.judged_at[:10]}"
    if pair.state == FAILED:
        return f"locks failed on {decides.judged_at[:10]} (run {decides.run_id}): {decides.data['reason']}{tried}"
    until = f" until {decides.valid_until}" if decides.valid_until else ""
    return f"locks: {decides.data['text']}; {decides.data['profile']}{until} (run {decides.run_id}){tried}"


def entry_of(pair: PairStatus, today: Today) -> dict[str, Any]:
    """Return a pair in the form of status.json."""
    decides, newest = pair.deciding, pair.newest
    until = decides.valid_until if decides else None
    return {
        "label": pair.label,
        **dict(zip(("first", "second"), newest.hosts, strict=True)),
        "volume": newest.volume,
        "directory": newest.path,
        "server": newest.data["server"] or None,
        "state": pair.state,
        "sentence": _sentence(pair),
        "profile": decides.data["profile"] if decides else None,
        **facts(decides, "run_id", "judged_at"),
        "valid_until": until,
        "days_left": days_left(until, today) if until else None,
        "takeover_ns": decides.data["takeover_ns"] if decides else None,
        "failed_steps": list(pair.failed_steps),
        "newest": facts(newest, "run_id", "verdict", "judged_at"),
    }
