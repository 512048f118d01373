# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Criteria as data: a profile says what a host's figures must reach, for how long they must be measured, and who is excused until when.

A profile is read strictly: whatever is unknown, malformed, contradictory or cannot hold is a ProfileError that names the key and what is allowed.
The hard limits (HARD_LIMITS) belong to every profile, whether it states them or not, and no waiver excuses them.
"""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.metrics import METRICS, RUN, Metric

FAIL = "fail"
WARN = "warn"
SEVERITIES = (FAIL, WARN)

HARD_LIMITS = (
    {"metric": "latency_mean", "max": "10 ms", "hard": True},
    {"metric": "latency_max", "below": "10 s", "hard": True},
)
"""Limits of every profile; an I/O error or a short write is the third hard failure and comes from the tester's exit status."""

DEFAULT_CONFIDENCE = 0.95

_PROFILE_KEYS = ("name", "version", "description", "qualifies", "limits", "waivers")
_QUALIFIES_KEYS = ("min_duration_s", "min_footprint", "block_sizes", "confidence")
_BOUND_KEYS = {"max": ("max", False), "below": ("max", True), "min": ("min", False)}
_LIMIT_KEYS = ("metric", *_BOUND_KEYS, "severity", "hard", "block_size", "load_point")
_RANGE_KEYS = ("min", "max")
_WAIVER_KEYS = ("host", "metric", "until", "reason")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\Z")
_MAX_FILE_BYTES = 1 << 20
_LONGEST_DURATION_S = 7 * 24 * 3600


class ProfileError(ValueError):
    """A profile that cannot be used; the message is one sentence that names the key and what is allowed."""


@dataclass(frozen=True)
class Range:
    """A closed range of block sizes (bytes) or load points; None is an open end."""

    min: int | None
    max: int | None

    def __contains__(self, value: int) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def text(self, write: Callable[[int], str]) -> str:
        """Write the range with a formatter: "4 KiB", "<= 64 KiB", "4 KiB to 64 KiB"."""
        if self.min is not None and self.min == self.max:
            return write(self.min)
        if self.min is None:
            return "" if self.max is None else f"<= {write(self.max)}"
        return f">= {write(self.min)}" if self.max is None else f"{write(self.min)} to {write(self.max)}"


@dataclass(frozen=True)
class Limit:
    """One criterion: a metric, the value that it must keep to, and the rows that it judges.

    bound is `max` or `min`; value is in the metric's base unit; strict means that reaching the value already breaks it; stated is the value as the
    profile states it. block_size and load_point are None if every block size or load point is judged.
    """

    metric: Metric
    bound: str
    strict: bool
    value: float
    stated: str | int | float
    severity: str
    hard: bool
    block_size: Range | None
    load_point: Range | None

    @property
    def operator(self) -> str:
        """How a figure that keeps the limit relates to it: <=, < or >=."""
        if self.bound == "min":
            return ">="
        return "<" if self.strict else "<="

    @property
    def text(self) -> str:
        """The limit without its rows, such as "latency_p99 <= 2 ms"."""
        return f"{self.metric.name} {self.operator} {self.metric.kind.format(self.value, 12)}"

    @property
    def rows_text(self) -> str:
        """The rows that the limit judges, such as "block size <= 64 KiB", empty if it judges every one."""
        parts = []
        if self.block_size:
            parts.append(f"block size {self.block_size.text(_units.format_size)}")
        if self.load_point:
            parts.append(f"load point {self.load_point.text(str)}")
        return ", ".join(parts)

    def applies_to(self, row: Mapping[str, Any]) -> bool:
        """Whether the limit judges a row of results.csv."""
        if self.metric.scope == "all" and row["worker"] != "all":
            return False
        if self.block_size and (row["block_size_bytes"] is None or row["block_size_bytes"] not in self.block_size):
            return False
        return not self.load_point or row["load_point"] in self.load_point

    def broken_by(self, value: float) -> bool:
        """Whether a figure in the metric's base unit breaks the limit."""
        if self.bound == "min":
            return value < self.value
        return value >= self.value if self.strict else value > self.value

    def as_dict(self) -> dict[str, Any]:
        """Return the limit as load_profile reads it."""
        bound = "below" if self.strict else self.bound
        result: dict[str, Any] = {"metric": self.metric.name, bound: self.stated, "severity": self.severity, "hard": self.hard}
        for key, limited in (("block_size", self.block_size), ("load_point", self.load_point)):
            if limited:
                result[key] = {end: getattr(limited, end) for end in _RANGE_KEYS if getattr(limited, end) is not None}
        return result


