# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the publications that amqsrua prints for the class DISK and the type Log, with the name, number and unit of
each element.

Unknown elements are ignored. Numbers may have the separators of any locale.
A publication that is not complete is left out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..._run.table_reader import printable
from ..interval import Observation, Options
from ..published import (
    CAVEAT_OF_AVERAGES,
    IN_USE,
    LARGEST,
    LATENCY,
    LOGICAL,
    MOST,
    PHYSICAL,
    SIZE,
    SLOWEST,
    SLOWEST_AT,
    Published,
    epoch_of,
    observation_of,
)
from ..samples import Sample

SOURCE = "amqsrua"
TITLE = "what MQ publishes, from amqsrua"
CAVEAT = CAVEAT_OF_AVERAGES

_ELEMENTS = {
    "bytes in use": (0, IN_USE),
    "bytes max": (1, MOST),
    "physical bytes written": (4, PHYSICAL),
    "logical bytes written": (5, LOGICAL),
    "write latency": (6, LATENCY),
    "write size": (12, SIZE),
    "slowest write since restart": (16, SLOWEST),
    "timestamp of slowest write": (17, SLOWEST_AT),
}
"""The names and numbers of the elements that are read. The numbers are those in IBM's metadata."""
_BY_NUMBER = dict(_ELEMENTS.values())
_DURATIONS = (LATENCY, SLOWEST)

_HEADER = re.compile(r"Publication received PutDate:(\d{8}) PutTime:(\d{8})(.*)")
_PERIODS = re.compile(r"(\d{1,9}) (days|hours|minutes),")
_SECONDS = re.compile(r"(\d{1,12})[.,](\d{3}) seconds")
_PERIOD_S = {"days": 86400, "hours": 3600, "minutes": 60}
_ELEMENT = re.compile(r"Log - ([A-Za-z][A-Za-z ]{0,80}?) +(\d.{0,120})")
_VALUE = re.compile(r"(\d[\d.,' \u00a0\u2009\u202f]{0,40}?) *([A-Za-z\u00b5\u03bc]*)\Z")
_UNKNOWN = re.compile(r"Parameter\((\d{1,10})\) Value\((\d{1,20})\) not recogni[sz]ed *\Z")
_ENDED = re.compile(r"(?:MQ[A-Z0-9]{2,8}|no more messages)\b.{0,200}", re.IGNORECASE)
_NS = {
    "usec": 1e3,
    "us": 1e3,
    "\u00b5s": 1e3,
    "\u03bcs": 1e3,
    "microseconds": 1e3,
    "msec": 1e6,
    "ms": 1e6,
    "s": 1e9,
    "sec": 1e9,
    "seconds": 1e9,
}
_FRACTIONAL = ("s", "sec", "seconds", "ms", "msec")
_BYTES = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_PUBLISHED_EVERY_S = 10.0
_LONGEST_FIRST_S = 15.0
"""MQ publishes every 10 s. If the first publication covers more time, the rest was before the observation."""
_LONGEST_S = 30 * 86400.0
_AGREE_WITHIN = 0.02
_MOST_ENDINGS = 3


@dataclass(slots=True)
class _Publication:
    end_epoch_s: float
    elapsed_s: float
    values: dict[str, float] = field(default_factory=dict)
    lines: int = 0

    @property
    def is_whole(self) -> bool:
        return PHYSICAL in self.values and LATENCY in self.values and self.elapsed_s <= _LONGEST_S


def read(samples: Sequence[Sample], options: Options) -> Observation:
    """Return the output of amqsrua; a sample may contain any part of it."""
    problems: list[str] = []
    publications, endings = _publications(samples)
    before = publications.pop(0) if publications and publications[0].elapsed_s > _LONGEST_FIRST_S else None
    kept = [each for each in publications if each.is_whole]
    # The output may end in the middle of a number.
    if len(kept) > 1 and kept[-1] is publications[-1] and kept[-1].lines < kept[-2].lines:
        kept.pop()
    if len(kept) < len(publications):
        problems.append(
            f"{len(publications) - len(kept)} of {len(publications)} publications were not complete and are left out."
        )
    if before and not publications:
        problems.append(
            "amqsrua printed one publication, which covers a time before the observation: observe for longer."
        )
    elif not publications:
        problems.append(
            "amqsrua printed no publication of the log: check its messages, and its authority to "
            "subscribe (docs/observe.md)."
        )
    ending = f"amqsrua ended early: {endings[-1]}" if endings else ""
    return observation_of(
        SOURCE,
        [_published(each) for each in kept],
        {},
        problems,
        ending=ending,
        slowest_before_ns=before.values.get(SLOWEST) if before else None,
    )


