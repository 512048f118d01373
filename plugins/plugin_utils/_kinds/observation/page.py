# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The part of a host's section about a live queue manager: certified and observed figures side by side, how busy the
logger was, and all intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number
from ..._english.phrases import phrase, plural
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
    numbers,
    size_of,
    trend_text,
)
from ..._run.words import mean_size_text
from .certified import ALIKE, FASTER, SLOWER

BEYOND = 1.05
"""A utilisation above this value is impossible, but can result from rolling averages."""
SHOWN_INTERVALS = 60
SHOWN_MAXIMA = 20
_MOST_POINTS = 240
_ROOM = 1.05
_TICK_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 21600, 86400)

Figures = Mapping[str, Any]

_INTERVAL = {
    "From (UTC)": "{at}",
    "Writes": "[\u2248 {about:count}|{operations:count}|]",
    "Throughput": "[{rate:rate}]",
    "Write size": "{size}",
    "Mean": "[{latency_mean_ns:duration}]",
    "Fastest": "[{latency_min_ns:duration}]",
    "Slowest": "[{latency_max_ns:duration}]",
    "Logger busy": "[{logger_utilisation_share:ratio}]",
}
"""The columns of the table of intervals, each with the template of its cells."""
_CALL = ("{count:count}", "[{mean:duration}]", "[{min:duration}]", "[{max:duration}]")
"""The templates of the figures of a call: count, mean, fastest, slowest."""
_LEVELS = {
    "certified": ("mean reference", "dotted line is the certified mean"),
    "limit": ("limit", "dashed line is the limit on the mean"),
}
"""The levels in the chart, each with its CSS class and its description."""


def observation_section(host: Host) -> dict[str, Any]:
    """Return the data about an observation under the names that section.html.j2 uses."""
    seen = host.own
    held, facts = seen.get("certificate") or {}, seen.get("facts") or {}
    every = seen.get("intervals") or ()
    intervals = [each for each in every if each.get("stream") == "log"]
    known, source = numbers(facts), SOURCES.get(str(seen.get("source")))
    estimated = bool(facts.get("operations_are_estimated"))
    rows = [_interval(each, estimated) for each in thinned(intervals, SHOWN_INTERVALS)]
    filled = [title for title in _INTERVAL if any(row[title] for row in rows)]
    return {
        "lead": _lead(seen, source.TITLE if source else str(seen.get("source"))),
        "cannot": source.CAVEAT if source else "",
        "verdict": certificate_text(host),
        # The class of a verdict with the same colour.
        "outcome": {SLOWER: "warn", FASTER: "warn", ALIKE: "pass"}.get(str(held.get("outcome")), "none"),
        "caveats": caveats(host),
        "certificate": _certificate(held) if "run_id" in held else "",
        "compared": _compared(host, held, known),
        "utilisation": _utilisation(host, len(intervals)),
        "log_in_use": phrase(
            "[Of the log's {most:size}, {used:ratio} was in use.]",
            {"most": int(most), "used": known["log_bytes_in_use"] / most}
            if (most := known.get("log_bytes_max")) and "log_bytes_in_use" in known
            else {},
        ),
        "overhead": _overhead(known, "write" if intervals else "call"),
        "intervals": (filled, [[row[title] for title in filled] for row in rows]),
        "intervals_left": max(0, len(intervals) - SHOWN_INTERVALS),
        "calls": list(_calls([each for each in every if each.get("stream") != "log"])),
        "maxima": list(map(_maximum, (seen.get("maxima") or [])[-SHOWN_MAXIMA:])),
        "chart": _chart(host, held, intervals),
    }


def _lead(seen: Figures, source: str) -> str:
    """Return a sentence that says which queue manager was observed, for how long, and how."""
    known = numbers(seen)
    return phrase(
        "Queue manager [{queue_manager}|(name not known)][, which logs to {log_path},] was watched[ for "
        "{elapsed_s:seconds}][ from {begin}]. The source is {source}.",
        {"queue_manager": seen.get("queue_manager"), "log_path": seen.get("log_path")},
        elapsed_s=known.get("elapsed_s") or None,
        begin=moment(known.get("start_epoch_s")),
        source=source,
    )


def _certificate(held: Figures) -> str:
    """Describe the certificate with which the observation is compared."""
    day = str(held.get("judged_at"))[:10]
    return f"{held.get('state_text')}, of {day}, profile {held.get('profile')}, run {held['run_id']}"


def _compared(host: Host, held: Figures, facts: Figures) -> list[tuple[str, str, str, str]]:
    """Return rows that compare certified and observed figures: title, certified, observed, ratio."""
    figures = log_figures(host)
    size, mean = size_of(figures), time_text(numbers(figures).get("latency_mean_ns"))
    if not size or not mean:
        return []
    managers = held.get("queue_managers")
    alone = f", {plural(managers, 'queue manager')}" if managers else ""
    slowest = "{slowest_write_since_restart_ns:duration}"
    since = phrase(f"[{slowest}, {{at}}|{slowest}|]", facts, at=moment(facts.get("slowest_write_at_epoch_s")))
    others = [
        (f"The same, {other.get('queue_managers')} queue managers at once", other) for other in held.get("others") or ()
    ]
    rows = [
        *(
            (name, time_text(known.get("expected_ns")), mean, ratio_text(known.get("ratio")))
            for name, each in [(f"Mean of writes of {mean_size_text(size)}{alone}", held), *others]
            for known in [numbers(each)]
        ),
        (
            "Slowest write of the test, and while observed",
            time_text(numbers(held).get("slowest_ns")),
            _slowest_observed(host),
            "",
        ),
        ("Slowest write since the queue manager started", "", since, ""),
    ]
    return [row for row in rows if row[1] or row[2]]


