# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Holders that write their logs and verify their locks."""

from __future__ import annotations

import contextlib
import secrets

from .._run.lock_steps import LOCKED as LOCKED_LOG
from .._run.lock_steps import UNLOCKED as UNLOCKED_LOG
from .agent import AgentLostError
from .locker import CallError, Locker, Lockers
from .protocol import DONE, FAILED, LOCKED, Answer
from .stage import BLOCK_BYTES, LOCK, LOG, LOG_BYTES, OPEN_LOG, Stage
from .step import broken, undecided

VERIFY_MS = 2000
"""How often the holder of a lock verifies that it can still use it, as a queue manager does."""
BEGIN_S = 60.0
"""How long the first write may take."""


class Writer:
    """A locker that writes a log in a ring. ``ended_ns`` is the time at which its writing ended (0 if it continues),
    and ``errno`` is the error with which it ended (empty if there was none). The other figures are what the reports
    have said so far: ``pause_max_ns`` is the longest time between the returns of two writes, also before the writing
    began again."""

    def __init__(self, locker: Locker, log: str) -> None:
        self.locker, self.log = locker, log
        self.seed = self.ended_ns = self.pause_max_ns = 0
        self.errno = ""
        self._seen = self._count = self._pause_ns = self._progressed_ns = 0

    @property
    def kind(self) -> str:
        """How figures name the log."""
        return UNLOCKED_LOG if self.log == OPEN_LOG else LOCKED_LOG

    def begin(self, longest_pause_ms: int = 0) -> None:
        """Begin to write the log from its first page. If ``longest_pause_ms`` is not 0, the writing ends after the
        first pause that is longer."""
        self.seed = secrets.randbits(63)
        self.ended_ns = self._count = self._pause_ns = self._progressed_ns = 0
        self._seen = len(self.locker.each["write"])
        self.locker.tell("write", self.log, self.seed, longest_pause_ms)

    def has_ended(self) -> bool:
        """Whether the writing has ended. Raises AgentLostError, and CallError if the locker has ended."""
        if not self.ended_ns and (answer := self.locker.found("write")):
            self.ended_ns = answer.at_ns
            if answer.outcome == DONE:
                self._take(answer)
            elif answer.outcome == FAILED:
                self.errno = answer.text("errno") or "unknown"
            else:
                raise CallError(self.locker.host, answer)
        return bool(self.ended_ns)

    def count(self) -> int:
        """Return how many writes are known to have returned since the writing began."""
        self._read_reports()
        return self._count

    def pause_ns(self) -> int:
        """Return the longest time so far between the returns of two writes since the writing began."""
        self._read_reports()
        return self._pause_ns

    def progressed_ns(self) -> int:
        """Return the time of arrival of the last report that counted more writes than the one before; 0 if there is
        none."""
        self._read_reports()
        return self._progressed_ns

    def _read_reports(self) -> None:
        for answer in self.locker.each["write"][self._seen :]:
            self._take(answer)
            self._seen += 1

    def _take(self, answer: Answer) -> None:
        count, pause_ns = answer.whole("count"), answer.whole("pause_max_ns")
        if 0 < self._count < count:
            self._progressed_ns = answer.at_ns
        self._count = max(self._count, count)
        self._pause_ns = max(self._pause_ns, pause_ns)
        self.pause_max_ns = max(self.pause_max_ns, pause_ns)


