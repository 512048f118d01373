# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads metrics of the log from a Prometheus endpoint: mq_prometheus, mq-container, or an exporter with names such as
mq_rlog_log_*_microseconds.

mq_prometheus exports the bytes since it was last read, so an interval begins with the previous answer. If overrideCType
is set, it declares them as a counter, but still resets them at each GET like a gauge. Therefore, nothing can be
concluded from decreasing figures. It exports qmgr_exporter_publications, and no times. (mq_otel exports that metric
too, but a collector then keeps the figures until the next collection.) mq-container (a name that ends in _total) and a
counter of mq_rlog are running totals.

A name is believed only as long as nothing contradicts it: the declared type, the description, a repetition, or a total
that does not behave like one. A figure whose meaning is not known is left out, and a problem says why.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ....module_utils import _exposition
from ..._run.table_reader import printable
from ..interval import Fact, Observation, Options
from ..published import (
    CAVEAT_OF_AVERAGES,
    LARGEST,
    LATENCY,
    LOGICAL,
    PHYSICAL,
    SIZE,
    SLOWEST,
    SLOWEST_AT,
    Published,
    epoch_of,
    observation_of,
)
from ..samples import Sample

SOURCE = "prometheus"
TITLE = "what MQ publishes, from a Prometheus endpoint"
CAVEAT = CAVEAT_OF_AVERAGES

_PUBLICATIONS = re.compile(r"(?:\w+_)?qmgr_exporter_publications\Z")
"""A metric that mq_prometheus has exported since version 5.1.1, which had no counters yet."""
_NS = {"_seconds": 1e9, "_milliseconds": 1e6, "_microseconds": 1e3}
_UNITS = {LATENCY: _NS, SLOWEST: {**_NS, "": 1e9}, SLOWEST_AT: {**_NS, "": 1}}
"""The units that the name of an element may have; for all others, bytes or none."""
_LONGEST_NS = {LATENCY: 60e9, SLOWEST: 1000e9}
"""A longer time is in another unit than it seems to be. A storage may stall for half a minute, and a single write for
longer, but no queue manager keeps running with writes that take minutes on average."""
_BYTES = (PHYSICAL, LOGICAL)
_SINCE_READ, _RUNNING, _UNKNOWN = "since read", "running", "unknown"
"""When the count of bytes started: at the previous GET, at the start of the exporter, or unknown."""
_COUNTER = "counter"
_UNTYPED = ("", "untyped", "unknown")
_MOST_NAMED = 5
_MOST_FALLS = 0.1
"""A running total falls only if the exporter restarts: at most at this share of the answers, or once."""
_FALLS_TO = 0.5
"""A restart makes a total fall to almost 0, and in any case below this share."""
_SLOW, _MOST_SLOW, _MOST_GROWN = 1.02, 4, 12
"""A gauge that falls only as a total does is one if it grew slowly (by at most 2 %) at least 4 times, because a load
that changes so little would also fall a little; or if it grew at any rate at least 12 times."""
_NOT_TOLD = (
    "The exporter declares the bytes written as a counter, but is neither mq_prometheus (it has no "
    "qmgr_exporter_publications) nor mq-container (the name does not"
    " end in _total). So it is not known how much was written, because it may continue to count or start again "
    "with each answer."
)
_INSTEAD = "Set observe_url to mq_prometheus or mq-container, or set observe_source to amqsrua or bpftrace."


@dataclass(slots=True)
class _Answer:
    """The result of one GET: figures by element, when the count of bytes started, according to
    the name and type of that metric, and, by element, why a figure is not known."""

    values: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    has_publications: bool = False
    has_times: bool = False
    latency_unit: str = ""
    slowest_without_unit: str = ""

    @property
    def of_mq_prometheus(self) -> bool:
        return self.has_publications and not self.has_times

    @property
    def has_averages(self) -> bool:
        """Whether MQ has published since the previous GET. Exporters drop an average once it was read, but keep a
        running total."""
        return any(element not in _BYTES for element in self.values)


