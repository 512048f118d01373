# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Estimates how many commits per second applications reach without think time, how long commits wait if they arrive at
a given rate, and the rate of request/reply applications."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...module_utils import _ini_files
from .line import Line

OVERHEAD_BYTES = 1464
"""The size of the log records for the put and the get of a message, in addition to the message itself."""
PAGE_BYTES = _ini_files.LOG_PAGE_BYTES
DEFAULT_BUFFER_BYTES = _ini_files.DEFAULT_BUFFER_PAGES * PAGE_BYTES
"""The largest write of the logger by default (LogBufferPages=0)."""

NS_PER_KM = 10_000.0
"""The round-trip time of light through one kilometre of fibre."""


@dataclass(frozen=True, slots=True)
class Load:
    """Applications of one queue manager that commit as fast as they can.

    remote_delay_ns is the additional time, after the local write, until the remote side of the storage has acknowledged
    the write.
    """

    applications: int
    message_bytes: int
    puts_per_commit: int = 1
    buffer_bytes: int = DEFAULT_BUFFER_BYTES
    remote_delay_ns: float = 0.0

    @property
    def record_bytes(self) -> int:
        """The number of bytes that one commit adds to the log."""
        return log_bytes(self.message_bytes, self.puts_per_commit)


@dataclass(frozen=True, slots=True)
class Commits:
    """The estimated result of a load. write_bytes is the size of the logger's writes. cycle_ns is the duration of one
    write including the remote delay.

    buffer_limited is true if the rate is limited by the log buffer and not by the number of applications.
    log_bytes_per_s is the number of bytes per second that commits add to the log.
    """

    commits_per_s: float
    messages_per_s: float
    bytes_per_s: float
    log_bytes_per_s: float
    commit_latency_ns: float
    write_bytes: int
    cycle_ns: float
    buffer_limited: bool


def log_bytes(message_bytes: int, messages: float = 1) -> int:
    """Return the number of bytes that messages add to the log."""
    return math.ceil(messages * (message_bytes + OVERHEAD_BYTES))


def write_size(data_bytes: float, buffer_bytes: int = DEFAULT_BUFFER_BYTES) -> int:
    """Return the size of the write that takes everything that is waiting: whole pages, at most the log buffer."""
    return min(buffer_bytes, math.ceil(data_bytes / PAGE_BYTES) * PAGE_BYTES)


def estimate_commits(latency_ns: Callable[[float], float], load: Load) -> Commits:
    """Return the result of a load on a volume with this mean latency for each write size."""
    by_applications = _alone if load.applications == 1 else _cohorts
    rate, size = by_applications(latency_ns, load)
    by_buffer = most_commits_per_ns(latency_ns, load)
    limited = load.applications > 1 and by_buffer < rate
    rate = by_buffer if limited else rate
    return Commits(
        commits_per_s=1e9 * rate,
        messages_per_s=1e9 * rate * load.puts_per_commit,
        bytes_per_s=1e9 * rate * load.puts_per_commit * load.message_bytes,
        log_bytes_per_s=1e9 * rate * load.record_bytes,
        commit_latency_ns=load.applications / rate,
        write_bytes=load.buffer_bytes if limited else size,
        cycle_ns=_cycle_ns(latency_ns, load, load.buffer_bytes if limited else size),
        buffer_limited=limited,
    )


def most_commits_per_ns(latency_ns: Callable[[float], float], load: Load) -> float:
    """Return the rate of the log if each write takes the whole log buffer. A commit that is larger than the buffer
    takes several writes."""
    return load.buffer_bytes / (load.record_bytes * _cycle_ns(latency_ns, load, load.buffer_bytes))


def _cycle_ns(latency_ns: Callable[[float], float], load: Load, size_bytes: int) -> float:
    return latency_ns(size_bytes) + load.remote_delay_ns


def _alone(latency_ns: Callable[[float], float], load: Load) -> tuple[float, int]:
    """Return commits per nanosecond and the largest write for a single application. A commit that is larger than the
    buffer takes several writes."""
    full_writes, rest = divmod(load.record_bytes, load.buffer_bytes)
    sizes = [write_size(rest, load.buffer_bytes)] if rest else []
    needed = full_writes * _cycle_ns(latency_ns, load, load.buffer_bytes) if full_writes else 0.0
    needed += sum(_cycle_ns(latency_ns, load, size) for size in sizes)
    return 1 / needed, load.buffer_bytes if full_writes else sizes[0]


