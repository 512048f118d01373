# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A holder that is cut off from the file server must lose its lock to the other host, and must no longer be able to
write when it is connected again."""

from __future__ import annotations

import contextlib

from ..._dialogue.guard import Guard
from ..load import Load, Writer
from ..locker import END_S
from ..stage import Stage
from ..step import Figures, StepEnd, broken, not_covered, undecided
from ..takeover import WRITE_S, Takeover

RETURN_S = 180.0
"""How long the writers of the old holder may take to end after its host is back. NFS clients wait for up to a minute
before they connect again, and then recover their state."""
CUT_S = 5.0
"""How long writes may still return after the host was cut off."""
ARRIVE_NS = 1_000_000_000
"""How long after the cut a write that the file server had received before may still land."""
GO_ON_S = 5.0
"""How long to let an old holder continue to write."""


class Partition:
    """Cuts ``host`` off from the ``port`` of the ``address`` of a file server. The end of ``guard`` connects the host
    again."""

    def __init__(self, host: str, guard: Guard, address: str, port: int) -> None:
        self._host, self._guard, self._address, self._port = host, guard, address, port

    def cut(self, limit_s: float) -> int:
        """Cut the host off for at most ``limit_s`` seconds, and return the time of the cut by the monotonic clock.
        Raises StepEnd."""
        word, text, at_ns = self._guard.ask(f"cut {self._address} {self._port} {round(limit_s)}")
        if word == "cut":
            return at_ns
        if word in ("no_privilege", "no_nft"):
            raise not_covered(word, host=self._host)
        if self._guard.never_ran():
            raise not_covered("no_privilege", host=self._host, why=text)
        raise undecided("queue_managers" if word == "refused" else "not_cut", host=self._host, why=text)

    def heal(self) -> None:
        """Reconnect the host. Raises StepEnd if the guard does not confirm this."""
        word, text, _at_ns = self._guard.ask("heal")
        if word != "healed":
            raise undecided("not_healed", host=self._host, why=text)


def cut_off(stage: Stage, partition: Partition) -> Figures:
    """Return the figures of the takeover. The new holder writes all of both logs, so that each later write of the old
    holder can be detected."""
    takeover = Takeover(stage)
    old = takeover.old
    stage.clock.check()
    begin_ns = partition.cut(stage.takeover_s + WRITE_S)
    is_cut = takeover.is_gone_for_sure = True

    def bring_back() -> str:
        nonlocal is_cut
        partition.heal()
        is_cut = False
        takeover.figures["back_ns"] = stage.clock.now_ns() - begin_ns
        problem = _end_of(stage, old)
        takeover.errors = {writer.kind: writer.errno for writer in old.writers if not problem}
        takeover.figures["errno"] = old.log.errno
        old.kill()
        stage.clock.wait_until(old.is_gone, END_S)
        return problem

    try:
        figures = _wait_for_takeover(stage, takeover, begin_ns)
        return takeover.complete(begin_ns + ARRIVE_NS, bring_back, figures)
    except Exception:
        if is_cut:
            with contextlib.suppress(StepEnd):
                partition.heal()
        raise


def _wait_for_takeover(stage: Stage, takeover: Takeover, begin_ns: int) -> Figures:
    """Wait until the other host has the lock, and return the figures of the takeover. Raises StepEnd if it never gets
    the lock, if the old holder continues to write because it reaches the file server in another way, or if no write of
    the old holder is pending any more."""
    old, prober = takeover.old, takeover.prober

    def is_connected() -> bool:
        old.is_broken()
        return old.log.progressed_ns() > begin_ns + CUT_S * 1e9

    stage.clock.wait_until(lambda: takeover.is_done() or is_connected(), stage.takeover_s)
    if not prober.granted_ns and is_connected():
        raise undecided("still_connected", host=stage.holder.host)
    if not prober.granted_ns:
        raise broken("never_taken_over", takeover_ns=round(stage.takeover_s * 1e9), tries=len(prober.refusals))
    old.is_broken()
    if errno := old.log.errno:
        raise undecided("nothing_pending", errno=errno)
    return {
        "takeover_ns": prober.granted_ns - begin_ns,
        "held_ns": max(begin_ns - old.begin_ns, 0),
        "tries": len(prober.refusals),
    }


def _end_of(stage: Stage, old: Load) -> str:
    """Wait until the pending writes of the old holder have ended. Returns the reason if they have not; otherwise
    empty."""
    before = {writer: writer.count() for writer in old.writers}
    went_on: dict[Writer, int] = {}

    def has_ended(writer: Writer) -> bool:
        if not writer.has_ended() and writer.count() > before[writer]:
            went_on.setdefault(writer, stage.clock.now_ns())
        return writer.has_ended() or stage.clock.now_ns() - went_on.get(writer, stage.clock.now_ns()) > GO_ON_S * 1e9

    return (
        "" if stage.clock.wait_until(lambda: all(has_ended(writer) for writer in old.writers), RETURN_S) else "deadline"
    )
