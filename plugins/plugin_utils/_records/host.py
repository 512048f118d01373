# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of a host: the facts about it, its verdict, the sentences about it, and its notes, also if it was not
measured because of an error."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from .._english.findings import NOTHING_MEASURED, in_words, judgements_with_sentences, with_sentences
from .._estimate.target import TARGET_FACTS
from .._judge.capacity import LOAD_TARGET, Capacity
from .._judge.early_end import notes_of_kept_steps
from .._judge.fidelity import fidelity_notes
from .._judge.host import SKIPPED, finding_of_error, judge_host, unmeasured
from .._judge.notes import PROBE_PREFIX, clock_notes, confidence_notes, flush_notes, sharing_notes, unsteady_notes
from .._judge.profile import Profile
from .._judge.profile_reader import load_profile
from .._judge.settings import judge_settings
from .._run.directory import RunDirectory
from .._run.findings import PLATEAU, PREFLIGHT, SETTING, UNUSABLE_TABLES, Finding, finding, is_data, is_finding
from .._run.host_settings import profile_data, profile_key
from .._run.kinds import CHECK_MODE, DEFAULT
from .._run.moment import utc_now
from .._run.record import ERROR as NO_MEASUREMENT
from .._run.record import HostRecord
from .._run.shapes import Facts, Plan, Run
from .._run.table_reader import TablesError
from .._run.tables import Tables, parse_tables
from .._run.verdicts import ERROR, MISSING, WARN, worst
from .._run.words import Words, words_of


def with_notes(record: HostRecord, notes: Iterable[Finding], words: Words) -> HostRecord:
    """Return a record with additional notes, without duplicates. A note is left out if its figures, which come from
    hosts, are not valid in a record."""
    known = [note for note in notes if is_finding(note) and note not in record.noted]
    return replace(
        record, noted=[*record.noted, *known], notes=[*record.notes, *(in_words(note, words) for note in known)]
    )


def concluded(
    record: HostRecord,
    found: list[Finding],
    notes: Iterable[Finding],
    judgements: Iterable[Mapping[str, Any]] = (),
    **keys: Any,
) -> HostRecord:
    """Return a record that is judged by findings, with the judgements of limits, notes and other ``keys``. There must
    be a finding if it does not pass."""
    words = words_of("")
    reasons = [in_words(each, words) for each in found]
    verdict = worst(each["verdict"] for each in found)
    judged = replace(record, verdict=verdict, findings=found, reasons=reasons, **keys)
    return with_notes(replace(judged, judgements=judgements_with_sentences(judgements, words)), notes, words)


def note(
    directory: RunDirectory, host: str, volume: str, notes: Iterable[Finding], facts: Mapping[str, Any] | None = None
) -> bool:
    """Add notes and facts to a stored record. Returns False if there is no stored record. Raises RunDirectoryError."""

    def change(record: HostRecord) -> HostRecord:
        return replace(with_notes(record, notes, words_of(record.load_unit)), facts={**record.facts, **(facts or {})})

    return directory.records.amend(host, volume, change)


WORKSPACE_KEYS = ("path", "queue_managers", "directories", "unknown", "expect_mount")
"""The keys of the workspace in a record."""

IDENTITY_PREFIXES = ("filesystem_", "mount_", "device_", "direct_io_", "nfs_", "backing_")
"""Prefixes of the keys in run.csv that describe what was tested; these keys are added to the facts of the host."""

WORKLOAD_FACTS = ("workload_name", "workload_version", "workload_is_not")
"""The facts about the workload that the plan of a volume contains."""

ARRAY_SETTINGS = "array_settings"
"""The fact that comes from the host's variables."""

NEVER_REPORTED, UNCLAIMED = "never reported", "unclaimed"
"""The reasons why a host is missing: for a host of a run, and for a host of the inventory that is in none of the merged
runs."""


def judge_record(
    record: HostRecord,
    tables: Tables,
    profile: Profile,
    today: datetime.date,
    together: Mapping[str, Capacity] | None = None,
) -> dict[str, Any]:
    """Return the judged part of a measured record, with its sentences. See :func:`judge_host`."""
    return with_sentences(judge_host(record, tables, profile, today, together), tables.words)


