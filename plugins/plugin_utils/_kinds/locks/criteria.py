# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A profile's requirements on locks: the figures that its limits can name, the limits of a profile that states none,
and the section about what must be tested: how long the log is written, and the steps in addition to the basic ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._judge.metrics import DURATION, NUMBER, OF_KIND, Metric
from ..._judge.profile import Limit, Profile
from ..._run.definitions import DefinitionError, read_mapping, read_number, read_sequence, shown
from ..._run.lock_steps import (
    BASICS,
    HAND_OVER,
    LOCK_COUNT,
    POD_DELETED,
    SECTION,
    SERVER_FAILOVER,
    STEPS,
    TAKEOVERS,
    UNDER_LOAD,
    StepRow,
    figure,
)
from .. import facets

MOST_LOCKS = 19_000
"""The most locks that a host can be tested for. The tester creates at most 20,000 files, including those of the other
steps."""

HOUR_NS = 3600 * 10**9
LONGEST_LOAD_S = 86_400

CALL = "try_ns"
"""The figure of a hand-over that tells how long one request for a lock takes."""

LOCK_BROKEN, LOCK_UNDECIDED, LOCK_NOT_COVERED = "lock_broken", "lock_undecided", "lock_not_covered"
"""Findings about the locks of two hosts. ``step`` is the step, ``code`` says what is wrong, and ``at`` names the hosts
and their roles."""

IDS: Mapping[tuple[str, str | None], str] = {
    **{(LOCK_BROKEN, step): f"LOCK-{number:03}" for number, step in enumerate(STEPS, 1) if step != POD_DELETED},
    (LOCK_UNDECIDED, None): "LOCK-011",
    (LOCK_NOT_COVERED, None): "LOCK-012",
    (LOCK_BROKEN, POD_DELETED): "LOCK-013",
}

Required = Mapping[str, Any]
"""What a profile requires (see ``required_of``)."""


@dataclass(frozen=True, kw_only=True)
class LockMetric(Metric):
    """A figure of some steps. ``value_of`` returns it for a row of such a step, or None if it is not known, and
    ``needed`` are the figures of the row that it is made of."""

    steps: tuple[str, ...]
    needed: tuple[str, ...]
    value_of: Callable[[StepRow], float | None]


def _metric(
    name: str,
    steps: Iterable[str],
    needed: str | tuple[str, ...],
    description: str,
    text: str,
    value_of: Callable[[StepRow], float | None] | None = None,
    **keys: Any,
) -> LockMetric:
    names = (needed,) if isinstance(needed, str) else needed
    known = {"kind": DURATION, "bound": "max", "most": HOUR_NS, **keys}
    return LockMetric(
        name=name,
        column=names[0],
        scope=OF_KIND,
        description=description,
        text=f"{text} {{value}} (limit {{limit}})" if "{value}" not in text else text,
        steps=tuple(steps),
        needed=names,
        value_of=value_of or (lambda row: figure(row, names[0])),
        **known,
    )


def _hand_over_ns(row: StepRow) -> float | None:
    """Return the longer of the times that the other host waits for the lock and polls for it. A host that polls may
    notice the release a turn later, which is due to the test."""
    wait, poll, turn = (figure(row, name) for name in ("wait_ns", "poll_ns", "poll_round_ns"))
    known = [wait] if wait is not None else []
    known += [max(poll - turn, 0)] if poll is not None and turn is not None else []
    return max(known, default=None)


def _notification_ns(row: StepRow) -> float | None:
    """Return how much later a process that waited for the lock got it than one that polled for it could.

    A release and a grant each cost a request, however the other host asks for the lock. If each request is slow, that
    is not a late notification. If the first attempt after the release succeeded, the lock may have been free at once;
    otherwise, it became free at any time before the attempt that succeeded.
    """
    wait, poll, turn, call = (figure(row, name) for name in ("wait_ns", "poll_ns", "poll_round_ns", CALL))
    if wait is None or poll is None or turn is None or call is None:
        return None
    waited, polled = max(wait - 2 * call, 0), max(poll - 2 * call, 0)
    return max(waited - (polled if polled > turn else 0), 0)


_AT_FAILOVER = "at the failover of the file server, the"

TAKEOVER = _metric(
    "lock_takeover",
    TAKEOVERS,
    "takeover_ns",
    "time from the loss of a host or its connection until the other host has the lock",
    "{other} had the lock {value} after {holder} was {lost} (limit {limit})",
)
COUNT = _metric(
    "lock_count",
    (LOCK_COUNT,),
    "locks_held",
    "number of locks that a host can hold at once",
    "{holder} got {value} locks[, then {errno}] (limit {limit})",
    kind=NUMBER,
    bound="min",
    most=MOST_LOCKS,
)
METRICS = (
    _metric(
        "lock_hand_over",
        (HAND_OVER,),
        ("wait_ns", "poll_ns", "poll_round_ns"),
        "time from the release of the lock until the other host has it",
        "{other} had the lock {value} after {holder} had released it (limit {limit})[; one request for a lock takes "
        "{slow_ns:duration} there]",
        _hand_over_ns,
    ),
    _metric(
        "lock_verification",
        (UNDER_LOAD,),
        "verification_max_ns",
        "longest verification of the lock under full load",
        "the longest verification of its lock took {holder}",
    ),
    TAKEOVER,
    COUNT,
    _metric(
        "lock_notification",
        (HAND_OVER,),
        ("wait_ns", "poll_ns", "poll_round_ns", CALL),
        "time by which a process that waits for the lock gets it later than one that asks for it repeatedly",
        "{other} was notified {value} later than by polling that the lock was free (limit {limit})",
        _notification_ns,
    ),
    _metric(
        "lock_verification_at_failover",
        (SERVER_FAILOVER,),
        "verification_max_ns",
        "longest verification of the lock at a failover of the file server",
        f"{_AT_FAILOVER} longest verification of its lock took {{holder}}",
    ),
    _metric(
        "lock_write_pause",
        (UNDER_LOAD,),
        "write_pause_max_ns",
        "longest pause of the writes to the log under full load",
        "the longest pause of the writes of {holder} under load was",
    ),
    _metric(
        "lock_write_pause_at_failover",
        (SERVER_FAILOVER,),
        "write_pause_max_ns",
        "longest pause of the writes to the log at a failover of the file server",
        f"{_AT_FAILOVER} writes of {{holder}} paused for",
    ),
)
OF_METRICS: Mapping[str, LockMetric] = {metric.name: metric for metric in METRICS}

