# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A workload: what the tester does on a volume, and the options that tell it what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._run.columns import COMMITS, MQ_LOG, STREAMS
from .values import WHOLE_PPM

BUILT_IN = (MQ_LOG, COMMITS)
"""The workloads without streams; each has variables of its own."""


@dataclass(frozen=True)
class Place:
    """A place for data. ``keys`` are the keys of the tester's --place, with the text of each value in the form that the
    tester accepts."""

    name: str
    keys: Mapping[str, Any]

    @property
    def direct(self) -> bool:
        return self.keys["direct"] == "yes"


@dataclass(frozen=True)
class Stream:
    """A stream: the operations on the data of a place. ``keys`` are the keys of the tester's --stream, with the text of
    each value in the form that the tester accepts."""

    name: str
    place: str
    keys: Mapping[str, Any]

    @property
    def sizes_bytes(self) -> tuple[int, ...]:
        return tuple(self.keys["size"].shares_ppm)

    @property
    def writes(self) -> bool:
        return "read" not in self.keys or self.keys["read"].ppm < WHOLE_PPM

    @property
    def operations(self) -> list[str]:
        """The kinds of operations that the stream performs."""
        reads = "read" in self.keys and self.keys["read"].ppm > 0
        return [*(["read"] if reads else []), *(["write"] if self.writes else [])]


@dataclass(frozen=True)
class Workload:
    """A workload as its file describes it. A workload that is ``built_in`` has neither places nor streams, and its load
    points come from the role's variables."""

    name: str
    version: int | str
    built_in: str = ""
    description: str = ""
    source: tuple[str, ...] = ()
    is_not: str = ""
    load_unit: str = ""
    loads: tuple[int, ...] = ()
    places: tuple[Place, ...] = ()
    streams: tuple[Stream, ...] = ()

    @property
    def tester_name(self) -> str:
        """The tester's name for the workload."""
        return self.built_in or STREAMS

    @property
    def means(self) -> list[tuple[str, str, str]]:
        """The means in the rows of a step, as stream, operation and figure, including those of the whole workload."""
        rows = [(stream, operation) for stream in self.streams for operation in stream.operations]
        found = [(stream.name, operation, "latency_mean") for stream, operation in rows]
        found += [(stream.name, operation, "response_mean") for stream, operation in rows if "rate" in stream.keys]
        whole = ["latency_mean", *(["response_mean"] if all("rate" in stream.keys for stream in self.streams) else [])]
        return [*found, *(("all", "all", figure) for figure in whole)] if self.streams else []

    @property
    def direct_sizes_bytes(self) -> list[int]:
        """The sizes of operations that bypass the page cache, without duplicates."""
        return self.direct_sizes_of([place.name for place in self.places])

    def direct_sizes_of(self, names: Sequence[str]) -> list[int]:
        """Return the same sizes for only some of the places."""
        direct = {place.name for place in self.places if place.direct and place.name in names}
        return sorted({size for stream in self.streams if stream.place in direct for size in stream.sizes_bytes})

    @property
    def told(self) -> dict[str, Any]:
        """The options of the tester, by option; empty for a built-in workload. They include neither load points nor the
        directories of the places."""
        if self.built_in:
            return {}
        return {
            "place": [_text(place.keys) for place in self.places],
            "stream": [_text(stream.keys) for stream in self.streams],
            "loadUnit": self.load_unit,
        }


def built_in(name: str) -> Workload:
    """Return a built-in workload, without the information in its file."""
    return Workload(name, 1, built_in=name)


def _text(keys: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={value}" for key, value in keys.items())
