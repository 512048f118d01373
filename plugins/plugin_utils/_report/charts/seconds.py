# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of the seconds of each step as inline SVG: a heat map of the latencies on a logarithmic scale, with p99 and
slowest write, and with stalls and the begin of a throttled rate marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number, format_ratio
from ..._english.phrases import plural
from ..._run.columns import grouped, stream_key
from ..._run.words import Words, mean_size_text, size_text
from ..series import Figures, stream_text
from .axes import LEFT, RIGHT, TOP, WIDTH, Axis, LogAxis, joined, path, round_steps, thinned
from .heat import Counts, Heat
from .plot import Curve, Marks, Plot

COLUMNS = (120, 60, 40, 30, 20, 12, 8)
"""The numbers of columns that a chart can have. The more charts there are on a page, the fewer columns they have."""
_STEPS = [digit * 10**power for power in range(8) for digit in (1, 2, 5)]
MOST_STEPS, FEWEST_STEPS = 32, 7
"""The largest number of charts of a host on a page with few hosts, and on one with many."""
ALL_STEPS = 160
"""The number of charts of all hosts of a page, if there is room for more than FEWEST_STEPS for each."""
MOST_STALLS = 5

STALL_NS = 10_000_000
STALL_TIMES = 10
"""A write is marked as a stall if it took at least STALL_NS and at least this many times the usual p99 of a second in
its step."""

_HEIGHT = 190
_BOTTOM = 152


@dataclass(frozen=True)
class Seconds:
    """What is known about the seconds of a host: the rows of intervals.csv, the rows of stalls.csv, the counts of slow
    operations by step, stream and operation, and the plateaus of the rate (findings)."""

    intervals: Sequence[Figures]
    slowest: Sequence[Figures] = ()
    counts: Mapping[tuple[Any, ...], Counts] = field(default_factory=dict)
    plateaus: Sequence[Mapping[str, Any]] = ()


def seconds_charts(known: Seconds, words: Words, columns: int = COLUMNS[0], steps: int = MOST_STEPS) -> list[Markup]:
    """Return a chart for each stream of a step that was measured for at least two whole seconds, with about the given
    number of columns. If there are more than ``steps``, some in between are left out."""
    streams = grouped((second for second in known.intervals if not second["partial"]), stream_key)
    shown = thinned([stream for stream, seconds in streams.items() if len(seconds) > 1], steps)
    return [_figure(streams[stream], known, words, columns) for stream in shown]


def stalls(seconds: Sequence[Figures], slowest: Sequence[Figures]) -> list[tuple[float, float]]:
    """Return the start (in seconds) and the latency of those writes of a step that are stalls, longest first."""
    known = sorted(second["latency_p99_ns"] for second in seconds if second["latency_p99_ns"])
    least = max(STALL_NS, STALL_TIMES * known[len(known) // 2] if known else 0)
    found = [(write["start_offset_ns"] / 1e9, write["latency_ns"]) for write in slowest if write["latency_ns"] >= least]
    return sorted(found, key=lambda stall: -stall[1])[:MOST_STALLS]


def _figure(seconds: Sequence[Figures], known: Seconds, words: Words, columns: int) -> Markup:
    first, end = seconds[0], len(seconds)
    stretch = max(1, math.ceil(end / columns))
    heat = Heat(seconds, known.counts.get(stream_key(first), {}), stretch, first["operation"])
    figures = {name: heat.highest(f"latency_{name}_ns") for name in ("max", "p99")}
    if not any(value for values in figures.values() for value in values):
        return Markup("")
    marked = stalls(seconds, [each for each in known.slowest if stream_key(each) == stream_key(first)])
    falls = [each for each in known.plateaus if _is_about(each, first)]
    x = Axis(0, end, LEFT + 2, RIGHT - 2)
    plot = Plot(
        x,
        "Second",
        [(second, f"{second} s") for second in round_steps(end, _STEPS, 4)[1:]],
        [
            Curve(name, list(zip(_middles(stretch, end), values)), name if any(values) else "")
            for name, values in figures.items()
        ],
        marks=[Marks("stall", "M{:.1f} {:.1f}m0 -1l-4 -8h8z", marked, "stall")],
        values=heat.values_ns,
        write_x=lambda second: f"at {format_number(second)} s",
        bottom=_BOTTOM,
        beneath=partial(_beneath, heat, x, falls),
    )
    name = f"{_row_text(first, words)}, {end} s"
    told = " ".join(filter(None, (heat.sentence(), _stall_text(marked), *map(_fall_text, falls))))
    highest = max(value for values in figures.values() for value in values if value)
    return Markup(
        '<figure class="seconds"><details class="zoom"><summary><svg class="chart" viewBox="0 0 {w} {h}" '
        'role="img" aria-label="{title}">{body}</svg></summary></details><figcaption>{caption}</figcaption></figure>'
    ).format(
        w=WIDTH,
        h=_HEIGHT,
        title=f"{name}: slowest {first['operation']} {format_duration(highest)}",
        caption=f"{name}. {told}" if told else name,
        body=joined(plot.parts()),
    )


def _middles(stretch: int, end: int) -> list[float]:
    """Return the middle of each column, in seconds."""
    return [(start + min(start + stretch, end)) / 2 for start in range(0, end, stretch)]


def _beneath(heat: Heat, x: Axis, falls: Iterable[Mapping[str, Any]], y: LogAxis) -> Markup:
    """Return the heat map, with an upright line where the rate fell to a plateau."""
    lines = (
        path("fall", "M{:.1f} {}V{}", x.place(fall["from_second"] - 1), TOP, _BOTTOM, values=[_fall_text(fall)])
        for fall in falls
    )
    return heat.drawn(x, y) + joined(lines)


def _is_about(finding: Mapping[str, Any], row: Figures) -> bool:
    return all(finding.get(key) == row[key] for key in ("block_size_bytes", "load_point", "stream", "operation"))


def _fall_text(fall: Mapping[str, Any]) -> str:
    return (
        f"From second {fall['from_second']} on, the rate stayed at {format_ratio(fall['share'], 2)} of the rate before."
    )


def _row_text(row: Figures, words: Words) -> str:
    if words.layout.by_stream:
        return f"{stream_text(row['stream'], row['operation'])}, {words.load_text(row['load_point'])}"
    if words.layout.mixed:
        return (
            f"Log writes of {mean_size_text(row['block_size_bytes'])}"
            if row["block_size_bytes"]
            else str(row["stream"])
        )
    operations = f", {row['operation']}s" if words.operation else ""
    return f"{size_text(row['block_size_bytes'])}{operations}, {row['load_point']} {words.load}"


def _stall_text(marked: Sequence[tuple[float, float]]) -> str:
    if not marked:
        return ""
    told = ", ".join(f"{format_duration(latency)} at {format_number(start)} s" for start, latency in marked[:3])
    count = plural(len(marked), "stall") if len(marked) < MOST_STALLS else f"The {MOST_STALLS} longest stalls"
    return f"{count} marked, the longest: {told}."
