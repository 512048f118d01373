# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the samples of the source bpftrace, described in module_utils/_sources/bpftrace_seconds.py: exact seconds,
each with a histogram.

All other figures are calculated from these seconds. Everything that a host sends is checked: invalid data is left out,
and a problem says how much was left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..._run.shapes import Within
from ..._run.table_reader import printable
from .. import buckets
from ..interval import LOG, Fact, Interval, Maximum, Observation, Options, Over, Second, Stall
from ..samples import Sample

SOURCE = "bpftrace"
TITLE = "the system calls of the logger, from bpftrace"
CAVEAT = "Each call is timed in the kernel, from its beginning to its end. Time in the queue manager is not included."
BATCHES = 30
MOST_STREAMS = 9
MOST_MAXIMA = 10_000
MOST_STALLS = 10
"""How many of the slowest operations of each stream are kept. Operations above 10 ms are reported individually; shorter
ones only if they were a new maximum."""

MOST_UNSEEN_SHARE = 0.001
"""The share of writes to the log that may be made in ways that the figures do not cover. So few writes do not change a
mean or a p99."""

NOTABLE_OVERHEAD_SHARE = 0.02
_NS_PER_S = 1_000_000_000
_WHOLE = Within(0, (1 << 63) - 1, int)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def read(samples: Sequence[Sample], options: Options) -> Observation:
    """Return the observation from the samples so far. An unfinished interval is left out until the observation has
    ended."""
    reading = _Reading()
    for sample in samples:
        reading.take(sample)
    return reading.observation(options)


class _Unfit(ValueError):
    """Raised for output that the source never writes."""


