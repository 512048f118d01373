# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a host and its verdict, which is the worst of its judgements and of how the tester ended."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._estimate.target import TARGET_FACTS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.capacity import LOAD_SEARCH, LOAD_TARGET, Capacity, Ending, capacity_of, counting, unproven
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.disturbance import disturbances, freeze_behind
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.evidence import confidence_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fidelity import deviations, fidelity_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.flushes import PROBE_PREFIX, flush_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.limits import Case, judge_capacity, judge_limit, judge_target_operations, reasons_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import BATCH_MEANS, CAPACITY, HIGHEST
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.plateau import plateau_notes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile import NO_CONFIDENCE, Profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.rows import limits_on_pace
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.worst import worst
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import record as kinds
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import volume_facts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import ALL_WORKERS, MQ_LOG, NO_FIGURES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import utc_now
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.profiles import profile_data, profile_key
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import TablesError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import Tables, parse_tables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import DEFAULT_FAIL_ON, ERROR, FAIL, GOOD, INCONCLUSIVE, MISSING, PASS, WARN
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.words import size_text

WORKSPACE_KEYS = ("path", "queue_managers", "directories", "unknown")
"""The keys of the workspace in a record."""

CLOCK_BOUND_S = 1.0
"""How far a host's clock may be off the controller's without a note."""

IDENTITY_PREFIXES = ("filesystem_", "mount_", "device_", "direct_io_", "nfs_", "backing_")
"""Prefixes of the keys in run.csv that describe what was tested; these keys are added to the facts of the host."""

ARRAY_SETTINGS = "array_settings"
"""The fact that comes from the host's variables."""

SKIPPED = "skipped"
"""The key of what kept a volume from being measured that names the queue manager which is left out on a host."""

NOTHING_MEASURED = "nothing was measured"
ENDED_EARLY = "the observation ended before its time"
WITHOUT_FIGURES = "the observation has no figures of the log"

NEVER_REPORTED = "it was expected but never reported"
UNCLAIMED = "it is in none of the runs that were merged: the job that was to measure it left no run"
"""Why a host is missing: for a host of a run, and for one of the inventory that is in none of the runs that were merged."""

_LONGEST_VALUE = 40
# As backing.c of the tester names what is memory; empty is not known.
_MEMORY = ("", "memory", "tmpfs", "ramfs", "rootfs", "devtmpfs")
_Checks = tuple[tuple[str, Callable[[str], bool], str], ...]
# A key of run.csv, whether a value is as it has to be, and the message about any other value.
_ON_STORAGE: _Checks = (
    ("filesystem_type", lambda text: text not in ("", "tmpfs", "ramfs"), "it wrote to {value}, which is memory"),
    ("backing_unknown", lambda text: text == "", "the storage behind the file system cannot be determined ({value}): test a volume that is mounted without it"),
    ("backing_filesystem_type", lambda text: text not in _MEMORY, "its writes ended in memory ({value})"),
)
# The workload mq-log with its own defaults.
_LIKE_MQ: _Checks = (
    ("option_sync", lambda text: text in ("dsync", "sync"), "it wrote with the sync mode {value}, but MQ writes with dsync"),
    ("option_direct", lambda text: text == "yes", "it wrote through the page cache, but MQ writes with direct I/O"),
    *_ON_STORAGE,
    ("option_rate_per_s", lambda text: not text.strip("0."), "it was throttled to {value} writes/s"),
    ("option_delay_us", lambda text: text == "0", "it paused for {value} us after each write"),
)
_FOOTPRINT_KEYS = ("option_file_size_bytes", "option_files")
"""Keys of run.csv whose product is what the files of one queue manager have together."""


