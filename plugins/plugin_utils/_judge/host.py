# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The verdict on a host, with its findings. It is the worst of the judgements and of the verdict on how the tester
ended."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from .._run.columns import MQ_LOG, NO_FIGURES
from .._run.findings import (
    DISTURBED,
    ENDED_EARLY,
    HUNG,
    INTERRUPTED,
    IO_ERROR,
    QUALIFICATION,
    SHORT_WRITE,
    STALL,
    UNMEASURED,
    UNUSABLE_TABLES,
    WRONG_DATA,
    Finding,
    Judgement,
    finding,
    row_of,
)
from .._run.findings import MISSING as NEVER_SENT
from .._run.findings import NO_FIGURES as WITHOUT_FIGURES
from .._run.findings import SKIPPED as LEFT_OUT
from .._run.kinds import DEFAULT, kind_named
from .._run.record import HostRecord
from .._run.table_reader import TablesError
from .._run.tables import Tables
from .._run.verdicts import DEFAULT_FAIL_ON, ERROR, FAIL, GOOD, INCONCLUSIVE, MISSING, PASS, WARN, worst
from .capacity import LOAD_SEARCH, LOAD_TARGET, Capacity, capacity_of, counting, unproven
from .disturbance import disturbances, freeze_behind, io_limits_behind
from .early_end import finding_of_early_end, leave_open
from .evidence import confidence_of
from .fidelity import deviations
from .limits import Case, findings_of, judge_capacity, judge_limit, judge_target_operations
from .metrics import CAPACITY, HIGHEST
from .profile import Profile
from .rows import limits_on_pace
from .settings import judge_settings
from .throttling import plateaus

SKIPPED = "skipped"
"""The key that names the queue manager that a host leaves out, for a planned volume and in the error of a record."""

_LONGEST_VALUE = 40
# The tester's names for file systems in memory (backing.c); empty means unknown.
_MEMORY = ("", "memory", "tmpfs", "ramfs", "rootfs", "devtmpfs")
_Checks = tuple[tuple[str, Callable[[str], bool]], ...]
# A key of run.csv, and a check of its value.
_ON_STORAGE: _Checks = (
    ("filesystem_type", lambda text: text not in ("", "tmpfs", "ramfs")),
    ("backing_unknown", lambda text: text == ""),
    ("backing_filesystem_type", lambda text: text not in _MEMORY),
)
# The workload mq-log with its own defaults.
_LIKE_MQ: _Checks = (
    ("option_sync", lambda text: text in ("dsync", "sync")),
    ("option_direct", lambda text: text == "yes"),
    *_ON_STORAGE,
    ("option_rate_per_s", lambda text: not text.strip("0.")),
    ("option_delay_us", lambda text: text == "0"),
)
_FOOTPRINT_KEYS = ("option_file_size_bytes", "option_files")
"""Keys of run.csv whose product is the total size of one queue manager's files."""


def judge_host(
    record: HostRecord,
    tables: Tables,
    profile: Profile,
    today: datetime.date,
    together: Mapping[str, Capacity] | None,
) -> dict[str, Any]:
    """Return the judged part of a measured record (verdict, certified, findings, judgements, capacity and facts about
    the volume), without sentences. ``record`` holds the facts about the host so far, and ``tables`` the results of its
    tester. ``today`` is the day for which waivers must be valid. ``together`` holds, by label, the capacities of the
    other volumes that were searched together with this one.
    """
    try:
        case = Case(record, tables, profile, confidence_of(profile, tables), today, deviations(tables))
        of_rows = [limit for limit in profile.limits if limit.metric.scope not in (CAPACITY, HIGHEST)]
        judged = (judge_limit(limit, case) for limit in (*of_rows, *limits_on_pace(tables)))
        judgements = leave_open(list(chain.from_iterable(judged)), tables)
        ending = _judge_ending(tables, profile, record.kind)
        target, is_search = _load(record.facts.get(LOAD_TARGET)), bool(record.facts.get(LOAD_SEARCH))
        capacity = capacity_of(tables, judgements, ending).held_together_with(together or {})
        judgements = counting(judgements, capacity, target, is_search)
        for scope, judge in ((CAPACITY, judge_capacity), (HIGHEST, judge_target_operations)):
            for limit in profile.limits:
                judgements += judge(limit, capacity, case) if limit.metric.scope == scope else []
    except TablesError as problem:
        return unmeasured(finding(UNUSABLE_TABLES, ERROR, text=str(problem)))
    verdicts = [judgement["verdict"] for judgement in judgements]
    findings = findings_of(judgements)
    settings, wrong_settings = (
        judge_settings(record.facts, record.host, profile, today) if record.kind == DEFAULT.name else ([], [])
    )
    verdicts += [each["verdict"] for each in wrong_settings]
    for found in filter(None, (unproven(capacity, target, is_search), ending)):
        verdicts.append(found["verdict"])
        if found["kind"] == ENDED_EARLY:
            findings = [*findings, found]  # placed after the broken limit that caused the early end
        elif not any(_is_same(each, found) for each in findings):
            findings = [found, *findings]
    verdict = worst(verdicts)
    why_not = _why_not_certified(judgements, record, tables, profile) if verdict in GOOD else None
    disturbed_by = disturbances(tables)
    return {
        "verdict": verdict,
        "certified": verdict in GOOD and why_not is None,
        "findings": [
            *findings,
            *wrong_settings,
            *([finding(QUALIFICATION, None, **why_not)] if why_not else []),
            *([finding(DISTURBED, None, disturbance=disturbed_by)] if disturbed_by else []),
            *plateaus(tables),
        ],
        "judgements": judgements,
        "settings": settings,
        "capacity": capacity.as_dict() if is_search or len(capacity.points) > 1 else None,
        "volume_facts": _volume_facts(tables, ending, judgements),
    }