@dataclass(frozen=True)
class Waiver:
    """A host's excuse from one metric's limits, up to and including a day; never from a hard limit."""

    host: str
    metric: str
    until: datetime.date
    reason: str


@dataclass(frozen=True)
class Profile:
    """Criteria, ready to judge with.

    min_duration_s is measured time a row in seconds; min_footprint_bytes is what the files of one queue manager must have together; block_sizes are those that
    a certificate must contain. Of these, 0 and none ask for nothing. confidence is a ratio that is recorded and not yet used.
    """

    name: str
    version: int | str
    description: str
    min_duration_s: float
    min_footprint_bytes: int
    block_sizes: tuple[int, ...]
    confidence: float
    limits: tuple[Limit, ...]
    waivers: tuple[Waiver, ...]

    @property
    def stall_limit_ns(self) -> float:
        """The age in nanoseconds at which a write still in flight proves a failure: the smallest hard limit of latency_max."""
        return min(limit.value for limit in self.limits if limit.hard and limit.metric.name == "latency_max")

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as plain data that load_profile reads back to an equal profile."""
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "qualifies": self._qualifies(),
            "limits": [limit.as_dict() for limit in self.limits],
            "waivers": [{"host": waiver.host, "metric": waiver.metric, "until": waiver.until.isoformat(), "reason": waiver.reason} for waiver in self.waivers],
        }

    def _qualifies(self) -> dict[str, Any]:
        """Return the policy of qualification as it is read: what asks for nothing is left out."""
        asked = {"min_footprint": self.min_footprint_bytes, "block_sizes": list(self.block_sizes)}
        return {"min_duration_s": self.min_duration_s, "confidence": self.confidence, **{key: value for key, value in asked.items() if value}}


def load_profile(source: str | Mapping[str, Any], search_dir: str | None = None) -> Profile:
    """Return the profile that a name (of a file in search_dir), a path or a mapping stands for. Raises ProfileError."""
    if isinstance(source, Mapping):
        return _read_profile(source)
    if not isinstance(source, str) or not source:
        raise ProfileError(f"A profile is a name, a path or a dictionary, not {_shown(source)}.")
    path = _find(source, search_dir)
    try:
        return _read_profile(_mapping(_load_yaml(path), "The profile", _PROFILE_KEYS))
    except ProfileError as error:
        raise ProfileError(f"{path}: {error}") from None


def _find(source: str, search_dir: str | None) -> str:
    if "/" in source or source.endswith((".yml", ".yaml")):
        return source
    names = sorted(name[:-4] for name in _listing(search_dir) if name.endswith(".yml"))
    if source not in names or search_dir is None:
        raise ProfileError(f"There is no profile {_shown(source)}: allowed are {', '.join(names) or 'no shipped names'}, a path or a dictionary.")
    return os.path.join(search_dir, f"{source}.yml")


def _listing(search_dir: str | None) -> list[str]:
    try:
        return os.listdir(search_dir) if search_dir else []
    except OSError as error:
        raise ProfileError(f"The profiles cannot be listed: {error}.") from None


class _StrictLoader(yaml.SafeLoader):
    """A YAML loader that refuses a key given twice, which YAML would let silently replace the first."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {_shown(key)} is given twice", node.start_mark)
        return super().construct_mapping(node, deep)


def _load_yaml(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
        if len(content) > _MAX_FILE_BYTES:
            raise ProfileError(f"The file has more than {_MAX_FILE_BYTES} bytes.")
        return yaml.load(content, Loader=_StrictLoader)
    except OSError as error:
        raise ProfileError(f"The file cannot be read: {error.strerror}.") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, ProfileError):
            raise
        raise ProfileError("The file is not valid YAML: " + " ".join(str(error).split()) + ".") from None


