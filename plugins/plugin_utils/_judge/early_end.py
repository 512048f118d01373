# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which limits of a profile end a sweep early if they are broken, which limits end a step early if all of
them are met, and what such a sweep still proves. The last step of such a sweep ended at a moment that its own figures
determined. The tester ends it only if a share test would still fail if the rest of the planned time were quick, and a
write that took too long remains too long. Therefore, this step can show that the limits of these tests and the limit on
the longest write are broken. It decides nothing else.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from .._run.columns import ALL_WORKERS, STREAMS
from .._run.findings import BROKEN, DISTURBED, ENDED_EARLY, KEPT_EARLY, OPEN, WAIVED, Finding, Judgement, finding
from .._run.record import HostRecord
from .._run.shapes import Plan
from .._run.table_checks import ended_early
from .._run.tables import Tables
from .._run.verdicts import GOOD, INCONCLUSIVE, WARN
from .evidence import planned_tests
from .metrics import SHARE_OF_OPERATIONS, SHARE_OF_TIME
from .profile import FAIL, LOG, LONGEST_THRESHOLD_NS, Limit, Profile, Range
from .profile import WARN as SEVERITY_WARN
from .throttling import limit_notes

ANY_TIME = ("latency_max",)
"""Metrics without a test: once such a figure breaks its limit, the limit stays broken until the end."""
ANY_TIME_METHODS = (SHARE_OF_OPERATIONS, SHARE_OF_TIME)
THROTTLED_TEXT = (
    "steps ended early because all limits were kept (sweep_end_early), but the volume was throttled, so it may become "
    "slower later: measure again with sweep_end_early: fail"
)
MOST_LIMITS = 16
"""The largest number of limits that the tester takes (its OPTIONS_TEXTS_MAX)."""
_LARGEST = 1 << 40
"""A number above every block size and load point."""


def leave_open(judgements: list[Judgement], tables: Tables) -> list[dict[str, Any]]:
    """Return the judgements. Those that an early end left undecided are now inconclusive: the judgements of steps that
    were not measured, and those judgements of the last step that are not valid at any time."""
    if not ended_early(tables.run):
        return judgements
    last = max(tables.results, key=lambda row: row["step"])
    step = last["block_size_bytes"], last["load_point"]
    return [
        judgement
        if judgement["worker"] is not None
        and ((judgement["block_size_bytes"], judgement["load_point"]) != step or _stands(judgement))
        else _left_open(judgement)
        for judgement in judgements
    ]


def is_left_open(judgement: Judgement) -> bool:
    """Return whether an early end left a judgement undecided."""
    return (judgement["details"].get("why") or {}).get("code") == ENDED_EARLY


def _stands(judgement: Judgement) -> bool:
    at_any_time = judgement["metric"] in ANY_TIME or judgement["method"] in ANY_TIME_METHODS
    return at_any_time and judgement["cause"] in (BROKEN, WAIVED, DISTURBED)


def _left_open(judgement: Judgement) -> dict[str, Any]:
    details = {key: value for key, value in judgement["details"].items() if key not in ("claim", "outcome")}
    verdict = WARN if judgement["severity"] == SEVERITY_WARN else INCONCLUSIVE
    cause = OPEN if judgement["value"] is not None else judgement["cause"]
    return {**judgement, "verdict": verdict, "cause": cause, "details": {**details, "why": {"code": ENDED_EARLY}}}


def finding_of_early_end(tables: Tables) -> Finding | None:
    """Return a finding about a sweep that ended early: why it ended, and for how long each step was measured. The
    result is None if the sweep did not end early."""
    if not ended_early(tables.run):
        return None
    sizes, loads = (
        [int(number) for number in tables.run.get(key, "").split() if number.isdigit()]
        for key in ("option_block_sizes_bytes", "option_load_points")
    )
    rows = [row for row in tables.results if row["worker"] == ALL_WORKERS]
    measured = {(row["load_point"], row["block_size_bytes"]): {"measured_s": row["elapsed_ns"] / 1e9} for row in rows}
    return finding(
        ENDED_EARLY,
        INCONCLUSIVE,
        metric=tables.run.get("ended_early_limit", "").partition(":")[0],
        planned_s=tables.number("option_duration_s"),
        steps=[
            {"block_size_bytes": size, "load_point": load, **measured.get((load, size), {})}
            for load, size in itertools.product(loads, sizes)
        ],
    )


def fails_above(profile: Profile, host: str, plan: Plan) -> dict[str, Any]:
    """Return the options that make the tester end a step of the log, and with it the sweep of the volume, when a limit
    of the profile is broken.

    These are limits that can be broken for good at any time: percentiles of the latency, which the evidence of the
    seconds decides, and the longest write. Each of these certainly fails the volume if it is broken.
    """
    limits = [limit for limit in profile.limits if _ends_step(limit, profile, host)][:MOST_LIMITS]
    if not limits:
        return {}
    odds = 2
    if profile.confidence is not None:
        tests = planned_tests(profile, plan["block_sizes_bytes"], plan["load_points"])
        odds = max(odds, math.ceil(round(tests / (1 - profile.confidence), 6)))
    return {"failAbove": [_text(limit) for limit in limits], "failOdds": odds}


