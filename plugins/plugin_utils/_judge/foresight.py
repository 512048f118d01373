# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a sweep can neither decide nor certify: said before anything is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import OperationsTarget, Target
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.means import SECONDS_FOR_A_MEAN
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import BATCH_MEANS, HIGHEST, ONCE, SHARE_OF_OPERATIONS, SHARE_OF_TIME, TARGET
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import LOG, Limit, Profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import of_every_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import ALL_OPERATIONS, ALL_STREAMS, ALL_WORKERS, COMMITS, STREAMS

_TARGETS = {TARGET: (Target, "which messages"), HIGHEST: (OperationsTarget, "how many operations_per_s")}
"""What sweep_target must say for limits of these scopes."""
_LARGEST_MEAN = 0.4
"""The mean, as a share of a limit on a percentile, for which it is said how long a row must be measured."""


def foresee(profile: Profile, plan: Mapping[str, Any]) -> list[str]:
    """Return sentences on what the plan's seconds per row cannot decide, even if no write is over a limit, and on why the plan cannot certify."""
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


def _streams_of(plan: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the operations of each stream that has rows."""
    return {**plan["streams"], ALL_STREAMS: [ALL_OPERATIONS]} if plan["workload"] == STREAMS else {LOG: ["write"]}


def _without_stream(limit: Limit, plan: Mapping[str, Any]) -> str:
    """Return that a limit cannot be judged because the workload has no such rows, empty if it has. A limit of every run is left out then."""
    streams = _streams_of(plan)
    if limit.metric.scope in ONCE or of_every_profile(limit) or (limit.stream in streams and limit.operation in ("", *streams[limit.stream])):
        return ""
    wanted = f"{limit.operation}s of stream {limit.stream}" if limit.operation else f"stream {limit.stream}"
    return f"{limit.text} cannot be judged, because the workload {plan['workload_name']} has no {wanted}"


def _short_of_target(plan: Mapping[str, Any]) -> list[str]:
    """Return a sentence if no load point is as large as the load that the volume must carry. A search goes on until one is."""
    highest, target = max(plan["load_points"]), plan["load_target"]
    if plan["search"] or highest >= target:
        return []
    return [f"sweep_load_target {target:g} cannot be shown, because the largest load point is {highest}: add {math.ceil(target)} to sweep_loads"]


def _of_commits(profile: Profile) -> list[str]:
    """Limits on commits are compared as they stand, after any number of seconds."""
    blocks = any(limit.block_size for limit in profile.limits)
    notes = [f"{profile.name} has limits on block sizes, which cannot be judged with sweep_workload {COMMITS}: use a profile for commits"] if blocks else []
    return [*notes, f"with sweep_workload {COMMITS} this run cannot certify"]


def foresee_without_target(profile: Profile, target: Target | OperationsTarget | None) -> list[str]:
    """Return sentences on the limits that cannot be judged on a host with another target than theirs, or without one."""
    lacking = {scope: what for scope, (kind, what) in _TARGETS.items() if not isinstance(target, kind)}
    limits = [limit for limit in profile.limits if limit.metric.scope in lacking]
    return [f"{limit.text} cannot be judged, because sweep_target does not say {lacking[limit.metric.scope]} the volume must carry" for limit in limits]


def _cannot_certify(profile: Profile, plan: Mapping[str, Any]) -> list[str]:
    """Return what the profile requires of a run that certifies and the plan does not have, a sentence each."""
    planned_s, files_bytes = plan["sweep_duration"], plan["queue_manager_bytes"]
    missing = [_units.format_size(size) for size in profile.block_sizes if size not in plan["block_sizes_bytes"]]
    notes = []
    if plan["workload_name"] != profile.workload:
        notes.append(f"{profile.name} certifies runs of sweep_workload {profile.workload}: with {plan['workload_name']} this run cannot certify")
    if planned_s < profile.min_duration_s:
        whole = _units.format_duration(plan["certify_s"] * 1e9, 2)
        notes.append(f"{profile.name} requires {profile.min_duration_s:g} s per row (about {whole}): with {planned_s} s this run cannot certify")
    if files_bytes < profile.min_footprint_bytes:
        required, planned = _units.format_size(profile.min_footprint_bytes), _units.format_size(files_bytes)
        each = "" if plan["workload"] == STREAMS else " per queue manager"
        notes.append(f"{profile.name} requires {required} of test files{each}: with {planned} this run cannot certify")
    if missing:
        notes.append(f"{profile.name} requires the block sizes {', '.join(missing)}: without them this run cannot certify")
    return notes


def _too_short_for(limit: Limit, profile: Profile, rows: list[dict[str, Any]], planned_s: int) -> str:
    judged = [row for row in rows if limit.applies_to(row)]
    if profile.confidence is None or limit.hard or not judged:
        return ""
    largest_mean = max(_mean_over_limit(limit, profile, row) for row in judged)
    needed_s = _needed_s(limit, 1 - profile.confidence, largest_mean)
    if needed_s <= planned_s:
        return ""
    condition = f" if the mean is {largest_mean:.2g} of the limit, and fewer if it is smaller" if limit.metric.method == SHARE_OF_OPERATIONS else ""
    return f"{needed_s} s per row are needed for {limit.text}{condition}; {planned_s} s are planned"


def _needed_s(limit: Limit, alpha: float, mean_over_limit: float) -> int:
    """Return in how many seconds a limit can pass at the earliest, 0 if the figure is compared as it stands."""
    metric = limit.metric
    if metric.method == SHARE_OF_OPERATIONS:
        return statistics.seconds_to_pass(metric.allowed_share, 1 / mean_over_limit, alpha)
    if metric.method == SHARE_OF_TIME:
        return statistics.seconds_to_pass_time(metric.allowed_share, alpha)
    return SECONDS_FOR_A_MEAN if metric.method == BATCH_MEANS else 0


def _mean_over_limit(limit: Limit, profile: Profile, row: Mapping[str, Any]) -> float:
    """Return the largest mean that a row is taken to have: what the profile allows it, but not more than a share of the limit."""
    means = [other.value for other in profile.limits if other.metric.name == "latency_mean" and other.applies_to(row)]
    return min([_LARGEST_MEAN, *(mean / limit.value for mean in means)])