def read(samples: Sequence[Sample], options: Options) -> Observation:
    """Return the metrics of an endpoint about the log of a queue manager, one sample for each GET."""
    answers = [(sample, _answer(sample.text)) for sample in samples]
    said = [answer for dummy, answer in answers]
    _settle_slowest(said)
    known = [(sample, answer) for sample, answer in answers if answer.values]
    problems = list(_doubts(said))
    kinds = {element: _settled(element, [answer for dummy, answer in known]) for element in _BYTES}
    if kinds[PHYSICAL] == _UNKNOWN and not any(PHYSICAL in answer.doubts for answer in said):
        problems.append(_NOT_TOLD)
    renewed = _once(_renewed(known, kinds), kinds, problems)
    for element in _BYTES:
        problem = _contradiction(element, kinds[element], [answer for dummy, answer in renewed])
        if problem:
            kinds[element] = _UNKNOWN
            problems.append(problem)
    published = _published(renewed, kinds, problems)
    facts: dict[str, Fact] = {} if kinds[PHYSICAL] == _RUNNING else {"bytes_are_at_least": 1}
    if not published and not problems:
        problems.append(
            "The endpoint did not answer twice with metrics of the log: observe for at least three intervals."
        )
    return observation_of(
        SOURCE,
        published,
        facts,
        problems,
        slowest_before_ns=known[0][1].values.get(SLOWEST) if known else None,
    )


def _answer(text: str) -> _Answer:
    """Return the answer in a sample, which has only the lines about the log of one queue manager."""
    types: dict[str, str] = {}
    units: dict[str, str] = {}
    answer = _Answer()
    for line in text.splitlines():
        if line.startswith("#"):
            types.update(filter(None, [_exposition.type_of(line)]))
            units.update(filter(None, [_exposition.unit_in_help(line)]))
            continue
        sample = _exposition.sample_of(line)
        if sample:
            name, dummy, value, has_time = sample
            declared = types.get(name) or types.get(name.removesuffix("_total")) or ""
            _take(answer, name, _figure(value), (declared, units.get(name, "")), has_time)
    return answer


def _settle_slowest(answers: Sequence[_Answer]) -> None:
    """Leave out a slowest write without a unit, unless it is in seconds, as mq_prometheus exports it in some versions
    of MQ. Only the unit of the latency tells this, and one of the answers may lack the latency."""
    is_in_seconds = {answer.latency_unit for answer in answers if answer.latency_unit} == {"_seconds"}
    for answer in answers:
        if answer.slowest_without_unit and not is_in_seconds:
            answer.values.pop(SLOWEST, None)
            answer.doubts[SLOWEST] = _without_unit(answer.slowest_without_unit)


def _figure(text: str) -> float:
    """Return a value, or NaN if it is not a possible figure."""
    value = _exposition.number_of(text)
    return value if 0 <= value < LARGEST else math.nan


def _take(answer: _Answer, name: str, value: float, described: tuple[str, str], has_time: bool) -> None:
    """Take a metric into the answer. ``described`` is its declared type and the unit in its description."""
    metric = _exposition.metric_of(name)
    if _exposition.is_unknown(name):
        answer.unknown[name] = None
    elif _PUBLICATIONS.match(name):
        answer.has_publications = True
    elif metric and not math.isnan(value):
        answer.has_times |= has_time
        _take_figure(answer, name, metric, value, described)


