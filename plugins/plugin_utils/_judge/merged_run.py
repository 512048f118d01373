# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges several runs into one. For each host and volume, it contains the record that counts, with the judgement of its
original run."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from .._run.directory import RunDirectory
from .._run.host_settings import COMMON, can_certify, merged_settings, profile_data
from .._run.moment import CLOCK_TOLERANCE_S, later, utc_now
from .._run.names import volume_folder
from .._run.record import HostRecord
from .._run.run_files import RunDirectoryError
from .._run.verdicts import MISSING
from .._run.volume_identity import identity_of_record
from .effect import ATTEMPT, Standing, effect_of
from .judged_records import judged_record


def merge_runs(
    paths: Iterable[str],
    base: str,
    hosts: Iterable[str] = (),
    left_out: Iterable[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> RunDirectory:
    """Make a new run directory under ``base`` from several others, with all expected hosts and, for each host and
    volume, the record that counts (``Standing.replaces``) with its tables.

    The ``hosts`` of the inventory are also expected; ``unclaimed_hosts`` are the hosts that no run expected. Each host
    keeps the parameters and the profile of the run from which its newest record comes, or else of the newest run that
    expects it. Values for the whole run, such as the policy, come from the newest run unless ``changes`` overrides
    them; facts about the controller are kept if all runs agree on them. ``merged_from`` names all runs. The caller
    judges the fleet. Raises RunDirectoryError if the runs cannot be merged, for example if one of them tested no
    storage and would hide the measurements of the others.
    """
    sources = sorted(
        (RunDirectory.open(path) for path in paths),
        key=lambda source: (str(source.run.get("created_at", "")), source.run["run_id"]),
    )
    if not sources:
        raise RunDirectoryError("There is no run directory to merge.")
    untested = [source for source in sources if not source.is_test]
    if untested and len(sources) > 1:
        raise RunDirectoryError(
            f"The run {untested[0].run['run_id']} {untested[0].kind.why_untested}; it cannot be merged with others."
        )
    results = _results(sources)
    _refuse_other_places(results)
    _refuse_future(sources, results)
    newest = {
        key: value
        for key, value in sources[-1].run.items()
        if key not in ("schema", "run_id", "created_at", "unmatched_limit_terms", *COMMON)
    }
    claimed = {host for source in sources for host in source.expected_hosts}
    expected, unclaimed = sorted(claimed.union(hosts)), sorted(set(hosts) - claimed)
    left_out = sorted(
        {host for source in sources for host in source.run.get("left_out_hosts") or []}.union(left_out).difference(
            expected
        )
    )
    merged_from = [source.run["run_id"] for source in sources]
    controller = _common_facts([source.run.get("controller") or {} for source in sources])
    of_hosts = {
        "expected_hosts": expected,
        "left_out_hosts": left_out,
        "localhost_left_out": any(source.run.get("localhost_left_out") for source in sources),
        "unclaimed_hosts": unclaimed,
    }
    chosen = _deciding_results(results)
    runs_of_hosts = {host: source.run for source in sources for host in source.expected_hosts}
    runs_of_hosts.update(
        (result.host, result.source.run) for result in sorted(chosen, key=lambda each: sources.index(each.source))
    )
    settings = merged_settings([source.run for source in sources], runs_of_hosts, (result.profile for result in chosen))
    merged = RunDirectory.create(
        base,
        {**newest, "controller": controller, **settings, **(changes or {}), **of_hosts, "merged_from": merged_from},
    )
    for result in chosen:
        merged.records.write(*_with_tables(result.source, result.folder))
    for host in sorted(claimed):
        merged.volumes.write(host, _all_volumes(host, sources))
    return merged


def _with_tables(source: RunDirectory, folder: str) -> tuple[HostRecord, dict[str, bytes]]:
    """Return the record in a folder and its tables; if a table cannot be trusted, return an error record without
    tables."""
    record = judged_record(source, folder)
    try:
        return record, source.records.tables(record)
    except RunDirectoryError as error:
        return source.records.unreadable(folder, str(error)), {}


def _common_facts(facts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the last (newest) of several sets of facts, with None for each fact that is not the same in all sets. Of
    the facts about jobs, only common values are kept."""
    common = {
        key: value if all(other.get(key) == value for other in facts) else None
        for key, value in facts[-1].items()
        if key != "job"
    }
    jobs = [each.get("job") or {} for each in facts]
    job = {key: value for key, value in jobs[-1].items() if all(other.get(key) == value for other in jobs)}
    return {**common, **({"job": job} if job else {})}


@dataclass(frozen=True)
class _Result:
    """A result for the volume of a folder in one run. ``created_at`` is empty if the age of the record is unknown.
    ``is_missing``: whether the run did not store the record that it was meant to make."""

    source: RunDirectory
    folder: str
    standing: Standing
    host: str
    label: str = ""
    created_at: str = ""
    mount_point: str | None = None
    profile: Mapping[str, Any] | None = None
    is_missing: bool = False


def _results(sources: list[RunDirectory]) -> list[_Result]:
    """Return every result of the runs. Each record is read and judged only once, and only what is needed to choose is
    kept, because the records of a fleet can be large."""
    return [result for source in sources for result in (*_missing_results(source), *_stored_results(source))]


def _missing_results(source: RunDirectory) -> Iterator[_Result]:
    for host, volume in source.missing():
        standing = Standing(MISSING, ATTEMPT, _can_certify(source, host))
        yield _Result(source, volume_folder(host, volume), standing, host, is_missing=True)


def _stored_results(source: RunDirectory) -> Iterator[_Result]:
    for folder in source.records.folders():
        record = judged_record(source, folder)
        standing = Standing(str(record.verdict), effect_of(record), _can_certify(source, record.host))
        identity = identity_of_record(record)
        mount_point = identity.mount_point if identity else None
        yield _Result(
            source, folder, standing, record.host, record.label, record.created_at, mount_point, record.profile
        )


def _deciding_results(results: list[_Result]) -> list[_Result]:
    """Return the stored result that counts for each folder. ``results`` is sorted by the age of the runs, with the
    oldest first.

    The age of a record that cannot be read is unknown. It is considered newer than its run and all records of older
    runs. A record that a run was meant to make and did not store is a result as well. Otherwise, an older pass could
    hide either of them.
    """
    dated: dict[str, list[tuple[str, _Result]]] = {}
    for result in results:
        of_run = str(result.source.run.get("created_at", ""))
        earlier = dated.setdefault(result.folder, [])
        latest = of_run if result.is_missing else max([of_run, *(at for at, _result in earlier)])
        earlier.append((result.created_at or latest, result))
    chosen = (
        functools.reduce(
            lambda one, later: later if later.standing.replaces(one.standing) else one,
            (result for _at, result in sorted(found, key=itemgetter(0))),
        )
        for _folder, found in sorted(dated.items())
    )
    return [result for result in chosen if not result.is_missing]


def _can_certify(source: RunDirectory, host: str) -> bool:
    return can_certify(profile_data(source.run, host))


def _refuse_future(sources: list[RunDirectory], results: list[_Result]) -> None:
    """Raise RunDirectoryError if a run is dated later than now, because its records would hide those of newer runs."""
    if len(sources) < 2:
        return
    latest = later(utc_now(), CLOCK_TOLERANCE_S)
    for source in sources:
        records = [result.created_at for result in results if result.source is source]
        dated = max([str(source.run.get("created_at", "")), *records])
        if dated > latest:
            raise RunDirectoryError(
                f"The run {source.run['run_id']} is dated {dated}, which is later than now ({utc_now()}), so it is not "
                "known which results are the newest. Leave this run out, or set the clock if it is wrong."
            )


def _refuse_other_places(results: list[_Result]) -> None:
    """Raise RunDirectoryError if runs measured volumes at different mount points under one name, because the newest
    record would hide the result of the other volume."""
    places: dict[str, _Result] = {}
    for result in results:
        if result.mount_point is None:
            continue
        first = places.setdefault(result.folder, result)
        if first.mount_point != result.mount_point:
            raise RunDirectoryError(
                f"{result.label} was measured at {first.mount_point} by the run {first.source.run['run_id']} and at "
                f"{result.mount_point} by the run {result.source.run['run_id']}: these are two volumes with one name. "
                "Leave one of the runs out, or give the volumes different names."
            )


def _all_volumes(host: str, sources: list[RunDirectory]) -> list[dict[str, Any]]:
    """Return the volumes that a host is expected to report in any of the sources, each as recorded by the newest
    source."""
    volumes: dict[str, dict[str, Any]] = {}
    for source in sources:
        if host in source.expected_hosts:
            volumes.update({name: {"name": name} for name in source.volumes.expected(host)})
            volumes.update({volume["name"]: volume for volume in source.volumes.read(host) or []})
    return list(volumes.values())