def _cohorts(latency_ns: Callable[[float], float], load: Load) -> tuple[float, int]:
    """Return commits per nanosecond and the larger write for two alternating cohorts. If the number of applications is
    odd, the cohorts differ by one."""
    halves = (load.applications - load.applications // 2, load.applications // 2)
    sizes = [write_size(half * load.record_bytes, load.buffer_bytes) for half in halves]
    return load.applications / sum(_cycle_ns(latency_ns, load, size) for size in sizes), sizes[0]


_ROUNDS = 100


def mean_commit_wait_ns(line: Line, load: Load, commits_per_s: float, variation: float) -> float | None:
    """Return the mean time from a commit to the end of its write, or None if the log cannot keep up with the rate.

    Commits arrive at random (Poisson). If no write is in flight, a commit is written at once. Otherwise it waits for
    the rest of the write in flight, and then for its own write, which takes everything that arrived in the meantime.
    This is a queue with bulk service; docs/estimates.md says when it holds. load describes a commit; its number of
    applications is not used. variation is the standard deviation of the latency divided by its mean, for writes with a
    single commit. The deviation is assumed to be the same for larger writes.
    """
    rate = commits_per_s / 1e9
    most = most_commits_per_ns(line.latency_ns, load)
    if rate >= most:
        return None
    alone = estimate_commits(line.latency_ns, replace(load, applications=1)).commit_latency_ns
    # The bytes that each additional commit adds to a write. A commit that is larger than the log buffer needs separate
    # writes.
    more = load.record_bytes / line.bytes_per_ns if load.record_bytes <= load.buffer_bytes else 1 / most
    fixed, variance = max(0.0, alone - more), (variation * alone) ** 2
    idle = 1.0
    for _round in range(_ROUNDS):
        # The mean and the second moment of the duration of a write. The write contains the commits that arrived during
        # the previous write, or a single commit after an idle time.
        mean = (fixed + more * idle) / (1 - rate * more)
        commits = rate * mean + idle
        square = (fixed**2 + variance + 2 * fixed * more * commits + more**2 * commits) / (1 - (rate * more) ** 2)
        idle = _none_arrives(rate * mean, square / mean**2 - 1)
    waiting = rate * square / 2 + fixed * rate * mean + more * (rate**2 * square + rate * mean)
    return (waiting + idle * alone) / commits


def _none_arrives(expected: float, variation_square: float) -> float:
    """Return the probability that nothing arrives during a write, whose duration is assumed to be gamma-distributed."""
    return (
        math.exp(-expected)
        if variation_square < 1e-9
        else math.exp(-math.log1p(expected * variation_square) / variation_square)
    )


WRITES_PER_ROUND_TRIP = 6.5
MESSAGES_PER_ROUND_TRIP = 2
LARGEST_BUFFER_BYTES = 16 << 20
"""The log buffer in IBM's measurements, which is the largest possible one (LogBufferPages=4096)."""
BUSY_SHARE = 0.95
"""The share of the time during which a saturated logger has a write in flight."""


@dataclass(frozen=True, slots=True)
class RoundTrips:
    """The rate that request/reply clients reach. peak_log_bytes_per_s is the highest rate of the logger with writes of
    this size."""

    round_trips_per_s: float
    write_bytes: int
    write_ns: float
    peak_log_bytes_per_s: float


def estimate_round_trips(
    latency_ns: Callable[[float], float], clients: int, message_bytes: int, buffer_bytes: int = LARGEST_BUFFER_BYTES
) -> RoundTrips:
    """Return the rate that request/reply clients reach on a volume with this mean latency for each write size."""
    round_trip_bytes = log_bytes(message_bytes, MESSAGES_PER_ROUND_TRIP)
    size = write_size(clients * round_trip_bytes / WRITES_PER_ROUND_TRIP, buffer_bytes)
    write_ns = latency_ns(size)
    by_clients = clients / (WRITES_PER_ROUND_TRIP * write_ns)
    by_buffer = buffer_bytes / (round_trip_bytes * latency_ns(buffer_bytes))
    return RoundTrips(1e9 * min(by_clients, by_buffer), size, write_ns, 1e9 * BUSY_SHARE * size / write_ns)
