# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Criteria for judging: the limits on a host's figures, how long they must be measured, and the waivers with their
dates."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...module_utils import _units
from .._run.columns import ALL_STREAMS, ALL_WORKERS, BLOCK, COMMITS, MESSAGE, MQ_LOG, NO_SIZE, Row
from .metrics import Metric

FAIL = "fail"
WARN = "warn"
SEVERITIES = (FAIL, WARN)

LOG = "log"
"""The stream that a limit judges if it does not name a stream."""

MAX_THRESHOLDS = 32
"""The largest number of thresholds that the tester counts in addition to its own (OPTIONS_OVER_MAX in the tester)."""
LONGEST_THRESHOLD_NS = 3600 * 10**9
"""The longest threshold that the tester accepts."""

NO_CONFIDENCE = "none"
"""The value that replaces the confidence in a profile that compares figures directly with their limits."""


@dataclass(frozen=True)
class Range:
    """A closed range of block sizes (bytes) or load points; None means no bound."""

    min: int | None
    max: int | None

    def __contains__(self, value: int) -> bool:
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)

    def as_dict(self) -> dict[str, int]:
        """Return those bounds that the range has."""
        return {end: value for end, value in (("min", self.min), ("max", self.max)) if value is not None}

    def text(self, write: Callable[[int], str]) -> str:
        """Format the range with a formatter: "4 KiB", "<= 64 KiB", "4 KiB to 64 KiB"."""
        if self.min is not None and self.min == self.max:
            return write(self.min)
        if self.min is None:
            return "" if self.max is None else f"<= {write(self.max)}"
        return f">= {write(self.min)}" if self.max is None else f"{write(self.min)} to {write(self.max)}"


@dataclass(frozen=True)
class Limit:
    """One criterion: a metric, the limit on its value, and the rows that it judges.

    ``bound`` is `max` or `min`; ``value`` is in the metric's base unit; ``strict`` means that the limit is already
    broken if the value is reached. ``stated`` is the value as written in the profile. ``block_size``, ``message_size``
    and ``load_point`` are None if all of them are judged; steps may have block sizes, message sizes, or neither.
    ``stream`` is the stream whose rows are judged, and ``operation`` is its operation that is judged (empty for all).
    ``source`` states where the number comes from. ``id`` is the identifier that auditors cite, unique in its profile,
    empty if there is none. ``is_default`` is true for a limit of a kind of run that the profile does not state.
    """

    metric: Metric
    bound: str
    strict: bool
    value: float
    stated: str | int | float
    severity: str = FAIL
    hard: bool = False
    block_size: Range | None = None
    load_point: Range | None = None
    source: str = ""
    message_size: Range | None = None
    stream: str = LOG
    operation: str = ""
    id: str = ""
    is_default: bool = False

    @property
    def operator(self) -> str:
        """The relation between a figure that meets the limit and the limit: <=, < or >=."""
        if self.bound == "min":
            return ">="
        return "<" if self.strict else "<="

    @property
    def threshold_ns(self) -> int:
        """The threshold above which a latency breaks the limit: above X for `max: X`,
        above X - 1 ns for `below: X`."""
        return int(self.value) - self.strict

    @property
    def is_counted(self) -> bool:
        """Whether the tester can count the operations that are over the limit."""
        return self.stream != COMMITS and not self.metric.of_responses

    @cached_property
    def text(self) -> str:
        """The limit without its rows, for example "latency_p99 <= 2 ms"."""
        return f"{self.metric.name} {self.operator} {self.metric.kind.format(self.value, 12)}"

    @cached_property
    def rows_text(self) -> str:
        """The rows that the limit judges, for example "block size <= 64 KiB"; empty if it judges all of them."""
        parts = [self._stream_text] if self._stream_text else []
        if self.block_size:
            parts.append(f"block size {self.block_size.text(_units.format_size)}")
        if self.message_size:
            parts.append(f"message size {self.message_size.text(_units.format_size)}")
        if self.load_point:
            parts.append(f"load point {self.load_point.text(str)}")
        return ", ".join(parts)

    @property
    def _stream_text(self) -> str:
        if self.stream == ALL_STREAMS:
            return "whole workload"
        stream = "" if self.stream == LOG else f"stream {self.stream}"
        return " of ".join(part for part in (f"{self.operation}s" if self.operation else "", stream) if part)

    def applies_to(self, row: Row, step_size: str = BLOCK) -> bool:
        """Return whether the limit judges a row of results.csv. Steps may have block sizes or message sizes, and
        streams may have block sizes.

        The workers of the log and of commits are queue managers. The workers of other streams are just threads.
        """
        if row["worker"] != ALL_WORKERS and (self.metric.scope == "all" or self.stream not in (LOG, COMMITS)):
            return False
        if row.get("stream", LOG) != self.stream or self.operation not in ("", row.get("operation", "")):
            return False
        for sizes, kinds in ((self.block_size, (BLOCK, NO_SIZE)), (self.message_size, (MESSAGE,))):
            if sizes and (
                step_size not in kinds or row["block_size_bytes"] is None or row["block_size_bytes"] not in sizes
            ):
                return False
        return not self.load_point or row["load_point"] in self.load_point

    def broken_by(self, value: float) -> bool:
        """Return whether a figure in the metric's base unit breaks the limit."""
        if self.bound == "min":
            return value < self.value
        return value >= self.value if self.strict else value > self.value

    def as_dict(self) -> dict[str, Any]:
        """Return the limit in the form that load_profile reads."""
        rows = {key: getattr(self, key) for key in ("block_size", "message_size", "load_point")}
        known = {
            "stream": "" if self.stream == LOG else self.stream,
            "operation": self.operation,
            **{key: values.as_dict() for key, values in rows.items() if values},
            "source": self.source,
        }
        return {
            **({"id": self.id} if self.id else {}),
            "metric": self.metric.name,
            "below" if self.strict else self.bound: self.stated,
            "severity": self.severity,
            "hard": self.hard,
            **{key: value for key, value in known.items() if value},
        }


