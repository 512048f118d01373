# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While a locker holds a lock, the lock must be refused to other lockers, on the other host and on the same host."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import Locker
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.protocol import HELD, Answer
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Stage, refused
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken

TRIES = 100


def second_refused(stage: Stage) -> Figures:
    """Check that every attempt of the other host is refused. An error is not a refusal."""
    stage.hold(stage.holder, LOCK)
    answer = _refused(stage.open(stage.other, LOCK))
    return {"tries": answer.whole("tries"), "errno": answer.text("errno")}


def same_host(stage: Stage) -> Figures:
    """Check that every attempt of a second process on the holder's host is refused, and that the holder keeps its lock
    when other processes of its host close the file: one that tried to get the lock, and one that only read. If a
    client releases the locks of all its processes at any close, only the other host notices."""
    stage.hold(stage.holder, LOCK)
    other = stage.open(stage.other, LOCK)
    second = stage.open(stage.holder, LOCK)
    answer = _refused(second)
    second.must("close", LOCK)
    figures = {"tries": answer.whole("tries"), "errno": answer.text("errno")}
    figures["tries_after_close"] = _still_refused(other, "close", figures)
    reader = stage.open(stage.holder, LOCK)
    reader.must("nonce", LOCK, "read")
    reader.must("close", LOCK)
    figures["tries_after_read"] = _still_refused(other, "read", figures)
    return figures


def _refused(locker: Locker) -> Answer:
    answer = locker.ask("lock", LOCK, "try", TRIES)
    if answer.outcome == HELD:
        raise broken("granted", tries=answer.whole("tries"))
    refused(answer)
    return answer


def _still_refused(other: Locker, way: str, figures: Figures) -> int:
    """Return how many attempts of the other host were refused after a process of the holder's host closed the file."""
    answer = other.ask("lock", LOCK, "try", TRIES)
    if answer.outcome == HELD:
        raise broken("lost_at_close", way=way, **figures)
    refused(answer)
    return answer.whole("tries")
