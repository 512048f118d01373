# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads metrics of the log from a Prometheus endpoint: mq_prometheus, mq-container, or an exporter with names such as
mq_rlog_log_*_microseconds.

mq_prometheus exports the bytes since it was last read, so an interval begins with the previous answer. If overrideCType
is set, it declares them as a counter, but still resets them at each GET like a gauge. Therefore, nothing can be
concluded from decreasing figures. Only mq_prometheus exports qmgr_exporter_publications. mq-container (a name that ends
in _total) and a counter of mq_rlog are running totals.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _exposition
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import Fact, Observation, Options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.published import (
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
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import Sample
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import quoted

SOURCE = "prometheus"
TITLE = "what MQ publishes, from a Prometheus endpoint"
CAVEAT = CAVEAT_OF_AVERAGES

_NAME = re.compile(r"(?:\w+_)?(qmgr|mq_rlog|rlog)_log_(\w+?)(_seconds|_microseconds|_milliseconds|_bytes)?(_total)?\Z")
_STATUS = re.compile(r"(?:\w+_)?qmgr_status\Z")
_PUBLICATIONS = re.compile(r"(?:\w+_)?qmgr_exporter_publications\Z")
"""A metric that mq_prometheus has exported since version 5.1.1, which had no counters yet."""
_ELEMENTS = {
    "physical_written": PHYSICAL,
    "physical_bytes_written": PHYSICAL,
    "logical_written": LOGICAL,
    "logical_bytes_written": LOGICAL,
    "write_latency": LATENCY,
    "write_size": SIZE,
    "slowest_write_since_restart": SLOWEST,
    "slowest_write": SLOWEST,
    "timestamp_of_slowest_write": SLOWEST_AT,
    "slowest_write_timestamp": SLOWEST_AT,
    "in_use": IN_USE,
    "bytes_in_use": IN_USE,
    "max": MOST,
    "bytes_max": MOST,
}
"""The name of an element between the prefix and the unit."""
# mq_prometheus also divides the slowest write by a million, although its name has no unit in some versions of MQ.
_NS = {"_seconds": 1e9, "_milliseconds": 1e6, "_microseconds": 1e3, "": 1e9}
_DURATIONS = (LATENCY, SLOWEST)
_BYTES = (PHYSICAL, LOGICAL)
_SINCE_READ, _RUNNING, _UNKNOWN = "since read", "running", "unknown"
"""When the count of bytes started: at the previous GET, at the start of the exporter, or unknown."""
_COUNTER = "counter"
_MOST_NAMED = 5
_NOT_TOLD = (
    "The exporter declares the bytes written as a counter, but is neither mq_prometheus (it has no "
    "qmgr_exporter_publications) nor mq-container (the name does not"
    " end in _total). So it is not known how much was written, because it may continue to count or start again "
    "with each answer."
)


@dataclass(slots=True)
class _Answer:
    """The result of one GET for one queue manager: figures by element, and when the count of bytes started, according
    to the name and type of that metric."""

    values: dict[str, float] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    down: bool = False
    of_mq_prometheus: bool = False

    @property
    def has_averages(self) -> bool:
        """Whether MQ has published since the previous GET. Exporters drop an average once it was read, but keep a
        running total."""
        return any(element not in _BYTES for element in self.values)


def read(samples: Sequence[Sample], options: Options) -> Observation:
    """Return the metrics of an endpoint about the log of a queue manager, one sample for each GET."""
    parsed = [(sample, _answers(sample.text)) for sample in samples]
    name, problems = _queue_manager(parsed, options.queue_manager)
    answers = [(sample, _of(found, name)) for sample, found in parsed]
    down = sum(answer is not None and answer.down for dummy, answer in answers)
    if down:
        problems.append(f"The queue manager was not running at {down} of {len(answers)} answers of the endpoint.")
    known = [(sample, answer) for sample, answer in answers if answer and (answer.values or answer.down)]
    kinds = {element: _settled(element, [answer for dummy, answer in known]) for element in _BYTES}
    if kinds[PHYSICAL] == _UNKNOWN:
        problems.append(_NOT_TOLD)
    published = _published(_renewed(known, kinds), kinds, problems)
    facts: dict[str, Fact] = {} if kinds[PHYSICAL] == _RUNNING else {"bytes_are_at_least": 1}
    if not published and not problems:
        problems.append(
            "The endpoint did not answer twice with metrics of the log: observe for at least three intervals."
        )
    ending = "the queue manager was not running when the observation ended" if known and known[-1][1].down else ""
    return observation_of(
        SOURCE,
        published,
        facts,
        problems,
        ending=ending,
        slowest_before_ns=known[0][1].values.get(SLOWEST) if known else None,
    )


def _queue_manager(parsed: Sequence[tuple[Sample, Mapping[str, _Answer]]], wanted: str) -> tuple[str, list[str]]:
    """Return the queue manager to read, and any problem with the choice. It is the requested queue manager or the only
    one."""
    names = list(
        dict.fromkeys(name for dummy, found in parsed for name, answer in found.items() if name and answer.values)
    )
    listed = ", ".join(quoted(name) for name in names[:_MOST_NAMED])
    if not wanted and len(names) > 1:
        return "", [
            f"The endpoint has log metrics of {len(names)} queue managers ({listed}): say which "
            "one with observe_queue_manager."
        ]
    if wanted and names and wanted not in names:
        return wanted, [
            f"The endpoint has log metrics of {listed}, but not of {quoted(wanted)}: correct "
            "observe_queue_manager or observe_url."
        ]
    return wanted or "".join(names), []


def _of(found: Mapping[str, _Answer], name: str) -> _Answer | None:
    """Return the answer about a queue manager. Metrics without a label belong to the only queue manager."""
    return found.get(name) or (found.get("") if len(found) == 1 else None)


def _answers(text: str) -> dict[str, _Answer]:
    """Return an answer by queue manager, or under "" for metrics that name none. Metrics that are not about the log are
    ignored."""
    types: dict[str, str] = {}
    found: dict[str, _Answer] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            types.update(filter(None, [_exposition.type_of(line)]))
            continue
        metric = _exposition.sample_of(line)
        if metric:
            name, labels, value = metric
            _take(found, name, labels, _figure(value), types)
    return found


def _figure(text: str) -> float:
    """Return a value, or NaN if it is not a possible figure."""
    value = _exposition.number_of(text)
    return value if 0 <= value < LARGEST else math.nan


def _take(found: dict[str, _Answer], name: str, labels: str, value: float, types: Mapping[str, str]) -> None:
    parts = _NAME.match(name)
    element = _ELEMENTS.get(parts[2]) if parts else None
    is_publications = bool(_PUBLICATIONS.match(name))
    if math.isnan(value) or not (element or is_publications or _STATUS.match(name)):
        return
    answer = found.setdefault(_exposition.queue_manager_of(labels) or "", _Answer())
    if is_publications:
        answer.of_mq_prometheus = True
        return
    if element is None or parts is None:
        answer.down = value == 0
        return
    if element in _DURATIONS:
        value *= _NS.get(parts[3] or "", 0)
    elif element == SLOWEST_AT:
        value = epoch_of(value)
    if value >= LARGEST:
        return
    answer.values[element] = value
    if element in _BYTES:
        answer.kinds[element] = _kind(parts, types.get(name) or types.get(name.removesuffix("_total")) or "")


def _kind(parts: re.Match[str], declared: str) -> str:
    if parts[4]:
        return _RUNNING
    if declared != _COUNTER:
        return _SINCE_READ
    return _UNKNOWN if parts[1] == "qmgr" else _RUNNING


def _settled(element: str, answers: Sequence[_Answer]) -> str:
    """Return when an exporter starts to count bytes. This is the same for all GETs."""
    with_bytes = [answer for answer in answers if element in answer.kinds]
    kinds = {answer.kinds[element] for answer in with_bytes}
    if not any(answer.of_mq_prometheus for answer in answers):
        return kinds.pop() if len(kinds) == 1 else _SINCE_READ
    # Metrics that are published together are also dropped together. Only a running total can remain without the
    # averages.
    is_kept = _SINCE_READ not in kinds and len({answer.has_averages for answer in with_bytes}) > 1
    return _RUNNING if is_kept else _SINCE_READ


def _renewed(known: Sequence[tuple[Sample, _Answer]], kinds: Mapping[str, str]) -> Sequence[tuple[Sample, _Answer]]:
    """Return the answers that contain a new publication of MQ. A repeated running total does not mean that nothing was
    written."""
    if _RUNNING not in kinds.values() or not any(answer.has_averages for dummy, answer in known):
        return known
    return [(sample, answer) for sample, answer in known if answer.has_averages or answer.down]


def _published(
    known: Sequence[tuple[Sample, _Answer]], kinds: Mapping[str, str], problems: list[str]
) -> list[Published]:
    """Return an interval for each answer except the first, which may cover any length of time."""
    restarts = 0
    found = []
    for (before, earlier), (sample, answer) in pairwise(known):
        elapsed_s = (sample.monotonic_ns - before.monotonic_ns) / 1e9
        if earlier.down or answer.down or elapsed_s <= 0:
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