@dataclass(frozen=True)
class Waiver:
    """Excuses a host from the limits on one metric, or from the single limit with a given id, up to and including a
    day. Hard limits cannot be waived.

    Either ``metric`` or ``limit_id`` is empty. ``owner`` is the person responsible for the waiver; empty if nobody is
    named.
    """

    host: str
    metric: str
    until: datetime.date
    reason: str
    owner: str = ""
    limit_id: str = ""

    def excuses(self, metric: str, limit_id: str) -> bool:
        """Return whether the waiver covers a limit with this metric and id."""
        return self.limit_id == limit_id if self.limit_id else self.metric == metric

    def as_dict(self) -> dict[str, str]:
        """Return the waiver in the form that load_profile reads."""
        named = {"owner": self.owner} if self.owner else {}
        about = {"id": self.limit_id} if self.limit_id else {"metric": self.metric}
        return {"host": self.host, **about, **named, "until": self.until.isoformat(), "reason": self.reason}


@dataclass(frozen=True)
class Profile:
    """A complete set of criteria for judging. ``min_duration_s`` is the measured time per row in seconds;
    ``min_footprint_bytes`` is the required total size of one queue manager's files; ``block_sizes`` are those that a
    certificate must contain. ``confidence`` is the confidence with which a pass must be shown, or None if figures are
    compared directly and never certify. A pass that covers only slow phases shorter than ``episode_s`` does not
    certify. Values that are 0 or empty require nothing. ``workload`` is the workload whose runs certify.
    ``derived_from`` contains the name and version of each profile that this one extends; their content is included.
    ``limits`` judge the tester's tables, and ``kind_limits`` the figures of other kinds of runs; the defaults of those
    kinds are included. ``sections`` holds the sections about kinds of runs, by their keys (see ``_kinds/facets.py``);
    empty ones are left out.
    """

    name: str
    version: int | str
    description: str
    min_duration_s: float
    min_footprint_bytes: int
    block_sizes: tuple[int, ...]
    confidence: float | None
    episode_s: float
    limits: tuple[Limit, ...]
    waivers: tuple[Waiver, ...]
    derived_from: tuple[str, ...] = ()
    workload: str = MQ_LOG
    sections: Mapping[str, Any] = field(default_factory=dict, hash=False)
    kind_limits: tuple[Limit, ...] = ()

    @property
    def stall_limit_ns(self) -> float:
        """The age in nanoseconds at which a write that is still in flight proves a failure. It is the smallest hard
        limit on latency_max."""
        return min(limit.value for limit in self.limits if limit.hard and limit.metric.name == "latency_max")

    @property
    def thresholds_ns(self) -> list[int]:
        """The thresholds above which the tester is to count operations, in ascending order. They come from the limits
        on percentiles for which it can count.

        Limits on commits and on response times are compared directly, so nothing is counted for them.
        """
        thresholds = {
            limit.threshold_ns for limit in self.limits if limit.metric.allowed_share is not None and limit.is_counted
        }
        return sorted(threshold for threshold in thresholds if 1 <= threshold <= LONGEST_THRESHOLD_NS)

    def waiver_of(self, hosts: Container[str], metric: str, limit_id: str) -> Waiver | None:
        """Return the waiver for one of some hosts that covers a metric or an id, the one that is valid for longest;
        None if there is none. It may have expired."""
        found = (waiver for waiver in self.waivers if waiver.host in hosts and waiver.excuses(metric, limit_id))
        return max(found, key=lambda waiver: waiver.until, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return the profile as plain data that load_profile reads back to an equal profile. Values that require
        nothing, and limits that are defaults, are left out."""
        required = {
            "workload": "" if self.workload == MQ_LOG else self.workload,
            "min_footprint": self.min_footprint_bytes,
            "block_sizes": list(self.block_sizes),
            "episode_s": self.episode_s,
        }
        return {
            "name": self.name,
            "version": self.version,
            "description": self.description,
            **({"derived_from": list(self.derived_from)} if self.derived_from else {}),
            **self.sections,
            "qualifies": {
                "min_duration_s": self.min_duration_s,
                "confidence": NO_CONFIDENCE if self.confidence is None else self.confidence,
                **{key: value for key, value in required.items() if value},
            },
            "limits": [limit.as_dict() for limit in (*self.limits, *self.kind_limits) if not limit.is_default],
            "waivers": [waiver.as_dict() for waiver in self.waivers],
        }