def _take_figure(
    answer: _Answer, name: str, metric: _exposition.Metric, value: float, described: tuple[str, str]
) -> None:
    declared, described_unit = described
    element = metric.element
    unit = metric.unit or (described_unit if element in (LATENCY, SLOWEST) else "")
    doubt = _doubt(name, metric, declared, unit, described_unit)
    if element in _UNITS:
        value *= 1 if element == SLOWEST_AT else _UNITS[element].get(unit, 0)
    if element == SLOWEST_AT:
        value = epoch_of(value)
    if value >= LARGEST:
        return
    if not doubt and value > _LONGEST_NS.get(element, LARGEST):
        doubt = _without_unit(name) if not unit else _too_long(name, _LONGEST_NS[element])
    if answer.values.get(element, value) != value:
        doubt = f"The endpoint has more than one {name}, with different values. {_INSTEAD}"
    if doubt:
        answer.doubts[element] = doubt
        if element not in _BYTES:
            answer.values.pop(element, None)
            return
    if element in answer.doubts and element not in _BYTES:
        return
    answer.values[element] = value
    if element in _BYTES:
        answer.kinds[element] = _kind(metric, declared)
    elif element == LATENCY:
        answer.latency_unit = unit
    elif element == SLOWEST and not unit:
        answer.slowest_without_unit = name


def _doubt(name: str, metric: _exposition.Metric, declared: str, unit: str, described_unit: str) -> str:
    """Return why the meaning of a metric is not known, or an empty text."""
    element = metric.element
    if unit not in _UNITS.get(element, ("", "_bytes")):
        return _without_unit(name)
    if element in (LATENCY, SLOWEST) and described_unit not in ("", unit):
        return (
            f"The exporter describes {name} in {described_unit[1:]}, which its name contradicts, so the "
            f"figure is not used. {_INSTEAD}"
        )
    if element in _BYTES:
        if metric.is_total and declared not in (*_UNTYPED, _COUNTER):
            return (
                f"The exporter names {name} as a running total, but declares it as a {printable(declared)}, so its "
                f"meaning is not known. {_INSTEAD}"
            )
    elif metric.is_total or declared not in (*_UNTYPED, "gauge"):
        said = f"names {name} as a running total"
        if not metric.is_total:
            said = f"declares {name} as a {printable(declared)}"
        return f"The exporter {said}, but MQ publishes single values of it, so its meaning is not known. {_INSTEAD}"
    return ""


def _too_long(name: str, longest_ns: float) -> str:
    return (
        f"According to {name}, a log write takes more than {longest_ns / 1e9:.0f} s. Either the storage stalled, or "
        f"the value is in another unit, so the figure is not used. {_INSTEAD}"
    )


def _without_unit(name: str) -> str:
    return f"The name of {name} does not say in which unit it is, so the figure is not used. {_INSTEAD}"


def _doubts(answers: Sequence[_Answer]) -> Iterator[str]:
    """Yield why figures are not known, each reason once."""
    yield from dict.fromkeys(doubt for answer in answers for doubt in answer.doubts.values())
    unknown = dict.fromkeys(name for answer in answers for name in answer.unknown)
    if unknown and not any(LATENCY in answer.values and PHYSICAL in answer.values for answer in answers):
        listed = ", ".join(list(unknown)[:_MOST_NAMED])
        yield f"The endpoint has metrics of the log whose names are not known: {listed}. {_INSTEAD}"


def _kind(metric: _exposition.Metric, declared: str) -> str:
    if metric.is_total:
        return _RUNNING
    if declared != _COUNTER:
        return _SINCE_READ
    return _UNKNOWN if metric.series == "qmgr" else _RUNNING


def _settled(element: str, answers: Sequence[_Answer]) -> str:
    """Return when an exporter starts to count bytes. This is the same for all GETs."""
    with_bytes = [answer for answer in answers if element in answer.kinds]
    kinds = {answer.kinds[element] for answer in with_bytes}
    if any(element in answer.doubts for answer in answers):
        return _UNKNOWN
    if not any(answer.of_mq_prometheus for answer in answers):
        return _SINCE_READ if not kinds else kinds.pop() if len(kinds) == 1 else _UNKNOWN
    # Metrics that are published together are also dropped together. Only a running total can remain without the
    # averages.
    is_kept = _SINCE_READ not in kinds and len({answer.has_averages for answer in with_bytes}) > 1
    return _RUNNING if is_kept else _SINCE_READ


