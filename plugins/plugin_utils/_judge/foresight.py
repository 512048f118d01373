# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Notes, made before anything is measured, about what a sweep can neither decide nor certify."""

from __future__ import annotations

from typing import Any

from .._estimate.target import OperationsTarget, Target
from .._run.columns import ALL_OPERATIONS, ALL_STREAMS, ALL_WORKERS, COMMITS, STREAMS, Row
from .._run.findings import FORESEEN, Finding, finding
from .._run.shapes import Plan
from . import statistics
from .means import SECONDS_FOR_A_MEAN
from .metrics import BATCH_MEANS, HIGHEST, ONCE, SHARE_OF_OPERATIONS, SHARE_OF_TIME, TARGET
from .profile import LOG, Limit, Profile
from .profile_reader import of_every_profile

_TARGETS = {TARGET: Target, HIGHEST: OperationsTarget}
"""The kind of sweep_target that limits with these scopes require."""
_LARGEST_MEAN = 0.4
"""The mean, as a share of a limit on a percentile, that notes assume when they state how long a row must be
measured."""


def foresee(profile: Profile, plan: Plan) -> list[Finding]:
    """Return notes on limits that the plan measures too briefly to decide even if no write is over the limit, and on
    reasons why the plan cannot certify."""
    if plan["workload"] == COMMITS:
        return [*_short_of_target(plan), *_of_commits(profile)]
    rows = [
        {"worker": ALL_WORKERS, "stream": stream, "operation": operation, "block_size_bytes": size, "load_point": load}
        for stream, operations in _streams_of(plan).items()
        for operation in operations
        for size in plan["block_sizes_bytes"] or [None]
        for load in plan["load_points"]
    ]
    too_short = (_too_short_for(limit, profile, rows, plan["sweep_duration"]) for limit in profile.limits)
    lacking = (_without_stream(limit, plan) for limit in profile.limits)
    return [*filter(None, lacking), *filter(None, too_short), *_short_of_target(plan), *_cannot_certify(profile, plan)]


def _streams_of(plan: Plan) -> dict[str, list[str]]:
    """Return the operations of each stream that has rows."""
    return {**plan["streams"], ALL_STREAMS: [ALL_OPERATIONS]} if plan["workload"] == STREAMS else {LOG: ["write"]}


def _without_stream(limit: Limit, plan: Plan) -> Finding | None:
    """Return a note if a limit cannot be judged because the workload has no rows for it, None if it can. Limits that
    apply to every run are left out."""
    streams = _streams_of(plan)
    if (
        limit.metric.scope in ONCE
        or of_every_profile(limit)
        or (limit.stream in streams and limit.operation in ("", *streams[limit.stream]))
    ):
        return None
    about = {"limit": limit.text, "stream": limit.stream, "operation": limit.operation or None}
    return _foreseen("no_stream", workload=plan["workload_name"], **about)


def _foreseen(cause: str, **data: Any) -> Finding:
    return finding(FORESEEN, None, cause=cause, **data)


def _short_of_target(plan: Plan) -> list[Finding]:
    """Return a note if no load point is as large as the load that the volume must carry.
    A search reaches such a load point if the volume carries it."""
    highest, target = max(plan["load_points"]), plan["load_target"]
    if plan["search"] or highest >= target:
        return []
    return [_foreseen("load_target", target=target, largest=highest)]


def _of_commits(profile: Profile) -> list[Finding]:
    """Limits on commits are compared directly, after any number of seconds."""
    blocks = any(limit.block_size for limit in profile.limits)
    return [*([_foreseen("no_blocks", profile=profile.name)] if blocks else []), _foreseen("commits")]


def foresee_without_target(profile: Profile, target: Target | OperationsTarget | None) -> list[Finding]:
    """Return notes on the limits that cannot be judged on a host with a different kind of target or with no target."""
    lacking = [scope for scope, kind in _TARGETS.items() if not isinstance(target, kind)]
    return [
        _foreseen("no_target", limit=limit.text, scope=limit.metric.scope)
        for limit in profile.limits
        if limit.metric.scope in lacking
    ]


def _cannot_certify(profile: Profile, plan: Plan) -> list[Finding]:
    """Return a note for each of the profile's requirements for certification that the plan does not meet."""
    workload, planned_s, planned_bytes = (
        plan[key] for key in ("workload_name", "sweep_duration", "queue_manager_bytes")
    )
    duration = {"required_s": profile.min_duration_s, "whole_s": plan["certify_s"], "planned_s": planned_s}
    files = {"required_bytes": profile.min_footprint_bytes, "planned_bytes": planned_bytes}
    missing = [size for size in profile.block_sizes if size not in plan["block_sizes_bytes"]]
    lacking = (
        (workload != profile.workload, "workload", {"required": profile.workload, "workload": workload}),
        (planned_s < profile.min_duration_s, "duration", duration),
        (
            planned_bytes < profile.min_footprint_bytes,
            "small_files",
            {**files, "of_streams": plan["workload"] == STREAMS},
        ),
        (missing, "block_sizes", {"missing_bytes": missing}),
    )
    return [_foreseen(cause, profile=profile.name, **data) for lacks, cause, data in lacking if lacks]


def _too_short_for(limit: Limit, profile: Profile, rows: list[dict[str, Any]], planned_s: int) -> Finding | None:
    judged = [row for row in rows if limit.applies_to(row)]
    if profile.confidence is None or limit.hard or not judged:
        return None
    largest_mean = max(_mean_over_limit(limit, profile, row) for row in judged)
    needed_s = _needed_s(limit, 1 - profile.confidence, largest_mean)
    if needed_s <= planned_s:
        return None
    mean_over_limit = largest_mean if limit.metric.method == SHARE_OF_OPERATIONS else None
    return _foreseen(
        "too_short", limit=limit.text, needed_s=needed_s, planned_s=planned_s, mean_over_limit=mean_over_limit
    )


def _needed_s(limit: Limit, alpha: float, mean_over_limit: float) -> int:
    """Return the smallest number of seconds in which a limit can pass, or 0 if the figure is compared directly."""
    metric = limit.metric
    if metric.method == SHARE_OF_OPERATIONS:
        return statistics.seconds_to_pass(metric.allowed_share, 1 / mean_over_limit, alpha)
    if metric.method == SHARE_OF_TIME:
        return statistics.seconds_to_pass_time(metric.allowed_share, alpha)
    return SECONDS_FOR_A_MEAN if metric.method == BATCH_MEANS else 0


def _mean_over_limit(limit: Limit, profile: Profile, row: Row) -> float:
    """Return the largest mean assumed for a row: the mean that the profile allows, but at most a share of the limit."""
    means = [other.value for other in profile.limits if other.metric.name == "latency_mean" and other.applies_to(row)]
    return min([_LARGEST_MEAN, *(mean / limit.value for mean in means)])
