# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While the holder writes its log at full speed, it must be able to verify its lock in time, and all attempts of the
other host must be refused."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Prober, Stage
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken, undecided

RECENT_S = 20.0
"""How long ago the other host was refused the lock for the last time, at most, when the load ends."""


def under_load(stage: Stage, load_s: float) -> Figures:
    """Return the figures of a load that continues for ``load_s`` seconds after its first write."""
    prober = Prober(stage.open(stage.other, LOCK))
    load = stage.load()

    def is_decided() -> bool:
        if prober.has_it():
            raise broken("granted", load_s=max(prober.granted_ns - load.begin_ns, 0) / 1e9, **load.figures())
        load.check()
        return False

    stage.wait_until(is_decided, load_s)
    if not prober.refusals or stage.clock.now_ns() - prober.refusals[-1] > RECENT_S * 1e9:
        raise undecided("deadline", host=stage.other.host, verb="lock", **load.figures())
    return {
        "load_s": (stage.clock.now_ns() - load.begin_ns) / 1e9,
        "tries": len(prober.refusals),
        **load.figures(),
    }
