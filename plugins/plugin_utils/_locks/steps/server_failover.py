# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the file server fails over, the holder must keep its lock, be able to write again, and find everything that was
acknowledged before."""

from __future__ import annotations

from collections.abc import Callable

from ..._dialogue.commands import Background, CommandResult
from ..load import load
from ..locker import END_S
from ..reader import SCAN_S, Reader
from ..stage import LOCK, LOG, OPEN_LOG, Prober, Stage, refuse_early
from ..step import Figures, broken, undecided
from .settings import VISIBLE_S

BEFORE_S = 10.0
"""For how long the holder writes before the failover, which shows how long its writes pause anyway."""
SHORTEST_PAUSE_NS = 1_000_000_000
"""The longest pause of the writes that any file server may make without a failover."""
UNLIKE = 3
"""How many times longer than all pauses before it a pause must be that proves a failover."""
BEGIN_S = 120.0
"""How long after the end of the command the failover may begin, because some commands only request it."""
REPORT_NS = 2_000_000_000
"""How much later a report of a pause may arrive. The tester sends one every second."""
FAILOVER_S = 600.0
"""How long after the end of the command the writes may pause."""
AT_ONCE_S = 5.0
"""A lock that is granted to the other host so soon after the writes continued was lost at the failover itself."""
REFUSALS = 10
"""How many attempts of the other host must be refused after the writes continued, at least."""
GRACE_S = 90.0
"""The grace period of a file server whose lease is not known. Servers that have lost a lock may grant it when it ends.
A known lease is used instead, because the grace period is usually as long."""
SHORTEST_GRACE_S, LONGEST_GRACE_S = 20.0, 120.0


def grace_period_s(lease_s: float) -> float:
    """Return for how long after a failover refusals are watched; ``lease_s`` is 0 if the lease is not known."""
    return min(max(lease_s or GRACE_S, SHORTEST_GRACE_S), LONGEST_GRACE_S)


def server_failover(stage: Stage, fail_over: Callable[[], CommandResult], grace_s: float = GRACE_S) -> Figures:
    """Return the figures of a failover. ``fail_over`` calls the user's command, and ``grace_s`` is for how long
    refusals are watched after the writes continued."""
    return _Failover(stage, grace_s).watch(fail_over)


class _Failover:
    """A failover: the load of the holder, the attempts of the other host, and what is known so far."""

    def __init__(self, stage: Stage, grace_s: float) -> None:
        self._stage, self._grace_s = stage, grace_s
        self._prober = Prober(stage.open(stage.other, LOCK))
        locker = stage.open(stage.other, LOG, OPEN_LOG)
        self._load = load(stage, has_open_log=True, longest_pause_ms=SHORTEST_PAUSE_NS // 1_000_000)
        self._reader = Reader(locker, self._load)
        self._command: Background
        self._begin_ns = self._ended_ns = self._resumed_ns = 0
        self._earlier_ns = 0
        self._paused_ns = 0
        self._figures: Figures = {}
        refuse_early(stage, self._prober)

    def watch(self, fail_over: Callable[[], CommandResult]) -> Figures:
        """Watch the load, call the command, and watch what happens. Returns the figures. Raises StepEnd."""
        stage = self._stage
        stage.clock.wait_until(self._has_failed_over, BEFORE_S)
        self._earlier_ns = max(self._earlier_ns, self._load.log.pause_ns())
        self._begin_ns = stage.clock.now_ns()
        self._command = Background(fail_over)
        while not stage.clock.wait_until(self._has_failed_over, FAILOVER_S):
            pass  # the step ends earlier if there is no failover, or if it does not end
        self._resumed_ns = self._load.log.ended_ns
        self._read_acknowledged()
        self._load.log.begin()
        stage.clock.wait_until(self._is_lost, self._grace_s)
        while not stage.clock.wait_until(lambda: self._is_lost() or self._command_has_ended(), FAILOVER_S):
            pass  # the command has a time limit of its own
        return self._end()

    def _read_acknowledged(self) -> None:
        """Read both logs from the other host, and again while writes are missing that may only be visible late. The
        writer of the unlocked log is killed, which ends its writes."""
        open_log = self._load.open_log
        open_log.locker.kill()
        self._stage.clock.wait_until(open_log.locker.is_gone, END_S)
        acknowledged = {writer.log: writer.count() for writer in self._load.writers}
        if not self._stage.clock.wait_until(lambda: self._are_there(acknowledged), VISIBLE_S):
            raise broken("acknowledged_lost", **self._known())

    def _are_there(self, acknowledged: dict[str, int]) -> bool:
        """Read both logs once. Returns whether all acknowledged writes are there."""
        self._reader.begin(acknowledged)
        if not self._stage.clock.wait_until(lambda: self._is_lost() or self._reader.is_idle(), SCAN_S):
            raise undecided("deadline", host=self._stage.other.host, verb="scan", **self._known())
        lost = self._reader.looks[-1].total("lost")
        self._figures.update(acknowledged=sum(acknowledged.values()), acknowledged_lost=lost)
        return not lost

    def _end(self) -> Figures:
        later = [asked_ns for asked_ns in self._prober.refusals if asked_ns > self._resumed_ns]
        self._figures["refused_s"] = (later[-1] - self._resumed_ns) / 1e9 if later else 0.0
        if len(later) < REFUSALS or not self._prober.was_refused_lately():
            raise undecided("deadline", host=self._stage.other.host, verb="lock", **self._known())
        self._check_command()
        return self._known()

    def _known(self) -> Figures:
        command = {"command_ns": self._ended_ns - self._begin_ns} if self._ended_ns else {}
        pause = {"pause_after_ns": max(self._paused_ns - self._begin_ns, 0)} if self._paused_ns else {}
        return {
            "tries": len(self._prober.refusals),
            "earlier_pause_max_ns": self._earlier_ns,
            **command,
            **pause,
            **self._figures,
            **self._load.figures(),
        }

    @property
    def _unlike_ns(self) -> int:
        """The duration from which on a pause is unlike those before the failover."""
        return max(SHORTEST_PAUSE_NS, UNLIKE * self._earlier_ns)

    def _is_lost(self) -> bool:
        """Raise StepEnd if the other host has got the lock, or if the holder cannot use it any more."""
        if self._prober.has_it():
            granted_ns, known = self._prober.granted_ns, self._known()
            if not self._begin_ns:
                raise broken("granted", **known)
            if self._resumed_ns and granted_ns - self._resumed_ns > AT_ONCE_S * 1e9:
                raise broken("lock_lost_after_failover", after_ns=granted_ns - self._resumed_ns, **known)
            raise broken("lock_lost_at_failover", after_ns=granted_ns - self._begin_ns, **known)
        self._load.check()
        return False

    def _has_failed_over(self) -> bool:
        """Whether a pause of the writes that proves a failover has ended: it began after the command, in time, and is
        unlike those before. The writer ends after it, so that what was acknowledged before is still in the log."""
        self._is_lost()
        log = self._load.log
        if not log.ended_ns:
            self._check_time()
            return False
        began_ns = log.ended_ns - log.pause_ns()
        # The write that was in progress when the command began may have taken as long as any before.
        is_after = 0 < self._begin_ns <= began_ns + self._earlier_ns
        if is_after and self._is_pausing() and self._is_in_time(began_ns):
            self._paused_ns = began_ns
            return True
        if not self._begin_ns:
            self._earlier_ns = max(self._earlier_ns, log.pause_ns())
        for writer in self._load.writers:
            if writer.ended_ns:
                writer.begin(self._unlike_ns // 1_000_000)
        return False

    def _is_pausing(self) -> bool:
        """Whether the writes pause, or paused at last, unlike before."""
        return self._load.log.pause_ns() > self._unlike_ns

    def _is_in_time(self, instant_ns: int) -> bool:
        return not self._command_has_ended() or instant_ns <= self._ended_ns + BEGIN_S * 1e9

    def _check_time(self) -> None:
        """Raise StepEnd if the writes do not continue, or if there is no failover."""
        if not self._begin_ns or not self._command_has_ended():
            return
        now_ns = self._stage.clock.now_ns()
        if self._is_pausing():
            if now_ns > self._ended_ns + FAILOVER_S * 1e9:
                raise broken("pause_not_ended", **self._known())
            return
        self._check_command()
        if not self._is_in_time(now_ns - self._unlike_ns - REPORT_NS):
            raise undecided("no_failover_seen", **self._known())

    def _command_has_ended(self) -> bool:
        if self._command.result and not self._ended_ns:
            self._ended_ns = self._stage.clock.now_ns()
        return bool(self._ended_ns)

    def _check_command(self) -> None:
        """Raise StepEnd if the command failed."""
        result = self._command.result
        if result.status != 0:
            said = {"status": result.status, "problem": result.problem, "output": result.output[-300:]}
            raise undecided("command_failed", **{**self._known(), **said})
