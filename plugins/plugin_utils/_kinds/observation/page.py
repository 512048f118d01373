# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about a live queue manager: certified and observed figures side by side, how busy the
logger was, and all intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration, format_number, format_rate, format_ratio, format_size
from ..._english.phrases import plural
from ..._observe.sources import SOURCES
from ..._report.charts.axes import LEFT, RIGHT, Axis, round_steps, thinned
from ..._report.charts.plot import Curve, Plot
from ..._report.model import Host
from ..._report.observation import (
    HIGH,
    caveats,
    certificate_text,
    limit_of_mean,
    log_figures,
    moment,
    number,
    size_of,
    trend_text,
)
from ..._run.words import mean_size_text
from .certified import ALIKE, FASTER, SLOWER

BEYOND = 1.05
"""A utilisation above this value is impossible, but can result from rolling averages."""
SHOWN_INTERVALS = 60
SHOWN_MAXIMA = 20
SHOWN_STALLS = 5
_MOST_POINTS = 240
_ROOM = 1.05
_TICK_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400)

Row = Sequence[str]


class ObservationSection:
    """The data about an observation for section.html.j2."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._seen: Mapping[str, Any] = host.own
        self._held: Mapping[str, Any] = self._seen.get("certificate") or {}
        self._facts: Mapping[str, Any] = self._seen.get("facts") or {}
        intervals: Sequence[Mapping[str, Any]] = self._seen.get("intervals") or ()
        self._intervals = [each for each in intervals if each.get("stream") == "log"]
        self._calls = [each for each in intervals if each.get("stream") != "log"]

    @property
    def lead(self) -> str:
        """A sentence that says which queue manager was observed, for how long, and how."""
        source, elapsed_s = str(self._seen.get("source")), number(self._seen, "elapsed_s")
        took = f" for {format_duration(elapsed_s * 1e9)}" if elapsed_s else ""
        log = f", which logs to {self._seen['log_path']}," if self._seen.get("log_path") else ""
        begin = moment(number(self._seen, "start_epoch_s"))
        since = f" from {begin}" if begin else ""
        name = self._seen.get("queue_manager") or "(name not known)"
        title = SOURCES[source].TITLE if source in SOURCES else source
        return f"Queue manager {name}{log} was watched{took}{since}. The source is {title}."

    @property
    def cannot(self) -> str:
        """The figures that the source does not provide."""
        source = SOURCES.get(str(self._seen.get("source")))
        return source.CAVEAT if source else ""

    @property
    def verdict(self) -> str:
        """Describes how the observation compares with the certificate."""
        return certificate_text(self._host)

    @property
    def outcome(self) -> str:
        """The CSS class of the text in ``verdict``. It is the class of a verdict with the same colour."""
        return {SLOWER: "warn", FASTER: "warn", ALIKE: "pass"}.get(str(self._held.get("outcome")), "none")

    @property
    def caveats(self) -> list[str]:
        """The reservations about the comparison."""
        return caveats(self._host)

    @property
    def certificate(self) -> str:
        """The certificate with which the observation is compared; empty if there is none."""
        if "run_id" not in self._held:
            return ""
        return (
            f"{self._held.get('state_text')}, of {str(self._held.get('judged_at'))[:10]}, profile "
            f"{self._held.get('profile')}, run {self._held['run_id']}"
        )

    @property
    def compared(self) -> list[tuple[str, str, str, str]]:
        """Rows that compare certified and observed figures: title, certified, observed, ratio."""
        figures = log_figures(self._host)
        size, mean = size_of(figures), number(figures, "latency_mean_ns")
        if not size or not mean:
            return []
        expected, ratio = number(self._held, "expected_ns"), number(self._held, "ratio")
        managers = self._held.get("queue_managers")
        alone = f", {plural(managers, 'queue manager')}" if managers else ""
        rows = [
            (
                f"Mean of writes of {mean_size_text(size)}{alone}",
                time_text(expected),
                time_text(mean),
                ratio_text(ratio),
            )
        ]
        for other in self._held.get("others") or ():
            title = f"The same, {other.get('queue_managers')} queue managers at once"
            rows.append(
                (title, time_text(number(other, "expected_ns")), time_text(mean), ratio_text(number(other, "ratio")))
            )
        rows.append(
            (
                "Slowest write of the test, and while observed",
                time_text(number(self._held, "slowest_ns")),
                self._slowest_observed(figures),
                "",
            )
        )
        rows.append(("Slowest write since the queue manager started", "", self._slowest_since_restart(), ""))
        return [row for row in rows if row[1] or row[2]]

    @property
    def utilisation(self) -> str:
        """Describes how close the logger is to its limit."""
        known = self._seen.get("utilisation")
        share, highest = number(known, "share"), number(known, "highest_share")
        if share is None:
            return ""
        busiest = (
            f", in the busiest interval {format_ratio(highest)}"
            if highest is not None and len(self._intervals) > 1
            else ""
        )
        near = (
            " That is near the limit: one write is outstanding at a time, so waits grow steeply from here on."
            if share >= HIGH
            else ""
        )
        near = (
            " A share above 100 % is not possible: the averages that MQ publishes lag behind its load."
            if share > BEYOND
            else near
        )
        return f"The logger was writing {format_ratio(share)} of the time{busiest}{trend_text(self._host)}.{near}"

    @property
    def log_in_use(self) -> str:
        """Describes how much of the log is in use; empty if this is unknown."""
        used, most = number(self._facts, "log_bytes_in_use"), number(self._facts, "log_bytes_max")
        return (
            f"Of the log's {format_size(int(most))}, {format_ratio(used / most)} was in use."
            if used is not None and most
            else ""
        )

    @property
    def overhead(self) -> str:
        """Describes the overhead of observing; empty if it was not measured."""
        watched = "write" if self._intervals else "call"
        costs = (
            (number(self._facts, "probe_overhead_ns"), watched),
            (number(self._facts, "probe_overhead_call_ns"), "call"),
        )
        told = " and ".join(f"{time_text(cost)} to each {what}" for cost, what in costs if cost is not None)
        return f"Watching added about {told}, as measured before it began." if told else ""

    @property
    def intervals(self) -> tuple[Row, list[Row]]:
        """The titles and rows of the table of intervals. If there are many intervals, only some are shown."""
        titles = ("From (UTC)", "Writes", "Throughput", "Write size", "Mean", "Fastest", "Slowest", "Logger busy")
        about = "\u2248 " if self._facts.get("operations_are_estimated") else ""
        rows = [self._interval(each, about) for each in thinned(self._intervals, SHOWN_INTERVALS)]
        filled = [place for place in range(len(titles)) if any(row[place] for row in rows)]
        return [titles[place] for place in filled], [[row[place] for place in filled] for row in rows]

    @property
    def intervals_left(self) -> int:
        """How many intervals are not shown."""
        return max(0, len(self._intervals) - SHOWN_INTERVALS)

    @property
    def calls(self) -> list[Row]:
        """Rows about the observed calls in all intervals together: name, count, mean, fastest, slowest."""
        names = dict.fromkeys(str(each.get("stream")) for each in self._calls)
        return [self._call(name, [each for each in self._calls if each.get("stream") == name]) for name in names]

    @property
    def maxima(self) -> list[Row]:
        """Rows about the most recent increases of the maximum: the time, the operation, the previous maximum, and the
        new one."""
        rows = (self._seen.get("maxima") or [])[-SHOWN_MAXIMA:]
        return [
            (
                moment(number(each, "epoch_s")),
                str(each.get("stream")),
                time_text(number(each, "previous_ns")) or "none",
                time_text(number(each, "new_ns")),
            )
            for each in rows
        ]

    @property
    def chart(self) -> Markup:
        """The mean and the slowest write of each interval, together with the certified figures; empty if there are too
        few intervals."""
        begin = number(self._seen, "start_epoch_s") or 0.0
        known = [
            each
            for each in self._intervals
            if number(each, "latency_mean_ns") and number(each, "start_epoch_s") is not None
        ]
        known = thinned(known, _MOST_POINTS)
        if len(known) < 2:
            return Markup("")
        ends = [number(each, "start_epoch_s") - begin + (number(each, "elapsed_s") or 0.0) for each in known]
        lines = {
            name: [
                (end, value)
                for end, each in zip(ends, known, strict=True)
                if (value := number(each, f"latency_{name}_ns"))
            ]
            for name in ("mean", "max")
        }
        levels = {"certified": number(self._held, "expected_ns"), "limit": limit_of_mean(self._host)}
        return _chart(lines, {name: value for name, value in levels.items() if value}, max(ends))

    def _interval(self, each: Mapping[str, Any], about: str) -> Row:
        writes, count, elapsed_s = number(each, "operations"), number(each, "bytes"), number(each, "elapsed_s")
        size, busy = number(each, "write_size_mean_bytes"), number(each, "logger_utilisation_share")
        return (
            moment(number(each, "start_epoch_s"), "%H:%M:%S"),
            "" if writes is None else f"{about if writes else ''}{format_count(writes)}",
            "" if count is None or not elapsed_s else format_rate(count / elapsed_s),
            mean_size_text(size) if size else "",
            *(time_text(number(each, f"latency_{name}_ns")) for name in ("mean", "min", "max")),
            "" if busy is None else format_ratio(busy),
        )

    def _call(self, name: str, intervals: Sequence[Mapping[str, Any]]) -> Row:
        count = sum(number(each, "operations") or 0 for each in intervals)
        spent = sum(number(each, "latency_sum_ns") or 0 for each in intervals)
        fastest = min(filter(None, (number(each, "latency_min_ns") for each in intervals)), default=None)
        slowest = max(filter(None, (number(each, "latency_max_ns") for each in intervals)), default=None)
        return (
            name,
            format_count(count),
            time_text(spent / count if count else None),
            time_text(fastest),
            time_text(slowest),
        )

    def _slowest_observed(self, figures: Mapping[str, Any]) -> str:
        """Return the observed stalls with their times or, if there are none, the slowest write."""
        begin = number(self._seen, "start_epoch_s")
        stalls = [each for each in self._host.stalls if each.get("stream") == "log"][:SHOWN_STALLS]
        told = [
            f"{time_text(each['latency_ns'])} at {moment((begin or 0) + each['start_offset_ns'] / 1e9, '%H:%M:%S')}"
            for each in stalls[:1]
        ]
        return "".join(told) if told and begin else time_text(number(figures, "latency_max_ns"))

    def _slowest_since_restart(self) -> str:
        slowest, at = (
            number(self._facts, "slowest_write_since_restart_ns"),
            moment(number(self._facts, "slowest_write_at_epoch_s")),
        )
        return "" if slowest is None else f"{time_text(slowest)}{f', {at}' if at else ''}"


def _chart(lines: Mapping[str, Sequence[tuple[float, float]]], levels: Mapping[str, float], end_s: float) -> Markup:
    """Return the chart of the mean and the maximum over time, with the certified mean and the limit on the mean."""
    values = [value for points in lines.values() for dummy, value in points] + [*levels.values()]
    drawn = {"certified": "mean reference", "limit": "limit"}
    plot = Plot(
        Axis(0, end_s or 1, LEFT, RIGHT),
        "Time since the observation began",
        [(second, format_duration(second * 1e9) if second else "0 s") for second in round_steps(end_s, _TICK_STEPS_S)],
        [
            *(Curve(drawn[name], [(0, value), (end_s or 1, value)], name, "mean") for name, value in levels.items()),
            *(Curve(name, points, name, dots=True) for name, points in lines.items() if points),
        ],
        values=[min(values) / _ROOM, max(values) * _ROOM],
    )
    means = [value for dummy, value in lines["mean"]]
    words = {"certified": "dotted line is the certified mean", "limit": "dashed line is the limit on the mean"}
    told = "".join(f" The {words[name]}, {time_text(value)}." for name, value in levels.items())
    described = f"The mean of each interval was {time_text(min(means))} to {time_text(max(means))}.{told}"
    return plot.chart("observation", "Log writes by interval", described)


def time_text(value_ns: float | None) -> str:
    """Return a time as text; empty if it is not known."""
    return "" if value_ns is None else format_duration(value_ns)


def ratio_text(ratio: float | None) -> str:
    """Return the ratio of an observed to a certified figure as text; empty if it is not known."""
    return "" if ratio is None else format_number(ratio, 3 if ratio >= 1 else 2)
