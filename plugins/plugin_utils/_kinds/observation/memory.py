# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation reads from the history and stores there: certificates with which the observed figures are
compared, and how they compare; and how the status shows the newest observation of each volume. Observations affect no
certificate and no state."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ....module_utils import _units
from ..._history.result import Result, result_of
from ..._history.states import Status, Today
from ..._history.status_txt import observed_text
from ..._run.columns import grouped
from ..._run.directory import RunDirectory
from ..._run.files import fingerprint
from ..._run.host_settings import profile_text
from ..._run.record import HostRecord, host_label
from ..._run.table_reader import printable
from ..._run.volume_identity import identity_of_record
from .. import facets
from .certified import ALIKE, FASTER, SLOWER, UNKNOWN, hold_against_certificates

_MOST_TIMES = 1e12
"""A larger ratio cannot be the result of a measurement."""

Place = tuple[str, str, str]
"""The host, the volume and the mount point of a line in a status."""


class Memory(facets.Memory):
    """The data of a result are the ``queue_manager``, the ``profile``, the ``outcome`` of the comparison with the
    certificate of the volume, the ``text`` that says it in a sentence, the ``ratio`` of the observed mean and the
    certified one (None if there was no comparison), and the ``disk_id`` (None if the volume is unknown). The verdict
    is empty if the profile does not judge observations."""

    is_pruned = True

    def look_up(self, directory: RunDirectory) -> str:
        """Store in each record how the observed figures compare with the certificate of its volume. Raises OSError."""
        hold_against_certificates(directory)
        return ""

    def of_run(self, directory: RunDirectory) -> list[Result]:
        """Return the result of each observed queue manager."""
        records = (directory.records.read(folder) for folder in directory.records.folders())
        return [_result(directory, record) for record in records if record.kind == directory.kind.name]

    def passes(self, result: Result) -> bool:
        """No observation certifies or clears anything."""
        return False

    def void(self, result: Result) -> Result:
        """A wrong date does not change what was observed."""
        return result

    def status_lines(self, status: Mapping[str, Any]) -> tuple[list[str], str]:
        """Return a line for each observation that is not in the line of its volume."""
        known = {_source(each["observation"]) for each in status["volumes"] if each["observation"]}
        elsewhere = [each for each in status["observations"] if _source(each) not in known]
        return [f"observed  {each['label']}  {observed_text(each)}" for each in elsewhere], "observations"

    def add_to_status(
        self, status: dict[str, Any], results: Sequence[Result], lines: Sequence[Status], today: Today
    ) -> None:
        """Add the newest observation of each volume, also beside its line."""
        seen = observed_volumes(results, lines)
        status["observations"] = [_entry(label, result, today) for label, _place, result in seen]
        by_place = {place: entry for (_label, place, _seen), entry in zip(seen, status["observations"], strict=True)}
        for line, volume in zip(lines, status["volumes"], strict=True):
            volume["observation"] = by_place.get(_place_of(line))


def _source(observation: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an observation is about, in which run."""
    return observation["run_id"], observation["host"], observation["volume"]


def _result(directory: RunDirectory, record: HostRecord) -> Result:
    own = record.kind_data or {}
    held, identity = own.get("certificate") or {}, identity_of_record(record)
    ratio, path = held.get("ratio"), identity.mount_point if identity else ""
    return result_of(
        directory,
        record,
        path=path,
        chain=fingerprint([printable(record.host), printable(record.volume), path]),
        data={
            "disk_id": identity.disk_id if identity else None,
            "queue_manager": printable(str(own.get("queue_manager") or "")),
            "profile": printable(profile_text(record.profile)),
            "outcome": printable(str(held.get("outcome") or UNKNOWN)),
            "ratio": float(ratio) if isinstance(ratio, (int, float)) and 0 < ratio < _MOST_TIMES else None,
            "text": printable(str(held.get("text") or "")),
        },
    )


def observed_volumes(results: Iterable[Result], lines: Iterable[Status]) -> list[tuple[str, Place | None, Result]]:
    """Return the newest observation of each volume, those that were slowest compared with their certificates first:
    the displayed name of the volume, its place in the status (None if the status does not contain it), and the result.
    Observations of a disk or file system that was replaced since are left out."""
    by_name = grouped(lines, attrgetter("host", "volume"))
    newest: dict[tuple[str, ...], tuple[str, Place | None, Result]] = {}
    for result in sorted(results, key=lambda result: result.order):
        there = [line for line in by_name.get((result.host, result.volume), ()) if _is_at(result, line)]
        line = next((line for line in there if _has_same_disk(result, line)), None)
        if there and not line:
            continue
        label = line.label if line else host_label(result.host, result.volume)
        place = _place_of(line) if line else None
        newest[place or (*result.place, "")] = label, place, result
    return sorted(newest.values(), key=lambda each: (-_slowness(each[2]), each[0]))


def _place_of(line: Status) -> Place:
    """Return the place to which a line of the status refers."""
    return line.host, line.volume, line.mount_point


def _is_at(result: Result, line: Status) -> bool:
    return not (result.path and line.mount_point) or result.path == line.mount_point


def _has_same_disk(result: Result, line: Status) -> bool:
    judged = line.entry or line.attempt
    disks = {result.data["disk_id"], judged.disk_id if judged else None}
    return None in disks or len(disks) == 1


def _slowness(result: Result) -> float:
    return (result.data["ratio"] or 0.0) if result.data["outcome"] != UNKNOWN else 0.0


def _entry(label: str, result: Result, today: Today) -> dict[str, Any]:
    """Return an observation in the form of status.json."""
    data = result.data
    return {
        "label": label,
        "host": result.host,
        "volume": result.volume,
        "queue_manager": data["queue_manager"] or None,
        "run_id": result.run_id,
        "judged_at": result.judged_at,
        "age_days": (today.date - datetime.date.fromisoformat(result.judged_at[:10])).days,
        "profile": data["profile"],
        "verdict": result.verdict or None,
        "outcome": data["outcome"],
        "ratio": data["ratio"],
        "headline": _headline(data["outcome"], data["ratio"]),
        "text": data["text"],
    }


def _headline(outcome: str, ratio: float | None) -> str:
    """Return how an observation compares with the certificate of its volume, in a few words."""
    if outcome == ALIKE:
        return "as certified"
    if ratio and outcome in (SLOWER, FASTER):
        factor = ratio if outcome == SLOWER else 1 / ratio
        return f"{_units.format_number(factor, 2)} times {outcome} than certified"
    return "not compared"
