# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the logs of a holder from the other host, with all caches bypassed, and finds out which of its writes are
there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .load import Load
from .locker import CallError, Locker
from .protocol import DONE, Answer
from .step import undecided

EVERY_S = 1.0
"""How often to read the logs while waiting for a takeover."""
SCAN_S = 300.0
"""How long reading the logs once may take."""
UNKNOWN = (1 << 64) - 1
"""Stands for the newest write of a holder whose writes are not known."""


@dataclass
class Look:
    """One reading of all logs. ``found`` holds the answer of each log, ``begin_ns`` is when the reading was requested,
    and ``end_ns`` is when its last answer arrived; 0 before that."""

    begin_ns: int
    end_ns: int = 0
    found: dict[str, Answer] = field(default_factory=dict)

    def newest(self) -> dict[str, int]:
        """Return the number of the newest write of the old holder in each log."""
        return {log: answer.whole("a_write_max") for log, answer in self.found.items()}

    def total(self, name: str) -> int:
        """Return the sum of one figure over all logs."""
        return sum(answer.whole(name) for answer in self.found.values())


class Reader:
    """A locker that reads the logs that ``old`` writes. It holds no lock, and reads one time after the other."""

    def __init__(self, locker: Locker, old: Load) -> None:
        self._locker, self._old = locker, old
        self.looks: list[Look] = []

    def is_idle(self) -> bool:
        """Take in the answers that have arrived. Returns whether no reading is in progress. Raises AgentLostError, and
        CallError if a log could not be read."""
        while self.looks and not self.looks[-1].end_ns and (answer := self._locker.found("scan")):
            if answer.outcome != DONE:
                raise CallError(self._locker.host, answer)
            look = self.looks[-1]
            look.found[self._old.writers[len(look.found)].log] = answer
            if len(look.found) == len(self._old.writers):
                look.end_ns = answer.at_ns
        return not self.looks or bool(self.looks[-1].end_ns)

    def keep_reading(self) -> None:
        """Begin the next reading if it is due. Raises what ``is_idle`` raises."""
        now_ns = self._locker.clock.now_ns()
        if self.is_idle() and (not self.looks or now_ns - self.looks[-1].begin_ns >= EVERY_S * 1e9):
            self.begin()

    def begin(
        self,
        acknowledged: Mapping[str, int] | None = None,
        known: Mapping[str, int] | None = None,
        new: Load | None = None,
    ) -> None:
        """Begin to read. ``acknowledged`` and ``known`` hold, for each log, how many writes of the old holder were
        acknowledged, and the newest one that may be there. ``new`` is the new holder."""
        self.looks.append(Look(self._locker.clock.now_ns()))
        for number, old in enumerate(self._old.writers):
            own = new.writers[number] if new else None
            self._locker.tell(
                "scan",
                old.log,
                old.seed,
                own.seed if own else 0,
                (acknowledged or {}).get(old.log, 0),
                (known or {}).get(old.log, UNKNOWN),
                own.count() if own else 0,
            )

    def read(
        self,
        acknowledged: Mapping[str, int] | None = None,
        known: Mapping[str, int] | None = None,
        new: Load | None = None,
    ) -> Look:
        """Read, and return what was found. Raises StepEnd if that takes too long, and what ``is_idle`` raises."""
        self._finish()
        self.begin(acknowledged, known, new)
        self._finish()
        return self.looks[-1]

    def _finish(self) -> None:
        if not self._locker.clock.wait_until(self.is_idle, SCAN_S):
            raise undecided("deadline", host=self._locker.host, verb="scan")
