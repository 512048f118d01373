# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of one host's volume: what was measured there, or why nothing was. It is what record.json holds."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA_VERSION = 1
DEFAULT_VOLUME = "log"
DISK_SHARED_WITH = "disk_shared_with_volumes"
"""The fact that names the volumes of the same host on the same disk that were measured at the same time."""

MEASUREMENT = "measurement"
ERROR = "error"
PREFLIGHT = "preflight"
OBSERVATION = "observation"
DURABILITY = "durability"

_LARGEST = 1 << 64
_NUMBER = (int, float, type(None))
_JUDGEMENT_TYPES: dict[str, Any] = {
    "limit": str,
    "metric": str,
    "bound": str,
    "verdict": str,
    "reason": str,
    "limit_value": _NUMBER,
    "value": _NUMBER,
    "samples": int,
    "block_size_bytes": (int, type(None)),
    "load_point": (int, type(None)),
    "stream": (str, type(None)),
    "operation": (str, type(None)),
    "worker": (int, str, type(None)),
    "worker_name": str,
    "method": str,
    **dict.fromkeys(("confidence", "share", "share_bound", "value_bound", "seconds", "episode_s", "seconds_needed", "log_evidence"), _NUMBER),
}

_POINT_TYPES = {"load_point": int, "verdict": str, "reason": str}


class RecordError(ValueError):
    """A record that cannot be used; the message names the key."""


@dataclass
class HostRecord:
    """One host's volume in one run.

    ``kind`` is ``measurement``, ``error`` (nothing was measured; ``error`` holds stage, verdict and reason), ``preflight`` (nothing was to be measured; there
    is no verdict), ``observation`` (a live queue manager was watched, which ``observation`` is about; there is a verdict only if the profile asks for one, and
    never a certificate) or ``durability`` (its power was cut while it wrote, which ``durability`` is about). ``power_cuts`` is what the history said of power
    cuts of a volume that was measured. ``tables`` holds the size and the SHA-256 of each table by its name. ``comparison`` is what holding it against a
    baseline said, and ``limits_verdict`` in it is the verdict without that; None if no comparison was asked for. ``capacity`` says what each load point came
    to, and which load is the highest that passes; None if there is one load point only. ``profile`` is the name, the version and the SHA-256 of the profile
    that the volume was judged by, None if it is not known. ``volume_facts`` are those of ``_run/volume_facts.py`` that it shows; None in a record of a version
    that did not note them. ``standing`` is what the history knows against the volume, so that the run cannot be a pass.
    """

    host: str
    volume: str = DEFAULT_VOLUME
    kind: str = MEASUREMENT
    run_id: str = ""
    created_at: str = ""
    error: dict[str, Any] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    workspace: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    load_unit: str = ""
    tester: dict[str, Any] | None = None
    verdict: str | None = None
    certified: bool = False
    qualification: str = ""
    reasons: list[str] = field(default_factory=list)
    disturbances: list[str] = field(default_factory=list)
    judgements: list[dict[str, Any]] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    comparison: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    observation: dict[str, Any] | None = None
    durability: dict[str, Any] | None = None
    power_cuts: dict[str, Any] | None = None
    profile: dict[str, Any] | None = None
    volume_facts: list[str] | None = None
    standing: str | None = None

    @property
    def label(self) -> str:
        """How people call the host's volume: by the host alone if the volume is the default one."""
        return host_label(self.host, self.volume)

    @property
    def worker_names(self) -> list[Any]:
        """The names of the workers (the queue managers), in the order of their numbers."""
        return self.workspace.get("queue_managers") or []

    def as_dict(self) -> dict[str, Any]:
        """Return what record.json is to hold."""
        return {"schema": SCHEMA_VERSION, **{each.name: getattr(self, each.name) for each in dataclasses.fields(self)}}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HostRecord:
        """Return the record that ``data``, which nobody vouches for, holds. Raises RecordError."""
        if data.get("schema") != SCHEMA_VERSION:
            raise RecordError(f"is not a record of schema {SCHEMA_VERSION}")
        _check_types(data, _TYPES)
        given = {name: data[name] for name in _TYPES if data.get(name) is not None}
        record = cls(**given)
        record._check()
        return record

    def _check(self) -> None:
        for judgement in self.judgements:
            if not isinstance(judgement, dict):
                raise RecordError("has no usable judgements")
            _check_types(judgement, _JUDGEMENT_TYPES)
            if not all(_is_plain(value) for value in judgement.values()):
                raise RecordError("has no usable judgements")
        for name in ("reasons", "disturbances", "leftovers", "notes", "volume_facts"):
            if not all(isinstance(item, str) for item in getattr(self, name) or ()):
                raise RecordError(f"has no usable {name}")
        if not all(isinstance(filed, dict) for filed in self.tables.values()):
            raise RecordError("has no usable tables")
        if not isinstance(self.worker_names, list):
            raise RecordError("has no usable workspace")
        if self.profile is not None and not all(isinstance(self.profile.get(key), str) for key in ("name", "version", "sha256")):
            raise RecordError("has no usable profile")
        if self.capacity is not None:
            _check_capacity(self.capacity)
        if self.durability is not None:
            _check_durability(self.durability)


