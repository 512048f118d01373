# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Repeated attempts to get a lock that another host holds."""

from __future__ import annotations

from .locker import Locker
from .protocol import HELD
from .stage import LOCK, PROBE_S, RECENT_S, Stage, refused
from .step import broken, undecided

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
    if stage.wait_until(lambda: prober.has_it() or len(prober.refusals) > 1, BEGIN_S) and not prober.granted_ns:
        return
    raise broken("granted") if prober.granted_ns else undecided("deadline", host=prober.locker.host, verb="lock")