_MQ_SOURCE = 'IBM, "IBM MQ: Considerations for EFS on AWS": a queue manager has 20 s to verify its locks by default'
LIMITS = (
    {
        "id": "LOCK-101",
        "metric": "lock_hand_over",
        "max": "2 s",
        "source": "this project's choice: a planned switch to the standby must not wait noticeably for the lock",
    },
    {
        "id": "LOCK-102",
        "metric": "lock_verification",
        "max": "10 s",
        "source": f"half of what a queue manager allows ({_MQ_SOURCE})",
    },
    {
        "id": "LOCK-103",
        "metric": "lock_takeover",
        "max": "45 s",
        "source": "this project's choice: half as much again as a lease of 30 s",
    },
    {
        "id": "LOCK-104",
        "metric": "lock_count",
        "min": 512,
        "source": "this project's choice: enough for 170 queue managers on one host, because an active instance locks "
        'two files and a standby instance one (IBM, "File locking in MQ multi-instance queue managers")',
    },
    {
        "id": "LOCK-105",
        "metric": "lock_notification",
        "max": "1 s",
        "source": "this project's choice; IBM MQ corrected its handling of late notifications with APAR IT43349",
    },
    {"id": "LOCK-106", "metric": "lock_verification_at_failover", "max": "20 s", "source": _MQ_SOURCE},
    {
        "id": "LOCK-107",
        "metric": "lock_write_pause",
        "max": "10 s",
        "source": "the hard limit on stalls that every profile has (HARD-002)",
    },
    {
        "id": "LOCK-108",
        "metric": "lock_write_pause_at_failover",
        "max": "20 s",
        "source": "this project's choice: a file server that does not answer writes does not answer the "
        "verification of a lock either",
    },
)
"""The limits that apply unless a profile has a limit on the metric."""

_DEFAULTS: Mapping[str, Any] = {"load_s": 300, "steps": []}
"""The section of a profile that has none. ``steps`` are those that are required in addition to the basic ones."""


class Criteria(facets.Criteria):
    """The limits on locks, and the section ``locks`` of a profile."""

    metrics = METRICS
    limits = LIMITS
    ids = IDS

    def read(self, given: Any, base: Any) -> Any:
        """Return the keys of the section that differ from the default. A key that is not given is taken from ``base``.
        Raises DefinitionError."""
        read_mapping(given, SECTION, tuple(_DEFAULTS))
        if not given:
            raise DefinitionError(f"locks must contain at least one of {', '.join(_DEFAULTS)}.")
        section = {**_DEFAULTS, **(base or {}), **given}
        if not 0 < read_number(section["load_s"], "locks.load_s") <= LONGEST_LOAD_S:
            raise DefinitionError(
                f"locks.load_s {shown(section['load_s'])} must be above 0 and at most {LONGEST_LOAD_S} seconds."
            )
        section["steps"] = _read_steps(section["steps"])
        return {key: value for key, value in section.items() if value != _DEFAULTS[key]} or None

    def limits_of(self, profile: Profile) -> tuple[Limit, ...]:
        """Return the limits on locks."""
        return limits_on_locks(profile)


def _read_steps(given: Any) -> list[str]:
    """Return the named steps in the order of the test, without the basic ones, which need not be named."""
    steps = read_sequence(given, "locks.steps")
    for step in steps:
        if step not in STEPS:
            raise DefinitionError(f"locks.steps names {shown(step)}, which is not one of {', '.join(STEPS)}.")
    return [step for step in STEPS if step in steps and step not in BASICS]


def limits_on_locks(profile: Profile) -> tuple[Limit, ...]:
    """Return the limits of a profile on the figures of locks."""
    return tuple(limit for limit in profile.kind_limits if limit.metric.name in OF_METRICS)


def required_of(profile: Profile) -> dict[str, Any]:
    """Return what a test of locks has to do for a profile: ``load_s``; ``steps``, the required ones in addition to the
    basic ones; ``takeover_s``, the longest takeover that a limit allows; and ``lock_count``, how many locks a host must
    be able to hold."""
    of_locks = limits_on_locks(profile)
    takeover_ns, count = (
        max(limit.value for limit in of_locks if limit.metric == metric) for metric in (TAKEOVER, COUNT)
    )
    section = {**_DEFAULTS, **(profile.sections.get(SECTION) or {})}
    return {**section, "takeover_s": takeover_ns / 1e9, "lock_count": math.ceil(count)}


def required_steps(required: Required) -> list[str]:
    """Return all steps that a profile requires, in the order in which they are listed in STEPS."""
    return [step for step in STEPS if step in BASICS or step in required["steps"]]
