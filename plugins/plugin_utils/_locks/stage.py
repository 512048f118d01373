# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The lockers of both hosts, and actions that several steps have in common."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.agent import AgentLostError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import (
    LOOK_S,
    CallError,
    Clock,
    Locker,
    Lockers,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.protocol import FAILED, HELD, LOCKED, REFUSED, Answer
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import broken, undecided

LOCK, LOG, RECORD, NONCE = "lock", "log", "record", "nonce"
"""The test files of a pair, without the label of the pair."""
LOG_BYTES = 16 << 20
BLOCK_BYTES = 4096
"""The size of the writes to the log."""
FREE_S = 120.0
"""How long a lock that an earlier step released may still be held, for example in the grace period of a file server."""
VERIFY_MS = 2000
"""How often the holder of a lock verifies that it can still use it, as a queue manager does."""
PROBE_S = 0.5
"""How often the other host tries to get a lock that it must not get."""
BEGIN_S = 60.0
"""How long the first write may take."""


@dataclass
class Stage:
    """The lockers of the host that holds the lock and of the other host, and how long to wait for a takeover."""

    holder: Lockers
    other: Lockers
    takeover_s: float
    clock: Clock

    def wait_until(self, is_so: Callable[[], bool], patience_s: float) -> bool:
        """Wait until ``is_so()`` returns true. Returns whether this happened in time."""
        end_ns = self.clock.now_ns() + round(patience_s * 1e9)
        while not is_so():
            if self.clock.now_ns() > end_ns:
                return False
            self.clock.sleep(LOOK_S)
        return True

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

    def load(self) -> Load:
        """Let the holder write the log and verify its lock, and wait for the first write. Raises StepEnd, and whatever
        ``Locker.must`` raises."""
        load = Load(self.hold(self.holder, LOCK, LOG))
        if not self.wait_until(lambda: load.writes() > 0 or load.is_broken(), BEGIN_S):
            raise undecided("deadline", host=self.holder.host, verb="write")
        load.check()
        load.begin_ns = self.clock.now_ns()
        return load

    def refuse_early(self, prober: Prober) -> None:
        """Wait until the other host has been refused the lock twice. Raises StepEnd if it gets the lock although the
        holder has it."""
        if self.wait_until(lambda: prober.has_it() or len(prober.refusals) > 1, BEGIN_S) and not prober.granted_ns:
            return
        raise broken("granted") if prober.granted_ns else undecided("deadline", host=self.other.host, verb="lock")

    def end(self) -> None:
        """End the lockers of both hosts. Lockers of a lost host end with the host."""
        for lockers in (self.holder, self.other):
            with contextlib.suppress(AgentLostError):
                lockers.end_all()


def take(locker: Locker, name: str, patience_s: float) -> Answer:
    """Try to lock a file until the lock is held. Raises StepEnd and AgentLostError."""
    locker.tell("lock", name, "poll", round(PROBE_S * 1000))
    answer = found_within(locker, "lock", patience_s)
    if answer is None:
        raise undecided("lock_not_free", host=locker.host)
    if answer.outcome != HELD:
        raise broken("refused_by_error", host=locker.host, errno=answer.text("errno"))
    return answer


def found_within(locker: Locker, verb: str, patience_s: float) -> Answer | None:
    """Return the final answer to a command; None if it does not arrive in time. Raises AgentLostError."""
    end_ns = locker.clock.now_ns() + round(patience_s * 1e9)
    while (answer := locker.found(verb)) is None and locker.clock.now_ns() <= end_ns:
        locker.clock.sleep(LOOK_S)
    return answer