def _read_profile(data: Mapping[str, Any]) -> Profile:
    _mapping(data, "The profile", _PROFILE_KEYS)
    name = _text(data, "name", "The profile")
    if not _NAME.match(name):
        raise ProfileError(f"name {_shown(name)} may hold letters, digits, dot, dash and underscore only, at most 100.")
    return Profile(
        name=name,
        version=_read_version(data.get("version", 1)),
        description=_optional_text(data, "description"),
        **_read_qualifies(data.get("qualifies", {})),
        limits=_read_limits(data.get("limits")),
        waivers=tuple(_read_waiver(waiver, f"waivers[{index}]") for index, waiver in enumerate(_sequence(data.get("waivers", []), "waivers"))),
    )


def _read_version(version: Any) -> int | str:
    if isinstance(version, bool) or not isinstance(version, (int, str)) or not _NAME.match(str(version)):
        raise ProfileError(f"version {_shown(version)} must be a whole number or a short text such as 2026-11.")
    return version


def _read_qualifies(data: Any) -> dict[str, Any]:
    """Return the policy of qualification as arguments of Profile."""
    _mapping(data, "qualifies", _QUALIFIES_KEYS)
    duration = _number(data.get("min_duration_s", 0), "qualifies.min_duration_s")
    if not 0 <= duration <= _LONGEST_DURATION_S:
        raise ProfileError(f"qualifies.min_duration_s {_shown(duration)} must be 0 to {_LONGEST_DURATION_S} seconds.")
    confidence = _number(data.get("confidence", DEFAULT_CONFIDENCE), "qualifies.confidence")
    if not 0.5 <= confidence < 1:
        raise ProfileError(f"qualifies.confidence {_shown(confidence)} must be at least 0.5 and below 1.")
    footprint = _at_least_one(data["min_footprint"], _units.parse_size, "qualifies.min_footprint") if "min_footprint" in data else 0
    return {"min_duration_s": duration, "min_footprint_bytes": footprint, "block_sizes": _read_block_sizes(data), "confidence": confidence}


def _read_block_sizes(data: Mapping[str, Any]) -> tuple[int, ...]:
    if "block_sizes" not in data:
        return ()
    where = "qualifies.block_sizes"
    sizes = [_at_least_one(size, _units.parse_size, f"{where}[{index}]") for index, size in enumerate(_sequence(data["block_sizes"], where))]
    if not sizes:
        raise ProfileError(f"{where} must name at least one size.")
    for size in sizes:
        if sizes.count(size) > 1:
            raise ProfileError(f"{where} names {_units.format_size(size)} twice.")
    return tuple(sizes)


def _read_limits(data: Any) -> tuple[Limit, ...]:
    if data is None or not _sequence(data, "limits"):
        raise ProfileError("limits must hold at least one limit.")
    limits = [_read_limit(limit, f"limits[{index}]") for index, limit in enumerate(data)]
    for hard in (_read_limit(limit, "hard limits") for limit in HARD_LIMITS):
        if not any(_holds(limit, hard) for limit in limits):
            limits.append(hard)
    return tuple(limits)


def _holds(limit: Limit, hard: Limit) -> bool:
    """Whether a limit of the profile already is the hard limit."""
    same = (limit.metric, limit.bound, limit.strict, limit.value) == (hard.metric, hard.bound, hard.strict, hard.value)
    return same and limit.hard and limit.block_size is None and limit.load_point is None


def _read_limit(data: Any, where: str) -> Limit:
    _mapping(data, where, _LIMIT_KEYS)
    metric = _metric(data, where)
    bound, strict, stated = _bound(data, metric, where)
    severity = data.get("severity", FAIL)
    if severity not in SEVERITIES:
        raise ProfileError(f"{where}.severity {_shown(severity)} is not one of {', '.join(SEVERITIES)}.")
    hard = data.get("hard", False)
    if not isinstance(hard, bool):
        raise ProfileError(f"{where}.hard {_shown(hard)} must be true or false.")
    if hard and severity != FAIL:
        raise ProfileError(f"{where}.severity must be {FAIL} where hard is true.")
    ranges = [key for key in ("block_size", "load_point") if key in data]
    if metric.scope == RUN and ranges:
        raise ProfileError(f"{where}.{ranges[0]} has no place here: {metric.name} is judged once for the whole run.")
    return Limit(
        metric=metric,
        bound=bound,
        strict=strict,
        value=_quantity(stated, metric, f"{where}.{'below' if strict else bound}"),
        stated=stated,
        severity=severity,
        hard=hard,
        block_size=_range(data, "block_size", _units.parse_size, where),
        load_point=_range(data, "load_point", _units.parse_count, where),
    )


