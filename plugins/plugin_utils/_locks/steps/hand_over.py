# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a holder gives up a lock, the other host gets it soon, whether it waits for the lock or polls for it."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Stage, found_within, held
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken

OPERANDS = {"unlock": (LOCK,), "close": (LOCK,), "exit": (), "kill": ()}
"""How the holder gives up the lock, with the arguments of the command."""
WAYS = tuple(OPERANDS)
POLL_MS = 2000
MODES = {"wait": (), "poll": (POLL_MS,)}
"""How the other host gets it, with the arguments of the command."""
SETTLE_S = 0.5
"""How long the other host waits before the lock is given up."""
HAND_OVER_S = 30.0


def hand_over(stage: Stage, way: str) -> Figures:
    """The holder gives up the lock in one way, and the other host gets it in each way."""
    taken = {mode: _one(stage, way, mode) for mode in MODES}
    return {"way": way, "wait_ns": taken["wait"], "poll_ns": max(taken["poll"] - POLL_MS * 1_000_000, 0)}


def _one(stage: Stage, way: str, mode: str) -> int:
    """Return how long it took from the command that gives up the lock until the other host had it."""
    holder = stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    other.tell("lock", LOCK, mode, *MODES[mode])
    if early := found_within(other, "lock", SETTLE_S):
        held(early)
        raise broken("granted", way=way)
    begin_ns = stage.clock.now_ns()
    holder.tell(way, *OPERANDS[way])
    answer = found_within(other, "lock", HAND_OVER_S)
    if answer is None:
        raise broken("not_released", way=way, **{f"{mode}_ns": round(HAND_OVER_S * 1e9)})
    held(answer)
    stage.end()
    return max(answer.at_ns - begin_ns, 0)
