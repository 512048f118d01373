# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fleet at a glance: for each size of a step, a strip with a mark for every host, all on one logarithmic axis, as
inline SVG.

The p99 is a dot above the strip's line, and the mean is a square below it. Marks at the same place are piled up; a pile
that would leave its strip is drawn as one bar, in which each host has the same height, so that the picture stays small
and legible with any number of hosts. The worst hosts are named beside their strip.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.axes import LogAxis
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.folding import brief
from markupsafe import Markup

MOST_STRIPS = 32
NAMED = 3
"""How many hosts are named beside a strip."""

_WIDTH = 780
_LEFT = 118
_RIGHT = 560
"""The end of the axis; the names follow it."""
_TOP = 30
_LANE = 26
"""Height of the marks above and below the line of a strip."""
_LABEL = 13
"""Height of the label of a limit."""
_GAP = 12
_MARKS = ((12, 6), (math.inf, 4))
"""Size of a mark, and of the stretch of the axis whose marks are piled up, for up to that many hosts."""
_NAME = 22
"""Characters of a name that are shown."""
_ROOM = 0.06
"""Decades of the axis that are left free on either side."""
_FAR = 3
"""A host whose p99 is this many times the median is named even if it keeps its limits."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A host at one step: its figures in nanoseconds, None if unknown, and whether it fails there."""

    label: str
    p99_ns: float | None
    mean_ns: float | None
    fails: bool


