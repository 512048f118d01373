# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads an observer's samples from untrusted bytes that a host sends. The bytes are JSON lines. Each line contains the
output of the source and the times of the sample. The last line gives the reason why the observer ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._run.shapes import Keys, Within, as_dict, fits
from .._run.table_reader import printable

MOST_BYTES = 64 << 20
LONGEST_LINE = 4 << 20
"""A sample has at most 1 MiB, and JSON may escape each of its characters."""
LATEST_EPOCH_S = 1e11
_LARGEST_NS = (1 << 63) - 1
_LONGEST_REASON = 1000
ENDS = ("finished", "deadline", "lease", "stopped", "failed")
"""The ways in which an observer ends. The first two are normal."""
AS_PLANNED = ENDS[:2]
_SAMPLE = Keys({"epoch_s": Within(0, LATEST_EPOCH_S), "monotonic_ns": Within(0, _LARGEST_NS, int), "text": str})


@dataclass(frozen=True, slots=True)
class Sample:
    """The output of a source at one moment, by the host's wall clock and by its monotonic clock."""

    epoch_s: float
    monotonic_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class Samples:
    """All samples so far, in order. ``end`` is one of ENDS, or empty if the observer has not ended or was killed;
    ``problems`` are sentences."""

    samples: tuple[Sample, ...] = ()
    end: str = ""
    reason: str = ""
    problems: tuple[str, ...] = ()


def read_samples(content: bytes) -> Samples:
    """Return the samples of a file that may still be growing: a last line without a line end is left for the next
    call."""
    problems = []
    if len(content) > MOST_BYTES:
        problems.append(f"The observer sent {len(content)} bytes; only the first {MOST_BYTES} are read.")
    values = [_value(line) for line in content[:MOST_BYTES].split(b"\n")[:-1]]
    ends = [value for value in values if value.get("end") in ENDS]
    samples = samples_of(value for value in values if value.get("end") not in ENDS)
    unreadable = len(values) - len(ends) - len(samples)
    if unreadable:
        problems.append(f"{unreadable} of {len(values)} lines of the observer could not be read and are left out.")
    end = ends[-1] if ends else {}
    return Samples(
        samples,
        str(end.get("end", "")),
        printable(str(end.get("reason") or "")[:_LONGEST_REASON]),
        tuple(problems),
    )


def samples_of(values: Iterable[Any]) -> tuple[Sample, ...]:
    """Return the samples in the values that a host sent, in order of time. All other values are left out, and so is
    everything after MOST_BYTES characters."""
    samples: list[Sample] = []
    characters = 0
    for value in values:
        if not fits(value, _SAMPLE) or len(value["text"]) > LONGEST_LINE:
            continue
        if samples and value["monotonic_ns"] < samples[-1].monotonic_ns:
            continue
        characters += len(value["text"])
        if characters > MOST_BYTES:
            break
        samples.append(Sample(float(value["epoch_s"]), value["monotonic_ns"], value["text"]))
    return tuple(samples)


def _value(line: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a line, or an empty object."""
    if len(line) > LONGEST_LINE:
        return {}
    try:
        return as_dict(json.loads(line))
    except (ValueError, RecursionError):
        return {}
