# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""While a locker holds a lock, the lock must be refused to other lockers, on the other host and on the same host."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import Lockers
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.protocol import HELD
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.stage import LOCK, Stage, refused
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import Figures, broken

TRIES = 100


def second_refused(stage: Stage) -> Figures:
    """Check that every attempt of the other host is refused. An error is not a refusal."""
    return _refused(stage, stage.other)


def same_host(stage: Stage) -> Figures:
    """Check that every attempt of a second process on the holder's host is refused."""
    return _refused(stage, stage.holder)


def _refused(stage: Stage, second: Lockers) -> Figures:
    stage.hold(stage.holder, LOCK)
    answer = stage.open(second, LOCK).ask("lock", LOCK, "try", TRIES)
    if answer.outcome == HELD:
        raise broken("granted", tries=answer.whole("tries"))
    refused(answer)
    return {"tries": answer.whole("tries"), "errno": answer.text("errno")}
