# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads profiles in the forms that people use: names of shipped profiles, paths of YAML files, or dictionaries.

A profile is read strictly: anything unknown, malformed, contradictory or impossible is a DefinitionError that names the
key and what is allowed. The hard limits (HARD_LIMITS) belong to every profile, whether it states them or not, and
cannot be waived.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from ...module_utils import _units
from .._run.columns import ALL_STREAMS, COMMITS, MQ_LOG
from .._run.definitions import (
    DefinitionError,
    find_file,
    read_at_least_one,
    read_date,
    read_mapping,
    read_name,
    read_number,
    read_optional_text,
    read_sequence,
    read_text,
    read_version,
    read_yaml,
    shown,
)
from .._run.findings import CRITERIA
from .._run.kinds import KINDS, OF_PROFILES
from .metrics import HIGHEST, OF_KIND, ONCE, Metric, all_metrics, find_metric
from .profile import FAIL, LOG, MAX_THRESHOLDS, NO_CONFIDENCE, SEVERITIES, Limit, Profile, Range, Waiver

HARD_LIMITS = (
    {
        "id": "HARD-001",
        "metric": "latency_mean",
        "max": "10 ms",
        "hard": True,
        "source": "Microsoft Exchange Jetstress 2010: log writes take 10 ms on average at most",
    },
    {
        "id": "HARD-002",
        "metric": "latency_max",
        "below": "10 s",
        "hard": True,
        "source": "this project's choice: no persistent commit can complete for that long, which is half of the 20 s "
        "in which a multi-instance queue manager has to verify its file locks by default",
    },
)
"""Limits of every profile; the third hard failure, an I/O error or a short write, comes from the tester's exit
status."""

_PROFILE_KEYS = (
    "name",
    "version",
    "description",
    "extends",
    "derived_from",
    *OF_PROFILES,
    "qualifies",
    "limits",
    "waivers",
)
_QUALIFIES_KEYS = ("workload", "min_duration_s", "min_footprint", "block_sizes", "confidence", "episode_s")
_BOUND_KEYS = {"max": ("max", False), "below": ("max", True), "min": ("min", False)}
_LIMIT_KEYS = (
    "id",
    "metric",
    *_BOUND_KEYS,
    "severity",
    "hard",
    "stream",
    "operation",
    "block_size",
    "message_size",
    "load_point",
    "source",
)
_ROW_KEYS = ("stream", "operation", "block_size", "message_size", "load_point")
"""The keys of a limit that determine which rows it judges."""
_RANGES = {"block_size": _units.parse_size, "message_size": _units.parse_size, "load_point": _units.parse_count}
"""Those of them that are ranges, and how their bounds are parsed."""
_RANGE_KEYS = ("min", "max")
_OF_WRITES = ("flush_", "response_", "ring_passes")
_OPERATIONS = ("read", "write")
_STREAM = re.compile(r"[A-Za-z0-9._-]{1,32}\Z")
"""The names that the tester accepts for a stream."""
_ID = re.compile(r"[A-Z][A-Z0-9]{1,11}-[0-9]{3}\Z")
_WAIVER_KEYS = ("host", "metric", "id", "owner", "until", "reason")

_LONGEST_S = 7 * 24 * 3600
_MAX_EXTENDED = 8
"""The maximum number of profiles above a profile in the chain of `extends`."""

_EXTENDS_NOTHING = Profile("", 1, "", 0, 0, (), 0.95, 0, (), ())
"""The base of a profile without `extends`, which contains the defaults."""

_Entry = TypeVar("_Entry", Limit, Waiver)


@dataclass(frozen=True)
class _Place:
    """The context in which a profile is read: the directory of the shipped profiles, the directory to which paths are
    relative, and the files that led to the profile through `extends`."""

    search_dir: str | None
    directory: str = ""
    extended_by: tuple[str, ...] = ()


def load_profile(source: str | Mapping[str, Any], search_dir: str | None = None) -> Profile:
    """Return the profile to which a name (of a file in ``search_dir``) or a path refers, or that a mapping contains,
    including the content of the profiles that it extends. Raises DefinitionError."""
    return (
        _read_profile(source, _Place(search_dir))
        if isinstance(source, Mapping)
        else _load_file(source, _Place(search_dir))
    )