def _metric(data: Mapping[str, Any], where: str) -> Metric:
    name = _text(data, "metric", where)
    if name not in METRICS:
        raise ProfileError(f"{where}.metric {_shown(name)} is not one of {', '.join(METRICS)}.")
    return METRICS[name]


def _bound(data: Mapping[str, Any], metric: Metric, where: str) -> tuple[str, bool, Any]:
    allowed = [key for key, (bound, strict) in _BOUND_KEYS.items() if bound == metric.bound]
    given = [key for key in _BOUND_KEYS if key in data]
    if len(given) != 1 or given[0] not in allowed:
        raise ProfileError(f"{where} must give exactly one of {', '.join(allowed)} for {metric.name}, not {' and '.join(given) or 'none'}.")
    return (*_BOUND_KEYS[given[0]], data[given[0]])


def _quantity(stated: Any, metric: Metric, where: str) -> float:
    try:
        value = metric.kind.parse(stated)
    except _units.UnitError as error:
        raise ProfileError(f"{where}: {error}.") from None
    if value <= 0:
        raise ProfileError(f"{where} {_shown(stated)} must be above 0.")
    return value


def _range(data: Mapping[str, Any], key: str, parse: Callable[[Any], int], where: str) -> Range | None:
    if key not in data:
        return None
    where = f"{where}.{key}"
    if not isinstance(data[key], Mapping):
        value = _at_least_one(data[key], parse, where)
        return Range(value, value)
    given = _mapping(data[key], where, _RANGE_KEYS)
    if not given:
        raise ProfileError(f"{where} must give min, max or both.")
    ends = {end: _at_least_one(given[end], parse, f"{where}.{end}") if end in given else None for end in _RANGE_KEYS}
    if ends["min"] is not None and ends["max"] is not None and ends["min"] > ends["max"]:
        raise ProfileError(f"{where} has a min above its max, so that it holds nothing.")
    return Range(ends["min"], ends["max"])


def _at_least_one(value: Any, parse: Callable[[Any], int], where: str) -> int:
    try:
        number = parse(value)
    except _units.UnitError as error:
        raise ProfileError(f"{where}: {error}.") from None
    if number < 1:
        raise ProfileError(f"{where} {_shown(value)} must be at least 1.")
    return number


def _read_waiver(data: Any, where: str) -> Waiver:
    _mapping(data, where, _WAIVER_KEYS)
    return Waiver(_text(data, "host", where), _metric(data, where).name, _date(data.get("until"), f"{where}.until"), _text(data, "reason", where))


def _date(value: Any, where: str) -> datetime.date:
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return value
    try:
        if isinstance(value, str) and _DATE.match(value):
            return datetime.date.fromisoformat(value)
    except ValueError:
        pass
    raise ProfileError(f"{where} {_shown(value)} must be a day such as 2027-01-31.")


def _mapping(data: Any, where: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise ProfileError(f"{where} must be a dictionary with the keys {', '.join(allowed)}, not {_shown(data)}.")
    for key in data:
        if key not in allowed:
            raise ProfileError(f"{where} has the unknown key {_shown(key)}: allowed are {', '.join(allowed)}.")
    return data


def _sequence(data: Any, where: str) -> list[Any] | tuple[Any, ...]:
    if not isinstance(data, (list, tuple)):
        raise ProfileError(f"{where} must be a list, not {_shown(data)}.")
    return data


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ProfileError(f"{where} must give {key} as text, not {_shown(value)}.")
    return value.strip()


def _optional_text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str):
        raise ProfileError(f"{key} must be text, not {_shown(value)}.")
    return value.strip()


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ProfileError(f"{where} {_shown(value)} must be a number.")
    return value


def _shown(value: Any) -> str:
    if value is None:
        return "nothing"
    text = repr(str(value)) if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:80] + "..."
