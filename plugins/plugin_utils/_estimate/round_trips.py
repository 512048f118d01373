# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Estimates the rate of request/reply applications, as measured by IBM, from the latency of the logger's writes.

In a round trip, two messages are put and got. With many applications, a round trip takes as long as about 6.5 writes of
the logger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .commits import log_bytes, write_size

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
