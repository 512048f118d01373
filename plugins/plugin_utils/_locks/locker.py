# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Lockers: processes of the tester on a host, which lock files and write to them. A locker opens each file only once,
because closing any descriptor of a file releases the locks on it."""

from __future__ import annotations

import collections
import contextlib
import os
import time
from collections.abc import Callable
from typing import Protocol

from .._run.lock_steps import UNDECIDED
from .protocol import DONE, EACH, ENDED, ERROR, FAILED, LOCKED, LOCKERS, Answer
from .step import AbandonedError, StepEnd, undecided

ENDING = ("exit", "kill")
"""The commands that end a locker."""
WITHOUT_FILE = ("start", "stop", *ENDING)
ANSWER_S = 30.0
"""How long a call that should return at once may take."""
LOOK_S = 0.01
"""How often to check for answers."""
END_S = 5.0
"""How long a killed locker may take to end. A locker that hangs in the kernel is left behind."""


class Speaker(Protocol):
    """The part of an agent that lockers use."""

    host: str
    last_ns: int

    def send(self, number: int, verb: str, *arguments: object) -> None:
        """Send a locker a command."""

    def take(self, number: int) -> Answer | None:
        """Return the next answer of a locker; None if none has arrived. Raises AgentLostError."""


class Clock:
    """The monotonic clock of the controller. All waiting ends if the process that started this one has ended, so that
    no host is cut off after that. A run makes one clock before its first step."""

    def __init__(self) -> None:
        self._parent_pid = os.getppid()

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def sleep(self, seconds: float) -> None:
        """Wait for the given time. Raises AbandonedError."""
        self.check()
        time.sleep(seconds)

    def wait_until(self, is_so: Callable[[], bool], patience_s: float, every_s: float = LOOK_S) -> bool:
        """Wait until ``is_so()`` returns true. Returns whether this happened in time. Raises AbandonedError."""
        end_ns = self.now_ns() + round(patience_s * 1e9)
        while not is_so():
            if self.now_ns() > end_ns:
                return False
            self.sleep(every_s)
        return True

    def check(self) -> None:
        """Raise AbandonedError if the process that started this one has ended."""
        if os.getppid() != self._parent_pid:
            raise AbandonedError


class CallError(StepEnd):
    """A command that had to succeed failed in a locker."""

    def __init__(self, host: str, answer: Answer) -> None:
        errno = answer.text("errno") or answer.outcome
        super().__init__(UNDECIDED, "call_failed", {"host": host, "verb": answer.verb, "errno": errno})


class Locker:
    """A locker of an agent. The names of its files begin with ``label``. ``each`` holds the progress reports of each
    command."""

    def __init__(self, agent: Speaker, number: int, label: str, clock: Clock) -> None:
        self.agent, self.number, self.clock = agent, number, clock
        self._label = label
        self.each: dict[str, list[Answer]] = collections.defaultdict(list)
        self._answers: dict[str, collections.deque[Answer]] = collections.defaultdict(collections.deque)
        self.has_ended = False
        self._is_ending = False

    @property
    def host(self) -> str:
        return self.agent.host

    def tell(self, verb: str, *arguments: object) -> None:
        """Send a command. If the command applies to a file, the first argument is the name of the file without the
        label."""
        self._is_ending = self._is_ending or verb in ENDING
        if verb not in WITHOUT_FILE:
            arguments = (f"{self._label}-{arguments[0]}", *arguments[1:])
        self.agent.send(self.number, verb, *arguments)

    def found(self, verb: str) -> Answer | None:
        """Return the final answer to a command; None if it has not arrived. Raises AgentLostError, and CallError if the
        locker has ended without a command to end."""
        while answer := self.agent.take(self.number):
            self.has_ended = self.has_ended or answer.outcome == ENDED
            if not self._is_ending and (answer.outcome == ENDED or answer.verb == ERROR):
                raise CallError(self.host, answer)
            (self.each if answer.outcome == EACH else self._answers)[answer.verb].append(answer)
        waiting = self._answers[verb]
        return waiting.popleft() if waiting else None

    def found_within(self, verb: str, patience_s: float) -> Answer | None:
        """Return the final answer to a command; None if it does not arrive in time. Raises AgentLostError."""
        end_ns = self.clock.now_ns() + round(patience_s * 1e9)
        while (answer := self.found(verb)) is None and self.clock.now_ns() <= end_ns:
            self.clock.sleep(LOOK_S)
        return answer

    def wait(self, verb: str, patience_s: float = ANSWER_S) -> Answer:
        """Wait for the final answer to a command. Raises StepEnd if it does not arrive in time, and AgentLostError."""
        if answer := self.found_within(verb, patience_s):
            return answer
        raise undecided("deadline", host=self.host, verb=verb)

    def ask(self, verb: str, *arguments: object) -> Answer:
        """Send a command, and wait for its final answer. Raises whatever ``wait`` raises."""
        self.tell(verb, *arguments)
        return self.wait(verb)

    def must(self, verb: str, *arguments: object, patience_s: float = ANSWER_S) -> Answer:
        """Send a command that has to succeed. Raises CallError if it fails, and whatever ``wait`` raises."""
        self.tell(verb, *arguments)
        return self.done(verb, patience_s)

    def done(self, verb: str, patience_s: float) -> Answer:
        """Wait for the end of a command that has to succeed. Raises CallError if it fails, and whatever ``wait``
        raises."""
        answer = self.wait(verb, patience_s)
        if answer.outcome != DONE:
            raise CallError(self.host, answer)
        return answer

    def kill(self) -> None:
        """Kill the locker's process, which releases its locks."""
        if not self.is_gone():
            self.tell("kill")

    def is_gone(self) -> bool:
        """Whether the locker's process has ended. Raises AgentLostError."""
        with contextlib.suppress(CallError):
            self.found("kill")
        return self.has_ended

    def failure(self, verb: str) -> str:
        """Return the name of the error with which a command failed, "locked" if it found that another process holds the
        lock, or an empty string if the command has not ended. Raises CallError if it ended in another way."""
        answer = self.found(verb)
        if answer is None:
            return ""
        if answer.outcome == LOCKED:
            return LOCKED
        if answer.outcome != FAILED:
            raise CallError(self.host, answer)
        return answer.text("errno") or "unknown"

    def reported(self, verb: str, name: str) -> list[int]:
        """Return one figure from each progress report of a command. Raises ProtocolError."""
        return [answer.whole(name) for answer in self.each[verb]]


class Lockers:
    """The lockers of one agent. Each has a unique number until it has ended."""

    def __init__(self, agent: Speaker, label: str, clock: Clock) -> None:
        self.agent, self._label, self._clock = agent, label, clock
        self._used: dict[int, Locker] = {}
        self._last = 0

    @property
    def host(self) -> str:
        return self.agent.host

    def start(self) -> Locker:
        """Start a locker. Raises whatever ``Locker.must`` raises."""
        free = (number for number in _after(self._last) if number not in self._used)
        self._last = next(free)
        locker = self._used[self._last] = Locker(self.agent, self._last, self._label, self._clock)
        locker.must("start")
        return locker

    def end_all(self) -> None:
        """Kill all lockers, which releases their locks. Raises AgentLostError.

        A locker that hangs in the kernel keeps its number.
        """
        for locker in self._used.values():
            locker.kill()
        self._clock.wait_until(lambda: not [each for each in self._used.values() if not each.is_gone()], END_S)
        self._used = {number: locker for number, locker in self._used.items() if not locker.has_ended}


def _after(last: int) -> list[int]:
    """Return all numbers that lockers can have, beginning after the one that was used last."""
    return [(last + step) % LOCKERS + 1 for step in range(LOCKERS)]
