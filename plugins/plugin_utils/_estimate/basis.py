# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The basis of a volume's estimates: the tables of its run, which hold a latency sweep, the commit workload,
or neither; and how much more load than its target the volume can carry."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ...module_utils import _units
from .._run.columns import ALL_WORKERS, Row
from .._run.shapes import Facts
from .._run.tables import Tables
from .commits import DEFAULT_BUFFER_BYTES, PAGE_BYTES, Commits, Load, estimate_commits, mean_commit_wait_ns
from .line import FAST, TEXTS, Line, NoLine, fit_line, reservations
from .target import Target

AGREEMENT = 0.25
"""A measurement that differs from its estimate by more than this share of the estimate contradicts the model."""

_LOG, _COMMIT = "log", "commit"


@dataclass(frozen=True, slots=True)
class Measured:
    """The result of the commit workload for one queue manager, or for the slowest one if there were several."""

    commits_per_s: float
    messages_per_s: float
    commit_latency_ns: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimate for a load, the reservations about it (keys of reservations.TEXTS), and the measurement of the same
    load, or None."""

    load: Load
    commits: Commits
    reservations: tuple[str, ...]
    measured: Measured | None = None

    @property
    def difference(self) -> float | None:
        """By how much the measurement exceeds the estimate, as a share of the estimate; None if nothing was
        measured."""
        return self.measured.commits_per_s / self.commits.commits_per_s - 1 if self.measured else None

    @property
    def contradicted(self) -> bool:
        """Whether the measurement contradicts the estimate although there are no reservations about it."""
        return self.difference is not None and abs(self.difference) > AGREEMENT and not self.reservations


@dataclass(frozen=True, slots=True)
class Basis:
    """The line that describes the log's writes, or the reason why there is none, and the results of the commit workload
    by message size and number of applications.

    writers is the number of queue managers that wrote at the same time when the line was measured. load is the load of
    the commit workload, or the default load. Its buffer, messages in a commit and remote delay apply to all estimates.
    variations are the coefficients of variation of the latency for each write size.
    """

    line: Line | None
    no_line: str
    writers: int
    load: Load
    measured: Mapping[tuple[int, int], Measured]
    variations: tuple[tuple[float, float], ...]

    def estimate(self, message_bytes: int, applications: int, more_delay_ns: float = 0.0) -> Estimate:
        """Return the estimate for applications that commit messages of a size; more_delay_ns is added to the remote
        delay. Requires a line."""
        load = replace(
            self.load,
            applications=applications,
            message_bytes=message_bytes,
            remote_delay_ns=self.load.remote_delay_ns + more_delay_ns,
        )
        commits = estimate_commits(self.line.latency_ns, load)
        measured = None if more_delay_ns else self.measured.get((message_bytes, applications))
        return Estimate(load, commits, reservations(self.line, commits.write_bytes, commits.cycle_ns), measured)

    def variation(self, write_bytes: float) -> float:
        """Return the coefficient of variation of the latency at the measured size that is nearest to the given size of
        a write."""
        return min(self.variations, key=lambda known: abs(math.log(known[0] / write_bytes)), default=(0, 0.0))[1]


def basis_of(tables: Tables, facts: Facts) -> Basis | None:
    """Return the basis of estimates from the tables of a run and the facts of its host. The result is None if nothing
    was written to a log, or if other data was written at the same time."""
    writes = (
        [
            row
            for row in tables.results
            if row["stream"] == _LOG and row["operation"] == "write" and row["worker"] == ALL_WORKERS
        ]
        if tables.layout.of_mq
        else []
    )
    if not writes:
        return None
    chosen = _of_fewest_writers(writes, tables)
    points = [
        (size, row["latency_mean_ns"], row.get("latency_cv"))
        for row in chosen
        if (size := _write_size(row)) and row["latency_mean_ns"]
    ]
    try:
        line, no_line = fit_line([(size, mean) for size, mean, variation in points]), ""
    except NoLine as why:
        line, no_line = None, str(why)
    return Basis(
        line=line,
        no_line=no_line,
        writers=tables.workers_of(chosen[0]),
        load=Load(
            applications=1,
            message_bytes=0,
            puts_per_commit=int(tables.number("option_puts_per_commit") or 1),
            buffer_bytes=_buffer_bytes(tables, facts),
            remote_delay_ns=1000 * (tables.number("option_remote_delay_us") or 0.0),
        ),
        measured={} if tables.number("option_think_time_us") else _measured(tables),
        variations=tuple((size, variation) for size, mean, variation in points if variation is not None),
    )


def _buffer_bytes(tables: Tables, facts: Facts) -> int:
    """Return the size of the log buffer: that of the commit workload if there is one, otherwise that of the host's
    queue managers if it is known, otherwise the default."""
    configured = facts.get("queue_manager_log_buffer_bytes")
    known = (
        configured
        if isinstance(configured, int) and not isinstance(configured, bool) and configured >= PAGE_BYTES
        else DEFAULT_BUFFER_BYTES
    )
    return int(tables.number("option_log_buffer_bytes") or known)


def _of_fewest_writers(rows: list[Row], tables: Tables) -> list[Row]:
    """Return the rows with the smallest number of queue managers that write at the same time: with as few as possible,
    they disturb each other least."""
    fewest = min(map(tables.workers_of, rows))
    return [row for row in rows if tables.workers_of(row) == fewest]


def _write_size(row: Row) -> float | None:
    """Return the size of the writes in a row. In the commit workload, the size of writes varies, and the size of the
    step is that of its messages."""
    return row.get("write_size_mean_bytes") or row["block_size_bytes"]


def _measured(tables: Tables) -> dict[tuple[int, int], Measured]:
    found: dict[tuple[int, int], Measured] = {}
    for row in _rows_of_queue_managers(tables.results):
        key = row["block_size_bytes"], row["load_point"]
        one = Measured(row["operations_per_s"], row["messages_per_s"], row["latency_mean_ns"])
        found[key] = min(one, found.get(key, one), key=lambda measured: measured.commits_per_s)
    return found


def _rows_of_queue_managers(rows: Iterable[Row]) -> list[Row]:
    known = ("operations_per_s", "messages_per_s", "latency_mean_ns")
    return [
        row
        for row in rows
        if row["operation"] == _COMMIT
        and row["worker"] != ALL_WORKERS
        and row["block_size_bytes"]
        and all(map(row.get, known))
    ]


class NoHeadroom(Exception):
    """The headroom cannot be determined. The message is a clause that states the reason."""


@dataclass(frozen=True, slots=True)
class Headroom:
    """The load that a volume can carry, compared with the required load. margin is the difference as a share of the
    required load, negative if the volume carries less. measured is true if the commit workload measured it. Otherwise
    it is an estimate, and the reservations apply. wait_ns is the estimated mean wait of a commit at the required rate,
    None if the log cannot keep up with it or there is no estimate.
    """

    target: Target
    carried_per_s: float
    measured: bool
    reservations: tuple[str, ...]
    wait_ns: float | None

    @property
    def margin(self) -> float:
        return self.carried_per_s / self.target.messages_per_s - 1

    @property
    def doubtful(self) -> bool:
        """True if the reservations make the margin unreliable. A limit caused by the processor is not one of them,
        because it is not a fault of the volume."""
        return any(key != FAST for key in self.reservations)

    @property
    def text(self) -> str:
        """The carried and the required load, and their source, as a clause."""
        origin = (
            "measured by the commit workload"
            if self.measured
            else "; ".join(("an estimate", *(TEXTS[key] for key in self.reservations)))
        )
        return f"{_units.format_number(self.carried_per_s)} messages/s carried, {self.target.text} required ({origin})"


def headroom(basis: Basis | None, target: Target | None) -> Headroom:
    """Return the headroom of a volume. Raises NoHeadroom."""
    if target is None:
        raise NoHeadroom("sweep_target does not state what the volume must carry")
    measured: Measured | None = basis.measured.get((target.message_bytes, target.clients)) if basis else None
    if basis is None or (basis.line is None and measured is None):
        raise NoHeadroom(
            f"there is no estimate: {basis.no_line if basis else 'only runs of queue managers alone provide one'}"
        )
    if basis.line is None:
        return Headroom(target, measured.messages_per_s, True, (), None)
    estimate = basis.estimate(target.message_bytes, target.clients)
    carried = measured.messages_per_s if measured else estimate.commits.messages_per_s
    return Headroom(
        target, carried, measured is not None, () if measured else estimate.reservations, _wait_ns(basis, target)
    )


def _wait_ns(basis: Basis, target: Target) -> float | None:
    load = replace(basis.load, message_bytes=target.message_bytes)
    return mean_commit_wait_ns(
        basis.line, load, target.messages_per_s / load.puts_per_commit, basis.variation(load.record_bytes)
    )
