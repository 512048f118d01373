# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Estimates how many commits per second applications reach without think time, from the latency of the logger's writes.

Each queue manager has one logger with one outstanding write. While this write is in flight, the commits of other
applications accumulate, and the next write takes them all, up to the size of the log buffer. With at least two
applications, two cohorts alternate. When a write completes the commits of some applications, these applications commit
again just after the next write has started. Therefore, each write carries the commits of one half of the applications.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...module_utils import _ini_files

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
