# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The states of pairs of hosts on a given day. A pair is failed until later tests have passed each step that failed,
and one of these tests has passed as a whole. The newest pass since the last fail counts until its last day."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .._run.record import DEFAULT_VOLUME
from .._run.verdicts import FAIL, GOOD
from .lock_result import LockResult
from .states import EXPIRED, EXPIRING, FAILED, MOST_URGENT_FIRST, NONE, VALID, Today


@dataclass(frozen=True)
class PairStatus:
    """The present state of a pair: its newest result, the result that decides the state (None if nothing does), and the
    steps that failed and have not passed since."""

    newest: LockResult
    state: str
    deciding: LockResult | None
    failed_steps: tuple[str, ...] = ()

    @property
    def hosts(self) -> tuple[str, str]:
        """The inventory names of its hosts."""
        return self.newest.first, self.newest.second

    @property
    def label(self) -> str:
        """The displayed name of the pair."""
        first, second = self.hosts
        volume = "" if self.newest.volume == DEFAULT_VOLUME else f" ({self.newest.volume})"
        return f"{first} and {second} on {self.newest.directory}{volume}"


def pair_states(results: Iterable[LockResult], today: Today) -> list[PairStatus]:
    """Return the states of all pairs, the most urgent first."""
    by_pair: dict[tuple[str, ...], list[LockResult]] = {}
    for result in sorted(results, key=lambda result: result.order):
        by_pair.setdefault(result.pair, []).append(result)
    found = [_state(own, today) for own in by_pair.values()]
    return sorted(found, key=lambda status: (MOST_URGENT_FIRST.index(status.state), status.label))


def _state(results: Sequence[LockResult], today: Today) -> PairStatus:
    """Return the state of a pair from its results, oldest first."""
    failed: dict[str, LockResult] = {}
    passed: LockResult | None = None
    last_fail: LockResult | None = None
    for result in results:
        for step in result.passed_steps.split():
            failed.pop(step, None)
        if result.verdict == FAIL:
            failed.update(dict.fromkeys(result.failed_steps.split(), result))
            passed, last_fail = None, result
        elif result.verdict in GOOD:
            passed = result
    newest = results[-1]
    if failed:
        return PairStatus(newest, FAILED, max(failed.values(), key=lambda result: result.order), tuple(failed))
    if last_fail and not passed:
        return PairStatus(newest, FAILED, last_fail)
    return PairStatus(newest, _validity(passed, today) if passed else NONE, passed)


def _validity(passed: LockResult, today: Today) -> str:
    if passed.valid_until is None:
        return VALID
    remaining_days = (datetime.date.fromisoformat(passed.valid_until) - today.date).days
    if remaining_days < 0:
        return EXPIRED
    return EXPIRING if remaining_days < today.expiring_days else VALID
