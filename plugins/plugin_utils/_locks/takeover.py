# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What is common to the steps in which a host loses its lock without releasing it: the other host takes over, the old
holder must not write any more, and the new holder must keep the lock when the old host is back."""

from __future__ import annotations

from collections.abc import Callable

from .._run.lock_steps import LATE_SECTORS, LATE_WRITES
from .load import Load, load, write_all
from .protocol import LOCKED
from .reader import Look, Reader
from .stage import LOCK, LOG, LOG_BYTES, OPEN_LOG, Prober, Stage, refuse_early, take
from .step import AbandonedError, Figures, broken, undecided

WRITE_S = 300.0
"""How long the new holder may take to write both logs."""
QUIET_S = 5.0
"""How long after the takeover the new holder leaves the logs alone, so that a write of the old holder that lands in
this time can be seen."""
LATER_S = 15.0
"""How long after the takeover the logs are read again, at the earliest."""
RETURNED_S = 12.0
"""For how long the old host tries to get the lock after it is back."""
SECTORS = LOG_BYTES // 512
TAKEOVER, LATER, END = "takeover", "later", "end"
"""When a late write was seen."""


class Takeover:
    """A takeover by the other host: its attempts to get the lock, and its readings of the logs of the holder. The step
    sets ``is_gone_for_sure`` as soon as it knows that the old host could not write just before the takeover, and
    ``errors`` to the errors with which the pending writes ended, by log (empty texts if they ended without one)."""

    def __init__(self, stage: Stage) -> None:
        """Let the holder write both logs, and the other host try to get the lock. Raises StepEnd."""
        self._stage = stage
        self.prober = Prober(stage.open(stage.other, LOCK))
        locker = stage.open(stage.other, LOG, OPEN_LOG)
        self.old = load(stage, has_open_log=True)
        self._reader = Reader(locker, self.old)
        refuse_early(stage, self.prober)
        self.old.check()
        self._when: dict[str, str] = {}
        self._known: dict[str, int] = {}
        self._is_lost_again = False
        self.is_gone_for_sure = False
        self.errors: dict[str, str] = {}
        self.figures: Figures = {}

    def is_done(self) -> bool:
        """Continue to read the logs and to try to get the lock. Returns whether the lock was granted. Raises StepEnd
        and AgentLostError."""
        self._reader.keep_reading()
        return self.prober.has_it()

    def complete(self, gone_ns: int, bring_back: Callable[[], str], figures: Figures) -> Figures:
        """Let the new holder take over the logs, bring the old host back, and return the figures. ``gone_ns`` is the
        time after which no write of the old holder may land, ``bring_back`` returns the reason if the host did not
        come back (otherwise empty), and ``figures`` holds those that are known. Raises StepEnd. A proven fault is
        reported whatever else went wrong."""
        self.figures = figures
        try:
            problem = self._complete(gone_ns, bring_back)
        except AbandonedError:
            raise
        except Exception:
            self._judge()
            raise
        self._judge()
        if problem:
            raise undecided(problem, **self.figures)
        return self.figures

    def _complete(self, gone_ns: int, bring_back: Callable[[], str]) -> str:
        stage = self._stage
        self._read_at_takeover(gone_ns)
        self._wait_until(self.prober.granted_ns + round(QUIET_S * 1e9))
        self._note(LATER, self._reader.read(known=self._known))
        self.prober.locker.must("open", LOG)
        take(self.prober.locker, LOG, stage.takeover_s)
        new = write_all(stage, stage.other, self.prober.locker, WRITE_S)
        problem = bring_back()
        self._wait_until(self.prober.granted_ns + round(LATER_S * 1e9))
        self._read_again(LATER, new)
        if not problem:
            self._keep_from_old_host(new)
        self._read_again(END, new)
        return problem

    def _read_at_takeover(self, gone_ns: int) -> None:
        """Read the logs before the new holder writes. A write that was not there when the logs were read for the last
        time before the takeover, although the old host was gone already, is late."""
        earlier = [
            look.newest()
            for look in self._reader.looks
            if gone_ns <= look.begin_ns and 0 < look.end_ns <= self.prober.asked_ns
        ]
        acknowledged = {writer.log: writer.count() for writer in self.old.writers}
        look = self._reader.read(acknowledged, earlier[-1] if earlier else None)
        self._known = earlier[-1] if earlier else look.newest()
        self.figures.update(acknowledged=sum(acknowledged.values()), acknowledged_lost=look.total("lost"))
        self._note(TAKEOVER, look)

    def _read_again(self, when: str, new: Load) -> None:
        look = self._reader.read(known=self._known, new=new)
        self._note(when, look)
        self.figures["own_sectors"] = min(answer.whole("b_sectors") for answer in look.found.values())

    def _note(self, when: str, look: Look) -> None:
        for writer in self.old.writers:
            found = look.found[writer.log]
            for name, figure in (("late_sectors", LATE_SECTORS), ("late_writes", LATE_WRITES)):
                own = figure[writer.kind]
                self.figures[own] = max(self.figures.get(own, 0), found.whole(name))
            if found.whole("late_sectors"):
                self._when.setdefault(writer.kind, when)

    def _keep_from_old_host(self, new: Load) -> None:
        """Let the old host try to get the lock, which the new holder has. Raises StepEnd."""
        stage = self._stage
        prober = Prober(stage.open(stage.holder, LOCK))

        def is_lost() -> bool:
            self._is_lost_again = prober.has_it() or (new.is_broken() and new.verification_failure == LOCKED)
            return self._is_lost_again

        stage.clock.wait_until(is_lost, RETURNED_S)
        self.figures["refused_after_return"] = len(prober.refusals)
        if not self._is_lost_again:
            new.check()
            if not prober.was_refused_lately():
                raise undecided("deadline", host=stage.holder.host, verb="lock", **self.figures)

    def _judge(self) -> None:
        """Raise StepEnd if a fault is proven."""
        for log, when in sorted(self._when.items()):
            if when == TAKEOVER and not self.is_gone_for_sure:
                continue  # it may have landed while the old host rightly held the lock
            raise broken("late_write_landed", log=log, when=when, **self.figures)
        if self._is_lost_again:
            raise broken("lost_at_return", **self.figures)
        if self.figures.get("acknowledged_lost"):
            raise broken("acknowledged_lost", **self.figures)
        for log, errno in self.errors.items():
            if not errno:
                raise broken("not_fenced", log=log, **self.figures)
        if self.figures.get("own_sectors", SECTORS) < SECTORS:
            raise undecided("log_incomplete", **self.figures)

    def _wait_until(self, instant_ns: int) -> None:
        self._stage.clock.wait_until(lambda: self._stage.clock.now_ns() >= instant_ns, LATER_S)