def _slowest_observed(host: Host) -> str:
    """Return the longest observed stall with its time or, if there is none, the slowest write."""
    begin = numbers(host.own).get("start_epoch_s")
    stall = next((each for each in host.stalls if each.get("stream") == "log"), None)
    if not stall or not begin:
        return time_text(numbers(log_figures(host)).get("latency_max_ns"))
    return f"{time_text(stall['latency_ns'])} at {moment(begin + stall['start_offset_ns'] / 1e9, '%H:%M:%S')}"


def _utilisation(host: Host, intervals: int) -> str:
    """Describe how close the logger is to its limit."""
    known = numbers(host.own.get("utilisation"))
    share = known.get("share")
    if share is None:
        return ""
    near = ""
    if share > BEYOND:
        near = " A share above 100 % is not possible: the averages that MQ publishes lag behind its load."
    elif share >= HIGH:
        near = " That is near the limit: one write is outstanding at a time, so waits grow steeply from here on."
    return phrase(
        "The logger was writing {share:ratio} of the time[, in the busiest interval {highest_share:ratio}]{trend}."
        "{near}",
        {"share": share, "highest_share": known.get("highest_share") if intervals > 1 else None},
        trend=trend_text(host),
        near=near,
    )


def _overhead(facts: Figures, watched: str) -> str:
    """Describe the overhead of observing; empty if it was not measured."""
    costs = ((facts.get("probe_overhead_ns"), watched), (facts.get("probe_overhead_call_ns"), "call"))
    told = " and ".join(f"{time_text(cost)} to each {what}" for cost, what in costs if cost is not None)
    return f"Watching added about {told}, as measured before it began." if told else ""


def _interval(each: Figures, estimated: bool) -> dict[str, str]:
    """Return the cells of an interval by the titles of the columns."""
    known = numbers(each)
    writes, count, size = (known.get(name) for name in ("operations", "bytes", "write_size_mean_bytes"))
    values = {
        **known,
        "at": moment(known.get("start_epoch_s"), "%H:%M:%S"),
        "about": writes if estimated and writes else None,
        "rate": count / known["elapsed_s"] if count is not None and known.get("elapsed_s") else None,
        "size": mean_size_text(size) if size else "",
    }
    return {title: phrase(template, values) for title, template in _INTERVAL.items()}


def _calls(intervals: Sequence[Figures]) -> Iterator[list[str]]:
    """Yield a row about each observed call in all intervals together: name, count, mean, fastest, slowest."""
    for name in dict.fromkeys(str(each.get("stream")) for each in intervals):
        known = [numbers(each) for each in intervals if each.get("stream") == name]
        count, spent = (sum(each.get(key, 0) for each in known) for key in ("operations", "latency_sum_ns"))
        ends = {
            key: pick(filter(None, (each.get(f"latency_{key}_ns") for each in known)), default=None)
            for key, pick in (("min", min), ("max", max))
        }
        values = {"count": count, "mean": spent / count if count else None, **ends}
        yield [name, *(phrase(text, values) for text in _CALL)]


def _maximum(each: Figures) -> list[str]:
    """Return a row about an increase of the maximum: the time, the operation, the previous maximum, and the new one."""
    known = numbers(each)
    times = [phrase(text, known) for text in ("[{previous_ns:duration}|none]", "[{new_ns:duration}]")]
    return [moment(known.get("epoch_s")), str(each.get("stream")), *times]


def _chart(host: Host, held: Figures, intervals: Sequence[Figures]) -> Markup:
    """Return the chart of the mean and the slowest write of each interval, with the certified mean and the limit on the
    mean; empty if there are too few intervals."""
    begin = numbers(host.own).get("start_epoch_s", 0.0)
    known = [each for each in map(numbers, intervals) if each.get("latency_mean_ns") and "start_epoch_s" in each]
    if len(known) < 2:
        return Markup("")
    known = thinned(known, _MOST_POINTS)
    ends = [each["start_epoch_s"] - begin + each.get("elapsed_s", 0.0) for each in known]
    lines = {
        name: [(end, value) for end, each in zip(ends, known, strict=True) if (value := each.get(f"latency_{name}_ns"))]
        for name in ("mean", "max")
    }
    levels = {"certified": numbers(held).get("expected_ns"), "limit": limit_of_mean(host)}
    levels = {name: value for name, value in levels.items() if value}
    end_s = max(ends)
    values = [*(value for points in lines.values() for dummy, value in points), *levels.values()]
    plot = Plot(
        Axis(0, end_s or 1, LEFT, RIGHT),
        "Time since the observation began",
        [(second, format_duration(second * 1e9) if second else "0 s") for second in round_steps(end_s, _TICK_STEPS_S)],
        [
            *(
                Curve(_LEVELS[name][0], [(0, value), (end_s or 1, value)], name, "mean")
                for name, value in levels.items()
            ),
            *(Curve(name, points, name, dots=True) for name, points in lines.items() if points),
        ],
        values=[min(values) / _ROOM, max(values) * _ROOM],
    )
    means = [value for dummy, value in lines["mean"]]
    told = "".join(f" The {_LEVELS[name][1]}, {time_text(value)}." for name, value in levels.items())
    described = f"The mean of each interval was {time_text(min(means))} to {time_text(max(means))}.{told}"
    return plot.chart("observation", "Log writes by interval", described)


def time_text(value_ns: float | None) -> str:
    """Return a time as text; empty if it is not known."""
    return "" if value_ns is None else format_duration(value_ns)


def ratio_text(ratio: float | None) -> str:
    """Return the ratio of an observed to a certified figure as text; empty if it is not known."""
    return "" if ratio is None else format_number(ratio, 3 if ratio >= 1 else 2)
