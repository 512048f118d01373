# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While the holder writes its log at full speed, it must be able to verify its lock in time, and all attempts of the
other host must be refused."""

from __future__ import annotations

from ..load import load
from ..prober import Prober
from ..stage import LOCK, Stage
from ..step import Figures, broken, undecided


def under_load(stage: Stage, load_s: float) -> Figures:
    """Return the figures of a load that continues for ``load_s`` seconds after its first write."""
    prober = Prober(stage.open(stage.other, LOCK))
    holder = load(stage)

    def is_decided() -> bool:
        if prober.has_it():
            raise broken("granted", load_s=max(prober.granted_ns - holder.begin_ns, 0) / 1e9, **holder.figures())
        holder.check()
        return False

    stage.wait_until(is_decided, load_s)
    if not prober.was_refused_lately():
        raise undecided("deadline", host=stage.other.host, verb="lock", **holder.figures())
    return {
        "load_s": (stage.clock.now_ns() - holder.begin_ns) / 1e9,
        "tries": len(prober.refusals),
        **holder.figures(),
    }
