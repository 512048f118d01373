# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When the file server fails over, the holder must keep its lock and be able to write again."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.background import Background, CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Load, Prober, Stage
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken, undecided

REFUSALS = 10
"""How many attempts of the other host must be refused after the holder can write again."""
FAILOVER_S = 600.0
"""How long the command, the failover and the grace period may take together."""
PAUSE_NS = 500_000_000
"""The shortest pause of the writes by which a failover is recognized."""
NO_PAUSE_S = 120.0
"""How long after the end of the command the failover may begin, because some commands only request it."""


def server_failover(stage: Stage, fail_over: Callable[[], CommandResult]) -> Figures:
    """Return the figures of a failover. ``fail_over`` calls the user's command."""
    prober = Prober(stage.open(stage.other, LOCK))
    load = stage.load()
    stage.refuse_early(prober)
    begin_ns = stage.clock.now_ns()
    command = Background(fail_over)
    watch = _Watch(stage, load, prober, command)
    is_over = stage.wait_until(watch.has_seen_enough, FAILOVER_S)
    figures = {"tries": len(prober.refusals), "command_ns": watch.ended_ns - begin_ns, **load.figures()}
    if not is_over:
        raise undecided("deadline", host=stage.holder.host, verb="write", **figures)
    return figures


class _Watch:
    """Watches until the holder can write again and the other host has then been refused the lock often enough."""

    def __init__(self, stage: Stage, load: Load, prober: Prober, command: Background) -> None:
        self._stage, self._load, self._prober, self._command = stage, load, prober, command
        self._begin_ns = stage.clock.now_ns()
        self._longest_ns = max(PAUSE_NS, load.pause_max_ns())
        self._paused_at = self._resumed_ns = 0
        self.ended_ns = self._begin_ns

    def has_seen_enough(self) -> bool:
        if self._prober.has_it():
            after_ns = self._prober.granted_ns - self._begin_ns
            raise broken("lock_lost_at_failover", after_ns=after_ns, **self._load.figures())
        self._load.check()
        if not self._command_has_ended() or not self._has_resumed():
            return False
        later = [asked_ns for asked_ns in self._prober.refusals if asked_ns > self._resumed_ns]
        return len(later) >= REFUSALS

    def _command_has_ended(self) -> bool:
        result = self._command.result
        if result is None:
            return False
        if result.status != 0:
            raise undecided("command_failed", status=result.status, problem=result.problem, output=result.output[-300:])
        if self.ended_ns == self._begin_ns:
            self.ended_ns = self._stage.clock.now_ns()
        return True

    def _has_resumed(self) -> bool:
        """Whether the writes paused, as they do at a failover, and then continued. Raises StepEnd if they do not
        pause."""
        if not self._paused_at and self._load.pause_max_ns() > self._longest_ns:
            self._paused_at = self._load.writes()
        if not self._paused_at and self._stage.clock.now_ns() - self.ended_ns > NO_PAUSE_S * 1e9:
            raise undecided("no_failover_seen", **self._load.figures())
        if self._paused_at and not self._resumed_ns and self._load.writes() > self._paused_at:
            self._resumed_ns = self._stage.clock.now_ns()
        return bool(self._resumed_ns)
