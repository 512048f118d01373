# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The observation of a queue manager, regardless of the source: plain figures that do not change after they are read,
and what its record contains for the report in addition to the tables.

None means that the source does not report a figure; it never means zero.

The utilisation shows how close the log is to its limit. One write is outstanding at a time, so the share of time with a
write in flight cannot exceed 1. From the figures that MQ publishes, this share is estimated as (physical bytes per
second / write size) x write latency. The estimate may exceed 1, because these figures are rolling averages.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

LOG = "log"
"""The stream of the logger's own writes. Every other stream is named after the MQI call that it counts."""

Fact = int | float | str
"""A figure or a name that an observation has in addition to its tables. These are used here, and sources may add
others, which are shown unchanged:

``operations_are_estimated``: 1: the source publishes no count of writes; it is the bytes over the mean write size
``latency_is_rolling``: 1: the source publishes a rolling average, which is not of this interval alone
``slowest_write_since_restart_ns``: the slowest log write since the queue manager started
``slowest_write_at_epoch_s``: when that was, since 1970, by the clock of the host
``bytes_are_at_least``: 1: the exporter counts since it was last read, so bytes that another reader took are missing,
    also from all figures that are based on them
``log_bytes_in_use``: of the extents of the log
``log_bytes_max``: of the extents of the log
``logical_bytes_per_s``: log records, without what partial pages and TripleWrite add
``probe_overhead_ns``: overhead of watching for each log write (or call, if only those are watched), as measured
``probe_overhead_call_ns``: overhead of watching for each call, if the log is watched as well
``events_lost``: events that bpftrace lost: lines about maxima and slow operations may be missing
"""


@dataclass(frozen=True, slots=True)
class Options:
    """The parts of the request for an observation that are needed for reading samples and making tables.

    The thresholds are those of over.csv, in ascending order. Only an exact source counts operations above them.
    """

    queue_manager: str = ""
    log_path: str = ""
    interval_s: int = 10
    duration_s: int = 60
    thresholds_ns: tuple[int, ...] = ()
    hostname: str = ""


@dataclass(frozen=True, slots=True)
class Interval:
    """One interval of one stream. The source determines its length, which is approximately observe_interval.

    ``start_epoch_s`` is the start of the interval by the host's wall clock, in seconds since 1970. ``elapsed_s`` is its
    length by the host's monotonic clock, and is always above 0. ``operations`` and ``bytes`` are counts for this
    interval alone. The latencies are those of individual operations, except for ``latency_sum_ns``, which is the sum.
    Only the log has ``write_size_mean_bytes``.
    """

    start_epoch_s: float
    elapsed_s: float
    stream: str = LOG
    operations: int | None = None
    bytes: int | None = None
    latency_mean_ns: float | None = None
    latency_min_ns: int | None = None
    latency_max_ns: int | None = None
    latency_sum_ns: int | None = None
    write_size_mean_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Second:
    """One exact second of a stream, numbered from 1 since the observation began: the operations that returned in it.

    Seconds without an operation are listed too, with 0 operations and None for minimum and maximum. ``partial`` is true
    if the second is the last one and was cut short. ``buckets`` contains the operations by the tester's buckets; it is
    empty if they are not known for each second.
    """

    number: int
    stream: str
    operations: int
    bytes: int
    latency_sum_ns: int
    latency_min_ns: int | None = None
    latency_max_ns: int | None = None
    partial: bool = False
    buckets: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Over:
    """The number of operations of a second (at least one) that took longer than a threshold. As in the tester, they are
    counted by whole buckets of the histogram."""

    second: int
    stream: str
    over_ns: int
    operations: int
    latency_sum_ns: int


@dataclass(frozen=True, slots=True)
class Maximum:
    """A new maximum of a stream. It is reported once, with the previous maximum (None for the first one) and the time
    at which the operation ended."""

    epoch_s: float
    stream: str
    previous_ns: int | None
    new_ns: int


@dataclass(frozen=True, slots=True)
class Stall:
    """One of the slowest operations of a stream: when it began, and how long it took or, if it had not returned,
    its age."""

    epoch_s: float
    latency_ns: int
    stream: str = LOG
    in_flight: bool = False
    bytes: int | None = None
    file: str = ""