def judge_host(
    record: HostRecord, tables: Tables | None, profile: Profile, today: datetime.date, together: Mapping[str, Capacity] | None = None
) -> dict[str, Any]:
    """Return the judged part of a host's record (verdict, certified, qualification, reasons, judgements, capacity and what is a fact about the volume).

    record is what is known of the host so far, tables is what its tester measured, today is the day that decides whether a waiver is valid. ``together`` holds,
    by its label, what each other volume takes that climbed together with this one.
    """
    if record.error:
        return _unmeasured(*_verdict_of_error(record.error))
    status = _exit_status(record, tables)
    if tables is None or status not in (0, 3, 4):
        return _unmeasured(ERROR, _no_tables_reason(record, status))
    try:
        case = Case(record, tables, profile, confidence_of(profile, tables), today, deviations(tables))
        limits = [limit for limit in profile.limits if limit.metric.scope not in (CAPACITY, HIGHEST)]
        judgements = [judgement for limit in (*limits, *limits_on_pace(tables)) for judgement in judge_limit(limit, case)]
        ending = _judge_ending(status, tables, profile)
        target, is_search = _load(record.facts.get(LOAD_TARGET)), bool(record.facts.get(LOAD_SEARCH))
        capacity = capacity_of(tables, judgements, ending).held_together_with(together or {})
        judgements = counting(judgements, capacity, target, is_search)
        judgements += [judge_capacity(limit, capacity, case) for limit in profile.limits if limit.metric.scope == CAPACITY]
        of_highest = [limit for limit in profile.limits if limit.metric.scope == HIGHEST]
        judgements += [judgement for limit in of_highest for judgement in judge_target_operations(limit, capacity, case)]
    except TablesError as problem:
        return _unmeasured(ERROR, unusable(problem))
    verdicts = [judgement["verdict"] for judgement in judgements]
    reasons = reasons_of(judgements)
    for found in (unproven(capacity, target, is_search), ending):
        if found:
            verdicts.append(found[0])
            reasons = [*([] if any(reason.startswith(found[1]) for reason in reasons) else [found[1]]), *reasons]
    verdict = worst(verdicts)
    qualification = _qualification(verdict, judgements, record, tables, profile)
    return {
        "verdict": verdict,
        "certified": not qualification,
        "qualification": qualification,
        "reasons": reasons,
        "judgements": judgements,
        "disturbances": disturbances(tables),
        "capacity": capacity.as_dict() if is_search or len(capacity.points) > 1 else None,
        "volume_facts": _volume_facts(status, tables, ending, judgements),
    }


def _unmeasured(verdict: str, reason: str) -> dict[str, Any]:
    return {"verdict": verdict, "certified": False, "qualification": NOTHING_MEASURED, "reasons": [reason], "judgements": []}


def _verdict_of_error(error: Mapping[str, Any]) -> tuple[str, str]:
    verdict = error.get("verdict")
    reason = str(error.get("reason") or "no reason is recorded")
    stage = error.get("stage")
    known = (*DEFAULT_FAIL_ON, WARN) if error.get(SKIPPED) else DEFAULT_FAIL_ON
    return verdict if verdict in known else ERROR, f"{stage}: {reason}" if stage else reason


def _exit_status(record: HostRecord, tables: Tables | None) -> int | None:
    """Return the tester's exit status: that of its tables, unless they report success and the process did not."""
    of_process = (record.tester or {}).get("exit_status")
    if tables is None:
        return of_process
    return tables.exit_status or (of_process if of_process in (1, 2, 3, 4) else 0)


def _no_tables_reason(record: HostRecord, status: int | None) -> str:
    message = str((record.tester or {}).get("exit_message") or "")
    ended = "the tester left no usable tables" if status is None else f"the tester ended with status {status} and left no usable tables"
    return f"{ended}: {message}" if message else ended


def _volume_facts(status: int, tables: Tables, ending: Ending | None, judgements: list[dict[str, Any]]) -> list[str]:
    """Return the facts about the volume that a run shows, whatever else the profile asks for."""
    found = set()
    if status == 3:
        found.add(volume_facts.WRONG_DATA if tables.run.get("error_errno_name") == "CORRUPT" else volume_facts.IO_ERROR)
    elif ending and ending[0] == FAIL:
        found.add(volume_facts.STALL)
    if any(each["hard"] and each["metric"] == "latency_max" and each["verdict"] == FAIL for each in judgements):
        found.add(volume_facts.STALL)
    return sorted(found)


