# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows how the latencies of a step are distributed: the percentile curve, as far as the number of writes supports it,
and a strip for each block size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration
from ..._english.phrases import capitalized
from ..._run.words import Words
from ..figures import colours_of, shown_loads, shown_series
from ..model import Host
from ..series import Series
from .axes import LEFT, RIGHT, TOP, LogAxis, chart, lanes_grid, path, room_for, short, text
from .plot import Curve, Marks, Plot

BEYOND = 10
"""A percentile is drawn if at least this many writes took longer."""

_SHARES = {f"latency_p{100 * share:g}".replace(".", "_"): share for share in (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)}
"""The share of the writes that took no longer, by the metric of each percentile."""
_STEPS_PER_DECADE = 4
_BINS_PER_DECADE = 20
_STRIP = 24

Counts = Sequence[tuple[int, int]]
"""A histogram: upper bounds of latencies in nanoseconds, in ascending order, and the number of writes in each
bucket."""


def quantile_ns(counts: Counts, shares: Iterable[float]) -> list[int]:
    """For each of several ascending shares of the writes, return the upper bound of the latency that this share did not
    exceed."""
    total = sum(number for upper, number in counts)
    found, below, place = [], 0, -1
    for share in shares:
        while place < len(counts) - 1 and (place < 0 or below < share * total - 1e-6):
            place += 1
            below += counts[place][1]
        found.append(counts[place][0])
    return found


def percentile_points(counts: Counts) -> list[tuple[float, int]]:
    """Return points of the percentile curve: the share of writes that took longer, starting at one half, and the
    latency."""
    total = sum(number for upper, number in counts)
    if total < 2 * BEYOND:
        return []
    last = math.log10(min(total / BEYOND, 1e5))
    first = math.log10(2)
    steps = max(1, math.ceil((last - first) * _STEPS_PER_DECADE))
    longer = [10 ** -(first + (last - first) * number / steps) for number in range(steps + 1)]
    return list(zip(longer, quantile_ns(counts, (1 - share for share in longer)), strict=True))


def distribution_charts(host: Host, with_strips: bool = True) -> list[Markup]:
    """Return both charts for each load point that has a histogram; without the strips if they are not wanted."""
    loads: dict[int, dict[Series, Counts]] = {}
    for (load, series), counts in host.distributions.items():
        loads.setdefault(load, {})[series] = counts
    charts = []
    for load in shown_loads(host, loads):
        histograms = loads[load]
        shown = {series: histograms[series] for series in shown_series(host, histograms)}
        text_of = host.words.load_text(load) if host.words.layout.over_load else f"{load} {host.words.load}"
        of_load = f", {text_of}" if len(loads) > 1 else ""
        charts += [_percentiles(host, of_load, shown), *([_strips(host, of_load, shown)] if with_strips else [])]
    return [each for each in charts if each]


def _percentiles(host: Host, load: str, histograms: Mapping[Series, Counts]) -> Markup:
    curves = {series: points for series, counts in histograms.items() if (points := percentile_points(counts))}
    if not curves:
        return Markup("")
    limits = _limits(host, list(curves))
    last = max(1 / points[-1][0] for points in curves.values())
    x = LogAxis.around((2, max(last, 10)), LEFT, RIGHT)
    colours, crosses = colours_of(host, list(curves)), [(1 / (1 - share), value) for share, value in limits]
    plot = Plot(
        x,
        f"Share of {host.words.shown_operation}s that took no longer",
        [(1 / (1 - share), f"{100 * share:g} %") for share in _SHARES.values() if x.holds(1 / (1 - share))],
        [
            Curve(
                f"size {colours[series]}",
                [(1 / share, value) for share, value in points],
                series.label,
                colours[series],
                subject=series.label,
            )
            for series, points in curves.items()
        ],
        marks=[
            Marks(
                "limit mark",
                "M{:.1f} {:.1f}m-12 0h24m-12 -5v10",
                [each for each in crosses if x.holds(each[0])],
                "limit",
            )
        ],
        values=[value for dummy, value in limits],
        write_x=lambda longer: f"{100 * (1 - 1 / longer):.{math.ceil(math.log10(longer) - 1.01) + 1}f} %",
    )
    words = _percentile_text(host.words, curves, limits)
    return plot.chart("percentiles", f"Percentiles{load}", words, (series.label for series in curves))


