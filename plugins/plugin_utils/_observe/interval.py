# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The observation of a queue manager, regardless of the source: plain figures that do not change after they are read.

None means that the source does not report a figure; it never means zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