class Load:
    """A locker that holds the lock, writes the log, and verifies the lock."""

    def __init__(self, locker: Locker) -> None:
        self.locker = locker
        self.seed = secrets.randbits(63)
        self.begin_ns = 0
        self._failures: dict[str, str] = {}
        locker.tell("write", LOG, self.seed)
        locker.tell("verify", LOCK, VERIFY_MS)

    def is_broken(self) -> bool:
        """Whether a write or a verification has failed. Raises AgentLostError."""
        for verb in ("write", "verify"):
            if verb not in self._failures and (errno := self.locker.failure(verb)):
                self._failures[verb] = errno
        return bool(self._failures)

    def check(self) -> None:
        """Raise StepEnd if a write or a verification has failed, or if a verification found that another process holds
        the lock."""
        if self.is_broken():
            if self._failures.get("verify") == LOCKED:
                raise broken("granted", **self.figures())
            verb, errno = next(iter(self._failures.items()))
            raise broken({"write": "write_error", "verify": "verification_error"}[verb], errno=errno, **self.figures())

    def writes(self) -> int:
        """Return how many writes have returned."""
        return max(self.locker.reported("write", "count"), default=0)

    def has_written_all(self) -> bool:
        """Whether the whole log was written at least once."""
        return self.writes() >= LOG_BYTES // BLOCK_BYTES

    def pause_max_ns(self) -> int:
        """Return the longest time so far between the returns of two writes."""
        return max(self.locker.reported("write", "pause_max_ns"), default=0)

    def has_ended(self) -> bool:
        """Whether the tester reported that the locker ended, which it does only while its host has power."""
        with contextlib.suppress(AgentLostError, CallError):
            self.is_broken()
        return self.locker.has_ended

    def progressed_ns(self) -> int:
        """Return the time of arrival of the last report that counted more writes than the one before; 0 if there is
        none."""
        reports = self.locker.each["write"]
        newer = [late.at_ns for early, late in pairwise(reports) if late.whole("count") > early.whole("count")]
        return max(newer, default=0)

    def write_failure(self) -> str:
        """Return the name of the error with which the writes ended; empty if they continue."""
        self.is_broken()
        return self._failures.get("write", "")

    def figures(self) -> dict[str, int]:
        """Return the figures of the writes and verifications so far. A verification that has not ended is included with
        the time that it has taken so far."""
        verified = self.locker.reported("verify", "ns")
        last_ns = max([self.begin_ns, *(answer.at_ns for answer in self.locker.each["verify"])])
        open_ns = self.locker.clock.now_ns() - last_ns - VERIFY_MS * 1_000_000 if last_ns else 0
        return {
            "writes": self.writes(),
            "write_pause_max_ns": self.pause_max_ns(),
            "verifications": len(verified),
            "verification_max_ns": max([open_ns, 0, *verified]),
        }


class Prober:
    """A locker of the other host that repeatedly tries to get a lock that is held. ``granted_ns`` is the time at which
    it got the lock (0 before that), and ``refusals`` contains the times at which the refused attempts were sent, all by
    the monotonic clock."""

    def __init__(self, locker: Locker) -> None:
        self.locker = locker
        self.granted_ns = 0
        self.refusals: list[int] = []
        self._asked_ns = -round(PROBE_S * 1e9)
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
                self.refusals.append(self._asked_ns)
        if not self.granted_ns and not self._is_waiting and self._now_ns() - self._asked_ns >= PROBE_S * 1e9:
            self._asked_ns = self._now_ns()
            self._is_waiting = True
            self.locker.tell("lock", LOCK, "try", 1)
        return bool(self.granted_ns)

    def _now_ns(self) -> int:
        return self.locker.clock.now_ns()


def refused(answer: Answer) -> None:
    """Raise StepEnd if an attempt to get a lock was not refused, but failed with an error."""
    _must(answer, REFUSED)


def held(answer: Answer) -> None:
    """Raise StepEnd if waiting for a lock failed with an error."""
    _must(answer, HELD)


def _must(answer: Answer, outcome: str) -> None:
    if answer.outcome != outcome:
        raise undecided("refused_by_error", errno=answer.text("errno") if answer.outcome == FAILED else answer.outcome)
