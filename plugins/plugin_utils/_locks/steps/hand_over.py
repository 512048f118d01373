# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When a holder releases a lock, the other host must get it soon, whether it waits for the lock or polls for it."""

from __future__ import annotations

import statistics

from ..locker import Locker
from ..protocol import HELD
from ..stage import LOCK, Stage, found_within, held, refused
from ..step import Figures, broken

OPERANDS = {"unlock": (LOCK,), "close": (LOCK,), "exit": (), "kill": ()}
"""How the holder releases the lock, with the arguments of the command."""
WAYS = tuple(OPERANDS)
POLL_MS = 2000
MODES = {"wait": (), "poll": (POLL_MS,)}
"""How the other host gets the lock, with the arguments of the command."""
TRIES = 3
"""How many times the duration of one attempt is measured."""
SETTLE_S = 0.5
"""How long the other host waits before the lock is released."""
HAND_OVER_S = 30.0


def hand_over(stage: Stage, way: str) -> Figures:
    """Return how long the other host takes to get a lock that the holder releases in the given ``way``: if the other
    host waits for the lock, and if it polls for it. One attempt takes ``try_ns``, so a host that polls may get a free
    lock only after ``poll_round_ns``."""
    wait_ns, _ = _one(stage, way, "wait")
    poll_ns, try_ns = _one(stage, way, "poll")
    return {
        "way": way,
        "wait_ns": wait_ns,
        "poll_ns": poll_ns,
        "poll_round_ns": POLL_MS * 1_000_000 + try_ns,
        "try_ns": try_ns,
    }


def _duration_of_try(other: Locker) -> int:
    """Return the median duration of an attempt to get a lock that is held."""
    durations = []
    for _try in range(TRIES):
        answer = other.ask("lock", LOCK, "try", 1)
        if answer.outcome == HELD:
            raise broken("granted")
        refused(answer)
        durations.append(answer.whole("after_ns"))
    return round(statistics.median(durations))


def _one(stage: Stage, way: str, mode: str) -> tuple[int, int]:
    """Return the time from the command that releases the lock until the other host has the lock, and the median
    duration of an attempt before that (0 if the other host waits for the lock)."""
    holder = stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    try_ns = _duration_of_try(other) if mode == "poll" else 0
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
    return max(answer.at_ns - begin_ns, 0), try_ns
