# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Observations of live queue managers in the history: the results of a run, and which volume of a status each result is
about. They never affect the state of a volume."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .._run.directory import RunDirectory
from .._run.profiles import profile_text
from .._run.record import HostRecord, host_label
from .._run.table_reader import printable
from .._run.volume_identity import identity_of_record
from .dating import Dated, result_of
from .states import Status, Today

SLOWER, ALIKE, FASTER, UNKNOWN = "slower", "alike", "faster", "unknown"
"""The outcomes of a comparison with a certificate."""
_MOST_TIMES = 1e12
"""A larger ratio cannot be the result of a measurement."""

Place = tuple[str, str, str]
"""The host, the volume and the mount point of a line in a status."""


@dataclass(frozen=True)
class ObservedResult(Dated):
    """The result of an observation: how the log writes of a queue manager compared with the certificate of the volume,
    and the verdict if the profile judges observations. Texts are untrusted and printable.

    ``outcome`` is one of those above, and ``text`` says it in a sentence. ``ratio`` is the observed mean
    divided by the certified one, None if there was no comparison. ``verdict`` is empty if the profile does not judge
    observations. ``mount_point`` is empty and ``disk_id`` is None if the volume is unknown.
    """

    sha256: str
    run_id: str
    host: str
    volume: str
    mount_point: str
    disk_id: str | None
    queue_manager: str
    profile: str
    judged_at: str
    verdict: str
    outcome: str
    ratio: float | None
    text: str


def results_of(directory: RunDirectory) -> list[ObservedResult]:
    """Return the result of each observed queue manager of a run. Raises RunDirectoryError."""
    records = (directory.records.read(folder) for folder in directory.records.folders())
    return [_result(directory, record) for record in records if record.kind == directory.kind.name]


def _result(directory: RunDirectory, record: HostRecord) -> ObservedResult:
    own = record.kind_data or {}
    held, identity = own.get("certificate") or {}, identity_of_record(record)
    ratio = held.get("ratio")
    return result_of(
        ObservedResult,
        directory,
        record,
        mount_point=identity.mount_point if identity else "",
        disk_id=identity.disk_id if identity else None,
        queue_manager=printable(str(own.get("queue_manager") or "")),
        profile=printable(profile_text(record.profile)),
        verdict=record.verdict or "",
        outcome=printable(str(held.get("outcome") or UNKNOWN)),
        ratio=float(ratio) if isinstance(ratio, (int, float)) and 0 < ratio < _MOST_TIMES else None,
        text=printable(str(held.get("text") or "")),
    )


@dataclass(frozen=True)
class Observed:
    """The newest observation of a volume: its result, the displayed name of the volume, and the volume's place in the
    status, None if the status does not contain the volume."""

    result: ObservedResult
    label: str
    place: Place | None


def observed_volumes(results: Iterable[ObservedResult], lines: Iterable[Status]) -> list[Observed]:
    """Return the newest observation of each volume, those that were slowest compared with their certificates first.
    Observations of a disk or file system that was replaced since are left out."""
    by_name: dict[tuple[str, str], list[Status]] = {}
    for line in lines:
        by_name.setdefault((line.host, line.volume), []).append(line)
    newest = {}
    for result in sorted(results, key=lambda result: result.order):
        there = [line for line in by_name.get((result.host, result.volume), ()) if _is_at(result, line)]
        line = next((line for line in there if _has_same_disk(result, line)), None)
        if there and not line:
            continue
        label = line.label if line else host_label(result.host, result.volume)
        place = place_of(line) if line else None
        newest[place or (result.host, result.volume, result.mount_point, "")] = Observed(result, label, place)
    return sorted(newest.values(), key=lambda each: (-_slowness(each.result), each.label))


def place_of(line: Status) -> Place:
    """Return the place to which a line of the status refers."""
    return line.host, line.volume, line.mount_point


def _is_at(result: ObservedResult, line: Status) -> bool:
    return not (result.mount_point and line.mount_point) or result.mount_point == line.mount_point


def _has_same_disk(result: ObservedResult, line: Status) -> bool:
    judged = line.entry or line.attempt
    disk_id = judged.disk_id if judged else None
    return None in (result.disk_id, disk_id) or result.disk_id == disk_id


def _slowness(result: ObservedResult) -> float:
    return (result.ratio or 0.0) if result.outcome != UNKNOWN else 0.0


def observed_entry(observed: Observed, today: Today) -> dict[str, Any]:
    """Return an observation in the form of status.json."""
    result = observed.result
    return {
        "label": observed.label,
        "host": result.host,
        "volume": result.volume,
        "queue_manager": result.queue_manager or None,
        "run_id": result.run_id,
        "judged_at": result.judged_at,
        "age_days": _age_days(result, today),
        "profile": result.profile,
        "verdict": result.verdict or None,
        "outcome": result.outcome,
        "ratio": result.ratio,
        "headline": headline(result),
        "text": result.text,
    }


def headline(result: ObservedResult) -> str:
    """Return how an observation compares with the certificate of its volume, in a few words."""
    if result.outcome == ALIKE:
        return "as certified"
    if result.ratio and result.outcome in (SLOWER, FASTER):
        factor = result.ratio if result.outcome == SLOWER else 1 / result.ratio
        return f"{_units.format_number(factor, 2)} times {result.outcome} than certified"
    return "not compared"


def _age_days(result: ObservedResult, today: Today) -> int:
    return (today.date - datetime.date.fromisoformat(result.judged_at[:10])).days
