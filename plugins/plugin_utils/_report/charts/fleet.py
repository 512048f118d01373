# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet in one picture: a strip for each step size, with marks for the latency of every host, all on one logarithmic
axis; and the share that each host uses of the limit to which it comes closest.

The p99 is a dot above the strip's line, and the mean is a square below it. The limits and the worst hosts are in the
heading of a strip, which wraps on narrow screens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration, format_number
from ..._english.phrases import plural
from ..._run.verdicts import FAIL, PASS, WORST_FIRST
from ..folding import brief
from .axes import Axis, LogAxis, joined, path
from .marks import BIN, HEIGHT, WIDTH, Marks, overview, picture, piles, size_of, ticks, upright

MOST_STRIPS = 32
NAMED = 3
"""The maximum number of hosts that are named in the heading of a strip."""

_LANE = 26
"""Height of the marks above and below the line of a strip."""
_ROOM = 0.06
"""The room on either side of the axis, in decades."""
_FAR = 3
"""A host whose p99 is this many times the median is named even if it meets its limits."""
_LEAST, _MOST = 0.01, 1000.0
"""The ends of the axis. Marks beyond them are drawn at the end."""
_APART = 180
"""The width of the lane of hosts without usable figures."""
_USE_ROOM = 0.08
"""The room on either side of the axis, in decades."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A host at one step: its figures in nanoseconds, None if unknown, and whether it fails there."""

    label: str
    p99_ns: float | None
    mean_ns: float | None
    fails: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """A step: its title, the hosts that measured it, and the tightest limits on p99 and mean, or None.

    ``subtitle`` names the stream, and ``figures`` describes what the marks show if they do not show latencies.
    """

    title: str
    marks: Sequence[Mark]
    p99_limit_ns: float | None = None
    mean_limit_ns: float | None = None
    subtitle: str = ""
    figures: str = ""

    def worst(self) -> list[Mark]:
        """Return the hosts to name, worst first: all of them if they are few, otherwise those that fail and those that
        are far from the others."""
        known = sorted(
            (mark for mark in self.marks if mark.p99_ns), key=lambda mark: (not mark.fails, -(mark.p99_ns or 0))
        )
        if len(known) <= NAMED:
            return known
        far = _FAR * median(mark.p99_ns or 0 for mark in known)
        return [mark for mark in known if mark.fails or (mark.p99_ns or 0) > far]

    def sentence(self) -> str:
        """Return a sentence about what the strip shows."""
        known = sorted(mark.p99_ns for mark in self.marks if mark.p99_ns)
        title = ", ".join(filter(None, (self.title, self.subtitle, self.figures)))
        if not known:
            return f"{title}: nothing was measured."
        text = f"{title}: {plural(len(known), 'host')}, p99 median {format_duration(median(known))}"
        if len(known) > 1:
            text += f", from {format_duration(known[0])} to {format_duration(known[-1])}"
        if self.p99_limit_ns:
            text += f", limit {format_duration(self.p99_limit_ns)}"
        named = [f"{brief(mark.label)} {format_duration(mark.p99_ns or 0)}" for mark in self.worst()[:NAMED]]
        return f"{text}; worst: {', '.join(named)}." if named and len(known) > NAMED else f"{text}."


def fleet_chart(strips: Sequence[Strip], size_word: str = "block size") -> Markup:
    """Return the picture of all strips; empty if nothing was measured. ``size_word`` is the name of the kind of size
    that the steps have."""
    values = [value for strip in strips for mark in strip.marks for value in (mark.p99_ns, mark.mean_ns) if value]
    if not values:
        return Markup("")
    values += [value for strip in strips for value in (strip.p99_limit_ns, strip.mean_limit_ns) if value]
    axis = LogAxis(math.log10(min(values)) - _ROOM, math.log10(max(values)) + _ROOM, 0, WIDTH)
    shown = _ticks(axis)
    scale = ticks((axis.place(tick), format_duration(tick)) for tick in shown)
    grid = joined(upright("grid", axis.place(tick), 0, 2 * _LANE) for tick in shown)
    return Markup('<div class="fleet" role="group" aria-label="Latency of every host at each {}">{}{}{}</div>').format(
        size_word, scale, joined(_strip(strip, axis, grid) for strip in strips), scale
    )


