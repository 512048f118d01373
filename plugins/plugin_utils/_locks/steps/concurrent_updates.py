# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Both hosts add to one record at the same time, each while it holds the lock on the record. No update may be lost or
torn."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import RECORD, Stage
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken

UPDATES = 1000
"""How many times each host adds one."""
UPDATES_S = 600.0


def concurrent_updates(stage: Stage) -> Figures:
    """Return the figures of the updates. The record starts at 0, and only these two hosts add to it."""
    lockers = [stage.open(each, RECORD) for each in (stage.holder, stage.other)]
    begin_ns = stage.clock.now_ns()
    for locker in lockers:
        locker.tell("add", RECORD, UPDATES)
    answers = [locker.done("add", UPDATES_S) for locker in lockers]
    figures = {
        "updates_made": len(lockers) * UPDATES,
        "updates_kept": max(answer.whole("last") for answer in answers),
        "torn": sum(answer.whole("torn") for answer in answers),
        "elapsed_ns": stage.clock.now_ns() - begin_ns,
    }
    if figures["torn"]:
        raise broken("torn", **figures)
    if figures["updates_kept"] != figures["updates_made"]:
        raise broken("updates_lost", **figures)
    return figures
