# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The record of one host's volume: the results of its measurement, or the reason why it was not measured. It is the
content of record.json."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .findings import Judgement, is_data, is_finding
from .kinds import DEFAULT, by_data_key, kind_named
from .shapes import NUMBER, PLAIN, Items, Keys, Maybe, Where, check
from .verdicts import FAIL, PASS, WARN

DEFAULT_VOLUME = "log"
DISK_SHARED_WITH = "disk_shared_with_volumes"
"""The fact that names the volumes of the same host on the same disk that were measured at the same time."""

ERROR = "error"
"""The kind of a record that only states why there is no result."""


class _Judgement(Keys):
    """The keys of a judgement. Only ``details`` may hold nested data."""

    def misfit(self, value: Any) -> str | None:
        if isinstance(value, dict) and "details" in value:
            if not is_data(value["details"]):
                return ".details"
            value = {**value, "details": None}
        return super().misfit(value)


_JUDGEMENT = _Judgement(
    {
        **dict.fromkeys(("limit", "metric", "bound", "verdict", "reason", "worker_name", "method", "cause"), str),
        **dict.fromkeys(("limit_value", "value"), NUMBER),
        "samples": int,
        **dict.fromkeys(("block_size_bytes", "load_point"), Maybe(int)),
        **dict.fromkeys(("stream", "operation", "limit_id"), Maybe(str)),
        "worker": (int, str, type(None)),
        **dict.fromkeys(
            (
                "confidence",
                "share",
                "share_bound",
                "value_bound",
                "seconds",
                "episode_s",
                "seconds_needed",
                "log_evidence",
            ),
            NUMBER,
        ),
    },
    every=PLAIN,
)
_PROFILE = Keys(dict.fromkeys(("name", "version", "sha256"), str))
_LOAD = Maybe(int)
_FINDING = Where(is_finding)
_POINT = Keys({"load_point": int, "verdict": str, "reason": str, "finding": Maybe(_FINDING)})
_LOADS = dict.fromkeys(("highest_passed", "lowest_not_passed", "next_load"), _LOAD)
_CAPACITY = Keys({"points": Items(_POINT), **_LOADS, "load_unit": str, "reason": str, "finding": Maybe(_FINDING)})
_TEXTS = Maybe(Items(str))
_SETTING_VERDICTS = (PASS, WARN, FAIL)
_SETTING = Keys(
    {
        **dict.fromkeys(("id", "title", "subject", "expected"), str),
        **dict.fromkeys(("value", "waiver"), Maybe(str)),
        "verdict": Maybe(Where(lambda value: value in _SETTING_VERDICTS)),
    }
)


class RecordError(ValueError):
    """A record cannot be used. The message names the key."""


@dataclass
class HostRecord:
    """One host's volume in one run.

    ``kind`` is ``measurement``, ``error`` (nothing was measured; ``error`` holds stage, verdict and reason),
    ``preflight`` (nothing was to be measured; there is no verdict), ``observation`` (a live queue manager was watched;
    there is a verdict only if the profile requires one, and never a certificate) or ``durability`` (its power was cut
    while it wrote). ``kind_data`` is the data that only records of this kind have; record.json contains it under the
    kind's ``data_key``. ``power_cuts`` holds the results of power cuts in the history for a measured volume. ``tables``
    holds the size and the SHA-256 of each table by its name. ``comparison`` is the result of the comparison with a
    baseline, and its ``limits_verdict`` is the verdict without the comparison. It is None if no comparison was
    requested.
    ``capacity`` holds the result of each load point, and the highest load that passes; None if there is only one load
    point. ``profile`` is the name, the version and the SHA-256 of the profile that judged the volume; None for a host
    that is in none of the merged runs. ``volume_facts`` are those of ``findings.VOLUME_FACTS`` that the run showed.
    ``findings`` are described in ``_run/findings.py``; ``noted`` holds the ``notes`` as findings.
    ``settings`` are the outcomes of the settings that were checked (see ``_run/settings.py``). ``standing`` is a
    fact in the history that prevents this run from being a pass.
    """

    host: str
    volume: str = DEFAULT_VOLUME
    kind: str = DEFAULT.name
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
    judgements: list[Judgement] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    comparison: dict[str, Any] | None = None
    capacity: dict[str, Any] | None = None
    kind_data: dict[str, Any] | None = None
    power_cuts: dict[str, Any] | None = None
    profile: dict[str, Any] | None = None
    volume_facts: list[str] = field(default_factory=list)
    standing: str | None = None
    findings: list[dict[str, Any]] = field(default_factory=list)
    noted: list[dict[str, Any]] = field(default_factory=list)
    settings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The displayed name of the host's volume: only the host's name if the volume is the default one."""
        return host_label(self.host, self.volume)

    @property
    def worker_names(self) -> list[Any]:
        """The names of the workers (the queue managers), in the order of their numbers."""
        return self.workspace.get("queue_managers") or []

    def as_dict(self) -> dict[str, Any]:
        """Return the content for record.json."""
        data: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            data.update(by_data_key(self.kind, value) if each.name == _KIND_DATA else {each.name: value})
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> HostRecord:
        """Return the record in ``data``, which is untrusted. Raises RecordError."""
        check(data, _SHAPE, _refused)
        kind = kind_named(data["kind"])
        kind_data = data.get(kind.data_key) if kind.data_key else None
        check({kind.data_key: kind_data}, Keys({kind.data_key: Maybe(kind.data_shape)}), _refused)
        return cls(kind_data=kind_data, **{name: data[name] for name in _NAMES if data.get(name) is not None})


def _refused(part: str) -> RecordError:
    return RecordError(f"has no usable {part}")


def host_label(host: str, volume: str) -> str:
    """Return the displayed name of a host's volume: only the host's name if the volume is the default one."""
    return host if volume == DEFAULT_VOLUME else f"{host}/{volume}"


_TYPES: dict[str, Any] = {"dict": dict, "list": list, "str": str, "bool": bool}


def _shape_of(each: dataclasses.Field[Any]) -> Any:
    """Return the shape of a field in record.json; only fields without a default are required."""
    wanted = _TYPES[str(each.type).split("[", maxsplit=1)[0].split(" ", maxsplit=1)[0]]
    return wanted if each.name in ("host", "volume", "kind") else Maybe(wanted)


_KIND_DATA = "kind_data"
_FIELDS = tuple(each for each in dataclasses.fields(HostRecord) if each.name != _KIND_DATA)
_NAMES = tuple(each.name for each in _FIELDS)
_SHAPE = Keys(
    {
        **{each.name: _shape_of(each) for each in _FIELDS},
        **dict.fromkeys(("reasons", "disturbances", "leftovers", "notes"), _TEXTS),
        "volume_facts": Items(str),
        "judgements": Maybe(Items(_JUDGEMENT)),
        "findings": Items(_FINDING),
        "noted": Maybe(Items(_FINDING)),
        "settings": Maybe(Items(_SETTING)),
        "tables": Maybe(Keys({}, every=dict)),
        "workspace": Maybe(Keys({"queue_managers": Maybe(list)})),
        "profile": Maybe(_PROFILE),
        "capacity": Maybe(_CAPACITY),
    }
)
"""The structure of record.json, without the data that only records of one kind have."""
