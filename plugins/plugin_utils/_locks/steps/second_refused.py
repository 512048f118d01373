# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While a locker holds a lock, the lock must be refused to other lockers, on the other host and on the same host."""

from __future__ import annotations

from ..locker import Locker
from ..protocol import HELD
from ..stage import LOCK, Stage, refused
from ..step import Figures, StepEnd, broken

TRIES, FEWEST = 100, 5
"""How many attempts are made, and how many at least if the file server is slow."""
LONG_S = 10.0
"""How long the attempts may take before fewer are made."""


def second_refused(stage: Stage) -> Figures:
    """Check that every attempt of the other host is refused. An error is not a refusal."""
    stage.hold(stage.holder, LOCK)
    tries, errno = _refused(stage.open(stage.other, LOCK))
    return {"tries": tries, "errno": errno}


def same_host(stage: Stage) -> Figures:
    """Check that every attempt of a second process on the holder's host is refused, and that the holder keeps its lock
    when other processes of its host close the file: one that tried to get the lock, and one that only read. If a
    client releases the locks of all its processes at any close, only the other host notices."""
    stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    second = stage.open(stage.holder, LOCK)
    tries, errno = _refused(second)
    second.must("close", LOCK)
    figures = {"tries": tries, "errno": errno}
    figures["tries_after_close"] = _still_refused(other, "close", figures)
    reader = stage.open(stage.holder, LOCK)
    reader.must("nonce", LOCK, "read")
    reader.must("close", LOCK)
    figures["tries_after_read"] = _still_refused(other, "read", figures)
    return figures


def _refused(locker: Locker) -> tuple[int, str]:
    """Return how many attempts were refused, and the error. Raises StepEnd if one was not."""
    made, errno, once_ns = 0, "", 0
    for number in (1, TRIES - 1):
        wanted = min(number, max(FEWEST, round(LONG_S * 1e9 / max(once_ns, 1))))
        answer = locker.ask("lock", LOCK, "try", wanted)
        made += answer.whole("tries")
        if answer.outcome == HELD:
            raise broken("granted", tries=made)
        refused(answer)
        errno, once_ns = answer.text("errno"), answer.whole("after_ns")
    return made, errno


def _still_refused(other: Locker, way: str, figures: Figures) -> int:
    """Return how many attempts of the other host were refused after a process of the holder's host closed the file."""
    try:
        return _refused(other)[0]
    except StepEnd as end:
        if end.cause == "granted":
            raise broken("lost_at_close", way=way, **figures) from None
        raise