def passes_after(profile: Profile, host: str, plan: Plan) -> dict[str, Any]:
    """Return the options of :func:`fails_above`, and those that make the tester end a step when all limits of the
    profile are met.

    That is only possible if the evidence for each limit is valid at that time, and if nothing else depends on the
    length of the step. So there are no such options for profiles that limit a mean or a rate, contain a warning or a
    waiver for the host, or require covered episodes. The hard limits apply to the figures as they stand.
    """
    ends_if_broken = fails_above(profile, host, plan)
    own = [limit for limit in profile.limits if not limit.hard]
    if (
        profile.confidence is None
        or profile.episode_s
        or len(profile.limits) > MOST_LIMITS
        or not all(_ends_step(limit, profile, host) for limit in own)
    ):
        return ends_if_broken
    odds = math.ceil(round(1 / (1 - profile.confidence), 6))
    return {**ends_if_broken, "passAfter": max(1, math.ceil(profile.min_duration_s)), "passOdds": odds}


def stops_above(profile: Profile, host: str, plan: Plan) -> dict[str, list[str]]:
    """Return the tester's options that end a series of loads at the first load whose mean breaks a limit of the
    profile.

    Only limits that the tester can apply are used. Such a limit applies to one row of every load point, and a volume
    that breaks it is certain to fail.
    """
    loads = plan["load_points"]
    if plan["workload"] != STREAMS or len(loads) < 2 or loads != sorted(loads):
        return {}
    waived = {waiver.metric for waiver in profile.waivers if waiver.host == host}
    limits = [
        limit
        for limit in profile.limits
        if limit.severity == FAIL and limit.bound == "max" and limit.metric.name not in waived
    ]
    stops = [
        f"{stream}:{operation}:{figure}:{int(limit.value)}ns"
        for limit in limits
        if not (limit.block_size or limit.message_size or limit.load_point)
        for stream, operation, figure in plan["means"]
        if (limit.stream, limit.metric.name) == (stream, figure) and limit.operation in ("", operation)
    ]
    return {"stopAbove": stops} if stops else {}


def counted_for(profile: Profile) -> dict[str, str]:
    """Return the tester's options for the counts per second that a profile needs; empty if it needs none."""
    thresholds = ",".join(f"{threshold}ns" for threshold in profile.thresholds_ns)
    return {"over": thresholds} if thresholds else {}


def notes_of_kept_steps(tables: Tables) -> list[Finding]:
    """Return a note about the steps that ended before their time because all limits were met."""
    kept = tables.run.get("steps_kept", "").split()
    steps = [
        {**{key: row[key] for key in ("block_size_bytes", "load_point")}, "measured_s": row["elapsed_ns"] / 1e9}
        for row in tables.results
        if row["worker"] == ALL_WORKERS and str(row["step"]) in kept
    ]
    facts = {
        "planned_s": tables.number("option_duration_s"),
        "initial_write_s": (tables.number("initial_write_ns") or 0) / 1e9,
    }
    return [finding(KEPT_EARLY, None, steps=steps, **facts)] if steps else []


def doubt_about_kept_steps(record: HostRecord) -> dict[str, str] | None:
    """Return a verdict with its reason if steps ended because all limits were met, but the volume was throttled. Such
    a volume may become slower after the time that was measured. Otherwise, return None.

    The counters of a volume are read before the files are created and after the last step. Creating the files may reach
    a limit, so the volume counts as throttled only if a limit was reached for longer than that took.
    """
    kept = next((note for note in record.noted if note["kind"] == KEPT_EARLY), None)
    if kept is None or record.verdict not in GOOD:
        return None
    throttled = any(note["limited_s"] > (kept.get("initial_write_s") or 0) for note in limit_notes(record.facts))
    return {"verdict": INCONCLUSIVE, "reason": THROTTLED_TEXT} if throttled else None


def _ends_step(limit: Limit, profile: Profile, host: str) -> bool:
    is_tested = profile.confidence is not None and limit.metric.method in ANY_TIME_METHODS
    return (
        limit.bound == "max"
        and limit.severity == FAIL
        and limit.stream == LOG
        and not limit.message_size
        and (limit.metric.name in ANY_TIME or is_tested)
        and 1 <= limit.threshold_ns <= LONGEST_THRESHOLD_NS
        and not profile.waiver_of((host,), limit.metric.name, limit.id)
    )


def _text(limit: Limit) -> str:
    return f"{limit.metric.name}:{limit.threshold_ns}ns:{_range(limit.block_size)}:{_range(limit.load_point)}"


def _range(steps: Range | None) -> str:
    steps = steps or Range(None, None)
    return f"{steps.min or 0}-{_LARGEST if steps.max is None else steps.max}"