def _is_same(one: Finding, other: Finding) -> bool:
    """Return whether two findings are about the same row of the same limit, or are equal."""
    return one == other or (one["kind"] == other["kind"] and "limit" in one and row_of(one) == row_of(other))


def unmeasured(why: Finding) -> dict[str, Any]:
    """Return the judged part of the record of a host without a measurement."""
    return {"verdict": why["verdict"], "certified": False, "findings": [why], "judgements": []}


def finding_of_error(error: Mapping[str, Any]) -> Finding:
    """Return why a host was not measured."""
    known = (*DEFAULT_FAIL_ON, WARN) if error.get(SKIPPED) else DEFAULT_FAIL_ON
    verdict = error.get("verdict") if error.get("verdict") in known else ERROR
    kind = NEVER_SENT if verdict == MISSING else LEFT_OUT if verdict == WARN else UNMEASURED
    return finding(
        kind,
        verdict,
        cause=error.get("cause"),
        stage=str(error.get("stage") or ""),
        text=str(error.get("reason") or ""),
    )


def _volume_facts(tables: Tables, ending: Finding | None, judgements: list[Judgement]) -> list[str]:
    """Return the facts about the volume that a run shows, regardless of what else the profile requires."""
    found = set()
    if tables.exit_status == 3:
        found.add(WRONG_DATA if tables.run.get("error_errno_name") == "CORRUPT" else IO_ERROR)
    elif ending and ending["verdict"] == FAIL:
        found.add(STALL)
    if any(each["hard"] and each["metric"] == "latency_max" and each["verdict"] == FAIL for each in judgements):
        found.add(STALL)
    return sorted(found)


