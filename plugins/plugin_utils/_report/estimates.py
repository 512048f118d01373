# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The estimates that every format of a report shows for a volume: by message size and number of clients, by distance,
for request/reply, and the measured values; and their section of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._units import format_duration, format_number, format_rate, format_ratio, format_size
from .._english.phrases import phrase, plural
from .._estimate.basis import Basis, Estimate
from .._estimate.commits import NS_PER_KM, RoundTrips, estimate_round_trips
from .._estimate.line import TEXTS, reservations
from .._estimate.target import target_of
from .charts.axes import thinned
from .charts.estimates import estimate_charts
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


_MARKS = "abcd"


def estimate_section(host: Host, is_full: bool = True) -> dict[str, Any] | None:
    """Return the estimates of a volume under the names that page/estimates.html.j2 uses, or None if nothing wrote to a
    log. Unless it is full, it contains only the sentence about the line and the headroom."""
    basis = host.basis
    if basis is None:
        return None
    shown = shown_estimates(host) if host.intervals and is_full else None
    return {
        "line": _line_text(basis),
        "headroom": _headroom(host, basis),
        "no_headroom": host.no_headroom,
        "contradictions": list(map(_contradiction, shown.contradicted)) if shown else [],
        "charts": estimate_charts(basis, shown) if shown else [],
        **(_tables(basis, shown) if shown else {"sizes": []}),
    }


def _line_text(basis: Basis) -> str:
    """Describe the line that the log's writes follow, or why there is no such line."""
    line = basis.line
    if line is None:
        return (
            "There are no estimates, because the latency does not fit a line over the size of the "
            f"write: {basis.no_line}."
        )
    return phrase(
        "A write of S bytes takes L(S) = L0 + S/B, with L0 = {base_ns:duration} \u00b1 {base_error_ns:duration} "
        "and B = {rate:rate} \u00b1 {rate_error:rate} (with standard errors; from writes of {smallest:size} to "
        "{largest:size}[, {writers} queue managers at the same time]). The means follow this line within "
        "{percent} %.",
        {
            "base_ns": line.base_ns,
            "base_error_ns": line.base_error_ns,
            "rate": 1e9 * line.bytes_per_ns,
            "rate_error": 1e9 * line.bytes_per_ns_error,
            # The mean of different sizes may not be a whole number.
            "smallest": round(line.smallest_bytes),
            "largest": round(line.largest_bytes),
            "writers": basis.writers if basis.writers > 1 else None,
            "percent": max(1, math.ceil(100 * line.worst)),
        },
    )


def _headroom(host: Host, basis: Basis) -> list[tuple[str, str]]:
    """Return the carried and the required load of a volume, as pairs; empty if no load is required or if the carried
    load is unknown."""
    found = host.headroom
    if found is None:
        return []
    wait = format_duration(found.wait_ns) if found.wait_ns is not None else "the log cannot keep up"
    return [
        ("Required", found.target.text),
        (
            f"Carried ({'measured' if found.measured else 'estimate'})",
            f"{format_number(found.carried_per_s)} messages/s",
        ),
        ("Margin", format_ratio(found.margin)),
        ("Mean wait of a commit at the required rate (estimate)", wait if basis.line else "unknown"),
        *(("Reservation", TEXTS[key]) for key in found.reservations),
    ]


def _contradiction(estimate: Estimate) -> str:
    """Return a sentence about a measurement that contradicts its estimate."""
    return phrase(
        "With {message_bytes:size} messages of {clients:count} clients, the measurement is {difference:ratio,2} {side} "
        "the estimate, although this is within the range of the model: rely on the measurement",
        {
            "message_bytes": estimate.load.message_bytes,
            "clients": estimate.load.applications,
            "difference": abs(estimate.difference),
            "side": "above" if estimate.difference > 0 else "below",
        },
    )


def _tables(basis: Basis, shown: ShownEstimates) -> dict[str, Any]:
    """Return the tables by message size and by distance, and the sentences about them."""
    marks, message = _marks(shown), format_size(shown.message_bytes)
    return {
        "model": phrase(
            "Clients of one queue manager each put [{puts} messages|one message], commit and begin again without think "
            "time, with a log buffer of {buffer_bytes:size}[, and a remote delay of {delay_ns:duration}].",
            {
                "puts": basis.load.puts_per_commit if basis.load.puts_per_commit > 1 else None,
                "buffer_bytes": basis.load.buffer_bytes,
                "delay_ns": basis.load.remote_delay_ns or None,
            },
        ),
        "clients": [plural(count, "client") for count in shown.clients],
        "sizes": [
            (format_size(size), [_cell(shown.commits[size, count], marks) for count in shown.clients])
            for size in shown.message_sizes
        ],
        "distance_message": message,
        "distances": [
            (
                f"{km} km",
                format_duration(NS_PER_KM * km) if km else "none",
                [_cell(estimate, marks) for estimate in estimates],
            )
            for km, estimates in shown.distances.items()
        ],
        "round_trips": phrase(
            "{clients:count} clients, each with one request and one reply of {message} at a time, reach about "
            "{round_trips_per_s:number} round trips/s with log writes of {write_bytes:size}; with such writes, the log "
            "takes at most {peak:rate}{against}.",
            {
                "clients": shown.round_trip_clients,
                "message": message,
                "round_trips_per_s": shown.round_trips.round_trips_per_s,
                "write_bytes": shown.round_trips.write_bytes,
                "peak": shown.round_trips.peak_log_bytes_per_s,
                "against": "".join(f"; {TEXTS[key]}" for key in shown.reservations),
            },
        ),
        "reservations": [(mark, TEXTS[key]) for key, mark in marks.items()],
    }


def _cell(estimate: Estimate, marks: Mapping[str, str]) -> dict[str, Any]:
    commits = estimate.commits
    messages = f"{format_number(commits.messages_per_s)} messages/s, " if estimate.load.puts_per_commit > 1 else ""
    return {
        "rate": f"{format_number(commits.commits_per_s)}/s",
        "marks": " ".join(marks[key] for key in estimate.reservations),
        "more": f"{messages}{format_rate(commits.bytes_per_s)}, {format_duration(commits.commit_latency_ns)}",
        "measured": _measured(estimate),
        "contradicted": estimate.contradicted,
    }


def _marks(shown: ShownEstimates) -> dict[str, str]:
    """Return a letter for each reservation about any of the estimates."""
    estimates = [*shown.commits.values(), *(estimate for row in shown.distances.values() for estimate in row)]
    used = {key for estimate in estimates for key in estimate.reservations}
    return dict(zip((key for key in TEXTS if key in used), _MARKS, strict=False))


def _measured(estimate: Estimate) -> str:
    if estimate.measured is None:
        return ""
    return f"measured {format_number(estimate.measured.commits_per_s)}/s ({round(100 * estimate.difference):+} %)"
