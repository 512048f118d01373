# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on the locks of two hosts. If a lock does not exclude the other host, that is a fail that nothing
excuses. Times and numbers have limits, which a waiver can excuse. A required step that was not carried out, or whose
outcome is unknown, decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from .._run.findings import LOCK_BROKEN, LOCK_LIMIT, LOCK_NOT_COVERED, LOCK_UNDECIDED, SHORT_LEASE, Finding, finding
from .._run.lock_steps import (
    BOTH_WAYS,
    BROKEN,
    HAND_OVER,
    KEPT,
    NOT_COVERED,
    POD_DELETED,
    SAME_HOST,
    SETTINGS,
    STEPS,
    UNDECIDED,
    UNDER_LOAD,
    figure,
    rows_of,
)
from .._run.verdicts import FAIL, INCONCLUSIVE, WARN
from .lock_limits import CALL, EVIDENCE, LOCK_LIMITS, NOTIFICATION_ID, NOTIFICATION_S, LockLimit, required_steps
from .profile import Waiver

NOT_RUN, SHORT_LOAD, NO_PAIR = "not_run", "short_load", "no_pair"
"""The causes that only judging finds: a required step without a result, a load that was shorter than required, and a
host without a partner."""
LATE, WAITER_LATE = "late", "waiter_late"
"""How a limit on the hand-over was broken, in addition to its figure."""

SHORTEST_LEASE_S = 10
"""Below this value, a lease is so short that an ordinary delay of the network can end it."""

Pair = Mapping[str, Any]
Row = Mapping[str, Any]


def findings_of(pair: Pair, limits: Mapping[str, Any], waivers: Iterable[Waiver] = ()) -> list[Finding]:
    """Return why a pair of hosts does not pass, none if it does. ``limits`` is a complete section (``limits_of``), and
    ``waivers`` are those that are valid today.

    A finding contains the figures of its row, and ``at``, which names the pair, the directory and the roles of the
    hosts.
    """
    required = required_steps(limits)
    broken = [_finding(LOCK_BROKEN, FAIL, pair, row) for row in pair["steps"] if row["outcome"] == BROKEN]
    refused = any(row["outcome"] != KEPT for row in rows_of(pair, SETTINGS))
    undecided = [*_undecided(pair, required), *_without_figures(pair), *_short_loads(pair, limits)]
    if not refused:
        undecided += _missing(pair, required)
    return [*broken, *_over_limits(pair, limits, tuple(waivers)), *undecided]


def _undecided(pair: Pair, required: Sequence[str]) -> Iterator[Finding]:
    """Yield the steps that decide nothing: those with an unknown outcome, and required steps for which a prerequisite
    is missing."""
    for row in pair["steps"]:
        if row["outcome"] == NOT_COVERED:
            if row["step"] in required:
                yield _finding(LOCK_NOT_COVERED, INCONCLUSIVE, pair, row)
        elif row["outcome"] not in (KEPT, BROKEN):
            yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, row)


def _missing(pair: Pair, required: Sequence[str]) -> Iterator[Finding]:
    """Yield the required steps without a result, each for the hosts that should have held the lock."""
    for step in required:
        rows = rows_of(pair, step)
        for holder, other in _wanted_roles(pair, step, bool(rows)):
            if not any(row["holder"] == holder for row in rows):
                row = {"step": step, "holder": holder, "other": other, "outcome": UNDECIDED, "cause": NOT_RUN}
                yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, row)


def _wanted_roles(pair: Pair, step: str, has_rows: bool) -> list[tuple[str, str]]:
    """Return which host must hold the lock in a step, and which one must request it. If either host may hold it, return
    the first one, or nothing if the step already has a result."""
    first, second = pair["first"], pair["second"]
    if step == SAME_HOST:
        return [(first, first), (second, second)]
    if step in BOTH_WAYS:
        return [(first, second), (second, first)]
    return [] if has_rows else [(first, second)]


def _short_loads(pair: Pair, limits: Mapping[str, Any]) -> Iterator[Finding]:
    for row in rows_of(pair, UNDER_LOAD):
        load_s = figure(row, "load_s")
        if row["outcome"] == KEPT and (load_s is None or load_s < limits["load_s"]):
            yield _finding(
                LOCK_UNDECIDED, INCONCLUSIVE, pair, {**row, "cause": SHORT_LOAD}, limit_value=limits["load_s"]
            )


def _over_limits(pair: Pair, limits: Mapping[str, Any], waivers: Sequence[Waiver]) -> Iterator[Finding]:
    """Yield the worst row of each step that breaks a limit."""
    checks = [
        (limit.key, limit.id, LATE, step, partial(_worst, limit), limits[limit.key], -1 if limit.is_minimum else 1)
        for limit in LOCK_LIMITS
        for step in limit.steps
    ]
    checks.append(("notification_s", NOTIFICATION_ID, WAITER_LATE, HAND_OVER, _waiter_s, NOTIFICATION_S, 1))
    for key, limit_id, code, step, value_of, bound, sign in checks:
        rows = [row for row in rows_of(pair, step) if row["outcome"] == KEPT]
        over = [(signed, row) for row in rows if (signed := sign * value_of(row)) > sign * bound]
        if over:
            dummy, row = max(over, key=itemgetter(0))
            broken = {"limit": key, "value": value_of(row), "limit_value": bound, "others": len(over) - 1}
            yield _limit_finding(pair, row, limit_id, waivers, code=code, **broken)


