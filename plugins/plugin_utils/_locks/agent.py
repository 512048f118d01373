# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Communicates with the tester of one host: sends commands to its lockers, and returns their answers in the order of
arrival. Every wait has a time limit that does not depend on the host."""

from __future__ import annotations

import collections
import time
from collections.abc import Sequence

from .._dialogue.line_stream import LET_END_S, MOST_FOREIGN_LINES, SSH_FAILED, LineStream
from .._run.lock_steps import UNDECIDED
from .protocol import Answer, ProtocolError, Ready, read_answer, read_ready
from .step import StepEnd

SILENT_S = 9
"""For how many seconds a host may say nothing before its connection ends. A busy host, or a virtual machine that is
moved to another hypervisor, is silent for some seconds and keeps its lock, because a lease is longer. A takeover is
counted from the host's last sign of life, so it does not matter how soon the loss of a host is noticed."""
CLOSED_NS = 1_500_000_000
"""If the connection ends so soon after the last line, the host has closed it, which a host without power cannot do.
The tester of a writing holder sends a line every second, and ssh contacts a silent host for the first time after two
to three seconds (a third of SILENT_S, counted in whole seconds)."""
LATE_LINE_NS = 2_000_000_000
"""How much later than it was sent a last line may arrive. A lock that was granted longer before that line was granted
while the tester was running."""
MOST_WAITING = 100_000
"""The largest number of answers that are kept until they are taken."""


class AgentLostError(StepEnd):
    """The tester of a host has ended, or its connection is lost. The message is the last output of the tester or of
    ssh."""

    def __init__(self, host: str, said: str) -> None:
        super().__init__(UNDECIDED, "agent_lost", {"host": host, "said": said})


class Agent:
    """The tester of ``host``, which ``command`` starts for the run ``run_id``. ``last_ns`` is the time at which its
    last line arrived, by the monotonic clock."""

    def __init__(self, host: str, command: Sequence[bytes | str], run_id: str) -> None:
        self.host = host
        self._run_id = run_id
        self._answers: dict[int, collections.deque[Answer]] = collections.defaultdict(collections.deque)
        self._foreign = 0
        self._ready: Ready | None = None
        self.last_ns = time.monotonic_ns()
        self._stream = LineStream(command, self._take)

    def ready(self, patience_s: float) -> Ready | None:
        """Wait for the tester's first line, and return it; None if it did not come in time. Raises AgentLostError."""
        self._stream.wait_for(lambda: self._ready is not None, patience_s)
        if self.is_over and self._ready is None:
            raise self._lost()
        return self._ready

    def send(self, number: int, verb: str, *arguments: object) -> None:
        """Send a locker a command."""
        self._stream.send((" ".join(map(str, (number, verb, *arguments))) + "\n").encode("ascii"))

    def take(self, number: int) -> Answer | None:
        """Return the next answer of a locker; None if none has arrived. Raises AgentLostError if no more answers can
        arrive."""
        is_over = self.is_over  # before the look for an answer, because the last one may arrive just before the end
        if waiting := self._answers.get(number):
            return waiting.popleft()
        if is_over:
            raise self._lost()
        return None

    @property
    def is_over(self) -> bool:
        """Whether the tester or its connection has ended."""
        return self._stream.is_over

    def was_closed(self) -> bool:
        """Return whether the tester or the host ended the connection, and not a loss of power or of the network."""
        is_soon = self._stream.ended_ns - self.last_ns < CLOSED_NS
        return is_soon or self._stream.exit_status() not in (None, SSH_FAILED)

    def end(self, patience_s: float = LET_END_S) -> int | None:
        """Let the tester end, which removes its files, and return its exit status; None if it had to be killed."""
        return self._stream.end(patience_s)

    def _lost(self) -> AgentLostError:
        return AgentLostError(self.host, self._stream.why())

    def _take(self, line: str, at_ns: int) -> None:
        if self._ready is None:
            self._take_first(line)
        elif line:
            self._take_answer(read_answer(line, at_ns))
        self.last_ns = at_ns

    def _take_first(self, line: str) -> None:
        self._ready = read_ready(line)
        if self._ready is None:
            self._foreign += 1
            if self._foreign > MOST_FOREIGN_LINES:
                raise ProtocolError("the host sends lines, but none from the tester")
        elif self._ready.run_id != self._run_id:
            self._ready = None
            raise ProtocolError("a tester of another run answered")

    def _take_answer(self, answer: Answer) -> None:
        self._answers[answer.number].append(answer)
        if sum(map(len, self._answers.values())) > MOST_WAITING:
            raise ProtocolError("the tester sends more lines than the test needs")
