# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a profile requires of locks: the limits on times and numbers, the seconds of load, and the required steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._run.lock_steps import (
    BASICS,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    LATE_WRITES,
    LOCK_COUNT,
    SERVER_FAILOVER,
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
    "failover_verification_s": 20,
    "write_pause_s": 10,
    "failover_pause_s": 20,
    "hand_over_s": 2,
    "load_s": 300,
    "lock_count": 512,
    "steps": [],
}
"""The section of a profile that has none. ``steps`` are those that are required in addition to the basic ones."""


@dataclass(frozen=True)
class LockLimit:
    """A limit on a figure of some steps: its key in the section, its id, what it requires, the steps and the names of
    the figures, the number of units of a figure in one unit of the limit, and whether the limit is the smallest allowed
    value instead of the largest one. ``less`` names, for a figure, another one that is subtracted from it because it
    is due to the test and not to the file server."""

    key: str
    id: str
    requires: str
    steps: tuple[str, ...]
    figures: tuple[str, ...]
    unit: float = 1e9
    is_minimum: bool = False
    less: Mapping[str, str] = field(default_factory=dict)

    @property
    def needed(self) -> tuple[str, ...]:
        """The figures without which a row cannot be judged."""
        return (*self.figures, *self.less.values())


HAND_OVER_LIMIT = LockLimit(
    "hand_over_s",
    "LOCK-101",
    "maximum time in seconds from the release of the lock until the other host has it",
    (HAND_OVER,),
    ("wait_ns", "poll_ns"),
    less={"poll_ns": "poll_round_ns"},
)
VERIFICATION_LIMIT = LockLimit(
    "verification_s",
    "LOCK-102",
    "maximum time in seconds that a verification of the lock takes under full load",
    (UNDER_LOAD,),
    ("verification_max_ns",),
)
TAKEOVER_LIMIT = LockLimit(
    "takeover_s",
    "LOCK-103",
    "maximum time in seconds from the loss of a host or its connection until the other host has the lock",
    TAKEOVERS,
    ("takeover_ns",),
)
COUNT_LIMIT = LockLimit(
    "lock_count",
    "LOCK-104",
    "minimum number of locks that a host can hold at once",
    (LOCK_COUNT,),
    ("locks_held",),
    1,
    is_minimum=True,
)
FAILOVER_VERIFICATION_LIMIT = LockLimit(
    "failover_verification_s",
    "LOCK-106",
    "maximum time in seconds that a verification of the lock takes at a failover of the file server",
    (SERVER_FAILOVER,),
    ("verification_max_ns",),
)
PAUSE_LIMIT = LockLimit(
    "write_pause_s",
    "LOCK-107",
    "maximum pause in seconds of the writes to the log under full load",
    (UNDER_LOAD,),
    ("write_pause_max_ns",),
)
FAILOVER_PAUSE_LIMIT = LockLimit(
    "failover_pause_s",
    "LOCK-108",
    "maximum pause in seconds of the writes to the log at a failover of the file server",
    (SERVER_FAILOVER,),
    ("write_pause_max_ns",),
)
LOCK_LIMITS = (
    HAND_OVER_LIMIT,
    VERIFICATION_LIMIT,
    TAKEOVER_LIMIT,
    COUNT_LIMIT,
    FAILOVER_VERIFICATION_LIMIT,
    PAUSE_LIMIT,
    FAILOVER_PAUSE_LIMIT,
)

CALL = "try_ns"
"""The figure of a hand-over that tells how long one request for a lock takes."""

EVIDENCE: Mapping[str, tuple[str, ...]] = {
    HAND_OVER: (CALL,),
    CUT_OFF: (*LATE_WRITES.values(), "acknowledged_lost"),
    HOST_LOST: ("acknowledged_lost",),
    SERVER_FAILOVER: ("acknowledged_lost",),
}
"""Figures of steps that have no limit of a profile, but without which the step shows nothing."""

NOTIFICATION_ID, NOTIFICATION_S = "LOCK-105", 1.0
"""The limit on how much later a process that waits for the lock gets it than a process that polls for it. IBM MQ
corrected its handling of late notifications with APAR IT43349. No profile can change it."""

NOTIFICATION_REQUIRES = (
    "seconds by which a process that waits for a lock may get it later than one that asks for it repeatedly"
)

LIMIT_IDS = (*(limit.id for limit in LOCK_LIMITS), NOTIFICATION_ID)
"""The ids of the limits, which a waiver can name."""


def limits_of(profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section of a profile, a mapping of plain data, with the defaults for the missing keys."""
    return {**DEFAULTS, **(profile.get(SECTION) or {})}


def required_steps(limits: Mapping[str, Any]) -> list[str]:
    """Return the steps that a profile requires, in the order in which they are listed in STEPS."""
    return [step for step in STEPS if step in BASICS or step in limits["steps"]]