def _load(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and value > 0 else None


def _judge_ending(tables: Tables, profile: Profile, kind: str) -> Finding | None:
    """Return a finding about a tester that did not measure to its end, or None. ``kind`` is the kind of the record."""
    if tables.exit_status == 0:
        return finding_of_early_end(tables)
    if tables.exit_status == 3:
        return _failed_operation(tables)
    age = tables.number("in_flight_age_ns")
    ended = tables.run.get("exit_message") or tables.run.get("exit_reason") or "interrupted"
    step = tables.number("steps_measured") or 0
    excuse = freeze_behind(tables, step, age, profile.stall_limit_ns) or io_limits_behind(tables, step)
    if age is not None and age >= profile.stall_limit_ns and not excuse:
        offset, file = tables.run.get("in_flight_offset_bytes"), tables.run.get("in_flight_file")
        what = "write" if tables.layout.of_mq else "operation"
        return finding(
            HUNG,
            FAIL,
            operation=what,
            age_ns=age,
            stall_limit_ns=profile.stall_limit_ns,
            offset_bytes=offset,
            file=file,
        )
    if tables.run.get("exit_reason") == NO_FIGURES:
        return finding(WITHOUT_FIGURES, INCONCLUSIVE, text=ended)
    return finding(INTERRUPTED, INCONCLUSIVE, cause=kind if kind_named(kind).is_live else "tester", text=ended)


def _failed_operation(tables: Tables) -> Finding:
    run, size_bytes = tables.run, tables.number("error_block_size_bytes")
    errno, offset = run.get("error_errno_name") or None, run.get("error_offset_bytes") or None
    return finding(
        {"SHORT_WRITE": SHORT_WRITE, "CORRUPT": WRONG_DATA}.get(errno or "", IO_ERROR),
        FAIL,
        call=run.get("error_call") or None,
        errno=errno,
        text=run.get("error_message") or None,
        offset_bytes=offset,
        file=run.get("error_file") if offset else None,
        block_size_bytes=int(size_bytes) if size_bytes else None,
    )


_Why = dict[str, Any] | None


def _why_not_certified(judgements: list[Judgement], record: HostRecord, tables: Tables, profile: Profile) -> _Why:
    """Return the reason why a run that passes does not certify, or None if it certifies."""
    return (
        _unlike_workload(record, tables, profile)
        or _too_short(tables, profile)
        or _without_confidence(tables, profile)
        or _uncovered_episodes(judgements, tables, profile)
        or _too_small_a_ring(record, tables, profile)
        or (_unfinished_ring(tables) if tables.layout.of_mq else None)
        or _missing_block_sizes(tables, profile)
    )


def _too_short(tables: Tables, profile: Profile) -> _Why:
    shortest_s = min(row["elapsed_ns"] for row in tables.results) / 1e9
    if shortest_s >= profile.min_duration_s:
        return None
    return {
        "cause": "too_short",
        "measured_s": shortest_s,
        "profile": profile.name,
        "required_s": profile.min_duration_s,
    }


def _without_confidence(tables: Tables, profile: Profile) -> _Why:
    """Return the reason why the figures were used without a confidence bound, or None if they were tested."""
    if profile.confidence is None:
        return {"cause": "no_confidence", "profile": profile.name}
    return None if tables.counts_over else {"cause": "nothing_counted"}


def _uncovered_episodes(judgements: list[Judgement], tables: Tables, profile: Profile) -> _Why:
    """Return a judgement that passes but covers only slow phases shorter than the profile requires; None if there is
    none."""
    covered = [
        judgement for judgement in judgements if judgement["verdict"] == PASS and judgement.get("episode_s") is not None
    ]
    if not profile.episode_s or not covered:
        return None
    least = min(covered, key=lambda judgement: judgement["episode_s"])
    if least["episode_s"] >= profile.episode_s:
        return None
    known = {
        key: least[key]
        for key in ("metric", "method", "episode_s", "block_size_bytes", "load_point", "stream", "operation")
    }
    return {
        "cause": "uncovered_episodes",
        **known,
        "of_streams": tables.layout.by_stream,
        "profile": profile.name,
        "required_s": profile.episode_s,
    }


def _unfinished_ring(tables: Tables) -> _Why:
    """Return the first step that did not write its complete set of files even once, or None."""
    for row in tables.results:
        if row.get("ring_passes") is not None and row["ring_passes"] < 1:
            needed_s = math.ceil(row["elapsed_ns"] / 1e9 / row["ring_passes"]) if row["ring_passes"] else None
            return {
                "cause": "unfinished_ring",
                "block_size_bytes": row["block_size_bytes"],
                "ring_passes": row["ring_passes"],
                "needed_s": needed_s,
            }
    return None


def _too_small_a_ring(record: HostRecord, tables: Tables, profile: Profile) -> _Why:
    """Return the reason if the files of a queue manager were too small to show the storage behind a cache; otherwise
    None."""
    log_set_bytes = record.facts.get("queue_manager_log_set_bytes")
    log_set_bytes = log_set_bytes if isinstance(log_set_bytes, int) and tables.layout.of_mq else 0
    if not profile.min_footprint_bytes and not log_set_bytes:
        return None
    sizes = {key: tables.number(key) for key in _FOOTPRINT_KEYS}
    for key, size in sizes.items():
        if size is None:
            return {"cause": "not_in_run_csv", "key": key}
    footprint_bytes = int(math.prod(sizes.values()))
    for required_bytes, name in ((profile.min_footprint_bytes, profile.name), (log_set_bytes, None)):
        if footprint_bytes < required_bytes:
            return {
                "cause": "small_files",
                "of_streams": tables.layout.by_stream,
                "footprint_bytes": footprint_bytes,
                "required_bytes": required_bytes,
                "profile": name,
            }
    return None


def _missing_block_sizes(tables: Tables, profile: Profile) -> _Why:
    measured = {row["block_size_bytes"] for row in tables.results}
    missing = [size for size in profile.block_sizes if size not in measured]
    return {"cause": "block_sizes", "missing_bytes": missing, "profile": profile.name} if missing else None


def _unlike_workload(record: HostRecord, tables: Tables, profile: Profile) -> _Why:
    """Return how the run differed from the workload that the profile certifies; None if it did not differ.

    A run of mq-log has to write as MQ's logger does. Any other workload defines its own writes, and a run is accepted
    only if it matches its order.
    """
    name = record.facts.get("workload_name") if tables.layout.described else tables.run.get("workload")
    if not name:
        return (
            {"cause": "unnamed_workload"} if tables.layout.described else {"cause": "not_in_run_csv", "key": "workload"}
        )
    if name != profile.workload:
        return {"cause": "other_workload", "workload": str(name)[:_LONGEST_VALUE], "required": profile.workload}
    return _unlike(_LIKE_MQ if profile.workload == MQ_LOG else _ON_STORAGE, tables.run)


def _unlike(checks: _Checks, run: Mapping[str, str]) -> _Why:
    """Return the first check that fails, None if all succeed. A key that run.csv does not contain proves nothing."""
    for key, holds in checks:
        value = run.get(key)
        if value is None or (not value and not holds(value)):
            return {"cause": "not_in_run_csv", "key": key}
        if not holds(value):
            return {"cause": "unlike", "key": key, "value": value[:_LONGEST_VALUE]}
    return None
