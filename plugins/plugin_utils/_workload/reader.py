# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads workloads in the forms that people use: names of shipped workloads, paths of YAML files, or dictionaries.

A workload is read strictly: anything in its places and streams that the tester would refuse is a DefinitionError here,
before any host is contacted. The error names the workload, the stream or place and the key, and says what is allowed.
src/workload/stream_grammar.c is the reference.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .._run.columns import COMMITS, MQ_LOG
from .._run.definitions import (
    DefinitionError,
    find_file,
    read_mapping,
    read_name,
    read_optional_text,
    read_sequence,
    read_version,
    read_yaml,
    shown,
)
from .._run.tester_options import LARGEST_LOAD
from .._run.words import words_of
from . import values
from .values import ALL, WHOLE_PPM
from .workload import BUILT_IN, Place, Stream, Workload

RING, RANDOM, WALK, RUNS = "ring", "random", "walk", "runs"
_PATTERNS = (RING, RANDOM, WALK, RUNS)
CLOSED, EVEN, EXPONENTIAL = "closed", "even", "exponential"
_ARRIVALS = (CLOSED, EVEN, EXPONENTIAL)
DSYNC, SYNC = "dsync", "sync"
_SYNCS = (DSYNC, SYNC, "fdatasync", "fsync", "none")
_OPENED_WITH = (DSYNC, SYNC)
"""The sync modes that are flags of an open file. All writers of a place must use the same one."""

MOST_LOADS = 1000
MOST_PLACES = MOST_STREAMS = 16
DEFAULT_PLACE = "data"

_ABOUT_KEYS = ("name", "version", "description", "source", "is_not")
_KEYS = (*_ABOUT_KEYS, "load_unit", "loads", "places", "streams")
_BUILT_IN_KEYS = (*_ABOUT_KEYS, "built_in")
_LOAD_UNIT = re.compile(r"[A-Za-z0-9._ %-]{1,32}\Z")


@dataclass(frozen=True)
class _Key:
    """A key of a place or a stream, and the patterns and arrivals for which it is allowed."""

    read: Callable[[Any], Any]
    allowed: str
    example: str
    required: bool = False
    patterns: tuple[str, ...] = _PATTERNS
    arrivals: tuple[str, ...] = _ARRIVALS


_NAMES = f"up to 32 letters, digits, '.', '_' and '-', not beginning with '.' or '-', and not '{ALL}'"
_SHARE = "a percentage above 0% and up to 100%"

_PLACE_KEYS = {
    "name": _Key(values.read_name, _NAMES, "data", required=True),
    "share": _Key(values.read_share, _SHARE, "45%"),
    "direct": _Key(values.read_yes_no, "true or false", "true"),
}
_SIZES = (
    f"a size from 512 to 64M, or up to {values.MOST_SIZES} of them with shares that add up "
    "to 100%, such as {4K: 60%, 8K: 40%}"
)
_WORKERS = f"1 to {values.MOST_WORKERS}, load, or a multiple of load, such as 2*load"
_RATE = f"{values.LEAST_PER_S} to {values.MOST_PER_S} operations per second, or a multiple of load, such as 1.75*load"
_STREAM_KEYS = {
    "name": _Key(values.read_name, _NAMES, "db", required=True),
    "place": _Key(values.read_name, "the name of a place", "data"),
    "pattern": _Key(values.one_of(*_PATTERNS), ", ".join(_PATTERNS), RANDOM, required=True),
    "size": _Key(values.read_sizes, _SIZES, "8K", required=True),
    "read": _Key(values.read_percent, "a percentage from 0% to 100%", "70%"),
    "sync": _Key(values.one_of(*_SYNCS), ", ".join(_SYNCS), DSYNC),
    "workers": _Key(values.read_workers, _WORKERS, "8"),
    "arrival": _Key(values.one_of(*_ARRIVALS), ", ".join(_ARRIVALS), CLOSED),
    "pause": _Key(values.read_pause, f"0 to {values.LONGEST_PAUSE_US} microseconds", "1000", arrivals=(CLOSED,)),
    "rate": _Key(values.read_rate, _RATE, "500", required=True, arrivals=(EVEN, EXPONENTIAL)),
    "start": _Key(
        values.read_range,
        "a percentage of the place or, for runs, a range such as 20%-60%",
        "15%",
        required=True,
        patterns=(WALK, RUNS),
    ),
    "align": _Key(values.read_size, "a size from 512 to 64M", "8K", patterns=(RANDOM,)),
    "run": _Key(values.read_share, _SHARE, "10%", required=True, patterns=(RUNS,)),
    "width": _Key(values.read_share, _SHARE, "5%", required=True, patterns=(WALK,)),
}
_AS_MQ_LOG = {"pattern": RING, "sync": DSYNC}
"""The keys and values of a stream with ``workload: mq-log``."""

