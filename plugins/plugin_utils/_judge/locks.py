# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on the locks of two hosts. If a lock does not exclude the other host, that is a fail that nothing
excuses. Times and numbers have limits, which a waiver can excuse. A required step that was not carried out, or whose
outcome is unknown, decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.lock_limits import (
    LOCK_LIMITS,
    NOTIFICATION_ID,
    NOTIFICATION_S,
    LockLimit,
    required_steps,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import Waiver
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import (
    LOCK_BROKEN,
    LOCK_LIMIT,
    LOCK_NOT_COVERED,
    LOCK_UNDECIDED,
    SHORT_LEASE,
    Finding,
    finding,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import (
    BOTH_WAYS,
    BROKEN,
    HAND_OVER,
    KEPT,
    NOT_COVERED,
    SAME_HOST,
    SETTINGS,
    UNDECIDED,
    UNDER_LOAD,
    figure,
    rows_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, WARN

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
    undecided = [*_undecided(pair, required), *_short_loads(pair, limits)]
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
    """Yield the worst row of each step that breaks a limit, and an open question if a figure is not known."""
    for limit in LOCK_LIMITS:
        for step in limit.steps:
            rows = [row for row in rows_of(pair, step) if row["outcome"] == KEPT]
            known = {place: value for place, row in enumerate(rows) if (value := _worst(limit, row)) is not None}
            for place, row in enumerate(rows):
                if place not in known:
                    yield _finding(LOCK_UNDECIDED, INCONCLUSIVE, pair, {**row, "cause": "no_figure"})
            over = [place for place, value in known.items() if limit.breaks(value, limits[limit.key])]
            if over:
                pick = min if limit.is_minimum else max
                worst = pick(over, key=known.__getitem__)
                broken = {"limit": limit.key, "value": known[worst], "limit_value": limits[limit.key]}
                yield _limit_finding(pair, rows[worst], limit.id, waivers, code=LATE, others=len(over) - 1, **broken)
    late = [
        (wait - poll, row)
        for row in rows_of(pair, HAND_OVER)
        if (wait := _s(row, "wait_ns")) is not None
        and (poll := _s(row, "poll_ns")) is not None
        and row["outcome"] == KEPT
        and wait - poll > NOTIFICATION_S
    ]
    if late:
        value, row = max(late, key=lambda each: each[0])
        broken = {"limit": "notification_s", "value": value, "limit_value": NOTIFICATION_S, "others": len(late) - 1}
        yield _limit_finding(pair, row, NOTIFICATION_ID, waivers, code=WAITER_LATE, **broken)


def _worst(limit: LockLimit, row: Row) -> float | None:
    """Return the figure of a row that is closest to breaking a limit, in the unit of the limit."""
    known = [value / limit.unit for name in limit.figures if (value := figure(row, name)) is not None]
    return (min if limit.is_minimum else max)(known, default=None)


def _s(row: Row, name: str) -> float | None:
    value = figure(row, name)
    return None if value is None else value / 1e9


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