def _ticks(axis: LogAxis) -> list[float]:
    """Return round values. The more decades the axis covers, the fewer values are returned for each decade."""
    span = axis.high - axis.low
    shown = axis.round_values((1, 2, 5) if span < 1.6 else (1, 3) if span < 3 else (1,))
    return shown[:: 1 + len(shown) // 10]


def _strip(strip: Strip, axis: LogAxis, grid: Markup) -> Markup:
    body = [grid, path("line", "M0 {}H{}", _LANE, WIDTH)]
    for name, direction in (("p99", -1), ("mean", 1)):
        figures = [(value, mark) for mark in strip.marks if (value := getattr(mark, f"{name}_ns"))]
        figures.sort(key=itemgetter(0))
        kinds = (_marks(name, figures, False), _marks(name, figures, True))
        body.append(piles(kinds, axis, _LANE, direction * _LANE))
    for limit, top in ((strip.p99_limit_ns, 0), (strip.mean_limit_ns, _LANE)):
        if limit:
            body.append(upright("limit", axis.place(limit), top, top + _LANE))
    return Markup('<div class="strip"><p>{}</p>{}</div>').format(
        Markup(" ").join(_heading(strip)), picture(2 * _LANE, strip.sentence(), body)
    )


def _marks(name: str, figures: Sequence[tuple[float, Mark]], fails: bool) -> Marks:
    """Return the marks of the hosts that fail, or of those that do not, from their figures in ascending order."""
    shown = [(value, mark) for value, mark in figures if mark.fails == fails]

    def text(number: int) -> str:
        value, mark = shown[number]
        return f"{brief(mark.label)} {name} {format_duration(value)}"

    return Marks(f"{name} fails" if fails else name, [value for value, mark in shown], fails, text)


def _heading(strip: Strip) -> list[Markup]:
    """Return the parts of a strip's heading: its step, its limits and its worst hosts."""
    title = " ".join(filter(None, (strip.title, strip.subtitle, strip.figures)))
    limits = [
        f"{name} {format_duration(value)}"
        for name, value in (("p99", strip.p99_limit_ns), ("mean", strip.mean_limit_ns))
        if value
    ]
    parts = [Markup("<b>{}</b>").format(brief(title))]
    if limits:
        parts.append(Markup('<span class="dim">limit of {}</span>').format(" and of ".join(limits)))
    worst = strip.worst()
    left = len(worst) - NAMED if len(worst) > NAMED + 1 else 0
    named = [
        Markup('<span class="{}"><bdi>{}</bdi> {}</span>').format(
            "name fails" if mark.fails else "name", brief(mark.label), format_duration(mark.p99_ns or 0)
        )
        for mark in (worst[:NAMED] if left else worst)
    ]
    if named:
        more = [Markup("and {} more").format(format_count(left))] if left else []
        parts.append(
            Markup('<span class="worst">{}{}</span>').format(
                "worst p99: " if len(strip.marks) > 1 else "p99: ", Markup(", ").join([*named, *more])
            )
        )
    return parts


def limit_use_chart(uses: Sequence[tuple[str, float]], label: str, apart: Sequence[str] = ()) -> Markup:
    """Return the picture of some hosts, given by their verdicts and the largest shares that they use of a limit. At 1,
    the limit is fully used; above 1, it is broken. Hosts without usable figures (``apart``, by their verdicts) have
    their own lane at the right. ``label`` describes what the picture shows."""
    uses = [(verdict, min(_MOST, max(_LEAST, share))) for verdict, share in uses]
    shares, end = [share for _verdict, share in uses], WIDTH - (_APART if apart else 0)
    axis = LogAxis(
        min(math.log10(min(shares)), -1.0) - _USE_ROOM, max(math.log10(max(shares)), 0.3) + _USE_ROOM, 0, end
    )
    limit, shown = axis.place(1.0), [tick for tick in axis.round_values((1, 2, 5)) if tick != 1.0]
    area = path("beyond", "M{0:.1f} 0H{1}V{2}H{0:.1f}Z", limit, end, HEIGHT)
    over = [upright("limit", limit, 0, HEIGHT)]
    if apart:
        columns = _APART // BIN - 2
        # From the right, above the text of the lane.
        own = [(verdict, columns - 1 - number % columns) for number, verdict in enumerate(apart)]
        lane = Axis(0, columns, WIDTH - columns * BIN, WIDTH)
        size = size_of(len(uses) + len(apart))
        over += [
            path("apart", "M{} 0H{}V{}H{}Z", end + BIN, WIDTH, HEIGHT, end + BIN),
            piles(
                _by_verdict(own, lambda verdict, dummy: f"{verdict}, no usable figure"),
                lane,
                HEIGHT - 2,
                4 - HEIGHT,
                size,
            ),
        ]
    drawn = overview(axis, shown, _by_verdict(uses, _use_text), area, over, len(uses) + len(apart), label)
    # No other text takes the place of the limit's, or runs into the lane's on a narrow screen.
    last = 0.75 * WIDTH if apart else WIDTH
    places = [(axis.place(tick), _share_text(tick)) for tick in shown]
    texts = [(place, text) for place, text in places if abs(place - limit) >= 0.11 * WIDTH and place <= last]
    lane_text = [(float(WIDTH), "no figure")] if apart else []
    return drawn + ticks(sorted([(limit, "the limit"), *texts]) + lane_text)


def _by_verdict(marks: Sequence[tuple[str, float]], text: Callable[[str, float], str]) -> list[Marks]:
    """Return the marks of hosts that pass, of others, and of those that fail, in this order."""
    found = []
    for name, verdicts in (("passes", {PASS}), ("neither", {*WORST_FIRST} - {PASS, FAIL}), ("fails", {FAIL})):
        own = sorted((value, verdict) for verdict, value in marks if verdict in verdicts)
        values = [value for value, verdict in own]
        found.append(Marks(name, values, name == "fails", lambda number, own=own: text(*reversed(own[number]))))
    return found


def _use_text(verdict: str, share: float) -> str:
    end = "at least " if share == _MOST else "at most " if share == _LEAST else ""
    return f"{verdict}: {end}{_share_text(share)}{' the limit' if share >= 2 else ' of the limit'}"


def _share_text(share: float) -> str:
    return f"{format_number(share)} \u00d7" if share >= 2 else f"{format_number(100 * share)} %"
