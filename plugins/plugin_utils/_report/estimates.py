# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The estimates that every format of a report shows for a volume: by message size and number of clients, by distance,
for request/reply, and the measured values."""

from __future__ import annotations

from dataclasses import dataclass

from .._estimate.basis import Estimate
from .._estimate.commits import NS_PER_KM
from .._estimate.reservations import reservations
from .._estimate.round_trips import RoundTrips, estimate_round_trips
from .._estimate.target import target_of
from .charts.axes import thinned
from .model import Host

MESSAGE_SIZES = (100, 1 << 10, 2 << 10, 10 << 10, 100 << 10, 1 << 20)
CLIENTS = (1, 10, 100, 1000)
DISTANCES_KM = (0, 10, 50, 100, 300)
MESSAGE_BYTES, ROUND_TRIP_CLIENTS = 2 << 10, 60
"""The load for which distances and request/reply are estimated if the volume has no target."""

MOST_SIZES, MOST_CLIENTS = 10, 6
"""The largest numbers of message sizes and of clients for which estimates are shown; if there are more, the smallest,
the largest and some between them are shown."""


@dataclass(frozen=True, slots=True)
class ShownEstimates:
    """The estimates of a volume: by message size and number of clients, by distance and number of clients for one
    message size, and for request/reply clients.

    ``log_bytes_per_s`` is the log's throughput with commits that fill each of its writes. ``reservations`` are the
    reservations about the request/reply estimate.
    """

    message_sizes: list[int]
    clients: list[int]
    commits: dict[tuple[int, int], Estimate]
    log_bytes_per_s: float
    message_bytes: int
    distances: dict[int, list[Estimate]]
    round_trip_clients: int
    round_trips: RoundTrips
    reservations: tuple[str, ...]

    @property
    def contradicted(self) -> list[Estimate]:
        """The estimates that the measured commit workload contradicts."""
        return [estimate for estimate in self.commits.values() if estimate.contradicted]


def shown_estimates(host: Host) -> ShownEstimates | None:
    """Return the estimates of a volume, or None if its latencies do not follow a line."""
    basis = host.basis
    if basis is None or basis.line is None:
        return None
    target = target_of(host.facts)
    sizes = {size for size, clients in basis.measured} or {*MESSAGE_SIZES}
    counts = {clients for size, clients in basis.measured} or {*CLIENTS}
    if target:
        sizes, counts = sizes | {target.message_bytes}, counts | {target.clients}
    message_sizes, clients = thinned(sorted(sizes), MOST_SIZES), thinned(sorted(counts), MOST_CLIENTS)
    message_bytes = target.message_bytes if target else MESSAGE_BYTES
    round_trip_clients = target.clients if target else ROUND_TRIP_CLIENTS
    round_trips = estimate_round_trips(
        basis.line.latency_ns, round_trip_clients, message_bytes, basis.load.buffer_bytes
    )
    buffer_bytes = basis.load.buffer_bytes
    return ShownEstimates(
        message_sizes=message_sizes,
        clients=clients,
        commits={(size, count): basis.estimate(size, count) for size in message_sizes for count in clients},
        log_bytes_per_s=1e9 * buffer_bytes / (basis.line.latency_ns(buffer_bytes) + basis.load.remote_delay_ns),
        message_bytes=message_bytes,
        distances={
            km: [basis.estimate(message_bytes, count, NS_PER_KM * km) for count in clients] for km in DISTANCES_KM
        },
        round_trip_clients=round_trip_clients,
        round_trips=round_trips,
        reservations=reservations(basis.line, round_trips.write_bytes, round_trips.write_ns),
    )