@dataclass(frozen=True, slots=True)
class Strip:
    """A step: its title, the hosts that measured it, and the tightest limits on p99 and mean, None if there is none.

    subtitle names the stream, and figures says what the marks show if they do not show latencies.
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
        """Return a sentence on what the strip shows."""
        known = sorted(mark.p99_ns for mark in self.marks if mark.p99_ns)
        title = ", ".join(filter(None, (self.title, self.subtitle, self.figures)))
        if not known:
            return f"{title}: nothing was measured."
        text = (
            f"{title}: {_units.format_count(len(known))} host{'' if len(known) == 1 else 's'}, p99 median "
            f"{_units.format_duration(median(known))}"
        )
        if len(known) > 1:
            text += f", from {_units.format_duration(known[0])} to {_units.format_duration(known[-1])}"
        if self.p99_limit_ns:
            text += f", limit {_units.format_duration(self.p99_limit_ns)}"
        named = [
            f"{brief(mark.label, _NAME)} {_units.format_duration(mark.p99_ns or 0)}" for mark in self.worst()[:NAMED]
        ]
        return f"{text}; worst: {', '.join(named)}." if named and len(known) > NAMED else f"{text}."


def fleet_chart(strips: Sequence[Strip], size_word: str = "block size") -> Markup:
    """Return the picture of all strips, empty if nothing was measured. size_word names the kind of size that the steps
    have."""
    values = [value for strip in strips for mark in strip.marks for value in (mark.p99_ns, mark.mean_ns) if value]
    if not values:
        return Markup("")
    values += [value for strip in strips for value in (strip.p99_limit_ns, strip.mean_limit_ns) if value]
    axis = LogAxis(math.log10(min(values)) - _ROOM, math.log10(max(values)) + _ROOM, _LEFT, _RIGHT)
    size = next(size for most, size in _MARKS if max(len(strip.marks) for strip in strips) <= most)
    y, bodies, previous = float(_TOP), [], None
    for strip in strips:
        limits = strip.p99_limit_ns, strip.mean_limit_ns
        body, height = _strip(strip, axis, y, size, labels=limits != previous)
        bodies.append(body)
        y, previous = y + height, limits
    return Markup(
        '<svg class="fleet" viewBox="0 0 {w} {h:.0f}" role="img" aria-labelledby="fleet-title fleet-desc">'
        '<title id="fleet-title">Latency of every host at each {size_word}</title><desc '
        'id="fleet-desc">{desc}</desc>{grid}{body}</svg>'
    ).format(
        w=_WIDTH,
        h=y + 4,
        size_word=size_word,
        desc=" ".join(strip.sentence() for strip in strips),
        grid=_grid(axis, _TOP - 6, y - _GAP / 2),
        body=Markup("").join(bodies),
    )


def _grid(axis: LogAxis, top: float, bottom: float) -> Markup:
    """Return a line and a text for each tick, and what the axis shows."""
    parts = [Markup('<text class="axis" x="0" y="12">Latency, logarithmic</text>')]
    for tick in _ticks(axis):
        parts.append(
            Markup(
                '<path class="grid" d="M{x:.1f} {top:.1f}V{bottom:.1f}"/><text class="axis" x="{x:.1f}" y="12" '
                'text-anchor="middle">{text}</text>'
            ).format(x=axis.place(tick), top=top - 4, bottom=bottom, text=_units.format_duration(tick))
        )
    return Markup("").join(parts)


def _ticks(axis: LogAxis) -> list[float]:
    """Return round values beside the title of the axis, fewer in each decade the more decades there are."""
    span = axis.high - axis.low
    digits = (1, 2, 5) if span < 1.6 else (1, 3) if span < 3 else (1,)
    shown = [tick for tick in axis.round_values(digits) if axis.place(tick) >= _LEFT + 45]
    return shown[:: 1 + len(shown) // 10]


def _strip(strip: Strip, axis: LogAxis, top: float, size: int, labels: bool) -> tuple[Markup, float]:
    """Return a strip whose upper edge is at top, and its height."""
    above = _LABEL if labels and strip.p99_limit_ns else 0
    below = _LABEL if labels and strip.mean_limit_ns else 0
    line = top + above + _LANE
    parts = [
        Markup('<text class="step" x="0" y="{:.1f}">{}</text><path class="line" d="M{} {:.1f}H{}"/>').format(
            line + 4, strip.title, _LEFT, line, _RIGHT
        ),
        *(_aside(words, y) for words, y in ((strip.figures, line - 12), (strip.subtitle, line + 18)) if words),
        _pile("p99", ((mark.p99_ns, mark.fails) for mark in strip.marks), axis, line, -1, size),
        _pile("mean", ((mark.mean_ns, mark.fails) for mark in strip.marks), axis, line, 1, size),
        _limit("p99", strip.p99_limit_ns, axis, line, -1, bool(above)),
        _limit("mean", strip.mean_limit_ns, axis, line, 1, bool(below)),
        _names(strip, line),
    ]
    return Markup("").join(parts), above + 2 * _LANE + below + _GAP


def _aside(words: str, y: float) -> Markup:
    """Return the text beside the title of a strip."""
    return Markup('<text class="axis" x="0" y="{:.1f}">{}</text>').format(y, brief(words, _NAME))


def _pile(
    name: str, values: Iterable[tuple[float | None, bool]], axis: LogAxis, line: float, direction: int, size: int
) -> Markup:
    """Return the marks of one figure, piled up away from the line: first those that do not fail,
    on top of them those that do."""
    piles: dict[int, list[int]] = {}
    for value, fails in values:
        if value:
            piles.setdefault(int(axis.place(value) // size), [0, 0])[fails] += 1
    if not piles:
        return Markup("")
    pitch = min(size + 1.0, (_LANE - size) / max(1, max(map(sum, piles.values())) - 1))
    first = line + direction * (size / 2 + 1.5)
    paths: tuple[list[str], list[str]] = ([], [])
    for place, (good, bad) in sorted(piles.items()):
        x = (place + 0.5) * size
        for path, below, count in zip(paths, (0, good), (good, bad), strict=True):
            path.extend(
                _marks(x, [first + direction * pitch * number for number in range(below, below + count)], pitch < size)
            )
    kinds = ("", " fails")
    return Markup("").join(
        Markup('<path class="{}{}" stroke-width="{}" d="{}"/>').format(name, kind, size - 0.6, "".join(path))
        for kind, path in zip(kinds, paths, strict=True)
        if path
    )


def _marks(x: float, heights: Sequence[float], overlap: bool) -> Iterable[str]:
    """Yield the path of the marks of a pile: one by one, or as a bar if they would overlap."""
    if overlap and heights:
        yield f"M{x:.0f} {heights[0]:.1f}V{heights[-1]:.1f}"
    else:
        yield from (f"M{x:.0f} {y:.1f}h0" for y in heights)


def _limit(name: str, value: float | None, axis: LogAxis, line: float, direction: int, label: bool) -> Markup:
    """Return a limit as a line across its half of the strip, with its label beyond it."""
    if not value:
        return Markup("")
    x = axis.place(value)
    mark = Markup('<path class="limit" d="M{:.1f} {:.1f}v{}"/>').format(x, line, direction * (_LANE + 2))
    if not label:
        return mark
    y = line - _LANE - 4 if direction < 0 else line + _LANE + _LABEL - 1
    anchor = "end" if x > (_LEFT + _RIGHT) / 2 else "start"
    text = f"limit of {name} {_units.format_duration(value)}"
    return mark + Markup('<text class="limit" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


def _names(strip: Strip, line: float) -> Markup:
    """Return the names of the worst hosts of a strip, beside it."""
    worst = strip.worst()
    lines = [
        (f"{_units.format_duration(mark.p99_ns or 0)} {brief(mark.label, _NAME)}", mark.fails) for mark in worst[:NAMED]
    ]
    if len(worst) > NAMED:
        lines = [*lines[: NAMED - 1], (f"and {_units.format_count(len(worst) - NAMED + 1)} more", False)]
    first = line + 4 - (len(lines) - 1) * 7.5
    return Markup("").join(
        Markup('<text class="{}" x="{}" y="{:.1f}">{}</text>').format(
            "name fails" if fails else "name", _RIGHT + 10, first + 15 * place, text
        )
        for place, (text, fails) in enumerate(lines)
    )
