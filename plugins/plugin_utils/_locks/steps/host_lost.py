# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A holder whose host loses power must lose its lock to the other host."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.background import Background, CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Prober, Stage
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, StepEnd, broken, undecided

BREAK_S = 240.0
"""How long after the start of the command the connection to the host may last. Commands may take two minutes, and some
return before they take effect."""
NOTICE_S = 15.0
"""How long a connection to a host without power may appear to be alive."""
DELAY_NS = 2_000_000_000
"""How much later than it was sent a last line may arrive. A lock that was granted longer before that line was granted
while the host had power."""


def host_lost(
    stage: Stage, refusal: Callable[[], str], cut: Callable[[], CommandResult], lease_s: float = 0.0
) -> Figures:
    """Return the figures of the takeover, whose time is counted from the host's last sign of life. ``refusal`` returns
    the reason why the power must not be cut now (empty if there is none), ``cut`` cuts it, and ``lease_s`` is the lease
    of the file server (0 if it is not known)."""
    prober = Prober(stage.open(stage.other, LOCK))
    load = stage.load()
    stage.refuse_early(prober)
    if why := refusal():
        raise undecided("queue_managers", why=why)
    stage.clock.check()
    command = Background(cut)
    agent = stage.holder.agent
    stage.wait_until(lambda: prober.has_it() or agent.is_over or _has_failed(command), BREAK_S)
    is_over = agent.is_over or (not _has_failed(command) and stage.wait_until(lambda: agent.is_over, NOTICE_S))
    if not is_over:
        raise _still_there(prober, agent.last_ns, command)
    has_it = stage.wait_until(prober.has_it, stage.takeover_s)
    figures = {
        "held_ns": agent.last_ns - load.begin_ns,
        "tries": len(prober.refusals),
        **_told(command),
    }
    takeover_ns = prober.granted_ns - agent.last_ns
    if has_it and takeover_ns < -DELAY_NS:
        raise broken("granted", **figures)
    if load.has_ended() or agent.was_closed():
        raise undecided("orderly_end", **figures)
    if not has_it:
        raise broken("never_taken_over", takeover_ns=round(stage.takeover_s * 1e9), **figures)
    # A file server does not release the locks of a lost host before its lease ends, so the host itself released them.
    if takeover_ns <= lease_s / 2 * 1e9:
        raise undecided("orderly_end", **figures)
    return {"takeover_ns": takeover_ns, **figures}


def _has_failed(command: Background) -> bool:
    return command.result is not None and command.result.status != 0


def _still_there(prober: Prober, last_ns: int, command: Background) -> StepEnd:
    if 0 < prober.granted_ns < last_ns:
        return broken("granted", **_told(command))
    return undecided("command_failed" if _has_failed(command) else "not_cut", **_told(command))


def _told(command: Background) -> Figures:
    result = command.result
    if result is None:
        return {}
    said = {"problem": result.problem} if result.problem else {"status": result.status}
    return {**said, "command_ns": round(result.seconds * 1e9), "output": result.output[-300:]}