class Load:
    """A locker that holds the lock, writes the log, and verifies the lock. If ``open_locker`` is given, this is a
    locker of the same host that writes OPEN_LOG, and holds no lock."""

    def __init__(self, locker: Locker, open_locker: Locker | None = None, longest_pause_ms: int = 0) -> None:
        self.locker = locker
        self.begin_ns = 0
        self.log = Writer(locker, LOG)
        self.open_log = Writer(open_locker, OPEN_LOG) if open_locker else None
        self.verification_failure = ""
        for writer in self.writers:
            writer.begin(longest_pause_ms)
        locker.tell("verify", LOCK, VERIFY_MS)

    @property
    def writers(self) -> list[Writer]:
        return [writer for writer in (self.log, self.open_log) if writer]

    def is_broken(self) -> bool:
        """Whether a write or a verification has failed. Raises AgentLostError."""
        for writer in self.writers:
            writer.has_ended()
        self.verification_failure = self.verification_failure or self.locker.failure("verify")
        return bool(self.verification_failure) or any(writer.errno for writer in self.writers)

    def check(self) -> None:
        """Raise StepEnd if a write or a verification has failed, or if a verification found that another process holds
        the lock."""
        if not self.is_broken():
            return
        if self.verification_failure == LOCKED:
            raise broken("granted", **self.figures())
        for writer in self.writers:
            if writer.errno:
                raise broken("write_error", errno=writer.errno, log=writer.kind, **self.figures())
        raise broken("verification_error", errno=self.verification_failure, **self.figures())

    def has_ended(self) -> bool:
        """Whether the tester reported that the locker ended, which it does only while its host has power."""
        with contextlib.suppress(AgentLostError, CallError):
            self.is_broken()
        return self.locker.has_ended

    def kill(self) -> None:
        """Kill the lockers, which releases their locks. Raises AgentLostError."""
        for writer in self.writers:
            writer.locker.kill()

    def is_gone(self) -> bool:
        """Whether the processes of the lockers have ended. Raises AgentLostError."""
        return all(writer.locker.is_gone() for writer in self.writers)

    def figures(self) -> dict[str, int]:
        """Return the figures of the writes and verifications so far. A verification that has not ended is included with
        the time that it has taken so far."""
        verified = self.locker.reported("verify", "ns")
        last_ns = max([self.begin_ns, *(answer.at_ns for answer in self.locker.each["verify"])])
        open_ns = self.locker.clock.now_ns() - last_ns - VERIFY_MS * 1_000_000 if last_ns else 0
        return {
            "writes": sum(writer.count() for writer in self.writers),
            "write_pause_max_ns": max(writer.pause_max_ns for writer in self.writers),
            "verifications": len(verified),
            "verification_max_ns": max([open_ns, 0, *verified]),
        }


def load(stage: Stage, has_open_log: bool = False, longest_pause_ms: int = 0) -> Load:
    """Let the holder write its log (both logs if ``has_open_log`` is true) and verify its lock, and wait for the first
    writes. Raises StepEnd, and whatever ``Locker.must`` raises."""
    open_locker = stage.open(stage.holder, OPEN_LOG) if has_open_log else None
    begun = Load(stage.hold(stage.holder, LOCK, LOG), open_locker, longest_pause_ms)
    if not stage.clock.wait_until(lambda: _have_begun(begun) or begun.is_broken(), BEGIN_S):
        raise undecided("deadline", host=stage.holder.host, verb="write")
    begun.check()
    begun.begin_ns = stage.clock.now_ns()
    return begun


def write_all(stage: Stage, lockers: Lockers, locker: Locker, patience_s: float) -> Load:
    """Let a locker that holds the locks write all of both logs at least once, and then only hold the locks. Raises
    StepEnd, and whatever ``Locker.must`` raises."""
    written = Load(locker, stage.open(lockers, OPEN_LOG))

    def is_all() -> bool:
        return all(writer.count() >= LOG_BYTES // BLOCK_BYTES for writer in written.writers)

    if not stage.clock.wait_until(lambda: written.is_broken() or is_all(), patience_s):
        raise undecided("deadline", host=locker.host, verb="write")
    written.check()
    for writer in written.writers:
        writer.locker.tell("stop", "write")
    if not stage.clock.wait_until(lambda: all(writer.has_ended() for writer in written.writers), patience_s):
        raise undecided("deadline", host=locker.host, verb="write")
    return written


def _have_begun(begun: Load) -> bool:
    begun.is_broken()
    return all(writer.count() > 0 for writer in begun.writers)
