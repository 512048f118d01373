# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lockers of both hosts, and actions that several steps have in common."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

from .agent import AgentLostError
from .locker import Clock, Locker, Lockers
from .protocol import FAILED, HELD, REFUSED, Answer
from .step import broken, undecided

LOCK, LOG, OPEN_LOG, RECORD, NONCE = "lock", "log", "log-unlocked", "record", "nonce"
"""The test files of a pair, without the label of the pair. The writer of LOG locks it, and nobody ever locks OPEN_LOG:
it is not documented that a queue manager locks the extents of its log, and some file servers fence only files that the
client had locked."""
LOG_BYTES = 4 << 20
BLOCK_BYTES = 4096
"""The size of the writes to a log."""
FREE_S = 120.0
"""How long a lock that an earlier step released may still be held, for example in the grace period of a file server."""
PROBE_S = 0.5
"""How often the other host tries to get a lock that it must not get."""
RECENT_S = 20.0
"""How long ago a host was refused a lock for the last time, at most, when a step ends in which it must not get it."""


@dataclass
class Stage:
    """The lockers of the host that holds the lock and of the other host, and how long to wait for a takeover."""

    holder: Lockers
    other: Lockers
    takeover_s: float
    clock: Clock

    def open(self, lockers: Lockers, *files: str) -> Locker:
        """Start a locker that opens the files. Raises whatever ``Locker.must`` raises."""
        locker = lockers.start()
        for name in files:
            locker.must("open", name)
        return locker

    def hold(self, lockers: Lockers, *files: str) -> Locker:
        """Start a locker that holds the locks on the files. Raises StepEnd, and whatever ``Locker.must`` raises."""
        locker = self.open(lockers, *files)
        for name in files:
            take(locker, name, FREE_S)
        return locker

    def end(self) -> None:
        """End the lockers of both hosts. Lockers of a lost host end with the host."""
        for lockers in (self.holder, self.other):
            with contextlib.suppress(AgentLostError):
                lockers.end_all()


def take(locker: Locker, name: str, patience_s: float) -> Answer:
    """Try to lock a file until the lock is held. Raises StepEnd and AgentLostError."""
    locker.tell("lock", name, "poll", round(PROBE_S * 1000))
    answer = locker.found_within("lock", patience_s)
    if answer is None:
        raise undecided("lock_not_free", host=locker.host)
    if answer.outcome != HELD:
        raise broken("refused_by_error", host=locker.host, errno=answer.text("errno"))
    return answer


def refused(answer: Answer) -> None:
    """Raise StepEnd if an attempt to get a lock was not refused, but failed with an error."""
    _must(answer, REFUSED)


def held(answer: Answer) -> None:
    """Raise StepEnd if waiting for a lock failed with an error."""
    _must(answer, HELD)


def _must(answer: Answer, outcome: str) -> None:
    if answer.outcome != outcome:
        raise undecided("refused_by_error", errno=answer.text("errno") if answer.outcome == FAILED else answer.outcome)


BEGIN_S = 60.0
"""How long the first refusals may take."""


class Prober:
    """A locker that repeatedly tries to get a lock that is held. ``granted_ns`` is the time at which it got the lock (0
    before that), ``asked_ns`` is the time at which the last attempt was sent, and ``refusals`` contains the times at
    which the refused attempts were sent, all by the monotonic clock."""

    def __init__(self, locker: Locker) -> None:
        self.locker = locker
        self.granted_ns = 0
        self.refusals: list[int] = []
        self.asked_ns = -round(PROBE_S * 1e9)
        self._is_waiting = False

    def has_it(self) -> bool:
        """Try again if the next attempt is due. Returns whether the lock was granted. Raises StepEnd and
        AgentLostError."""
        if self._is_waiting and (answer := self.locker.found("lock")):
            self._is_waiting = False
            if answer.outcome == HELD:
                self.granted_ns = answer.at_ns
            else:
                refused(answer)
                self.refusals.append(self.asked_ns)
        if not self.granted_ns and not self._is_waiting and self._now_ns() - self.asked_ns >= PROBE_S * 1e9:
            self.asked_ns = self._now_ns()
            self._is_waiting = True
            self.locker.tell("lock", LOCK, "try", 1)
        return bool(self.granted_ns)

    def _now_ns(self) -> int:
        return self.locker.clock.now_ns()

    def was_refused_lately(self) -> bool:
        """Whether an attempt was refused a short time ago. A host whose client of the file server hangs is not
        refused."""
        return bool(self.refusals) and self._now_ns() - self.refusals[-1] <= RECENT_S * 1e9


def refuse_early(stage: Stage, prober: Prober) -> None:
    """Wait until a host has been refused the lock twice. Raises StepEnd if it gets the lock although the holder has
    it."""
    if stage.clock.wait_until(lambda: prober.has_it() or len(prober.refusals) > 1, BEGIN_S) and not prober.granted_ns:
        return
    raise broken("granted") if prober.granted_ns else undecided("deadline", host=prober.locker.host, verb="lock")
