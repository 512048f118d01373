# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a test of locks for one pair of hosts and one directory, and the states of pairs on a given day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .._run.record import DEFAULT_VOLUME
from .._run.verdicts import FAIL, GOOD, INCONCLUSIVE
from .dating import Dated
from .states import FAILED, MOST_URGENT_FIRST, NONE, VALID, Today, validity


@dataclass(frozen=True)
class LockResult(Dated):
    """The result of a pair of hosts in one run. Texts are untrusted and printable.

    ``failed_steps`` and ``passed_steps`` are the names of steps, separated by blanks: those that failed, and those that
    passed, including those that passed only because a waiver excused them. ``takeover_ns`` is the longest takeover,
    None if none is known; ``text`` is the line of the pair in reports, and ``reason`` is the first reason for its
    verdict. ``valid_until`` is the last day on which a pass counts, None if it counts indefinitely.
    """

    sha256: str
    run_id: str
    first: str
    second: str
    volume: str
    directory: str
    server: str
    profile: str
    judged_at: str
    verdict: str
    valid_until: str | None
    takeover_ns: int | None
    failed_steps: str
    passed_steps: str
    text: str
    reason: str

    @property
    def passes(self) -> bool:
        return self.verdict in GOOD

    def void(self) -> LockResult:
        verdict = INCONCLUSIVE if self.verdict in GOOD else self.verdict
        return replace(self, verdict=verdict, valid_until=None, passed_steps="")

    @property
    def pair(self) -> tuple[str, str, str, str]:
        """What the result is about: the hosts in a fixed order, the volume, and the directory that they share."""
        return min(self.first, self.second), max(self.first, self.second), self.volume, self.directory


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
    if not passed:
        return PairStatus(newest, NONE, None)
    return PairStatus(newest, validity(passed.valid_until, today) if passed.valid_until else VALID, passed)
