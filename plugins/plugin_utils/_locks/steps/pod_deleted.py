# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A holder whose pod is deleted by force must lose its lock to the other pod, but not before its tester has ended. Its
node keeps running, so the takeover does not show how long a lease lasts."""

from __future__ import annotations

from collections.abc import Callable

from ..agent import LATE_LINE_NS
from ..background import Background, CommandResult
from ..load import load
from ..prober import Prober, refuse_early
from ..stage import LOCK, Stage
from ..step import Figures, broken, undecided

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

    stage.wait_until(has_ended, END_S)
    figures = {"held_ns": agent.last_ns - holder.begin_ns, "tries": len(prober.refusals), **_told(command)}
    if 0 < prober.granted_ns < agent.last_ns - LATE_LINE_NS:
        raise broken("granted", **figures)
    if not agent.is_over:
        raise undecided("command_failed" if command.result and command.result.status != 0 else "not_deleted", **figures)
    if not stage.wait_until(prober.has_it, stage.takeover_s):
        raise broken("never_taken_over", **figures, takeover_ns=round(stage.takeover_s * 1e9))
    return {**figures, "takeover_ns": max(prober.granted_ns - agent.last_ns, 0), "tries": len(prober.refusals)}


def _told(command: Background) -> Figures:
    result = command.result
    return {"problem": result.problem} if result and result.problem else {}
