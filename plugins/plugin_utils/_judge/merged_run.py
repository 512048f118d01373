# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges several runs into one. For each host and volume, it contains the newest record, with the judgement of its
original run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.merged_settings import COMMON, merged_settings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.names import volume_folder
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.volume_identity import identity_of_record


def merge_runs(
    paths: Iterable[str],
    base: str,
    hosts: Iterable[str] = (),
    left_out: Iterable[str] = (),
    changes: Mapping[str, Any] | None = None,
) -> RunDirectory:
    """Make a new run directory under ``base`` from several others, with all expected hosts and, for each host and
    volume, the newest record with its tables.

    The ``hosts`` of the inventory are also expected; ``unclaimed_hosts`` are the hosts that no run expected. Each host
    keeps the parameters and the profile of the newest run that expects it. Values for the whole run, such as the
    policy, come from the newest run unless ``changes`` overrides them; facts about the controller are kept if all runs
    agree on them. ``merged_from`` names all runs. The caller judges the fleet. Raises RunDirectoryError if the runs
    cannot be merged, for example if one of them tested no storage and would hide the measurements of the others.
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
    _refuse_other_places(sources)
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
    of_hosts = {"expected_hosts": expected, "left_out_hosts": left_out, "unclaimed_hosts": unclaimed}
    chosen = _newest_records(sources)
    settings = merged_settings(
        [source.run for source in sources], (source.records.read(folder).profile for source, folder in chosen)
    )
    merged = RunDirectory.create(
        base,
        {**newest, "controller": controller, **settings, **(changes or {}), **of_hosts, "merged_from": merged_from},
    )
    for source, folder in chosen:
        merged.records.write(*_with_tables(source, folder))
    for host in sorted(claimed):
        merged.volumes.note(host, _all_volumes(host, sources))
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


def _newest_records(sources: list[RunDirectory]) -> list[tuple[RunDirectory, str]]:
    """Return the folder of every record, with the run that has the newest record in it. ``sources`` is sorted by age,
    with the oldest run first.

    The age of a record that cannot be read is unknown. It is considered as old as its run, and no record of an older
    run replaces it, because the older record could be a pass. Likewise, a record does not replace a missing record of a
    later run that was meant to measure the same volume.
    """
    lost = {
        volume_folder(*volume): str(source.run.get("created_at", ""))
        for source in sources
        for volume in source.missing()
    }
    newest: dict[str, tuple[str, RunDirectory]] = {}
    for source in sources:
        for folder in source.records.folders():
            created_at = judged_record(source, folder).created_at
            if folder not in newest or not created_at or created_at >= newest[folder][0]:
                newest[folder] = (created_at or str(source.run.get("created_at", "")), source)
    return [(entry[1], folder) for folder, entry in sorted(newest.items()) if entry[0] >= lost.get(folder, "")]


def _refuse_other_places(sources: list[RunDirectory]) -> None:
    """Raise RunDirectoryError if runs measured volumes at different mount points under one name, because the newest
    record would hide the result of the other volume."""
    places: dict[str, tuple[str, str]] = {}
    for source in sources:
        for folder in source.records.folders():
            record = source.records.read(folder)
            identity = identity_of_record(record)
            place, run_id = (
                places.setdefault(folder, (identity.mount_point, source.run["run_id"])) if identity else ("", "")
            )
            if identity and place != identity.mount_point:
                raise RunDirectoryError(
                    f"{record.label} was measured at {place} by the run {run_id} and at {identity.mount_point} by the "
                    f"run {source.run['run_id']}: these are two volumes with one name. Leave one of the runs out, or "
                    "give the volumes different names."
                )


def _all_volumes(host: str, sources: list[RunDirectory]) -> list[dict[str, Any]]:
    """Return the volumes that a host is expected to report in any of the sources, each as recorded by the newest
    source."""
    volumes: dict[str, dict[str, Any]] = {}
    for source in sources:
        if host in source.expected_hosts:
            volumes.update({name: {"name": name} for name in source.volumes.expected(host)})
            volumes.update({volume["name"]: volume for volume in source.volumes.noted(host) or []})
    return list(volumes.values())