def _without_figures(pair: Pair) -> Iterator[Finding]:
    """Yield each row without a figure that would have to be judged."""
    needed = {step: set(names) for step, names in EVIDENCE.items()}
    for limit in LOCK_LIMITS:
        for step in limit.steps:
            needed.setdefault(step, set()).update(limit.needed)
    for row in rows_of(pair, *needed):
        if row["outcome"] == KEPT and any(figure(row, name) is None for name in needed[row["step"]]):
            yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, {**row, "cause": "no_figure"})


def _worst(limit: LockLimit, row: Row) -> float:
    """Return the known figure of a row that is closest to breaking a limit, in the unit of the limit; NaN, which breaks
    no limit, if there is none."""
    known = [value / limit.unit for name in limit.figures if (value := _net(limit, row, name)) is not None]
    return (min if limit.is_minimum else max)(known, default=math.nan)


def _net(limit: LockLimit, row: Row, name: str) -> float | None:
    """Return a figure of a row without what the test adds to it."""
    value, less = figure(row, name), figure(row, limit.less[name]) if name in limit.less else 0
    return None if value is None or less is None else max(value - less, 0)


def _waiter_s(row: Row) -> float:
    """Return by how many seconds a process that waited for the lock got it later than one that polled for it could;
    NaN if that is not known.

    A release and a grant each cost a request, however the other host asks for the lock. If each request is slow, that
    is not a late notification. If the first attempt after the release succeeded, the lock may have been free at once;
    otherwise, it became free at any time before the attempt that succeeded.
    """
    wait, poll, turn, call = (figure(row, name) for name in ("wait_ns", "poll_ns", "poll_round_ns", CALL))
    if wait is None or poll is None or turn is None or call is None:
        return math.nan
    waited, polled = max(wait - 2 * call, 0), max(poll - 2 * call, 0)
    return (waited - (polled if polled > turn else 0)) / 1e9


def _limit_finding(pair: Pair, row: Row, limit_id: str, waivers: Sequence[Waiver], **data: Any) -> Finding:
    excuses = [
        waiver for waiver in waivers if waiver.host in (pair["first"], pair["second"]) and waiver.limit_id == limit_id
    ]
    waiver = max(excuses, key=lambda each: each.until, default=None)
    known = {"text": waiver.reason, "until": waiver.until.isoformat()} if waiver else None
    found = _finding(LOCK_LIMIT, WARN if waiver else FAIL, pair, row, **data, waiver=known)
    return {**found, "limit_id": limit_id}


def _finding(kind: str, verdict: str | None, pair: Pair, row: Row, **data: Any) -> Finding:
    """Return the finding of a row. ``cause`` is its step if the kind has a criterion for each step."""
    at = {key: pair[key] for key in ("first", "second", "directory")}
    known = {"code": row["cause"], **data}
    return finding(
        kind,
        verdict,
        step=row["step"],
        cause=row["step"] if kind == LOCK_BROKEN else None,
        at={**at, "holder": row["holder"], "other": row["other"]},
        figures=dict(row.get("figures") or {}),
        **known,
    )


def untested_steps(pair: Pair) -> list[str]:
    """Return the steps that a pass of a pair says nothing about, because they were not carried out, or not with each
    host that should have held the lock. The step that only pods have is left out for hosts."""
    done = {(row["step"], row["holder"]) for row in pair["steps"] if row["outcome"] != NOT_COVERED}
    steps = {step for step, _holder in done}
    return [
        step
        for step in STEPS
        if (step != POD_DELETED or rows_of(pair, POD_DELETED))
        and (step not in steps or any((step, holder) not in done for holder, _other in _wanted_roles(pair, step, True)))
    ]


def notes_of(pair: Pair, limits: Mapping[str, Any]) -> list[Finding]:
    """Return notes about a pair in addition to its verdict: steps that were neither carried out nor required, and a
    lease that is too short."""
    required = required_steps(limits)
    left_out = [
        _finding(LOCK_NOT_COVERED, None, pair, row)
        for row in pair["steps"]
        if row["outcome"] == NOT_COVERED and row["step"] not in required
    ]
    leases = {
        host: lease_s
        for host, settings in (pair.get("settings") or {}).items()
        if (lease_s := figure({"figures": settings}, "lease_s")) is not None and lease_s < SHORTEST_LEASE_S
    }
    return [*left_out, *([finding(SHORT_LEASE, None, lease_s=min(leases.values()))] if leases else [])]
