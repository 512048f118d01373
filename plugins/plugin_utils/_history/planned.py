# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The volumes planned by runs that measure in order to certify. The volumes in the newest plan of a host must be
certified.

A preflight, a quick look, an observation or a run of power cuts has no such plan. A merged run has the plans of the
runs from which it was merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._judge.host import SKIPPED
from .._judge.notes import moved_unasked
from .._run.directory import RunDirectory
from .._run.files import fingerprint
from .._run.host_settings import can_certify, profile_data
from .._run.moment import is_moment
from .._run.record import DEFAULT_VOLUME, HostRecord
from .._run.table_reader import printable
from .._run.volume_identity import identity_of_record
from .result import Result

PLAN = "plan"
"""The kind of a result that only says that a volume must be certified. The mount point is empty if the run did not find
it, and the date is empty if it is malformed."""


def planned_by(directory: RunDirectory) -> list[Result]:
    """Return the volumes that a run planned to certify. Raises RunDirectoryError."""
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
