# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows an observation as lines for a terminal: a table of intervals with a line at each new maximum, a histogram, and
how busy the logger was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...module_utils import _units
from .._run.moment import utc_text
from .buckets import bucket_of, upper_ns
from .interval import LOG, Interval, Maximum, Observation, spent_ns, utilisation, utilisation_of

HISTOGRAM_ROWS = 40
BAR_WIDTH = 40
ROWS_PER_HEADER = 10

_NS_PER_US = 1000
_SO_FAR = "Times are in microseconds. Total, maximum, minimum and average cover the time since the observation began."
_ESTIMATED = (
    "MQ publishes rolling averages: the counts are estimates (bytes over the mean write size), and no minimum is known."
)
_UNKNOWN = "-"
_TIME = "Time "
"""The title of the first column. No other line begins with this word."""
_CLEAR_TREND = 0.02


@dataclass(slots=True)
class _SoFar:
    """The totals of a stream since the observation began."""

    operations: int = 0
    counted: bool = True
    spent_ns: float = 0.0
    spent_operations: int = 0
    newest_mean_ns: float | None = None
    shortest_ns: int | None = None
    longest_ns: int | None = None

    def add(self, each: Interval) -> None:
        if each.operations is None:
            self.counted = False
        else:
            self.operations += each.operations
        spent = spent_ns(each)
        if spent is not None and each.operations:
            self.spent_ns += spent
            self.spent_operations += each.operations
        if each.latency_mean_ns is not None:
            self.newest_mean_ns = each.latency_mean_ns
        if each.latency_min_ns is not None:
            self.shortest_ns = min(each.latency_min_ns, self.shortest_ns or each.latency_min_ns)
        if each.latency_max_ns is not None:
            self.longest_ns = max(each.latency_max_ns, self.longest_ns or 0)

    @property
    def mean_ns(self) -> float | None:
        """The mean of all operations or, if they were not counted, the last published mean."""
        return self.spent_ns / self.spent_operations if self.spent_operations else self.newest_mean_ns


def live_lines(observation: Observation) -> list[str]:
    """Return the table of intervals with a line at each new maximum, in order of time. If an observation continues,
    lines are only added at the end."""
    if not observation.intervals and not observation.maxima:
        return []
    lines = [_SO_FAR, *([_ESTIMATED] if observation.facts.get("operations_are_estimated") else [])]
    so_far: dict[str, _SoFar] = {}
    rows = 0
    events: list[tuple[float, Interval | Maximum]] = [(each.epoch_s, each) for each in observation.maxima]
    events += [(each.start_epoch_s + each.elapsed_s, each) for each in observation.intervals]
    named = observation.streams != (LOG,)
    for epoch_s, event in sorted(events, key=lambda event: event[0]):
        if isinstance(event, Maximum):
            lines.append(_maximum(event))
            continue
        if rows % ROWS_PER_HEADER == 0:
            lines.append(_header(event, named))
        rows += 1
        stream = so_far.setdefault(event.stream, _SoFar())
        stream.add(event)
        lines.append(_row(epoch_s, event, stream, named))
    return lines


def newest_lines(lines: Sequence[str], shown: int, room: int) -> list[str]:
    """Return the lines after the first ``shown`` lines or, if there are more than ``room``, the last of them. If lines
    are cut off at the beginning, the titles of the columns are added."""
    new = list(lines[shown:][-room:]) if room else []
    titles = [line for line in lines[: len(lines) - len(new)] if line.startswith(_TIME)]
    is_titled = shown or not titles or any(line.startswith(_TIME) for line in new)
    return new if is_titled or room < 2 else [titles[-1], *new[1:]]


def final_lines(observation: Observation, *, histograms: bool = True) -> list[str]:
    """Return the results at the end of an observation: the histogram of each stream, the utilisation of the logger,
    and its slowest write since restart."""
    lines = (
        [line for stream in observation.streams for line in histogram_lines(observation, stream)] if histograms else []
    )
    return [*lines, *_utilisation(observation), *_slowest(observation)]


