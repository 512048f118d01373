# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Both hosts add to one record at the same time, each while it holds the lock on the record. No update may be lost or
torn."""

from __future__ import annotations

from ..locker import Locker
from ..protocol import Answer
from ..stage import RECORD, Stage
from ..step import Figures, broken, undecided

UPDATES, FEWEST = 1000, 10
"""How many times each host adds one, and how many times at least if the file server is slow."""
LONG_S = 30.0
"""How long the updates of one host may take, if nobody else locks the record, before fewer are made."""
UPDATES_S = 600.0
ATTEMPTS = 10
"""How many times the updates are made until those of both hosts overlap. A client that polls for locks may wait until
the other one has made all of its updates."""


def concurrent_updates(stage: Stage) -> Figures:
    """Return the figures of the updates. The record starts at 0, and only these two hosts add to it."""
    lockers = [stage.open(each, RECORD) for each in (stage.holder, stage.other)]
    updates = _number_of_updates(lockers[0])
    begin_ns = stage.clock.now_ns()
    for attempt in range(1, ATTEMPTS + 1):
        answers = _added(lockers, updates)
        figures = {
            "updates_made": attempt * len(lockers) * updates,
            "updates_kept": max(answer.whole("last") for answer in answers),
            "torn": sum(answer.whole("torn") for answer in answers),
            "elapsed_ns": stage.clock.now_ns() - begin_ns,
        }
        if figures["torn"]:
            raise broken("torn", **figures)
        if figures["updates_kept"] != figures["updates_made"]:
            raise broken("updates_lost", **figures)
        if _overlap(*answers):
            return figures
    raise undecided("not_concurrent", **figures)


def _number_of_updates(locker: Locker) -> int:
    """Return how many updates to make, from the duration of locking and unlocking the record once."""
    locker.tell("add", RECORD, 0)
    once_ns = locker.done("add", UPDATES_S).whole("after_ns")
    return min(UPDATES, max(FEWEST, round(LONG_S * 1e9 / max(once_ns, 1))))


def _added(lockers: list[Locker], updates: int) -> list[Answer]:
    for locker in lockers:
        locker.tell("add", RECORD, updates)
    return [locker.done("add", UPDATES_S) for locker in lockers]


def _overlap(one: Answer, two: Answer) -> bool:
    """Whether each host made its first update before the other one had made its last."""
    return one.whole("first") < two.whole("last") and two.whole("first") < one.whole("last")