def _contradiction(element: str, kind: str, answers: Sequence[_Answer]) -> str:
    """Return why the values of an element cannot be what they seem to be, or an empty text."""
    pairs = [
        (earlier, later)
        for earlier, later in pairwise(answers)
        if element in earlier.values and element in later.values
    ]
    steps = [(earlier.values[element], later.values[element]) for earlier, later in pairs]
    fell = sum(later < earlier for earlier, later in steps)
    grew = sum(later > earlier for earlier, later in steps)
    words = element.replace("_", " ")
    if kind == _RUNNING and fell > max(1, _MOST_FALLS * len(steps)):
        return f"The running total of {words} fell {fell} times, so it is not known how much was written. {_INSTEAD}"
    # A single one may be an answer in the middle of an update.
    stuck = sum(
        earlier.values[element] == later.values[element]
        and any(earlier.values.get(each) != later.values.get(each) for each in (LATENCY, SIZE))
        for earlier, later in pairs
    )
    if kind == _RUNNING and stuck > max(1, grew):
        return (
            f"The running total of {words} did not grow while the averages of the writes changed, so it is not known "
            f"how much was written. {_INSTEAD}"
        )
    only_restarts = fell <= max(1, _MOST_FALLS * grew) and not any(
        _FALLS_TO * earlier <= later < earlier for earlier, later in steps
    )
    grew_slowly = sum(earlier < later <= _SLOW * earlier for earlier, later in steps)
    if kind == _SINCE_READ and only_restarts and (grew_slowly >= _MOST_SLOW or grew >= _MOST_GROWN):
        return (
            f"The exporter seems to count {words} anew for each answer, but they grow like a running total, so "
            f"it is not known how much was written. {_INSTEAD}"
        )
    return ""


def _once(
    known: Sequence[tuple[Sample, _Answer]],
    kinds: Mapping[str, str],
    problems: list[str],
) -> Sequence[tuple[Sample, _Answer]]:
    """Return the answers without those that repeat the answer before. If an exporter keeps its figures until its next
    collection, the bytes of a repetition would be counted again."""
    counted = [element for element in _BYTES if kinds[element] == _SINCE_READ]
    repeated = [
        number
        for number, ((dummy, earlier), (dummy, later)) in enumerate(pairwise(known), start=1)
        if earlier.values == later.values and any(later.values.get(element) for element in counted)
    ]
    if not repeated:
        return known
    problems.append(
        f"{len(repeated)} of {len(known)} answers of the endpoint repeat the figures of the answer before, so they "
        "count only once. Set observe_interval to at least the interval at which the exporter collects."
    )
    return [each for number, each in enumerate(known) if number not in repeated]


def _renewed(known: Sequence[tuple[Sample, _Answer]], kinds: Mapping[str, str]) -> Sequence[tuple[Sample, _Answer]]:
    """Return the answers that contain a new publication of MQ. A repeated running total does not mean that nothing was
    written."""
    if _RUNNING not in kinds.values() or not any(answer.has_averages for dummy, answer in known):
        return known
    return [(sample, answer) for sample, answer in known if answer.has_averages]


def _published(
    known: Sequence[tuple[Sample, _Answer]], kinds: Mapping[str, str], problems: list[str]
) -> list[Published]:
    """Return an interval for each answer except the first, which may cover any length of time."""
    restarts = 0
    found = []
    for (before, earlier), (sample, answer) in pairwise(known):
        elapsed_s = (sample.monotonic_ns - before.monotonic_ns) / 1e9
        if elapsed_s <= 0:
            continue
        figures: dict[str, Any] = dict(answer.values)
        for element, kind in kinds.items():
            value, previous = answer.values.get(element), earlier.values.get(element)
            fell = kind == _RUNNING and value is not None and previous is not None and value < previous
            restarts += fell and element == PHYSICAL
            if kind == _RUNNING:
                figures[element] = None if value is None or previous is None or fell else value - previous
            elif kind == _UNKNOWN:
                figures[element] = None
        found.append(Published(sample.epoch_s - elapsed_s, elapsed_s, **figures))
    if restarts:
        problems.append(
            f"The exporter restarted its count {restarts} times: it is not known how much was written in those "
            "intervals."
        )
    return found