def _load_file(source: str, place: _Place) -> Profile:
    if not isinstance(source, str) or not source:
        raise DefinitionError(f"A profile is a name, a path or a dictionary, not {shown(source)}.")
    path = find_file("profile", source, place.search_dir, place.directory)
    file = os.path.realpath(path)
    if file in place.extended_by:
        raise DefinitionError(f"extends {shown(source)} leads back to {path}, which extends this profile.")
    if len(place.extended_by) > _MAX_EXTENDED:
        raise DefinitionError(
            f"extends {shown(source)} makes the chain of profiles too long: a profile can have at most {_MAX_EXTENDED} "
            "profiles above it."
        )
    try:
        return _read_profile(
            read_yaml(path), replace(place, directory=os.path.dirname(path), extended_by=(*place.extended_by, file))
        )
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def _read_profile(data: Any, place: _Place) -> Profile:
    read_mapping(data, "The profile", _PROFILE_KEYS)
    name = read_name(data, "The profile")
    base = _load_file(read_text(data, "extends", "The profile"), place) if "extends" in data else _EXTENDS_NOTHING
    waivers = [
        _read_waiver(waiver, f"waivers[{index}]")
        for index, waiver in enumerate(read_sequence(data.get("waivers", []), "waivers"))
    ]
    profile = Profile(
        name=name,
        version=read_version(data.get("version", 1)),
        description=read_optional_text(data, "description", "The profile"),
        **_read_qualifies(data.get("qualifies", {}), base),
        **_read_limits(data.get("limits"), base),
        waivers=_added_to(base.waivers, waivers, lambda waiver: (waiver.host, waiver.metric, waiver.limit_id)),
        derived_from=_read_origins(data, base),
        sections=_read_sections(data, base),
    )
    if len(profile.thresholds_ns) > MAX_THRESHOLDS:
        raise DefinitionError(
            f"limits on percentiles have {len(profile.thresholds_ns)} different values, but the tester "
            f"counts at most {MAX_THRESHOLDS}."
        )
    return profile


def _read_sections(data: Mapping[str, Any], base: Profile) -> dict[str, Any]:
    """Return the sections about kinds of runs. A section that is not given is taken from the profile that this one
    extends."""
    before = base.sections
    found = {
        key: kind.criteria.read(data[key], before.get(key)) if key in data else before.get(key)
        for key, kind in OF_PROFILES.items()
    }
    return {key: section for key, section in found.items() if section is not None}


def _read_origins(data: Mapping[str, Any], base: Profile) -> tuple[str, ...]:
    """Return the names and versions of the profiles that a profile extends, directly or indirectly, the nearest first.
    If the profile was resolved
    earlier, it lists them under derived_from."""
    if "extends" in data:
        return (f"{base.name} {base.version}", *base.derived_from)
    origins = read_sequence(data.get("derived_from", []), "derived_from")
    if not all(isinstance(origin, str) for origin in origins):
        raise DefinitionError(
            f"derived_from {shown(origins)} must be a list of strings; to extend a profile, use extends."
        )
    return tuple(origins)


def _added_to(base: Iterable[_Entry], own: Iterable[_Entry], key: Callable[[_Entry], Any]) -> tuple[_Entry, ...]:
    """Return a profile's own entries, and the entries of its base that are not replaced by them."""
    own = tuple(own)
    replaced = {key(entry) for entry in own}
    return (*own, *(entry for entry in base if key(entry) not in replaced))