@dataclass(slots=True)
class _Reading:
    """The data that was read so far, and the clocks that convert the kernel's time to the host's time."""

    at: Sample = field(default_factory=lambda: Sample(0.0, 0, ""))
    streams: tuple[str, ...] = ()
    overheads_ns: dict[str, int] = field(default_factory=dict)
    pid: int = 0
    duration_s: int = 0
    base_ns: int = 0
    base_epoch_s: float = 0.0
    end_ns: int = 0
    seconds: list[dict[str, Second]] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    late: int = 0
    lost: int = 0
    unfit: int = 0
    maxima: list[Maximum] = field(default_factory=list)
    longest_ns: dict[str, int] = field(default_factory=dict)
    slow: dict[str, list[Stall]] = field(default_factory=dict)
    in_flight_ns: dict[str, list[int]] = field(default_factory=dict)
    unseen: int = 0
    unflushed: int = 0
    notices_unseen: bool = True
    program: str = ""
    program_failed: bool = False

    def take(self, sample: Sample) -> None:
        """Process a sample. Invalid samples change nothing."""
        self.at = sample
        try:
            kind, content = _text(sample.text)
            takes = getattr(self, f"_take_{kind}", None)
            if takes is None or (kind != "watched" and not self.streams):
                raise _Unfit(kind)
            takes(content)
        except (_Unfit, AttributeError, KeyError, TypeError, ValueError, RecursionError):
            self.unfit += 1

    def _take_watched(self, content: Mapping[str, Any]) -> None:
        names = tuple(content["streams"])
        if (
            not 0 < len(names) <= MOST_STREAMS
            or len(set(names)) != len(names)
            or not all(_NAME.fullmatch(name) for name in names)
            or self.streams
        ):
            raise _Unfit
        self.overheads_ns = {
            kind: _whole(value) for kind, value in content["probe_overhead_ns"].items() if kind in (LOG, "call")
        }
        self.pid, self.duration_s = _whole(content["pid"]), _whole(content["duration_s"])
        self.notices_unseen = content.get("notices_unseen") is not False
        self.streams = names

    def _take_base(self, content: Any) -> None:
        if self.base_ns:
            raise _Unfit
        self.base_ns = _whole(content)
        self.base_epoch_s = self.at.epoch_s + (self.base_ns - self.at.monotonic_ns) / _NS_PER_S

    def _take_second(self, content: Mapping[str, Any]) -> None:
        if not self.base_ns or content["number"] != len(self.seconds) + 1:
            raise _Unfit
        contents = {name: content["streams"][name] for name in self.streams}
        seconds = {name: _second(len(self.seconds) + 1, name, contents[name]) for name in self.streams}
        errors = {name: _whole(contents[name]["errors"]) for name in self.streams}
        self.seconds.append(seconds)
        self.errors.update(errors)
        self.late += content["late"] is True

    def _take_in_flight(self, content: Mapping[str, Any]) -> None:
        self.in_flight_ns = {name: [_whole(start) for start in content[name][:MOST_STALLS]] for name in self.streams}

    def _take_maximum(self, content: Mapping[str, Any]) -> None:
        stall = self._take_stall(content)
        before_ns = self.longest_ns.get(stall.stream)
        # Events from different processors may arrive in the wrong order.
        if before_ns is None or stall.latency_ns > before_ns:
            self.longest_ns[stall.stream] = stall.latency_ns
            self.maxima.append(
                Maximum(stall.epoch_s + stall.latency_ns / _NS_PER_S, stall.stream, before_ns, stall.latency_ns)
            )

    def _take_stall(self, content: Mapping[str, Any]) -> Stall:
        name, at_ns, latency_ns = content["stream"], _whole(content["at_ns"]), _whole(content["latency_ns"])
        if name not in self.streams:
            raise _Unfit
        stall = Stall(
            self._epoch_s(at_ns - latency_ns), latency_ns, name, bytes=_whole(content["bytes"]) if name == LOG else None
        )
        slow = self.slow.setdefault(name, [])
        slow.append(stall)
        if len(slow) > 10 * MOST_STALLS:
            self.slow[name] = _slowest(slow)
        return stall

    def _take_end(self, content: Any) -> None:
        if not self.base_ns < _whole(content):
            raise _Unfit
        self.end_ns = content

    def _take_lost(self, content: Any) -> None:
        self.lost += _whole(content)

    def _take_unseen(self, content: Mapping[str, Any]) -> None:
        self.unseen = _whole(content[LOG])

    def _take_unflushed(self, content: Mapping[str, Any]) -> None:
        self.unflushed = _whole(content[LOG])

    def _take_program(self, content: Mapping[str, Any]) -> None:
        self.program = printable(str(content["words"])[:200])
        self.program_failed = content["status"] not in (None, 0)

    def _epoch_s(self, at_ns: int) -> float:
        return self.base_epoch_s + (at_ns - self.base_ns) / _NS_PER_S

    def _elapsed_ns(self) -> int:
        """Return the observed time: whole seconds, unless it ended within a second."""
        whole = len(self.seconds) * _NS_PER_S
        return min(whole, self.end_ns - self.base_ns) if self.end_ns else whole

    def observation(self, options: Options) -> Observation:
        thresholds_ns = options.thresholds_ns or buckets.THRESHOLDS_NS
        found = Observation(
            SOURCE,
            start_epoch_s=self.base_epoch_s,
            elapsed_ns=self._elapsed_ns(),
            intervals=tuple(self._intervals(options)),
            seconds=tuple(self._all_seconds()),
            histograms=self._histograms(),
            over=tuple(self._over(thresholds_ns)),
            maxima=self._maxima(),
            stalls=self._stalls(),
            facts=self._facts(),
            problems=tuple(self._problems()),
            ending=self._ending(),
        )
        return _without_log(found) if self._hides_writes() else found

    def _hides_writes(self) -> bool:
        return self.unseen > MOST_UNSEEN_SHARE * (self.unseen + self._operations(LOG))

    def _operations(self, name: str) -> int:
        return sum(second[name].operations for second in self.seconds if name in second)

    def _all_seconds(self) -> Iterator[Second]:
        for second in self.seconds[:-1]:
            yield from second.values()
        for last in self.seconds[-1:]:
            partial = self._elapsed_ns() < len(self.seconds) * _NS_PER_S
            yield from (replace(each, partial=partial) for each in last.values())

    def _intervals(self, options: Options) -> Iterator[Interval]:
        over = bool(self.end_ns or self.program) or len(self.seconds) >= self.duration_s
        for first in range(0, len(self.seconds), options.interval_s):
            part = self.seconds[first : first + options.interval_s]
            if len(part) == options.interval_s or over:
                elapsed_ns = min(len(part) * _NS_PER_S, self._elapsed_ns() - first * _NS_PER_S)
                for name in self.streams:
                    yield _interval(
                        self.base_epoch_s + first, elapsed_ns / _NS_PER_S, name, [second[name] for second in part]
                    )

    def _histograms(self) -> dict[tuple[str, int], dict[int, int]]:
        found: dict[tuple[str, int], Counter[int]] = {}
        for index, second in enumerate(self.seconds):
            for name, each in second.items():
                if each.buckets:
                    found.setdefault((name, index * BATCHES // len(self.seconds) + 1), Counter()).update(each.buckets)
        return {
            key: {buckets.upper_ns(bucket): counts[bucket] for bucket in sorted(counts)}
            for key, counts in found.items()
        }

    def _over(self, thresholds_ns: Sequence[int]) -> Iterator[Over]:
        for each in (each for second in self.seconds for each in second.values()):
            for threshold_ns in thresholds_ns:
                operations, sum_ns = buckets.operations_over(each.buckets, threshold_ns, each.latency_max_ns or 0)
                if operations:
                    yield Over(each.number, each.stream, threshold_ns, operations, sum_ns)

    def _maxima(self) -> tuple[Maximum, ...]:
        """Return the maxima of complete seconds only. Otherwise, the line of a maximum could appear before the line of
        an earlier interval."""
        until_epoch_s = self._epoch_s(self.base_ns + len(self.seconds) * _NS_PER_S)
        return tuple(maximum for maximum in self.maxima if maximum.epoch_s <= until_epoch_s)[:MOST_MAXIMA]

    def _stalls(self) -> tuple[Stall, ...]:
        now_ns = self.base_ns + self._elapsed_ns()
        found = []
        for name in self.streams:
            flying = [
                Stall(self._epoch_s(start_ns), now_ns - start_ns, name, True)
                for start_ns in self.in_flight_ns.get(name, [])
                if start_ns < now_ns
            ]
            found += _slowest(self.slow.get(name, []) + flying)
        return tuple(found)

    def _facts(self) -> dict[str, Fact]:
        facts: dict[str, Fact] = {}
        if self.overheads_ns:
            facts["probe_overhead_ns"] = self.overheads_ns.get(LOG, self.overheads_ns.get("call", 0))
        if len(self.overheads_ns) > 1:
            facts["probe_overhead_call_ns"] = self.overheads_ns["call"]
        if self.lost:
            facts["events_lost"] = self.lost
        if self.program:
            facts["program"] = self.program
        return facts

    def _problems(self) -> Iterator[str]:
        if self.unseen:
            yield (
                f"About {self.unseen} writes to log files were not made by a write call but in another way, such as "
                "io_uring or asynchronous I/O (AIO), which"
                " bpftrace does not time. "
                f"{'So there are no figures for the log.' if self._hides_writes() else 'No figure includes them.'}"
            )
        elif LOG in self.streams and not self.notices_unseen:
            yield (
                "Writes by io_uring or asynchronous I/O (AIO) cannot be detected on this kernel. If the log is "
                "written in these ways, no figure includes its writes."
            )
        if self.unflushed > 1:
            yield (
                f"{self.unflushed} writes to log files were neither synchronous (O_DSYNC) nor "
                "flushed when the observation ended."
                " They did not wait for the disk, and no figure includes them."
            )
        if self.unfit:
            yield f"{self.unfit} samples of bpftrace are invalid and are left out."
        if self.late:
            yield (
                f"The host was too busy to read {self.late} seconds in time: every operation is counted, but "
                "some of them in another second."
            )
        if self.lost:
            yield (
                f"bpftrace lost {self.lost} events: some lines about maxima and slow operations may be missing. "
                "The counts are not affected."
            )
        if len(self.maxima) > MOST_MAXIMA:
            yield f"Only the first {MOST_MAXIMA} of {len(self.maxima)} maxima are listed."
        for name in self.streams if self.seconds else ():
            yield from self._problems_of(name)

    def _problems_of(self, name: str) -> Iterator[str]:
        operations = self._operations(name)
        if self.errors[name]:
            yield f"{self.errors[name]} log writes failed. No figure includes them."
        if not operations and name == LOG and (self.unseen or self.unflushed):
            return
        if not operations:
            yield (
                "No write to a log file was seen: was the queue manager idle, and is observe_log_path its log?"
                if name == LOG
                else f"{name} was not called, or only by programs that load another library: see observe_library."
            )
            return
        mean_ns = sum(second[name].latency_sum_ns for second in self.seconds) / operations
        overhead_ns = self.overheads_ns.get(LOG if name == LOG else "call", 0)
        if overhead_ns > NOTABLE_OVERHEAD_SHARE * mean_ns:
            what = "log write" if name == LOG else name
            yield (
                f"Watching adds about {overhead_ns / 1000:.1f} us to each {what}, {overhead_ns / mean_ns:.0%} of its "
                f"mean of {mean_ns / 1000:.1f} us."
            )

    def _ending(self) -> str:
        if self.program:
            return f"the program {self.program}" if self.program_failed else ""
        if self.end_ns:
            return f"process {self.pid} ended" if self.pid else "bpftrace ended early"
        return ""


def _without_log(found: Observation) -> Observation:
    """Return an observation without figures for the log, because they would cover only some of its writes. Its
    intervals show when it was watched."""
    intervals = tuple(
        Interval(each.start_epoch_s, each.elapsed_s) if each.stream == LOG else each for each in found.intervals
    )
    return replace(found.only(*(name for name in found.streams if name != LOG)), intervals=intervals)


def _text(text: str) -> tuple[str, Any]:
    """Return the kind and the content of a text."""
    value = json.loads(text)
    if not isinstance(value, dict) or len(value) != 1:
        raise _Unfit
    return next(iter(value.items()))


def _whole(value: Any) -> int:
    if _WHOLE.misfit(value) is not None:
        raise _Unfit
    return value


def _second(number: int, name: str, content: Mapping[str, Any]) -> Second:
    counts = {int(bucket): _whole(operations) for bucket, operations in content["buckets"].items()}
    if not all(0 <= bucket < buckets.BUCKETS for bucket in counts):
        raise _Unfit
    counts = {bucket: operations for bucket, operations in counts.items() if operations}
    sum_ns, moved = _whole(content["sum_ns"]), _whole(content["bytes"])
    if not counts:
        return Second(number, name, 0, 0, 0)
    # If an extreme is outside its bucket, it was read late and belongs to another second.
    first, last = min(counts), max(counts)
    min_ns = _extreme(content.get("min_ns"), first, buckets.lower_ns(first))
    max_ns = _extreme(content.get("max_ns"), last, buckets.upper_ns(last))
    return Second(number, name, sum(counts.values()), moved, sum_ns, min_ns, max_ns, buckets=counts)


def _extreme(value: Any, bucket: int, bound_ns: int) -> int:
    """Return an extreme if it is within its bucket; otherwise, the bound of the bucket."""
    return value if value is not None and buckets.bucket_of(_whole(value)) == bucket else bound_ns


def _interval(start_epoch_s: float, elapsed_s: float, name: str, part: Sequence[Second]) -> Interval:
    operations, moved, sum_ns = (
        sum(getattr(second, figure) for second in part) for figure in ("operations", "bytes", "latency_sum_ns")
    )
    return Interval(
        start_epoch_s,
        elapsed_s,
        name,
        operations,
        moved if name == LOG else None,
        sum_ns / operations if operations else None,
        min((each.latency_min_ns for each in part if each.latency_min_ns is not None), default=None),
        max((each.latency_max_ns for each in part if each.latency_max_ns is not None), default=None),
        sum_ns,
        moved / operations if operations and name == LOG else None,
    )


def _slowest(stalls: Sequence[Stall]) -> list[Stall]:
    return sorted(stalls, key=lambda stall: -stall.latency_ns)[:MOST_STALLS]
