# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The data that a measurement reads from the history and stores there: certificates and plans."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from ..._history.before import note_what_was_known
from ..._history.certificate import Certificate, Entry
from ..._history.compare.against_baseline import hold_against_baseline
from ..._history.previous import note_previous
from ..._history.result import PLAN, Result
from ..._history.standing import look_up
from ..._history.store.filing import make_certificate
from ..._judge.effect import ATTEMPT, CERTIFIES
from ..._judge.host import SKIPPED
from ..._judge.notes import moved_unasked
from ..._run.directory import RunDirectory
from ..._run.files import fingerprint
from ..._run.host_settings import can_certify, profile_data
from ..._run.kinds import kind_named
from ..._run.moment import is_moment
from ..._run.record import DEFAULT_VOLUME, HostRecord
from ..._run.table_reader import printable
from ..._run.volume_identity import identity_of_record
from .. import facets


class Memory(facets.Memory):
    """Reads the baselines of a run's hosts, the results of power cuts, and the other facts about their volumes."""

    is_pruned = True

    def look_up(self, directory: RunDirectory) -> str:
        """Note what the history contains about the volumes of a run. Raises OSError."""
        look_up(directory)
        note_what_was_known(directory)
        note_previous(directory)
        return hold_against_baseline(directory)

    def certificate_of(self, directory: RunDirectory, folder: str, record: HostRecord) -> Certificate | None:
        """Return the data that describes what was measured, and the criteria."""
        return make_certificate(directory, folder, record)

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the volumes that the run planned to measure, and the results of records of other kinds, which only
        runs of claims have. The volumes in the newest plan of a host must be certified."""
        if directory.run.get("merged_from"):
            return []
        records = (directory.records.read(folder) for folder in directory.records.folders())
        others = sorted({record.kind for record in records} - {directory.kind.name})
        return [
            *planned_by(directory),
            *(each for name in others for each in kind_named(name).memory.of_run(directory)),
        ]

    def passes(self, result: Result) -> bool:
        """Return whether a result certifies, and nothing in it counts against its volume."""
        entry = cast(Entry, result)
        return entry.effect == CERTIFIES and not entry.volume_facts

    def void(self, result: Result) -> Result:
        """Return a misdated certificate as an attempt. Its verdict is kept, because a status shows it."""
        is_certificate = cast(Entry, result).effect == CERTIFIES
        return replace(result, data={**result.data, "effect": ATTEMPT}) if is_certificate else result


def planned_by(directory: RunDirectory) -> list[Result]:
    """Return the volumes that a run planned to certify; a merged run has the plans of the runs from which it was
    merged. Raises RunDirectoryError."""
    if directory.run.get("merged_from") or not directory.is_test:
        return []
    hosts = [host for host in directory.expected_hosts if can_certify(profile_data(directory.run, host))]
    return [_planned(directory, host, volume) for host in hosts for volume in _volumes(directory, host)]


def _volumes(directory: RunDirectory, host: str) -> Iterator[str]:
    """Yield the names of the volumes of a host; none if they had to be discovered and have not been. Volumes that a
    passive node skips, and those that report another kind of result, are not included."""
    noted = directory.volumes.read(host)
    if noted is not None:
        yield from (volume["name"] for volume in noted if not volume.get(SKIPPED) and not volume.get("kind"))
    elif (directory.run.get("parameters") or {}).get("workspace_discover") in (None, False):
        yield DEFAULT_VOLUME


def _planned(directory: RunDirectory, host: str, volume: str) -> Result:
    record: HostRecord | None = directory.records.find(host, volume)
    identity = identity_of_record(record) if record else None
    # If the file system was not mounted, this does not mean that its volume no longer needs to be certified.
    moved = moved_unasked(record) if record else None
    planned_at = str(directory.run.get("created_at") or "")
    known: dict[str, Any] = {
        "kind": PLAN,
        "run_id": str(directory.run["run_id"]),
        "hosts": (printable(host),),
        "volume": printable(volume),
        "path": moved["before"] if moved else identity.mount_point if identity else "",
        "judged_at": planned_at if is_moment(planned_at) else "",
        "verdict": "",
        "chain": printable(host),
    }
    return Result(sha256=fingerprint(known), **known)
