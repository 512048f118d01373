# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a profile requires of locks: the limits on times and numbers, the seconds of load, and the required steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import (
    BASICS,
    HAND_OVER,
    LOCK_COUNT,
    STEPS,
    TAKEOVERS,
    UNDER_LOAD,
)

SECTION = "locks"
"""The key of the section in a profile."""

MOST_LOCKS = 19_000
"""The most locks that a host can be tested for. The tester creates at most 20,000 files, including those of the other
steps."""

DEFAULTS: Mapping[str, Any] = {
    "takeover_s": 45,
    "verification_s": 10,
    "hand_over_s": 2,
    "load_s": 300,
    "lock_count": 512,
    "steps": [],
}
"""The section of a profile that has none. ``steps`` are those that are required in addition to the basic ones."""


@dataclass(frozen=True)
class LockLimit:
    """A limit on a figure of some steps: its key in the section, its id, the steps and the names of the figures, the
    number of units of a figure in one unit of the limit, and whether the limit is the smallest allowed value instead of
    the largest one."""

    key: str
    id: str
    steps: tuple[str, ...]
    figures: tuple[str, ...]
    unit: float = 1e9
    is_minimum: bool = False

    def breaks(self, value: float, bound: float) -> bool:
        """Return whether a figure, in the unit of the limit, breaks it."""
        return value < bound if self.is_minimum else value > bound


HAND_OVER_LIMIT = LockLimit("hand_over_s", "LOCK-101", (HAND_OVER,), ("wait_ns", "poll_ns"))
VERIFICATION_LIMIT = LockLimit("verification_s", "LOCK-102", (UNDER_LOAD,), ("verification_max_ns",))
TAKEOVER_LIMIT = LockLimit("takeover_s", "LOCK-103", TAKEOVERS, ("takeover_ns",))
COUNT_LIMIT = LockLimit("lock_count", "LOCK-104", (LOCK_COUNT,), ("locks_held",), 1, is_minimum=True)
LOCK_LIMITS = (HAND_OVER_LIMIT, VERIFICATION_LIMIT, TAKEOVER_LIMIT, COUNT_LIMIT)

NOTIFICATION_ID, NOTIFICATION_S = "LOCK-105", 1.0
"""The limit on how much later a process that waits for the lock gets it than a process that polls for it. IBM MQ
corrected its handling of late notifications with APAR IT43349. No profile can change it."""

LIMIT_IDS = (*(limit.id for limit in LOCK_LIMITS), NOTIFICATION_ID)
"""The ids of the limits, which a waiver can name."""


def limits_of(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section of a profile, a mapping of plain data, with the defaults for the missing keys."""
    return {**DEFAULTS, **(profile.get(SECTION) or {})}


def required_steps(limits: Mapping[str, Any]) -> list[str]:
    """Return the steps that a profile requires, in the order in which they are listed in STEPS."""
    return [step for step in STEPS if step in BASICS or step in limits["steps"]]