def _read_qualifies(data: Any, base: Profile) -> dict[str, Any]:
    """Return the policy of qualification as arguments of Profile."""
    read_mapping(data, "qualifies", _QUALIFIES_KEYS)
    footprint = base.min_footprint_bytes
    if "min_footprint" in data:
        footprint = read_at_least_one(data["min_footprint"], _units.parse_size, "qualifies.min_footprint")
    workload = read_name({"name": data["workload"]}, "qualifies.workload") if "workload" in data else base.workload
    if workload == COMMITS:
        raise DefinitionError(f"qualifies.workload must not be {COMMITS}, because its runs never certify.")
    block_sizes = _read_block_sizes(data["block_sizes"]) if "block_sizes" in data else base.block_sizes
    if block_sizes and workload != MQ_LOG:
        raise DefinitionError(
            f"qualifies.block_sizes is not allowed for the workload {workload}: only {MQ_LOG} measures block sizes."
        )
    return {
        "workload": workload,
        "min_duration_s": _read_seconds(data, "min_duration_s", base.min_duration_s),
        "min_footprint_bytes": footprint,
        "block_sizes": block_sizes,
        "confidence": _read_confidence(data["confidence"]) if "confidence" in data else base.confidence,
        "episode_s": _read_seconds(data, "episode_s", base.episode_s),
    }


def _read_seconds(data: Mapping[str, Any], key: str, default: float) -> float:
    seconds = read_number(data.get(key, default), f"qualifies.{key}")
    if not 0 <= seconds <= _LONGEST_S:
        raise DefinitionError(f"qualifies.{key} {shown(seconds)} must be 0 to {_LONGEST_S} seconds.")
    return seconds


def _read_confidence(value: Any) -> float | None:
    if value == NO_CONFIDENCE:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.5 <= value < 1:
        raise DefinitionError(
            f"qualifies.confidence {shown(value)} must be a number of at least 0.5 and below 1, or {NO_CONFIDENCE}."
        )
    return value


def _read_block_sizes(data: Any) -> tuple[int, ...]:
    where = "qualifies.block_sizes"
    sizes = [
        read_at_least_one(size, _units.parse_size, f"{where}[{index}]")
        for index, size in enumerate(read_sequence(data, where))
    ]
    if not sizes:
        raise DefinitionError(f"{where} must name at least one size.")
    for size in sizes:
        if sizes.count(size) > 1:
            raise DefinitionError(f"{where} names {_units.format_size(size)} twice.")
    return tuple(sizes)


def _read_limits(data: Any, base: Profile) -> dict[str, tuple[Limit, ...]]:
    """Return the limits of a profile as arguments of Profile, with the hard limits and the defaults of kinds of
    runs."""
    if data is None and base.limits:
        return {"limits": base.limits, "kind_limits": base.kind_limits}
    if data is None or not read_sequence(data, "limits"):
        raise DefinitionError("limits must contain at least one limit.")
    own = [_read_limit(limit, f"limits[{index}]") for index, limit in enumerate(data)]
    limits = [
        limit if limit.id else replace(limit, id=_hard_id(limit))
        for limit in _added_to(
            (*base.limits, *(limit for limit in base.kind_limits if not limit.is_default)),
            own,
            lambda limit: (limit.metric.name, limit.bound, *(getattr(limit, key) for key in _ROW_KEYS), limit.hard),
        )
    ]
    held = {_hard_id(limit) for limit in limits}
    limits += [hard for hard in _hard_limits() if hard.id not in held]
    limited = {limit.metric.name for limit in limits}
    limits += [limit for limit in _default_limits() if limit.metric.name not in limited]
    _check_ids(limits)
    of_kind = [limit for limit in limits if limit.metric.scope == OF_KIND]
    return {
        "limits": tuple(limit for limit in limits if limit.metric.scope != OF_KIND),
        "kind_limits": tuple(sorted(of_kind, key=lambda limit: list(all_metrics()).index(limit.metric.name))),
    }


@cache
def _default_limits() -> tuple[Limit, ...]:
    """Return the limits of kinds of runs that apply unless a profile has a limit on the metric."""
    defaults = (limit for kind in KINDS.values() for limit in kind.criteria.limits)
    return tuple(replace(_read_limit(limit, "default limits"), is_default=True) for limit in defaults)


def _check_ids(limits: Iterable[Limit]) -> None:
    ids = [limit.id for limit in limits if limit.id]
    for each in ids:
        if ids.count(each) > 1:
            raise DefinitionError(f"Two limits have the id {each}: each limit of a profile needs an id of its own.")


@cache
def _hard_limits() -> tuple[Limit, ...]:
    return tuple(_read_limit(limit, "hard limits") for limit in HARD_LIMITS)