def _load(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and value > 0 else None


def _judge_ending(status: int, tables: Tables, profile: Profile) -> Ending | None:
    """Return verdict and reason of a tester that did not measure to its end, None if it did."""
    if status == 0:
        return None
    if status == 3:
        return FAIL, _io_error_reason(tables.run)
    age = tables.number("in_flight_age_ns")
    ended = tables.run.get("exit_message") or tables.run.get("exit_reason") or "interrupted"
    freeze = freeze_behind(tables, tables.number("steps_measured"), age, profile.stall_limit_ns)
    if age is not None and age >= profile.stall_limit_ns and not freeze:
        at = f" at offset {tables.run['in_flight_offset_bytes']} of {tables.run.get('in_flight_file')}" if "in_flight_offset_bytes" in tables.run else ""
        what = "an operation" if tables.of_streams else "a write"
        return FAIL, f"{what}{at} had not returned after {_units.format_duration(age)} (the stall limit is {_units.format_duration(profile.stall_limit_ns)})"
    early = ENDED_EARLY if tables.of_observation else "the tester ended before it had measured everything"
    return INCONCLUSIVE, f"{WITHOUT_FIGURES if tables.run.get('exit_reason') == NO_FIGURES else early}: {ended}"


def _io_error_reason(run: Mapping[str, str]) -> str:
    name = run.get("error_errno_name") or "I/O error"
    operation = "a read" if run.get("error_call") == "preadv" else "a write"
    what = f"{operation} came back short" if name == "SHORT_WRITE" else f"{run.get('error_call') or 'a write'} failed with {name}"
    message = f" ({run['error_message']})" if run.get("error_message") and name != "SHORT_WRITE" else ""
    at = f" at offset {run['error_offset_bytes']} of {run.get('error_file')}" if run.get("error_offset_bytes") else ""
    return f"{what}{message}{at}"


def _qualification(verdict: str, judgements: list[dict[str, Any]], record: HostRecord, tables: Tables, profile: Profile) -> str:
    """Return why the run does not certify, empty if it does."""
    if verdict not in GOOD:
        return f"the verdict is {verdict}"
    return (
        _unlike_workload(record, tables, profile)
        or _too_short(tables, profile)
        or _without_confidence(tables, profile)
        or _uncovered_episodes(judgements, tables, profile)
        or _too_small_a_ring(record, tables, profile)
        or ("" if tables.of_streams else _unfinished_ring(tables))
        or _missing_block_sizes(tables, profile)
    )


def _too_short(tables: Tables, profile: Profile) -> str:
    shortest_s = min(row["elapsed_ns"] for row in tables.results) / 1e9
    if shortest_s >= profile.min_duration_s:
        return ""
    return f"it measured {shortest_s:.4g} s per row, but {profile.name} requires {profile.min_duration_s:g} s"


def _without_confidence(tables: Tables, profile: Profile) -> str:
    """Return why the figures were taken as they stand, empty if they were tested."""
    if profile.confidence is None:
        return f"{profile.name} compares figures as they stand (confidence: {NO_CONFIDENCE})"
    if not tables.counts_over:
        return "its tables have no over.csv, so its figures were taken as they stand"
    return ""


def _uncovered_episodes(judgements: list[dict[str, Any]], tables: Tables, profile: Profile) -> str:
    """Return which pass covers only shorter slow phases than the profile asks for, empty if none does."""
    covered = [judgement for judgement in judgements if judgement["verdict"] == PASS and judgement.get("episode_s") is not None]
    if not profile.episode_s or not covered:
        return ""
    least = min(covered, key=lambda judgement: judgement["episode_s"])
    if least["episode_s"] >= profile.episode_s:
        return ""
    phases = "standstills" if least["method"] == BATCH_MEANS else "slow phases"
    return (
        f"{least['metric']} at {_row_text(least, tables)} covers {phases} of up to {least['episode_s']:.2g} s, and {profile.name} "
        f"asks for {profile.episode_s:g} s: measure longer"
    )


def _unfinished_ring(tables: Tables) -> str:
    """Return which step did not write its whole set of files once, empty if each did."""
    for row in tables.results:
        if row.get("ring_passes") is not None and row["ring_passes"] < 1:
            needed_s = math.ceil(row["elapsed_ns"] / 1e9 / row["ring_passes"]) if row["ring_passes"] else 0
            longer = f"measure for {_units.format_count(needed_s)} s per row" if needed_s else "measure longer"
            return (
                f"at {size_text(row['block_size_bytes'])} it wrote only {_units.format_ratio(row['ring_passes'], 2)} of its files once, which a write cache "
                f"may have absorbed entirely: {longer}"
            )
    return ""


def _too_small_a_ring(record: HostRecord, tables: Tables, profile: Profile) -> str:
    """Return why the files of a queue manager were too small to show the storage behind a cache, empty if they were not."""
    log_set_bytes = record.facts.get("queue_manager_log_set_bytes")
    log_set_bytes = log_set_bytes if isinstance(log_set_bytes, int) and not tables.of_streams else 0
    if not profile.min_footprint_bytes and not log_set_bytes:
        return ""
    sizes = {key: tables.number(key) for key in _FOOTPRINT_KEYS}
    for key, size in sizes.items():
        if size is None:
            return f"its run.csv does not contain {key}"
    footprint_bytes = int(math.prod(sizes.values()))
    for asked_bytes, asks in ((profile.min_footprint_bytes, f"{profile.name} requires"), (log_set_bytes, "the recovery log on this host has")):
        if footprint_bytes < asked_bytes:
            files = "its files" if tables.of_streams else "the files of a queue manager"
            return (
                f"{files} had {_units.format_size(footprint_bytes)} in total, but {asks} {_units.format_size(asked_bytes)}: a smaller ring may fit in a cache"
            )
    return ""


def _missing_block_sizes(tables: Tables, profile: Profile) -> str:
    measured = {row["block_size_bytes"] for row in tables.results}
    missing = [size for size in profile.block_sizes if size not in measured]
    return f"it did not measure {', '.join(map(_units.format_size, missing))}, which {profile.name} requires" if missing else ""


def _unlike_workload(record: HostRecord, tables: Tables, profile: Profile) -> str:
    """Return in what the run was not the workload whose runs the profile certifies, on storage, empty if it was.

    That of mq-log has to write as MQ's logger does. Any other one says itself how it writes, and a run is only accepted if it did what was ordered.
    """
    name = record.facts.get("workload_name") if tables.of_streams else tables.run.get("workload")
    if not name:
        return "its record does not name its workload" if tables.of_streams else "its run.csv does not contain workload"
    if name != profile.workload:
        return f"its workload was {str(name)[:_LONGEST_VALUE]} instead of {profile.workload}"
    return _unlike(_LIKE_MQ if profile.workload == MQ_LOG else _ON_STORAGE, tables.run)


def _unlike(checks: _Checks, run: Mapping[str, str]) -> str:
    """Return the first check that does not hold, empty if all do. A key that run.csv does not contain proves nothing."""
    for key, holds, text in checks:
        value = run.get(key)
        if value is None or (not value and not holds(value)):
            return f"its run.csv does not contain {key}"
        if not holds(value):
            return text.format(value=value[:_LONGEST_VALUE])
    return ""


def unusable(problem: TablesError) -> str:
    """Return why tables are an error."""
    return f"the tester's tables cannot be used: {problem}"


def unsteady_notes(tables: Tables) -> list[str]:
    """Return a sentence if the latency of a step rose or swung from round to round."""
    rows = list(dict.fromkeys(_row_text(row, tables) for row in tables.results if row["worker"] == ALL_WORKERS and row.get("steady_state") == 0))
    if not rows:
        return []
    return [f"Its latency was not steady at {', '.join(rows)}: the rounds of the run differ by more than 20 %, or rise or fall by more than 10 %"]


def confidence_notes(profile: Profile) -> list[str]:
    """Return a sentence if a pass does not have the profile's confidence in every figure."""
    if profile.confidence is None or not any(limit.metric.of_responses for limit in profile.limits):
        return []
    return ["Its response times are compared with their limits as they stand, without confidence"]


def _row_text(row: Mapping[str, Any], tables: Tables) -> str:
    """Return the size of a row, or its load and stream."""
    if tables.of_streams:
        return f"{tables.words.load_text(row['load_point'])} for {row['operation']}s of {row['stream']}"
    return size_text(row["block_size_bytes"])


def profile_of(run: Mapping[str, Any], host: str) -> Profile:
    """Return the profile that ``host`` is to be judged by."""
    return load_profile(profile_data(run, host), "")


def measurement(
    run: Mapping[str, Any],
    host: str,
    volume: str,
    facts: dict[str, Any],
    workspace: dict[str, Any],
    files: Mapping[str, bytes],
    today: datetime.date,
) -> HostRecord:
    """Return the judged record of a host that sent its tables as ``files``. Tables that cannot be read make it an error's record."""
    try:
        tables = parse_tables(dict(files))
    except TablesError as problem:
        return error(run, host, volume, "collect", ERROR, unusable(problem), facts)
    profile = profile_of(run, host)
    identity = {key: value for key, value in tables.run.items() if key.startswith((*IDENTITY_PREFIXES, PROBE_PREFIX))}
    record = replace(
        blank(run, host, volume, kinds.MEASUREMENT, {**facts, **identity, "tester_version": tables.run.get("version")}),
        workspace=workspace,
        notes=[
            *clock_notes(facts),
            *sharing_notes(facts),
            *unsteady_notes(tables),
            *plateau_notes(tables),
            *flush_notes({**facts, **identity}),
            *fidelity_notes(tables),
            *confidence_notes(profile),
        ],
        load_unit=tables.run.get("load_unit", ""),
        tester=tester_of(tables),
    )
    return replace(record, **judge_host(record, tables, profile, today))


def tester_of(tables: Tables) -> dict[str, Any]:
    """Return how what wrote some tables ended."""
    return {
        "exit_status": tables.exit_status,
        "exit_reason": tables.run.get("exit_reason", ""),
        "exit_message": tables.run.get("exit_message", ""),
        "error": _group(tables.run, "error_"),
        "in_flight": _group(tables.run, "in_flight_"),
    }


def error(run: Mapping[str, Any], host: str, volume: str, stage: str, verdict: str, reason: str, facts: dict[str, Any]) -> HostRecord:
    """Return the record of a host that was not measured, for ``reason``, at ``stage``."""
    record = replace(blank(run, host, volume, kinds.ERROR, facts), error={"stage": stage, "verdict": verdict, "reason": reason})
    return replace(record, **_unmeasured(*_verdict_of_error(record.error)))


def skipped(run: Mapping[str, Any], host: str, volume: str, stage: str, reason: str, queue_manager: str) -> HostRecord:
    """Return the record of a queue manager that is left out on a host, because its log is not there. It is never certified."""
    record = replace(blank(run, host, volume, kinds.ERROR, {}), error={"stage": stage, "verdict": WARN, "reason": reason, SKIPPED: queue_manager})
    return replace(record, **_unmeasured(*_verdict_of_error(record.error)))


def missing(run: Mapping[str, Any], host: str, volume: str, reason: str = NEVER_REPORTED) -> HostRecord:
    """Return the record of an expected host's volume that it never reported. A preflight measures nothing, so nothing is missing there."""
    if (run.get("controller") or {}).get("check_mode"):
        return replace(blank(run, host, volume, kinds.PREFLIGHT, {}), qualification=NOTHING_MEASURED)
    return error(run, host, volume, "", MISSING, reason, {})


def preflight(run: Mapping[str, Any], host: str, volume: str, facts: dict[str, Any], plan: Mapping[str, Any], workspace: Mapping[str, Any]) -> HostRecord:
    """Return the record of a host that is ready to be measured: it has no verdict, and describes what the measurement would do."""
    free_bytes = facts.get("filesystem_free_bytes")
    free = f", {_units.format_size(free_bytes)} free" if isinstance(free_bytes, int) else ""
    where = facts.get("places") or f"{facts.get('mount_point')} ({facts.get('filesystem_type')}{free})"
    ready = (
        f"ready: {plan['steps']} steps in about {math.ceil((plan['planned_s'] + plan['format_s']) / 60)} min, "
        f"{_units.format_size(plan['footprint_bytes'])} on {where}"
    )
    unknown = [f"unknown: {item}" for item in workspace.get("unknown") or []]
    record = blank(run, host, volume, kinds.PREFLIGHT, facts)
    known = {key: workspace.get(key) for key in WORKSPACE_KEYS}
    return replace(record, workspace=known, qualification=NOTHING_MEASURED, reasons=[ready, *plan["notes"], *unknown])


def clock_notes(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence if the host's clock is off the controller's by more than a second and more than the way of measuring it explains."""
    offset_s, error_s = facts.get("clock_offset_s"), facts.get("clock_offset_error_s")
    if isinstance(offset_s, (int, float)) and isinstance(error_s, (int, float)) and abs(offset_s) > max(CLOCK_BOUND_S, error_s):
        return [f"Its clock differs from the controller's by {offset_s:+.1f} s (accurate to {error_s:.1f} s). Its start was corrected by that"]
    return []


def sharing_notes(facts: Mapping[str, Any]) -> list[str]:
    """Return a sentence if other volumes of the host were measured on the same disk at the same time."""
    others = ", ".join(str(facts.get(kinds.DISK_SHARED_WITH) or "").split())
    return [f"Other volumes of this host were measured on the same disk at the same time and used a part of its performance: {others}"] if others else []


def collection_version() -> str:
    """Return this collection's version, from galaxy.yml in a checkout or from MANIFEST.json if it is installed."""
    root = Path(__file__).resolve().parents[3]
    for name, keys in (("MANIFEST.json", ("collection_info", "version")), ("galaxy.yml", ("version",))):
        try:
            content = yaml.safe_load((root / name).read_text(encoding="utf-8"))
            for key in keys:
                content = content[key]
        except (OSError, KeyError, TypeError, yaml.YAMLError):
            continue
        return str(content)
    return "unknown"


def blank(run: Mapping[str, Any], host: str, volume: str, kind: str, facts: dict[str, Any]) -> HostRecord:
    """Return a record of which only the facts are known."""
    # A host sees neither the settings of its storage array nor what it is meant for, so only the inventory may say that.
    own = {key: value for key, value in facts.items() if key not in TARGET_FACTS}
    facts = {**own, ARRAY_SETTINGS: (run.get("host_array_settings") or {}).get(host, ""), **(run.get("host_targets") or {}).get(host, {})}
    profile = None if host in (run.get("unclaimed_hosts") or ()) else profile_data(run, host)
    return HostRecord(host, volume, kind, run_id=run["run_id"], created_at=utc_now(), facts=facts, profile=profile_key(profile) if profile else None)


def _group(table: Mapping[str, str], prefix: str) -> dict[str, str] | None:
    """Return the non-empty keys that start with ``prefix``, without it; None if there are none."""
    found = {key[len(prefix) :]: value for key, value in table.items() if key.startswith(prefix) and value != ""}
    return found or None