def _limits(host: Host, shown: Sequence[Series]) -> list[tuple[float, float]]:
    """Return the tightest limit on each percentile that judges at least one of the series."""
    found: dict[float, float] = {}
    for limit, span in host.duration_limits():
        share = _SHARES.get(str(limit["metric"]))
        if share and any(span.judges(series) for series in shown):
            found[share] = min(float(limit["limit_value"]), found.get(share, math.inf))
    return sorted(found.items())


def _percentile_text(
    words: Words, curves: Mapping[Series, Sequence[tuple[float, int]]], limits: Sequence[tuple[float, float]]
) -> str:
    furthest, points = max(curves.items(), key=lambda item: item[1][-1][1])
    drawn = f"Curves end where fewer than {BEYOND} {words.shown_operation}s took longer."
    text = f"{drawn} {capitalized(furthest.label)} {words.goes} furthest: {format_duration(points[-1][1])}."
    crosses = ", ".join(f"{format_duration(value)} at {100 * share:g} %" for share, value in limits)
    return (
        f"{text} Crosses are the tightest limits that judge any of these {words.series}: {crosses}."
        if crosses
        else text
    )


def _strips(host: Host, load: str, histograms: Mapping[Series, Counts]) -> Markup:
    uppers = [upper for counts in histograms.values() for upper, number in counts if number and upper < 1 << 41]
    if not uppers:
        return Markup("")
    x = LogAxis.around(uppers, LEFT, RIGHT)
    bottom = TOP + (_STRIP + 6) * len(histograms)
    parts = [lanes_grid(x, bottom)]
    colours = colours_of(host, list(histograms))
    for number, (series, counts) in enumerate(histograms.items()):
        base = TOP + (_STRIP + 6) * (number + 1)
        strip = _strip(colours[series], counts, x, base, series.label, host.words.shown_operation)
        parts.append(strip + text("axis", LEFT - 5, base - 3, series.label, "end"))
    middle = {series: quantile_ns(counts, (0.05, 0.95)) for series, counts in histograms.items() if counts}
    words = "; ".join(
        f"{series.label} {format_duration(low)} to {format_duration(high)}" for series, (low, high) in middle.items()
    )
    room = room_for(series.label for series in histograms)
    return chart(
        "distribution",
        f"Distribution{load}",
        f"Nine of ten {host.words.shown_operation}s took: {words}.",
        parts,
        bottom + 42,
        left=room,
    )


def _strip(name: str, counts: Counts, x: LogAxis, base: float, label: str, operation: str) -> Markup:
    """Return the shape of a histogram on the logarithmic axis, as upright bars; the bin with the most writes is as high
    as the strip."""
    bins: dict[int, int] = {}
    for upper, number in counts:
        place = math.floor(math.log10(max(upper, 1)) * _BINS_PER_DECADE)
        bins[place] = bins.get(place, 0) + number
    fullest = max(bins.values(), default=0)
    course, values = [], []
    for place in sorted(bins) if fullest else ():
        upper_ns = 10 ** ((place + 1) / _BINS_PER_DECADE)
        middle = x.place(10 ** ((place + 0.5) / _BINS_PER_DECADE))
        course.append(f"M{short(middle)} {short(base)}v{short(-max(0.7, _STRIP * bins[place] / fullest))}")
        values.append(f"to {format_duration(upper_ns)}: {format_count(bins[place])}")
    drawn = path(f"bars {name}", "".join(course), values=values, subject=f"{label}, {operation}s")
    width = (x.last - x.first) / (x.high - x.low) / _BINS_PER_DECADE
    return Markup('<g stroke-width="{}">{}</g>').format(short(width), drawn)
