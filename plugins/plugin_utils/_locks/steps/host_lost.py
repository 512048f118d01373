# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A holder whose host loses power, or whose pod is deleted by force, must lose its lock to the other host, which must
keep it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..._dialogue.commands import Background, CommandResult
from ..agent import LATE_LINE_NS
from ..load import load
from ..locker import Lockers
from ..stage import LOCK, Prober, Stage, refuse_early
from ..step import Figures, StepEnd, broken, undecided
from ..takeover import Takeover

BREAK_S = 120.0
"""How long after the end of the command the connection to the host may last, because some commands return before they
take effect."""
COMMAND_S = 3600.0
"""How long any command may take."""
NOTICE_S = 15.0
"""How long a connection to a host without power may appear to be alive."""


ALIVE_NS = 3_000_000_000
"""How long after its last sign of life a host may still write. Its tester sends a line every second."""


@dataclass(frozen=True)
class Return:
    """How a host came back: the reason if it did not (otherwise empty), its lockers, and the time at which its first
    process started."""

    problem: str
    lockers: Lockers
    began_ns: int = 0


def host_lost(
    stage: Stage,
    refusal: Callable[[], str],
    cut: Callable[[], CommandResult],
    bring_back: Callable[[], Return],
    lease_s: float = 0.0,
) -> Figures:
    """Return the figures of the takeover, whose time is counted from the host's last sign of life. ``refusal`` returns
    the reason why the power must not be cut now (empty if there is none), ``cut`` cuts it, ``bring_back`` waits until
    the host is back, and ``lease_s`` is the lease of the file server (0 if it is not known)."""
    takeover = Takeover(stage)
    prober, load = takeover.prober, takeover.old
    if why := refusal():
        raise undecided("queue_managers", why=why)
    stage.clock.check()
    command = Background(cut)
    agent = stage.holder.agent
    begin_ns = stage.clock.now_ns()

    def is_decided() -> bool:
        result = command.result
        is_late = result is not None and stage.clock.now_ns() - begin_ns > (result.seconds + BREAK_S) * 1e9
        return takeover.is_done() or agent.is_over or _has_failed(command) or is_late

    stage.clock.wait_until(is_decided, COMMAND_S + BREAK_S)
    is_over = agent.is_over or (not _has_failed(command) and stage.clock.wait_until(lambda: agent.is_over, NOTICE_S))
    if not is_over:
        raise _still_there(prober, agent.last_ns, command)
    has_it = stage.clock.wait_until(takeover.is_done, stage.takeover_s)
    figures = {
        "held_ns": max(agent.last_ns - load.begin_ns, 0),
        "tries": len(prober.refusals),
        **_told(command),
    }
    takeover_ns = prober.granted_ns - agent.last_ns
    if has_it and takeover_ns < -LATE_LINE_NS:
        raise broken("granted", **figures)
    if load.has_ended() or agent.was_closed():
        raise undecided("orderly_end", **figures)
    if not has_it:
        raise broken("never_taken_over", takeover_ns=round(stage.takeover_s * 1e9), **figures)
    # A file server does not release the locks of a lost host before its lease ends, so the host itself released them.
    if takeover_ns <= lease_s / 2 * 1e9:
        raise undecided("orderly_end", **figures)

    lost_ns = agent.last_ns

    def come_back() -> str:
        back = bring_back()
        stage.holder = back.lockers
        if back.problem:
            return back.problem
        takeover.is_gone_for_sure = True
        takeover.figures["back_ns"] = stage.clock.now_ns() - lost_ns
        # The host may have mounted the directory again and released its lock, before its lease ended.
        if back.began_ns < prober.granted_ns:
            takeover.figures["back_before_ns"] = prober.granted_ns - back.began_ns
        return ""

    figures = takeover.complete(lost_ns + ALIVE_NS, come_back, {"takeover_ns": takeover_ns, **figures})
    if "back_before_ns" in figures:
        raise undecided("seen_again", **figures)
    return figures


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


END_S = 120.0
"""How long after the deletion the pod's tester may run. The API forgets the pod at once, and its node ends it later."""


def pod_deleted(stage: Stage, delete: Callable[[], CommandResult]) -> Figures:
    """Return the figures of the takeover, whose time is counted from the last line of the holder's tester. ``delete``
    deletes the holder's pod."""
    prober = Prober(stage.open(stage.other, LOCK))
    holder = load(stage)
    refuse_early(stage, prober)
    stage.clock.check()
    agent, command = stage.holder.agent, Background(delete)

    def has_ended() -> bool:
        prober.has_it()
        return agent.is_over or bool(command.result and command.result.status != 0)

    stage.clock.wait_until(has_ended, END_S)
    figures = {"held_ns": agent.last_ns - holder.begin_ns, "tries": len(prober.refusals), **_result_of(command)}
    if 0 < prober.granted_ns < agent.last_ns - LATE_LINE_NS:
        raise broken("granted", **figures)
    if not agent.is_over:
        raise undecided("command_failed" if command.result and command.result.status != 0 else "not_deleted", **figures)
    if not stage.clock.wait_until(prober.has_it, stage.takeover_s):
        raise broken("never_taken_over", **figures, takeover_ns=round(stage.takeover_s * 1e9))
    return {**figures, "takeover_ns": max(prober.granted_ns - agent.last_ns, 0), "tries": len(prober.refusals)}


def _result_of(command: Background) -> Figures:
    result = command.result
    return {"problem": result.problem} if result and result.problem else {}