def of_every_profile(limit: Limit) -> bool:
    """Return whether a limit is a hard limit that every profile has, even if the profile does not state it."""
    return _hard_id(limit) != ""


_CRITERION = attrgetter("metric", "bound", "strict", "value", "hard", "rows_text")
"""What makes two limits the same, whatever their ids and sources are."""


def _hard_id(limit: Limit) -> str:
    """Return the id of the hard limit that a limit is the same as; empty if there is none."""
    return next((hard.id for hard in _hard_limits() if _CRITERION(hard) == _CRITERION(limit)), "")


def _read_limit(data: Any, where: str) -> Limit:
    read_mapping(data, where, _LIMIT_KEYS)
    metric = _read_metric(data, where)
    bound, strict, stated = _bound(data, metric, where)
    severity = data.get("severity", FAIL)
    if severity not in SEVERITIES:
        raise DefinitionError(f"{where}.severity {shown(severity)} is not one of {', '.join(SEVERITIES)}.")
    hard = data.get("hard", False)
    if not isinstance(hard, bool):
        raise DefinitionError(f"{where}.hard {shown(hard)} must be true or false.")
    if hard and severity != FAIL:
        raise DefinitionError(f"{where}.severity must be {FAIL} if hard is true.")
    return Limit(
        metric=metric,
        bound=bound,
        strict=strict,
        value=_quantity(stated, metric, f"{where}.{'below' if strict else bound}"),
        stated=stated,
        severity=severity,
        hard=hard,
        source=read_optional_text(data, "source", where),
        id=_own_id(data, where),
        **_read_rows(data, metric, where),
    )


@cache
def all_criteria() -> Mapping[tuple[str, str | None], str]:
    """Return the ids of all criteria that are not limits, by kind and cause of the finding."""
    return {**CRITERIA, **{key: each for kind in KINDS.values() for key, each in kind.criteria.ids.items()}}


def _read_id(data: Mapping[str, Any], where: str) -> str:
    value = data.get("id", "")
    if "id" in data and not (isinstance(value, str) and _ID.match(value)):
        raise DefinitionError(
            f"{where}.id {shown(value)} must be 2 to 12 capital letters and digits, a dash and "
            "three digits, such as LOG-001."
        )
    if value in all_criteria().values():
        raise DefinitionError(
            f"{where}.id {value} is that of a criterion that is part of every run: no limit can have this "
            "id, and no waiver excuses it."
        )
    return value


def _own_id(data: Mapping[str, Any], where: str) -> str:
    """Return the id of a limit. Raises DefinitionError if it is that of a setting, which waivers can name."""
    value = _read_id(data, where)
    if value.startswith("SET-"):
        raise DefinitionError(f"{where}.id {value} is kept for settings: no limit can have this id.")
    return value


_OF_THE_WHOLE = f"the stream {ALL_STREAMS} is the whole workload, with all of its sizes and operations."
_OF_MESSAGES = "the steps of a commit run have message sizes; use message_size."
_NOT_OF_STREAM = {
    ("block_size", COMMITS): _OF_MESSAGES,
    ("operation", COMMITS): f"the stream {COMMITS} has only commits.",
    ("block_size", ALL_STREAMS): _OF_THE_WHOLE,
    ("operation", ALL_STREAMS): _OF_THE_WHOLE,
}
"""Why a key cannot apply to any row of a stream."""


def _read_rows(data: Mapping[str, Any], metric: Metric, where: str) -> dict[str, Any]:
    """Return the rows that a limit judges as arguments of Limit. Raises DefinitionError for keys that cannot apply to
    any row."""
    stream, operation = data.get("stream", LOG), data.get("operation", "")
    for key in _ROW_KEYS:
        why = _why_not_here(key, data, metric, stream) if key in data else ""
        if why:
            raise DefinitionError(f"{where}.{key} is not allowed here: {why}")
    if not isinstance(stream, str) or not _STREAM.match(stream):
        raise DefinitionError(
            f"{where}.stream {shown(stream)} must be the name of a stream (up to 32 letters, digits, dots, dashes and "
            f"underscores), or {ALL_STREAMS}."
        )
    if stream == COMMITS and metric.name.startswith(_OF_WRITES):
        raise DefinitionError(f"{where}.stream must not be {COMMITS} for {metric.name}, which commits do not have.")
    if "operation" in data and operation not in _OPERATIONS:
        raise DefinitionError(f"{where}.operation {shown(operation)} is not one of {', '.join(_OPERATIONS)}.")
    ranges = {key: _range(data, key, parse, where) for key, parse in _RANGES.items()}
    return {"stream": stream, "operation": operation, **ranges}