_Named = TypeVar("_Named", Place, Stream)


def load_workload(source: str | Mapping[str, Any], search_dir: str | None = None) -> Workload:
    """Return the workload for a name (of a file in search_dir), a path or a mapping. Raises DefinitionError."""
    if isinstance(source, Mapping):
        return _under_its_own_name(_read_workload(source), search_dir)
    if not isinstance(source, str) or not source:
        raise DefinitionError(f"A workload is a name, a path or a dictionary, not {shown(source)}.")
    path = find_file("workload", source, search_dir)
    try:
        return _under_its_own_name(_read_workload(read_yaml(path)), search_dir)
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def _under_its_own_name(workload: Workload, search_dir: str | None) -> Workload:
    """Return the workload. Raises DefinitionError if it has the name of a shipped workload but differs from it, because
    profiles and certificates identify a workload by its name."""
    path = os.path.join(search_dir or "", f"{workload.name}.yml")
    if search_dir and os.path.exists(path):
        shipped = _read_workload(read_yaml(path))
        if (workload.version, workload.built_in, workload.told) != (shipped.version, shipped.built_in, shipped.told):
            raise DefinitionError(
                f"name: {workload.name} is the name of a workload of this collection, but this one differs "
                "from it; give it another name."
            )
    return workload


def check_loads(workload: Workload, loads: Sequence[int]) -> None:
    """Raise DefinitionError if the load points are not possible, or if a stream would have more workers or operations
    per second than allowed."""
    if not 0 < len(loads) <= MOST_LOADS or not all(1 <= load <= LARGEST_LOAD for load in loads):
        raise DefinitionError(
            f"loads must be 1 to {MOST_LOADS} load points from 1 to {LARGEST_LOAD}, not {shown(list(loads))}."
        )
    for name, key, term, most in _limited_terms(workload):
        if term.at(max(loads)) > most:
            reached = f"{term} is {term.at(max(loads)):f} at the largest load point, {max(loads)}"
            raise DefinitionError(f"stream {name}: {key}: {reached}, but may be at most {most}.")


def largest_load(workload: Workload) -> int:
    """Return the largest load point at which no stream has more workers or operations per second than allowed."""
    scaled = ((term, most) for _name, _key, term, most in _limited_terms(workload) if term.scales)
    return min([LARGEST_LOAD, *(int(most / term.factor) for term, most in scaled)])


def _limited_terms(workload: Workload) -> Iterator[tuple[str, str, values.Term, int]]:
    """Yield the numbers of workers and of operations per second of each stream, with the largest allowed one."""
    for stream in workload.streams:
        for key, most in (("workers", values.MOST_WORKERS), ("rate", values.MOST_PER_S)):
            if key in stream.keys:
                yield stream.name, key, stream.keys[key], most


def _read_workload(data: Any) -> Workload:
    keys = _BUILT_IN_KEYS if isinstance(data, Mapping) and "built_in" in data else _KEYS
    read_mapping(data, "The workload", keys)
    name = read_name(data, "The workload")
    try:
        return _read_built_in(name, data) if keys is _BUILT_IN_KEYS else _read_streams(name, data)
    except DefinitionError as error:
        raise DefinitionError(f"{name}: {error}") from None


