# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the publications that amqsrua prints for the class DISK and the type Log, with the name, number and unit of
each element. Each sample is one publication, whose numbers are in the locale C, as in module_utils/_sources/amqsrua.py.

Unknown elements are ignored, and a publication that is not complete is left out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

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
_BY_NAME = {name: element for name, (dummy, element) in _ELEMENTS.items()}
_DURATIONS = (LATENCY, SLOWEST)

_HEADER = re.compile(r"Publication received PutDate:(\d{8}) PutTime:(\d{8})(.*)")
_PERIODS = re.compile(r"(\d{1,9}) (days|hours|minutes),")
_SECONDS = re.compile(r"(\d{1,12}\.\d{3}) seconds")
_PERIOD_S = {"days": 86400, "hours": 3600, "minutes": 60}
_ELEMENT = re.compile(
    r"Log - ([A-Za-z][A-Za-z ]{0,80}?) +(\d{1,40}(?:\.\d{1,40})?) *([A-Za-z\u00b5\u03bc]*)(?: \d+/sec)?\Z"
)
_UNKNOWN = re.compile(r"Parameter\((\d{1,10})\) Value\((\d{1,20})\) not recogni[sz]ed *\Z")
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
_BYTES = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
_PUBLISHED_EVERY_S = 10.0
_LONGEST_FIRST_S = 15.0
"""MQ publishes every 10 s. If the first publication covers more time, the rest was before the observation."""
_LONGEST_S = 30 * 86400.0


def read(samples: Sequence[Sample], options: Options) -> Observation:
    """Return the publications of amqsrua, one in each sample."""
    publications = [found for found in map(_publication, samples) if found]
    before = publications.pop(0) if publications and publications[0].elapsed_s > _LONGEST_FIRST_S else None
    kept = [each for each in publications if _is_whole(each)]
    problems: list[str] = []
    if len(kept) < len(publications):
        problems.append(
            f"{len(publications) - len(kept)} of {len(publications)} publications were not complete and are left out."
        )
    if not publications:
        problems.append(_ONE_BEFORE if before else _NOTHING)
    return observation_of(SOURCE, kept, {}, problems, slowest_before_ns=before.slowest_ns if before else None)


_ONE_BEFORE = "amqsrua printed one publication, which covers a time before the observation: observe for longer."
_NOTHING = (
    "amqsrua printed no publication of the log: check its messages, and its authority to subscribe (docs/observe.md)."
)


def _is_whole(each: Published) -> bool:
    return each.physical_bytes is not None and each.latency_ns is not None and each.elapsed_s <= _LONGEST_S


def _publication(sample: Sample) -> Published | None:
    """Return the publication in a sample; None if it does not begin as one."""
    header, *lines = sample.text.splitlines() or [""]
    found = _HEADER.match(header)
    if not found:
        return None
    elapsed_s = _interval_s(found[3])
    values = dict(filter(None, map(_element, lines)))
    return Published(_put_epoch_s(found[1], found[2], sample.epoch_s) - elapsed_s, elapsed_s, **values)


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
    periods_s = sum(int(count) * _PERIOD_S[period] for count, period in _PERIODS.findall(text))
    return periods_s + float(seconds[1]) or _PUBLISHED_EVERY_S


def _element(line: str) -> tuple[str, float] | None:
    """Return an element and its value in bytes, ns or seconds since 1970; None if it is not needed or not possible."""
    line = line.rstrip()
    unknown, found = _UNKNOWN.match(line), _ELEMENT.match(line)
    if unknown:
        element, text = _BY_NUMBER.get(int(unknown[1]), ""), unknown[2]
        unit = "usec" if element in _DURATIONS else ""
    elif found:
        element, text, unit = _BY_NAME.get(" ".join(found[1].lower().split()), ""), found[2], found[3].lower()
    else:
        return None
    factor = (_NS if element in _DURATIONS else _BYTES).get(unit)
    if not element or factor is None or not (value := float(text) * factor) < LARGEST:
        return None
    return element, epoch_of(value) if element == SLOWEST_AT else value