def _why_not_here(key: str, data: Mapping[str, Any], metric: Metric, stream: Any) -> str:
    """Return why a limit must not have a key that determines its rows; empty if it may."""
    if metric.scope in ONCE:
        once = "is not a figure of a step" if metric.scope == OF_KIND else "is judged once for the whole run"
        return f"{metric.name} {once}."
    if metric.scope == HIGHEST and key == "load_point":
        return f"{metric.name} is judged at the highest load point that meets all other limits."
    if key == "block_size" and "message_size" in data:
        return _OF_MESSAGES
    if key == "message_size" and stream not in (LOG, COMMITS):
        return f"only the steps of a commit run have message sizes, and its streams are {LOG} and {COMMITS}."
    return _NOT_OF_STREAM.get((key, str(stream)), "")


def _read_metric(data: Mapping[str, Any], where: str) -> Metric:
    name = read_text(data, "metric", where)
    metric = find_metric(name)
    if metric is None:
        others = (
            "nor another percentile from latency_p1 to latency_p99_999999 (latency_p99_95 is 99.95 %), or of "
            "response_ instead of latency_"
        )
        raise DefinitionError(f"{where}.metric {shown(name)} is not one of {', '.join(all_metrics())}, {others}.")
    return metric


def _bound(data: Mapping[str, Any], metric: Metric, where: str) -> tuple[str, bool, Any]:
    allowed = [key for key, (bound, strict) in _BOUND_KEYS.items() if bound == metric.bound]
    given = [key for key in _BOUND_KEYS if key in data]
    if len(given) != 1 or given[0] not in allowed:
        raise DefinitionError(
            f"{where} must give exactly one of {', '.join(allowed)} for {metric.name}, not "
            f"{' and '.join(given) or 'none'}."
        )
    return (*_BOUND_KEYS[given[0]], data[given[0]])


def _quantity(stated: Any, metric: Metric, where: str) -> float:
    try:
        value = metric.kind.parse(stated)
    except _units.UnitError as error:
        raise DefinitionError(f"{where}: {error}.") from None
    if value <= 0:
        raise DefinitionError(f"{where} {shown(stated)} must be above 0.")
    if metric.most is not None and value > metric.most:
        raise DefinitionError(f"{where} {shown(stated)} must be at most {metric.kind.format(metric.most)}.")
    return value


def _range(data: Mapping[str, Any], key: str, parse: Callable[[Any], int], where: str) -> Range | None:
    if key not in data:
        return None
    where = f"{where}.{key}"
    if not isinstance(data[key], Mapping):
        value = read_at_least_one(data[key], parse, where)
        return Range(value, value)
    given = read_mapping(data[key], where, _RANGE_KEYS)
    if not given:
        raise DefinitionError(f"{where} must give min, max or both.")
    ends = {
        end: read_at_least_one(given[end], parse, f"{where}.{end}") if end in given else None for end in _RANGE_KEYS
    }
    if ends["min"] is not None and ends["max"] is not None and ends["min"] > ends["max"]:
        raise DefinitionError(f"{where} has a min above its max, so no value is in it.")
    return Range(ends["min"], ends["max"])


def _read_waiver(data: Any, where: str) -> Waiver:
    read_mapping(data, where, _WAIVER_KEYS)
    until = read_date(data.get("until"), f"{where}.until")
    if ("metric" in data) == ("id" in data):
        raise DefinitionError(f"{where} must give exactly one of metric and id.")
    limit_id = _read_id(data, where)
    metric = "" if limit_id else _read_metric(data, where).name
    return Waiver(
        read_text(data, "host", where),
        metric,
        until,
        read_text(data, "reason", where),
        read_optional_text(data, "owner", where),
        limit_id,
    )