def histogram_lines(observation: Observation, stream: str) -> list[str]:
    """Return the histogram of a stream with bars, in at most HISTOGRAM_ROWS rows of equal ratio; nothing if the source
    does not provide one."""
    counts: Counter[int] = Counter()
    for found in observation.only(stream).histograms.values():
        counts.update({bucket_of(upper): operations for upper, operations in found.items() if operations})
    if not counts:
        return []
    first, last = min(counts), max(counts)
    width = -(-(last - first + 1) // HISTOGRAM_ROWS)
    rows: Counter[int] = Counter()
    for bucket, operations in counts.items():
        rows[(bucket - first) // width] += operations
    highest = max(rows.values())
    lines = [f"{'Up to (us)':>14} {'Frequency':>12}  {stream}"]
    for row in range(max(rows) + 1):
        bound_ns = upper_ns(min(last, first + (row + 1) * width - 1))
        signs = "=" * (-(-rows[row] * BAR_WIDTH // highest))
        lines.append(f"{_us(bound_ns, 1):>14} {rows[row]:>12}  {signs}".rstrip())
    return lines


def _header(each: Interval, named: bool) -> str:
    columns = [f"{round(each.elapsed_s)}s Count", "Total", "MaxTime", "MinTime", "AvgTime", "Utilisation"]
    return _line(_TIME, "Stream" if named else None, columns)


def _row(epoch_s: float, each: Interval, so_far: _SoFar, named: bool) -> str:
    share = utilisation_of([each]) if each.stream == LOG else None
    columns = [
        _UNKNOWN if each.operations is None else str(each.operations),
        str(so_far.operations) if so_far.counted else _UNKNOWN,
        _us(so_far.longest_ns),
        _us(so_far.shortest_ns),
        _us(so_far.mean_ns),
        _UNKNOWN if share is None else _units.format_ratio(share),
    ]
    return _line(_time(epoch_s), each.stream if named else None, columns)


def _line(time: str, stream: str | None, columns: Sequence[str]) -> str:
    named = "" if stream is None else f" {stream:<10}"
    return f"{time:<8}{named}" + "".join(f" {column:>12}" for column in columns)


def _maximum(maximum: Maximum) -> str:
    previous = "the first one" if maximum.previous_ns is None else f"previously {_us(maximum.previous_ns, 1)} us"
    return (
        f"** New maximum of {maximum.stream}: {_us(maximum.new_ns, 1)} us, {previous}, at {utc_text(maximum.epoch_s)}"
    )


def _utilisation(observation: Observation) -> list[str]:
    found = utilisation(observation)
    if found.share is None:
        return []
    busiest = (
        f", in the busiest interval {_units.format_ratio(found.highest_share)}"
        if found.highest_share is not None
        else ""
    )
    elapsed_ns = sum(each.elapsed_s for each in observation.intervals if each.stream == LOG) * 1e9
    change = (found.share_per_hour or 0) * elapsed_ns / 3600e9
    direction = "rising" if change > 0 else "falling"
    trend = (
        f", {direction} (trend: {_units.format_number(100 * abs(change))} percentage points in "
        f"{_units.format_duration(elapsed_ns, 2)})"
    )
    return [
        f"The logger was writing {_units.format_ratio(found.share)} of the "
        f"time{busiest}{trend if abs(change) >= _CLEAR_TREND else ''}."
    ]


def _slowest(observation: Observation) -> list[str]:
    slowest_ns, at = (
        observation.facts.get("slowest_write_since_restart_ns"),
        observation.facts.get("slowest_write_at_epoch_s"),
    )
    if not isinstance(slowest_ns, (int, float)):
        return []
    when = f", at {utc_text(at)}" if isinstance(at, (int, float)) else ""
    return [f"Slowest log write since the queue manager started: {_units.format_duration(slowest_ns)}{when}."]


def _time(epoch_s: float) -> str:
    return utc_text(epoch_s)[11:19]


def _us(ns: float | None, places: int = 0) -> str:
    return _UNKNOWN if ns is None else f"{ns / _NS_PER_US:.{places}f}"