def _published(each: _Publication) -> Published:
    return Published(each.end_epoch_s - each.elapsed_s, each.elapsed_s, **each.values)


def _publications(samples: Sequence[Sample]) -> tuple[list[_Publication], list[str]]:
    """Return the publications in order, and the messages with which amqsrua ended."""
    found: list[_Publication] = []
    endings: list[str] = []
    for sample, line in _lines(samples):
        header = _HEADER.match(line)
        if header:
            found.append(_Publication(_put_epoch_s(header[1], header[2], sample.epoch_s), _interval_s(header[3])))
        elif _ENDED.match(line):
            endings = [*endings, printable(line[:200].strip())][:_MOST_ENDINGS]
        elif found:
            _take(found[-1], line)
    return found, endings


def _lines(samples: Sequence[Sample]) -> Iterator[tuple[Sample, str]]:
    for sample in samples:
        for line in sample.text.splitlines():
            if line.strip():
                yield sample, line.rstrip()


def _put_epoch_s(date: str, time: str, received_epoch_s: float) -> float:
    """Return when a message was put, from its descriptor in GMT with hundredths; if that time is invalid, the time when
    the message was received."""
    try:
        moment = datetime.datetime.strptime(date + time[:6], "%Y%m%d%H%M%S").replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return received_epoch_s
    put_epoch_s = moment.timestamp() + int(time[6:]) / 100
    return put_epoch_s if 0 < put_epoch_s <= received_epoch_s + 1 else received_epoch_s


def _interval_s(text: str) -> float:
    seconds = _SECONDS.search(text)
    if not seconds:
        return _PUBLISHED_EVERY_S
    interval_s = (
        int(seconds[1])
        + int(seconds[2]) / 1000
        + sum(int(count) * _PERIOD_S[period] for count, period in _PERIODS.findall(text))
    )
    return interval_s or _PUBLISHED_EVERY_S


def _take(publication: _Publication, line: str) -> None:
    """Read an element from a line of a publication, if it is needed."""
    publication.lines += 1
    unknown = _UNKNOWN.match(line)
    if unknown:
        element = _BY_NUMBER.get(int(unknown[1]), "")
        value = _in_base_unit(element, float(unknown[2]), "usec" if element in _DURATIONS else "")
    else:
        element, value = _element(line, publication.elapsed_s)
    if element and value is not None:
        publication.values[element] = value


def _element(line: str, elapsed_s: float) -> tuple[str, float | None]:
    parts = _ELEMENT.match(line)
    name = " ".join(parts[1].lower().split()) if parts else ""
    if parts is None or name not in _ELEMENTS:
        return "", None
    element = _ELEMENTS[name][1]
    text, rate = parts[2], ""
    if text.endswith("/sec"):
        text, dummy, rate = text.removesuffix("/sec").rpartition(" ")
    found = _VALUE.match(text)
    if found is None:
        return element, None
    value = _in_base_unit(element, _number(found[1], whole=found[2].lower() not in _FRACTIONAL), found[2])
    return element, None if rate and value is not None and not _agree(value, rate, elapsed_s) else value


def _agree(value: float, rate: str, elapsed_s: float) -> bool:
    """Whether a sum agrees with its rate. If a number was cut off or split in the wrong place, they do not agree."""
    try:
        per_s = _number(rate, whole=True)
    except ValueError:
        return False
    return abs(per_s * elapsed_s - value) <= _AGREE_WITHIN * value + elapsed_s


def _in_base_unit(element: str, value: float, unit: str) -> float | None:
    factor = (_NS if element in _DURATIONS else _BYTES).get(unit.lower())
    if factor is None or not value * factor < LARGEST:
        return None
    return epoch_of(value) if element == SLOWEST_AT else value * factor


def _number(text: str, *, whole: bool) -> float:
    """Return a number that may have the separators of any locale. In a whole number, separators between groups of
    three digits separate thousands. Raises ValueError."""
    groups = re.split(r"[.,]", re.sub(r"[' \u00a0\u2009\u202f]", "", text))
    of_thousands = groups[0] != "0" and len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    if len(groups) == 1 or (of_thousands and (whole or len(groups) > 2)):
        return float("".join(groups))
    return float("".join(groups[:-1]) + "." + groups[-1])