def _about(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    sources = read_sequence(data.get("source", []), "source")
    if not all(isinstance(source, str) for source in sources):
        raise DefinitionError(f"source {shown(sources)} must be a list of texts.")
    texts = {key: read_optional_text(data, key, "the workload") for key in ("description", "is_not")}
    return {"name": name, "version": read_version(data.get("version", 1)), "source": tuple(sources), **texts}


def _read_built_in(name: str, data: Mapping[str, Any]) -> Workload:
    if data["built_in"] not in BUILT_IN:
        raise DefinitionError(f"built_in {shown(data['built_in'])} is not one of {', '.join(BUILT_IN)}.")
    if name != data["built_in"]:
        raise DefinitionError(
            f"built_in: {data['built_in']} has only one form; leave the definition out and name it: "
            f"sweep_workload: {data['built_in']}."
        )
    return Workload(**_about(name, data), built_in=data["built_in"])


def _read_streams(name: str, data: Mapping[str, Any]) -> Workload:
    places = _each("place", data.get("places", [{"name": DEFAULT_PLACE}]), MOST_PLACES, _read_place)
    _check_shares(places)
    streams = _each("stream", data.get("streams"), MOST_STREAMS, lambda item, where: _read_stream(item, where, places))
    _check_use(places, streams)
    for place in places:
        _check_sync(place, [stream for stream in streams if stream.place == place.name])
    unit = data.get("load_unit", "load")
    if not isinstance(unit, str) or not _LOAD_UNIT.match(unit):
        raise DefinitionError(
            f"load_unit {shown(unit)} is not allowed: use up to 32 letters, digits, blanks, '%', '.', '_' and '-'."
        )
    if not words_of(unit).layout.by_stream:
        raise DefinitionError(
            f"load_unit {shown(unit)} belongs to a workload without streams; choose another "
            "one, such as loggers or clients."
        )
    workload = Workload(
        **_about(name, data),
        load_unit=unit,
        loads=_read_loads(data.get("loads", [1])),
        places=tuple(places),
        streams=tuple(streams),
    )
    check_loads(workload, workload.loads)
    return workload


def _read_loads(data: Any) -> tuple[int, ...]:
    loads = read_sequence(data, "loads")
    if not all(isinstance(load, int) and not isinstance(load, bool) for load in loads) or len(set(loads)) != len(loads):
        raise DefinitionError(f"loads {shown(loads)} must be a list of whole numbers without duplicates.")
    return tuple(loads)


def _each(kind: str, data: Any, most: int, read: Callable[[Any, str], _Named]) -> list[_Named]:
    """Return the places or the streams after checking that their names differ."""
    items = read_sequence(data, f"{kind}s")
    if not 1 <= len(items) <= most:
        raise DefinitionError(f"{kind}s must be a list of 1 to {most}, not of {len(items)}.")
    found: list[_Named] = []
    for number, item in enumerate(items, start=1):
        name = item.get("name") if isinstance(item, Mapping) else None
        found.append(read(item, f"{kind} {name if isinstance(name, str) else number}"))
        if found[-1].name in [each.name for each in found[:-1]]:
            raise DefinitionError(f"{kind} {found[-1].name}: the name is given twice; name each {kind} once.")
    return found


def _read_keys(item: Any, where: str, keys: Mapping[str, _Key], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the keys that are given or have a default, in the order of ``keys``."""
    given = {**defaults, **read_mapping(item, where, tuple(keys))}
    read = {}
    for name, key in keys.items():
        if name not in given:
            continue
        try:
            read[name] = key.read(given[name])
        except ValueError:
            raise DefinitionError(
                f"{where}: {name}: {shown(given[name])} is not allowed: use {key.allowed}; try {name}: {key.example}."
            ) from None
    _check_keys(read, where, keys)
    return read


def _check_keys(read: Mapping[str, Any], where: str, keys: Mapping[str, _Key]) -> None:
    """Raise DefinitionError if a key is missing or does not apply to the pattern and the arrivals."""
    pattern, arrival = read.get("pattern"), read.get("arrival", CLOSED)
    for name, key in keys.items():
        of_pattern, of_arrival = pattern is None or pattern in key.patterns, arrival in key.arrivals
        if name in read and not of_pattern:
            raise DefinitionError(f"{where}: {name} is not for pattern: {pattern}; leave it out.")
        if name in read and not of_arrival:
            raise DefinitionError(f"{where}: {name} is not for arrival: {arrival}; leave it out.")
        if name not in read and key.required and of_pattern and of_arrival:
            raise DefinitionError(f"{where}: missing key {name}, for example {name}: {key.example}.")


def _read_place(item: Any, where: str) -> Place:
    keys = _read_keys(item, where, _PLACE_KEYS, {"direct": True})
    return Place(keys["name"], keys)


def _check_shares(places: Sequence[Place]) -> None:
    without = [place.name for place in places if "share" not in place.keys]
    if without and len(without) < len(places):
        raise DefinitionError(
            f"place {without[0]}: missing key share, which other places have; name it for all or for none."
        )
    sum_ppm = sum(place.keys["share"].ppm for place in places) if not without else WHOLE_PPM
    if sum_ppm != WHOLE_PPM:
        raise DefinitionError(f"places: the shares add up to {values.Percent(sum_ppm)}, but must add up to 100%.")


def _read_stream(item: Any, where: str, places: Sequence[Place]) -> Stream:
    of_the_log = isinstance(item, Mapping) and "workload" in item
    defaults = {"sync": DSYNC, **({"place": places[0].name} if len(places) == 1 else {})}
    keys = _read_keys(_as_mq_log(item, where) if of_the_log else item, where, _STREAM_KEYS, defaults)
    place = _place_of(keys, where, places)
    if of_the_log and not place.direct:
        raise DefinitionError(
            f"{where}: workload: {MQ_LOG} writes with direct I/O, but place {place.name} has direct: "
            "false; give it a place of its own."
        )
    if keys["name"] == COMMITS:
        raise DefinitionError(
            f"{where}: name: limits on {COMMITS} apply to the commits of sweep_workload {COMMITS}; "
            "give the stream another name."
        )
    _check_sizes(keys, where)
    _check_extent(keys, where)
    return Stream(keys["name"], place.name, keys)


def _place_of(keys: Mapping[str, Any], where: str, places: Sequence[Place]) -> Place:
    if "place" not in keys:
        raise DefinitionError(f"{where}: missing key place, for example place: {places[0].name}.")
    by_name = {place.name: place for place in places}
    if keys["place"] not in by_name:
        raise DefinitionError(f"{where}: place: there is no place {shown(keys['place'])}: use {', '.join(by_name)}.")
    return by_name[keys["place"]]


def _as_mq_log(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a stream with ``workload: mq-log`` replaced by the keys that it represents."""
    if item["workload"] != MQ_LOG:
        raise DefinitionError(f"{where}: workload: {shown(item['workload'])} is not allowed: use {MQ_LOG}.")
    for key in (*_AS_MQ_LOG, "read"):
        if key in item:
            raise DefinitionError(f"{where}: {key} is not for workload: {MQ_LOG}, which has its own; leave it out.")
    return {**{key: value for key, value in item.items() if key != "workload"}, **_AS_MQ_LOG}


def _check_sizes(keys: Mapping[str, Any], where: str) -> None:
    sizes = keys["size"].shares_ppm
    odd = [size for size in sizes if size % min(sizes)]
    if odd:
        raise DefinitionError(
            f"{where}: size: {odd[0]} is not a multiple of the smallest size, {min(sizes)}; change one of them."
        )
    align = min(keys["align"].shares_ppm) if "align" in keys else max(sizes)
    if align % max(sizes):
        raise DefinitionError(
            f"{where}: align: {align} is not a multiple of the largest size, {max(sizes)}; change one of them."
        )
    if keys["pattern"] == WALK and len(sizes) > 1:
        raise DefinitionError(f"{where}: size: a walk has one size; try size: 4K.")


def _check_extent(keys: Mapping[str, Any], where: str) -> None:
    if "start" not in keys:
        return
    start, name = keys["start"], "width" if keys["pattern"] == WALK else "run"
    if keys["pattern"] == WALK and start.first != start.last:
        raise DefinitionError(f"{where}: start: a walk has one start, not a range; try start: 15%.")
    if start.last.ppm + keys[name].ppm > WHOLE_PPM:
        raise DefinitionError(
            f"{where}: start and {name} go beyond the end of the place: together they may be at most "
            f"100%; try a smaller {name}."
        )


def _check_use(places: Sequence[Place], streams: Sequence[Stream]) -> None:
    for place in places:
        if not any(stream.place == place.name for stream in streams):
            raise DefinitionError(
                f"place {place.name}: no stream uses it; name it in a stream (place: {place.name}), or leave it out."
            )


def _check_sync(place: Place, streams: Sequence[Stream]) -> None:
    """Raise DefinitionError if the streams that write to a place require different ways of opening its files."""
    writers = [(stream, stream.keys["sync"]) for stream in streams if stream.writes]
    for stream, sync in writers[1:]:
        first, opened = writers[0]
        if (sync if sync in _OPENED_WITH else "") != (opened if opened in _OPENED_WITH else ""):
            raise DefinitionError(
                f"stream {stream.name}: sync: {sync} is not possible together with sync: {opened} of stream "
                f"{first.name}, because all files of place {place.name} are opened in the same way; use the same sync, "
                "or a place for each."
            )
