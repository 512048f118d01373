# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What power cuts store in the history: a result for each volume, which later certifications of the volume take into
account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._durability.cut import LOST
from ..._history.result import Result, result_of
from ..._run import open_metrics as om
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

    def metrics(self, status: Mapping[str, Any], volumes: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
        """Yield the cuts that lost nothing, and the losses that count, with their days."""
        cuts, losses = (
            [(own, each[key]) for own, each in volumes if each[key]] for key in ("power_cuts_kept", "power_cut_loss")
        )
        return om.gauges(
            (
                (
                    "logdisk_power_cuts_kept",
                    "Power cuts of the volume that lost no acknowledged write.",
                    cuts,
                    lambda each: each["cuts"],
                ),
                ("logdisk_power_cuts_kept_timestamp_seconds", "Start of the day of these power cuts.", cuts, _day_s),
                (
                    "logdisk_power_cut_loss_timestamp_seconds",
                    "Start of the day of the loss that counts.",
                    losses,
                    _day_s,
                ),
            )
        )


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


def _day_s(cut: Mapping[str, Any]) -> float:
    return om.start_of_day_s(cut["judged_at"][:10])