def judge_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return the judged part of a record that only states an ``error``, with its sentences."""
    return with_sentences(unmeasured(finding_of_error(error)), words_of(""))


def workload_facts(plan: Plan) -> dict[str, Any]:
    """Return the facts about a volume's workload for the record. Values that the host returns under these names are
    ignored."""
    return {**{key: plan[key] for key in WORKLOAD_FACTS}, LOAD_TARGET: plan[LOAD_TARGET] or None}


def profile_of(run: Run, host: str) -> Profile:
    """Return the profile that is to judge ``host``."""
    return load_profile(profile_data(run, host), "")


def measurement(
    run: Run,
    host: str,
    volume: str,
    facts: Facts,
    workspace: dict[str, Any],
    files: Mapping[str, bytes],
    today: datetime.date,
) -> HostRecord:
    """Return the judged record of a host that sent its tables as ``files``. If the tables cannot be read, the result is
    the record of an error."""
    try:
        tables = parse_tables(dict(files))
    except TablesError as problem:
        return unusable(run, host, volume, "collect", problem, facts)
    profile = profile_of(run, host)
    identity = {key: value for key, value in tables.run.items() if key.startswith((*IDENTITY_PREFIXES, PROBE_PREFIX))}
    record = replace(
        blank(run, host, volume, DEFAULT.name, {**facts, **identity, "tester_version": tables.run.get("version")}),
        workspace=workspace,
        load_unit=tables.run.get("load_unit", ""),
        tester=tester_of(tables),
    )
    part = judge_record(record, tables, profile, today)
    notes = [
        *clock_notes(run, facts),
        *sharing_notes(facts),
        *unsteady_notes(tables),
        *(found for found in part["findings"] if found["kind"] == PLATEAU),
        *flush_notes({**facts, **identity}),
        *fidelity_notes(tables),
        *confidence_notes(profile),
        *notes_of_kept_steps(tables),
    ]
    return with_notes(replace(record, **part), notes, tables.words)


def tester_of(tables: Tables) -> dict[str, Any]:
    """Return how the program that wrote the tables ended."""
    return {
        "exit_status": tables.exit_status,
        "exit_reason": tables.run.get("exit_reason", ""),
        "exit_message": tables.run.get("exit_message", ""),
        "error": _group(tables.run, "error_"),
        "in_flight": _group(tables.run, "in_flight_"),
    }


def error(run: Run, host: str, volume: str, why: dict[str, Any], facts: Facts) -> HostRecord:
    """Return the record of a host that was not measured. ``why`` holds ``stage``, ``verdict``, and ``reason`` or
    ``cause``; it also holds ``skipped`` if a queue manager is left out because its log is not there, which is never
    certified."""
    return _with_error(run, host, volume, why, finding_of_error(why), facts)


def missing(run: Run, host: str, volume: str, cause: str = NEVER_REPORTED) -> HostRecord:
    """Return the record of an expected host's volume that the host never reported. In a preflight, nothing is missing,
    because it measures nothing."""
    if (run.get("controller") or {}).get("check_mode"):
        return ready(run, host, volume, {})
    return error(run, host, volume, {"stage": "", "verdict": MISSING, "cause": cause}, {})


def unusable(run: Run, host: str, volume: str, stage: str, problem: TablesError, facts: Facts) -> HostRecord:
    """Return the record of a host whose tables cannot be used."""
    found = finding(UNUSABLE_TABLES, ERROR, stage=stage, text=str(problem))
    return _with_error(run, host, volume, {"stage": stage, "verdict": ERROR}, found, facts)


def _with_error(run: Run, host: str, volume: str, why: dict[str, Any], found: Finding, facts: Facts) -> HostRecord:
    reason = in_words({**found, "stage": ""}, words_of(""))
    return replace(
        blank(run, host, volume, NO_MEASUREMENT, facts),
        error={"reason": reason, **why},
        **with_sentences(unmeasured(found), words_of("")),
    )


def preflight(
    run: Run,
    host: str,
    volume: str,
    facts: Facts,
    plan: Plan,
    workspace: Mapping[str, Any],
) -> HostRecord:
    """Return the record of a host that is ready to be measured: it has no verdict, and describes what a measurement
    would do."""
    free_bytes = facts.get("filesystem_free_bytes")
    planned = finding(
        PREFLIGHT,
        None,
        cause="ready",
        steps=plan["steps"],
        minutes=math.ceil((plan["planned_s"] + plan["format_s"]) / 60),
        footprint_bytes=plan["footprint_bytes"],
        places=facts.get("places"),
        mount_point=facts.get("mount_point"),
        filesystem_type=facts.get("filesystem_type"),
        free_bytes=free_bytes if isinstance(free_bytes, int) and is_data(free_bytes) else None,
    )
    unknown = [finding(PREFLIGHT, None, cause="unknown", text=str(item)) for item in workspace.get("unknown") or []]
    known = {key: workspace.get(key) for key in WORKSPACE_KEYS}
    outcomes, wrong = judge_settings(facts, host, profile_of(run, host), datetime.date.today())
    settings = [
        finding(**{**each, "kind": PREFLIGHT, "verdict": None, "cause": SETTING, "effect": each["verdict"]})
        for each in wrong
    ]
    record = ready(run, host, volume, facts, planned, *plan["notes"], *settings, *unknown)
    return replace(record, workspace=known, settings=outcomes)


def ready(run: Run, host: str, volume: str, facts: Facts, *found: Finding) -> HostRecord:
    """Return the record of a preflight, which does nothing else, so there is no verdict."""
    return replace(
        blank(run, host, volume, CHECK_MODE.name, facts),
        qualification=NOTHING_MEASURED,
        findings=[*found],
        reasons=[in_words(each, words_of("")) for each in found],
    )


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


def blank(run: Run, host: str, volume: str, kind: str, facts: Facts) -> HostRecord:
    """Return a record that contains only facts."""
    # A host knows neither the settings of its storage array nor its own purpose, so only the inventory can provide
    # them.
    own = {key: value for key, value in facts.items() if key not in TARGET_FACTS}
    facts = {
        **own,
        ARRAY_SETTINGS: (run.get("host_array_settings") or {}).get(host, ""),
        **(run.get("host_targets") or {}).get(host, {}),
    }
    profile = None if host in (run.get("unclaimed_hosts") or ()) else profile_data(run, host)
    return HostRecord(
        host,
        volume,
        kind,
        run_id=run["run_id"],
        created_at=utc_now(),
        facts=facts,
        profile=profile_key(profile) if profile else None,
    )


def _group(table: Mapping[str, str], prefix: str) -> dict[str, str] | None:
    """Return the non-empty keys that start with ``prefix``, without it; None if there are none."""
    found = {key[len(prefix) :]: value for key, value in table.items() if key.startswith(prefix) and value != ""}
    return found or None


def file_error(
    directory: RunDirectory,
    host: str,
    volume: str,
    stage: str,
    reason: str,
    facts: Facts,
    verdict: str = ERROR,
) -> HostRecord | None:
    """Store the record of a volume with the reason, and return it. Returns None if the volume already has a record,
    which contains more information.

    Raises RunDirectoryError.
    """
    filed = directory.records.find(host, volume)
    if filed is not None and filed.verdict != MISSING:
        return None
    why = {"stage": stage, "verdict": verdict, "reason": reason}
    record = error(directory.run, host, volume, why, dict(facts))
    directory.records.write(record)
    return record


def file_skipped(
    directory: RunDirectory, host: str, volume: str, stage: str, reason: str, queue_manager: str
) -> HostRecord:
    """Store the record of a queue manager that was left out on a host because its log is not there. Raises
    RunDirectoryError."""
    why = {"stage": stage, "verdict": WARN, "reason": reason, SKIPPED: queue_manager}
    record = error(directory.run, host, volume, why, {})
    directory.records.write(record)
    return record