@dataclass(frozen=True, slots=True)
class Observation:
    """All data from a source, in order of time.

    Only an exact source (bpftrace) fills ``seconds``, ``histograms``, ``over``, ``maxima`` and ``stalls``.
    ``histograms`` contains, for each stream and batch (1 to 30, equal parts of the time), the operations by the upper
    bound in ns of the tester's buckets. ``facts`` are numbers and names (see Fact), and
    ``problems`` are sentences about what is missing or doubtful. ``elapsed_ns`` is the observed time, and
    ``start_epoch_s`` is the time at which it began. ``ending`` says why it ended early; empty if it did not.
    """

    source: str
    start_epoch_s: float = 0.0
    elapsed_ns: int = 0
    intervals: tuple[Interval, ...] = ()
    seconds: tuple[Second, ...] = ()
    histograms: Mapping[tuple[str, int], Mapping[int, int]] = field(default_factory=dict)
    over: tuple[Over, ...] = ()
    maxima: tuple[Maximum, ...] = ()
    stalls: tuple[Stall, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    ending: str = ""

    @property
    def streams(self) -> tuple[str, ...]:
        """The observed streams, in the order of their first appearance."""
        return tuple(dict.fromkeys(each.stream for each in (*self.intervals, *self.seconds)))

    def only(self, *streams: str) -> Observation:
        """Return the same observation with the data of these streams only."""
        found: dict[str, Any] = {
            name: tuple(each for each in getattr(self, name) if each.stream in streams) for name in _OF_STREAMS
        }
        histograms = {key: counts for key, counts in self.histograms.items() if key[0] in streams}
        return dataclasses.replace(self, histograms=histograms, **found)


_OF_STREAMS = ("intervals", "seconds", "over", "maxima", "stalls")


FEWEST_FOR_A_TREND = 3


@dataclass(frozen=True, slots=True)
class Utilisation:
    """The share of time during which the logger was writing, for the whole observation and for its busiest interval,
    and how much this share increased per hour (negative if it decreased).

    None means unknown. A trend requires three intervals.
    """

    share: float | None
    highest_share: float | None
    share_per_hour: float | None


def utilisation(observation: Observation) -> Utilisation:
    """Return the utilisation of the logger and its trend, from the intervals of an observation."""
    intervals = [each for each in observation.intervals if each.stream == LOG]
    points = [
        (each.start_epoch_s + each.elapsed_s / 2, share)
        for each in intervals
        if (share := utilisation_of([each])) is not None
    ]
    return Utilisation(
        utilisation_of(intervals), max((share for dummy, share in points), default=None), _slope_per_hour(points)
    )


def utilisation_of(intervals: Iterable[Interval]) -> float | None:
    """Return the share of time during which a write was in flight, in the intervals for which it is known; None if
    there are none."""
    known = [(each.elapsed_s, spent) for each in intervals if (spent := spent_ns(each)) is not None]
    elapsed_s = sum(elapsed_s for elapsed_s, dummy in known)
    return sum(spent for dummy, spent in known) / 1e9 / elapsed_s if elapsed_s else None


def latency_sum_ns(intervals: Sequence[Interval]) -> float | None:
    """Return the time spent in all operations, or None if it is unknown for an interval with operations."""
    spent = [spent_ns(each) for each in intervals]
    return None if None in spent else sum(ns for ns in spent if ns is not None)


def spent_ns(each: Interval) -> float | None:
    """Return the time spent in the operations of an interval, or None if unknown."""
    if each.latency_sum_ns is not None:
        return each.latency_sum_ns
    if each.operations == 0:
        return 0.0
    return (
        each.operations * each.latency_mean_ns
        if each.operations is not None and each.latency_mean_ns is not None
        else None
    )


def _slope_per_hour(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the straight line through points of seconds and shares."""
    if len(points) < FEWEST_FOR_A_TREND:
        return None
    middle_s, middle = fmean(epoch_s for epoch_s, dummy in points), fmean(share for dummy, share in points)
    spread = sum((epoch_s - middle_s) ** 2 for epoch_s, dummy in points)
    return 3600 * sum((epoch_s - middle_s) * (share - middle) for epoch_s, share in points) / spread if spread else None


MOST_INTERVALS = 10_000
MOST_MAXIMA = 1_000
"""The size of a record is limited, but a day has 8,640 intervals of 10 s."""


def seen_of(observation: Observation, options: Options) -> dict[str, Any]:
    """Return the data that a record keeps about an observation. docs/files.md describes it."""
    return {
        "source": observation.source,
        "queue_manager": options.queue_manager,
        "log_path": options.log_path,
        "start_epoch_s": observation.start_epoch_s,
        "elapsed_s": observation.elapsed_ns / 1e9,
        "interval_s": options.interval_s,
        "ending": observation.ending,
        "intervals": [_interval(each) for each in observation.intervals[:MOST_INTERVALS]],
        "maxima": [dataclasses.asdict(each) for each in observation.maxima[-MOST_MAXIMA:]],
        "utilisation": dataclasses.asdict(utilisation(observation)),
        "facts": dict(observation.facts),
        "problems": list(observation.problems),
    }


def _interval(each: Interval) -> dict[str, Any]:
    return {
        **dataclasses.asdict(each),
        "logger_utilisation_share": utilisation_of([each]) if each.stream == LOG else None,
    }
