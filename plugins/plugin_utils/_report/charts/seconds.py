# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Charts of the seconds of each step as inline SVG: p99 and slowest write on a logarithmic scale, with stalls
marked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number
from ..._english.phrases import plural
from ..._run.words import Words, mean_size_text, size_text
from ..series import Figures, stream_text
from .axes import LEFT, RIGHT, WIDTH, Axis, joined, round_steps, thinned
from .plot import Curve, Marks, Plot

MAX_POINTS = 240
_STEPS = [digit * 10**power for power in range(8) for digit in (1, 2, 5)]
MOST_STEPS = 32
MOST_STALLS = 10

STALL_NS = 10_000_000
STALL_TIMES = 10
"""A write is marked as a stall if it took at least STALL_NS and at least this many times the usual p99 of a second in
its step."""

_HEIGHT = 190
_BOTTOM = 152


def seconds_charts(intervals: Sequence[Figures], words: Words, slowest: Sequence[Figures] = ()) -> list[Markup]:
    """Return a chart for each stream of a step that was measured for at least two whole seconds. ``slowest`` contains
    rows of stalls.csv."""
    streams: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for second in intervals:
        if not second["partial"]:
            streams.setdefault(_stream_of(second), []).append(second)
    shown = thinned([stream for stream, seconds in streams.items() if len(seconds) > 1], MOST_STEPS)
    return [
        _figure(streams[stream], words, [each for each in slowest if _stream_of(each) == stream]) for stream in shown
    ]


def _stream_of(row: Figures) -> tuple[Any, ...]:
    return row["step"], row["stream"], row["operation"]


def stalls(seconds: Sequence[Figures], slowest: Sequence[Figures]) -> list[tuple[float, float]]:
    """Return the start (in seconds) and the latency of those writes of a step that are stalls, longest first."""
    known = sorted(second["latency_p99_ns"] for second in seconds if second["latency_p99_ns"])
    least = max(STALL_NS, STALL_TIMES * known[len(known) // 2] if known else 0)
    found = [(write["start_offset_ns"] / 1e9, write["latency_ns"]) for write in slowest if write["latency_ns"] >= least]
    return sorted(found, key=lambda stall: -stall[1])[:MOST_STALLS]


def _figure(seconds: Sequence[Figures], words: Words, slowest: Sequence[Figures]) -> Markup:
    first = seconds[0]
    figures = {name: _condensed(second[f"latency_{name}_ns"] for second in seconds) for name in ("max", "p99")}
    known = [value for values in figures.values() for value in values if value]
    if not known:
        return Markup("")
    marked, end = stalls(seconds, slowest), len(seconds)
    plot = Plot(
        Axis(0, end, LEFT + 2, RIGHT - 2),
        "Second",
        [(second - 0.5, f"{second} s") for second in round_steps(end, _STEPS)[1:]],
        [
            Curve(
                name,
                [((place + 0.5) * end / len(values), value) for place, value in enumerate(values)],
                name if any(values) else "",
            )
            for name, values in figures.items()
        ],
        marks=[Marks("stall", "M{:.1f} {:.1f}m0 -1l-4 -8h8z", marked)],
        bottom=_BOTTOM,
    )
    name = f"{_row_text(first, words)}, {end} s"
    described = f"{name}: slowest {first['operation']} {format_duration(max(known))}"
    told = _stall_text(marked)
    return Markup(
        '<figure class="seconds"><details class="zoom"><summary><svg class="chart" viewBox="0 0 {w} {h}" '
        'role="img"><title>{title}</title><desc>{told}</desc>'
        "{body}</svg></summary></details><figcaption>{caption}</figcaption></figure>"
    ).format(
        w=WIDTH,
        h=_HEIGHT,
        title=described,
        caption=f"{name}. {told}" if told else name,
        told=told,
        body=joined(plot.parts()),
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


def _condensed(values: Iterable[float | None]) -> list[float | None]:
    """Return at most MAX_POINTS values: the largest value in each group of seconds, or None for a group without
    values."""
    values = list(values)
    stretch = max(1, math.ceil(len(values) / MAX_POINTS))
    pieces = (values[start : start + stretch] for start in range(0, len(values), stretch))
    return [max((value for value in piece if value), default=None) for piece in pieces]


def _stall_text(marked: Sequence[tuple[float, float]]) -> str:
    if not marked:
        return ""
    told = ", ".join(f"{format_duration(latency)} at {format_number(start)} s" for start, latency in marked[:3])
    return f"{plural(len(marked), 'stall')} marked, the longest: {told}."
