# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps of a test of locks: their names, their outcomes, and the structure of their results in record.json."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .shapes import PLAIN, Items, Keys, Within

Pair = Mapping[str, Any]
"""The results of a pair of hosts (see SHAPE)."""
StepRow = Mapping[str, Any]
"""One of its rows: a step that was carried out once."""

LOCKS = SECTION = "locks"
"""The kind of the records of a test of locks, and the key of the section of a profile about such tests."""

SETTINGS, SECOND_REFUSED, SAME_HOST, HAND_OVER, CONCURRENT_UPDATES = (
    "settings",
    "second_refused",
    "same_host",
    "hand_over",
    "concurrent_updates",
)
UNDER_LOAD, HOST_LOST, CUT_OFF, SERVER_FAILOVER, LOCK_COUNT, POD_DELETED = (
    "under_load",
    "host_lost",
    "cut_off",
    "server_failover",
    "lock_count",
    "pod_deleted",
)
STEPS = (
    SETTINGS,
    SECOND_REFUSED,
    SAME_HOST,
    HAND_OVER,
    CONCURRENT_UPDATES,
    UNDER_LOAD,
    HOST_LOST,
    CUT_OFF,
    SERVER_FAILOVER,
    LOCK_COUNT,
    POD_DELETED,
)
"""The steps in the order in which they are shown."""

BASICS = STEPS[: STEPS.index(HOST_LOST)]
"""The steps that need only two hosts, so every profile requires them."""

BOTH_WAYS = (SECOND_REFUSED, HAND_OVER, HOST_LOST, CUT_OFF, POD_DELETED)
"""The steps that are repeated with the roles of the two hosts exchanged."""

TAKEOVERS = (HOST_LOST, CUT_OFF, POD_DELETED)
"""The steps in which one host loses the lock without releasing it, and the other host has to get it. Only pods are
deleted."""

LOST = {CUT_OFF: "cut off from the file server", POD_DELETED: "deleted by force"}
"""How the host lost the lock, as a word in sentences, if it was not simply lost."""

LOCKED, UNLOCKED = "locked", "unlocked"
"""The two logs of a takeover: one that its writer locks, and one that its writer only opens."""
LATE_WRITES = {LOCKED: "late_writes", UNLOCKED: "unlocked_late_writes"}
LATE_SECTORS = {LOCKED: "late_sectors", UNLOCKED: "unlocked_late_sectors"}
"""The figures that count late writes and their sectors, by log."""

KEPT, BROKEN, UNDECIDED, NOT_COVERED = "kept", "broken", "undecided", "not_covered"
"""The outcomes of a step: everything was as required; something was not as required; the outcome is unknown; or the
step was not carried out, because a prerequisite is missing."""
OUTCOMES = (KEPT, BROKEN, UNDECIDED, NOT_COVERED)

_STEP = Keys({**dict.fromkeys(("step", "holder", "other", "outcome", "cause"), str), "figures": Keys({}, every=PLAIN)})
_PAIR = Keys(
    {
        **dict.fromkeys(("first", "second", "directory", "server"), str),
        "settings": Keys({}, every=dict),
        "steps": Items(_STEP),
        "verdict": str,
        "text": str,
    }
)
_REQUIRED = dict.fromkeys(("takeover_s", "load_s", "lock_count"), Within(0, 1e9))
SHAPE = Keys({"pairs": Items(_PAIR), "required": Keys({**_REQUIRED, "steps": Items(str)})})
"""The structure of the data in record.json. Each step has a row for each time that it was carried out: ``holder`` is
the host that held the lock, ``other`` is the one that wanted it, and ``cause`` says why the outcome is not ``kept``.
All of it comes from hosts, so nothing in it is trusted."""


def figure(step: StepRow, name: str) -> float | None:
    """Return a figure of a step; None if it is not known. The name of a figure ends with its unit."""
    value = (step.get("figures") or {}).get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) and 0 <= value < 1 << 63 else None


def figure_text(step: StepRow, name: str) -> str:
    """Return a text from the figures of a step; empty if there is none."""
    value = (step.get("figures") or {}).get(name)
    return value if isinstance(value, str) else ""


def late_writes(step: StepRow) -> int | None:
    """Return how many writes of a host that had lost its lock landed in the two logs of a step; None if that is not
    known."""
    known = [value for name in LATE_WRITES.values() if (value := figure(step, name)) is not None]
    return int(sum(known)) if known else None


def is_about(finding: Mapping[str, Any], pair: Pair) -> bool:
    """Return whether a finding of a record is about a pair of hosts and its directory."""
    at = finding.get("at")
    return isinstance(at, Mapping) and all(at.get(key) == pair[key] for key in ("first", "second", "directory"))


def rows_of(pair: Pair, *names: str) -> list[StepRow]:
    """Return the rows of the steps with the given names, from the results of a pair."""
    return [step for step in pair["steps"] if step["step"] in names]
