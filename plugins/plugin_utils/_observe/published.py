# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts the figures that MQ publishes about its log, regardless of the form in which they arrive. For each interval,
these are the bytes, rolling averages of latency and size, and the slowest write.

MQ does not count writes, so their number is an estimate: the bytes divided by the mean size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .interval import LOG, Fact, Interval, Maximum, Observation

PHYSICAL, LOGICAL, LATENCY, SIZE = "physical_bytes", "logical_bytes", "latency_ns", "size_bytes"
SLOWEST, SLOWEST_AT, IN_USE, MOST = "slowest_ns", "slowest_at_epoch_s", "in_use_bytes", "max_bytes"
LARGEST = float(1 << 63)
"""No figure of MQ can be larger."""
_SLACK_S = 1.0
_LATEST_EPOCH_S = 1e11
_RESTARTED = "The queue manager restarted while it was observed: its slowest write since restart became faster."


@dataclass(frozen=True, slots=True)
class Published:
    """The figures that MQ published about one interval, or None for figures that it did not publish. The slowest write
    is the slowest one since the queue manager started."""

    start_epoch_s: float
    elapsed_s: float
    physical_bytes: float | None = None
    logical_bytes: float | None = None
    latency_ns: float | None = None
    size_bytes: float | None = None
    slowest_ns: float | None = None
    slowest_at_epoch_s: float | None = None
    in_use_bytes: float | None = None
    max_bytes: float | None = None

    @property
    def end_epoch_s(self) -> float:
        return self.start_epoch_s + self.elapsed_s


CAVEAT_OF_AVERAGES = (
    "These are rolling averages: there are no percentiles, the number of writes is an estimate, and a short stall "
    "hardly shows. The slowest write is known only since the queue manager started."
)


def epoch_of(number: float) -> float:
    """Return a time in seconds since 1970. It may have been published in milliseconds or microseconds."""
    while number > _LATEST_EPOCH_S:
        number /= 1000
    return number


def observation_of(
    source: str,
    published: Sequence[Published],
    facts: Mapping[str, Fact],
    problems: Sequence[str],
    *,
    slowest_before_ns: float | None = None,
) -> Observation:
    """Return the published figures as an observation of the log. ``slowest_before_ns`` is the slowest write at the
    start of the observation, or None if it was not published."""
    grown = list(_growth(published, slowest_before_ns))
    slowest = [each for each in (slowest_before_ns, *(each.slowest_ns for each in published)) if each]
    restarted = any(later < earlier for earlier, later in pairwise(slowest))
    # After a restart, MQ no longer reports the slowest write from before the restart. A maximum is known only if it is
    # slower than that write.
    known = [maximum if maximum and not (restarted and maximum.new_ns < max(slowest)) else None for maximum in grown]
    intervals = tuple(_interval(each, maximum) for each, maximum in zip(published, known, strict=True))
    return Observation(
        source=source,
        start_epoch_s=published[0].start_epoch_s if published else 0.0,
        elapsed_ns=round(sum(each.elapsed_s for each in published) * 1e9),
        intervals=intervals,
        maxima=tuple(maximum for maximum in grown if maximum),
        facts={"operations_are_estimated": 1, "latency_is_rolling": 1, **_facts(published, restarted), **facts},
        problems=(*problems, *([_RESTARTED] if restarted else [])),
    )


def _interval(each: Published, maximum: Maximum | None) -> Interval:
    return Interval(
        start_epoch_s=each.start_epoch_s,
        elapsed_s=each.elapsed_s,
        stream=LOG,
        operations=_operations(each),
        bytes=None if each.physical_bytes is None else round(each.physical_bytes),
        latency_mean_ns=None if each.latency_ns is None else round(each.latency_ns, 3),
        latency_max_ns=maximum.new_ns if maximum else None,
        write_size_mean_bytes=each.size_bytes,
    )


def _operations(each: Published) -> int | None:
    if each.physical_bytes == 0:
        return 0
    if each.physical_bytes is None or each.size_bytes is None or each.size_bytes < 1:
        return None
    return max(1, round(each.physical_bytes / each.size_bytes))


def _growth(published: Sequence[Published], previous: float | None) -> Iterator[Maximum | None]:
    """Yield, for each interval, the slowest write since restart if it occurred in this interval. This follows from its
    time, or from a faster previous maximum."""
    for each in published:
        found = None
        if each.slowest_ns:
            at = each.slowest_at_epoch_s
            inside = at is not None and each.start_epoch_s <= at <= each.end_epoch_s + _SLACK_S
            if inside if previous is None else each.slowest_ns > previous:
                found = Maximum(
                    at if at is not None and inside else each.end_epoch_s,
                    LOG,
                    None if previous is None else round(previous),
                    round(each.slowest_ns),
                )
            previous = each.slowest_ns
        yield found


def _facts(published: Sequence[Published], restarted: bool) -> dict[str, Fact]:
    """Return the newest values that do not belong to an interval. The slowest write since a restart says nothing about
    writes before the restart."""
    found: dict[str, Fact] = {}
    for each in published:
        for name, value in (
            ("slowest_write_since_restart_ns", None if restarted else each.slowest_ns),
            ("log_bytes_in_use", each.in_use_bytes),
            ("log_bytes_max", each.max_bytes),
        ):
            if value is not None:
                found[name] = round(value)
        if each.slowest_at_epoch_s and not restarted:
            found["slowest_write_at_epoch_s"] = each.slowest_at_epoch_s
    logical = [each for each in published if each.logical_bytes is not None]
    if logical:
        found["logical_bytes_per_s"] = sum(each.logical_bytes or 0 for each in logical) / sum(
            each.elapsed_s for each in logical
        )
    return found