def _check_capacity(capacity: Mapping[str, Any]) -> None:
    points = capacity.get("points")
    loads = [capacity.get(key) for key in ("highest_passed", "lowest_not_passed", "next_load")]
    usable = (
        isinstance(points, list)
        and all(isinstance(point, dict) and set(point) == set(_POINT_TYPES) for point in points)
        and all(isinstance(point[key], wanted) for point in points for key, wanted in _POINT_TYPES.items())
        and all(load is None or isinstance(load, int) for load in loads)
        and all(isinstance(capacity.get(key), str) for key in ("load_unit", "reason"))
    )
    if not usable:
        raise RecordError("has no usable capacity")


def _check_durability(durability: Mapping[str, Any]) -> None:
    cuts, losses = durability.get("cuts"), durability.get("losses")
    usable = (
        isinstance(cuts, list)
        and isinstance(losses, list)
        and all(isinstance(each, dict) for each in (*cuts, *losses))
        and all(isinstance(cut.get("rows"), list) and all(isinstance(row, dict) for row in cut["rows"]) for cut in cuts)
        and all(isinstance(cut.get(key), str) for cut in cuts for key in ("outcome", "reason"))
        and all(isinstance(cut.get("number"), int) for cut in cuts)
        and all(isinstance(loss.get(key), str) for loss in losses for key in ("loss", "consequence", "next_step"))
        and all(isinstance(durability.get(key), str) for key in ("tests", "claim"))
        and isinstance(durability.get("cut_count"), int)
    )
    if not usable:
        raise RecordError("has no usable durability")


def host_label(host: str, volume: str) -> str:
    """Return how people call a host's volume: by the host alone if the volume is the default one."""
    return host if volume == DEFAULT_VOLUME else f"{host}/{volume}"


_OPTIONAL_TYPES: dict[str, Any] = {"dict": dict, "list": list, "str": str, "bool": bool}


def _type_of(each: dataclasses.Field[Any]) -> Any:
    """Return the type that a field has in record.json; only a field without a default has to be there."""
    wanted = _OPTIONAL_TYPES[str(each.type).split("[", maxsplit=1)[0].split(" ", maxsplit=1)[0]]
    return wanted if each.name in ("host", "volume", "kind") else (wanted, type(None))


_TYPES = {each.name: _type_of(each) for each in dataclasses.fields(HostRecord)}


def _check_types(data: Mapping[str, Any], types: Mapping[str, Any]) -> None:
    for key, wanted in types.items():
        if not isinstance(data.get(key), wanted):
            raise RecordError(f"has no usable {key}")


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str) or (isinstance(value, (int, float)) and abs(value) <= _LARGEST)
