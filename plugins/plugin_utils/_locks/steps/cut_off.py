# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A holder that is cut off from the file server must lose its lock to the other host, and must no longer be able to
write when it is connected again."""

from __future__ import annotations

import contextlib
from typing import Protocol

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import END_S, Locker
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import (
    LOCK,
    LOG,
    LOG_BYTES,
    Load,
    Prober,
    Stage,
    take,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, StepEnd, broken, undecided

WRITE_S = 300.0
"""How long the new holder may take to write the whole log."""
RETURN_S = 180.0
"""How long the old holder's writer may take to end after its host is back. NFS clients wait for up to a minute before
they connect again, and then recover their state."""
CUT_S = 5.0
"""How long writes may still return after the host was cut off."""
GO_ON_S = 5.0
"""How long to let an old holder continue to write."""
SCAN_S = 300.0
SECTOR_BYTES = 512


class Partition(Protocol):
    """Cuts the holder's host off from the file server."""

    def cut(self, limit_s: float) -> int:
        """Cut the host off for at most ``limit_s`` seconds, and return the time of the cut by the monotonic clock.
        Raises StepEnd."""

    def heal(self) -> None:
        """Reconnect the host. Raises StepEnd."""


def cut_off(stage: Stage, partition: Partition) -> Figures:
    """Return the figures of the takeover. The new holder writes the whole log once, so that each later write of the old
    holder can be detected."""
    prober = Prober(stage.open(stage.other, LOCK))
    old = stage.load()
    stage.refuse_early(prober)
    old.check()
    stage.clock.check()
    begin_ns = partition.cut(stage.takeover_s + WRITE_S)
    try:
        figures = _wait_for_takeover(stage, prober, old, begin_ns)
        new = _write_all(stage, prober.locker)
    except Exception:
        with contextlib.suppress(StepEnd):
            partition.heal()
        raise
    partition.heal()
    figures["back_ns"] = stage.clock.now_ns() - begin_ns
    errno = _end_of(stage, old)
    old.locker.kill()
    stage.wait_until(old.locker.is_gone, END_S)
    found = new.locker.must("scan", LOG, old.seed, new.seed, patience_s=SCAN_S)
    figures.update(errno=errno, late_sectors=found.whole("a_sectors"), own_sectors=found.whole("b_sectors"))
    if figures["late_sectors"]:
        raise broken("late_write_landed", **figures)
    if not errno:
        raise broken("not_fenced", **figures)
    if figures["own_sectors"] < LOG_BYTES // SECTOR_BYTES:
        raise undecided("log_incomplete", **figures)
    return figures


def _wait_for_takeover(stage: Stage, prober: Prober, old: Load, begin_ns: int) -> Figures:
    """Wait until the other host has the lock, and return the figures of the takeover. Raises StepEnd if it never gets
    the lock, if the old holder continues to write because it reaches the file server in another way, or if no write of
    the old holder is pending any more."""

    def is_connected() -> bool:
        old.is_broken()
        return old.progressed_ns() > begin_ns + CUT_S * 1e9

    stage.wait_until(lambda: prober.has_it() or is_connected(), stage.takeover_s)
    if not prober.granted_ns and is_connected():
        raise undecided("still_connected", host=stage.holder.host)
    if not prober.granted_ns:
        raise broken("never_taken_over", takeover_ns=round(stage.takeover_s * 1e9), tries=len(prober.refusals))
    if errno := old.write_failure():
        raise undecided("nothing_pending", errno=errno)
    return {
        "takeover_ns": prober.granted_ns - begin_ns,
        "held_ns": begin_ns - old.begin_ns,
        "tries": len(prober.refusals),
    }


def _write_all(stage: Stage, locker: Locker) -> Load:
    """Let the new holder lock the log and write all of it once, and then only hold the lock."""
    locker.must("open", LOG)
    take(locker, LOG, stage.takeover_s)
    new = Load(locker)
    if not stage.wait_until(lambda: new.has_written_all() or new.is_broken(), WRITE_S):
        raise undecided("deadline", host=locker.host, verb="write")
    new.check()
    locker.tell("stop", "write")
    locker.done("write", WRITE_S)
    return new


def _end_of(stage: Stage, old: Load) -> str:
    """Return the name of the error with which the old holder's writes ended; empty if they continued without an
    error."""
    before = old.writes()
    went_on: list[int] = []

    def is_known() -> bool:
        if old.write_failure():
            return True
        if old.writes() > before:
            went_on.append(stage.clock.now_ns())
        return bool(went_on) and stage.clock.now_ns() - went_on[0] > GO_ON_S * 1e9

    if not stage.wait_until(is_known, RETURN_S):
        raise undecided("deadline", host=stage.holder.host, verb="write")
    return old.write_failure()
