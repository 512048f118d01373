# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What power cuts store in the history: a result for each volume, which later certifications of the volume take into
account."""

from __future__ import annotations

from ..._durability.cut import LOST
from ..._history.result import Result, result_of
from ..._run.directory import RunDirectory
from ..._run.record import HostRecord
from ..._run.table_reader import printable
from ..._run.volume_identity import identity_of_record
from .. import facets


class Memory(facets.Memory):
    """Nothing is read from the history, because each run of power cuts is judged by itself."""

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the result of each volume of a run. A volume whose power was not cut does not have one."""
        records = (directory.records.read(folder) for folder in directory.records.folders())
        return [_result(directory, record) for record in records if _is_cut(directory, record)]


def _is_cut(directory: RunDirectory, record: HostRecord) -> bool:
    return bool(record.kind_data) and record.kind == directory.kind.name


def _result(directory: RunDirectory, record: HostRecord) -> Result:
    own = record.kind_data or {}
    lost = next((f"cut {cut['number']}: {cut['reason']}" for cut in own["cuts"] if cut["outcome"] == LOST), "")
    identity = identity_of_record(record)
    return result_of(
        directory,
        record,
        verdict=str(record.verdict),
        path=identity.mount_point if identity else "",
        identity=identity.volume_id if identity else None,
        data={
            "disk_id": identity.disk_id if identity else None,
            "cuts": len(own["cuts"]),
            "reason": printable(lost or (record.reasons or [""])[0]),
            **{name: printable(str(own[name])) for name in ("claim", "tests")},
        },
    )
