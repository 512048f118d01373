# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Code shared by charts: axes, the frame with its text alternative, grids and lines."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from ....module_utils._units import format_duration

WIDTH = 460
HEIGHT = 260
LEFT, RIGHT, TOP, BOTTOM = 58, 396, 22, 222
"""The plot within the frame. There is room for the names of lines on its right, and for the axis below it."""

MOST_LINES = 8
"""The largest number of lines in one chart; if there are more block sizes, the smallest, the largest and some between
them are drawn."""

MOST_LOADS = 4
"""The largest number of load points for which a kind of chart is drawn."""

HOLLOW = ("max", "p50")
"""The figures whose marks are hollow."""

_WIDEST_CHARACTER = 8.4
"""The average width of a character in a label on small screens, on which labels are larger."""
_USUAL_LABEL = len("1000 KiB")
"""The number of characters of a label that fit into every chart."""
_HOLD = 1e-9

_Item = TypeVar("_Item")
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis for values from low to high, drawn between two coordinates. The first coordinate belongs to low. Values
    beyond an end of the axis are drawn at the end."""

    low: float
    high: float
    first: float
    last: float

    def scaled(self, value: float) -> float:
        """Return the value on the scale of the axis."""
        return value

    def place(self, value: float) -> float:
        share = (self.scaled(value) - self.low) / (self.high - self.low)
        return self.first + min(1.0, max(0.0, share)) * (self.last - self.first)

    def holds(self, value: float) -> bool:
        return self.low - _HOLD <= self.scaled(value) <= self.high + _HOLD


class LogAxis(Axis):
    """A logarithmic axis for positive values. Its ends are powers of ten."""

    __slots__ = ()

    @classmethod
    def around(cls, values: Iterable[float], first: float, last: float) -> LogAxis:
        """Return an axis for some positive values, with a little room on either side."""
        known = [math.log10(value) for value in values]
        low, high = min(known), max(known)
        room = 0.04 * max(high - low, 1.0)
        return cls(low - room, high + room, first, last)

    def scaled(self, value: float) -> float:
        return math.log10(value) if value > 0 else -math.inf

    def round_values(self, digits: Sequence[int]) -> list[float]:
        """Return the values on the axis that consist of one of the given digits followed by zeros."""
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        return [tick for tick in (digit * 10.0**decade for decade in decades for digit in digits) if self.holds(tick)]

    def ticks(self, most: int = 6) -> list[float]:
        """Return round values on the axis, not many more than requested."""
        for digits in ((1, 2, 5), (1, 3), (1,)):
            found = self.round_values(digits)
            if len(found) <= most:
                return found
        return found[:: math.ceil(len(found) / most)]


def round_steps(span: float, steps: Sequence[float], most: int = 6) -> list[float]:
    """Return the multiples, from 0 to ``span``, of the first of some steps with which there are not many; of the last
    one if there are many with each."""
    step = next((each for each in steps if span / each <= most), steps[-1])
    return [step * number for number in range(1 + int(span / step))]


def apart(ticks: Iterable[float], place: Callable[[float], float], distance: float) -> list[float]:
    """Return the ticks that are at least a given distance apart on the page, starting from the one closest to zero."""
    shown: list[float] = []
    for tick in sorted(ticks, key=abs):
        if all(abs(place(tick) - place(other)) >= distance for other in shown):
            shown.append(tick)
    return shown


def joined(parts: Iterable[Markup]) -> Markup:
    """Return parts of a picture as one."""
    return Markup("").join(parts)


def picture(name: str, width: float, height: float, label: str, parts: Iterable[Markup]) -> Markup:
    """Return a picture of a fixed shape with a text alternative."""
    return Markup('<svg class="{}" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        name, width, height, label, joined(parts)
    )


def chart(
    kind: str,
    title: str,
    description: str,
    parts: Iterable[Markup],
    height: float = HEIGHT,
    left: float = 0,
    right: float = 0,
) -> Markup:
    """Return an illustration: its picture with a text alternative, and its title below. ``left`` and ``right`` are
    additional room on these sides, as ``room_for`` returns it."""
    return Markup(
        '<figure class="{kind}"><svg class="chart" viewBox="{left:.0f} 0 {width:.0f} {height:.0f}" role="img">'
        "<title>{title}</title><desc>{description}</desc>{body}</svg><figcaption>{title}. "
        "{description}</figcaption></figure>"
    ).format(
        kind=kind,
        left=-left if left else 0,
        width=WIDTH + left + right,
        height=height,
        title=title,
        description=description,
        body=joined(parts),
    )


def room_for(labels: Iterable[str]) -> float:
    """Return how much more room than usual the labels beside the plot need. Block sizes need no more room."""
    longest = max(map(len, labels), default=0)
    return _WIDEST_CHARACTER * longest - (LEFT - 5) if longest > _USUAL_LABEL else 0.0


def text(name: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return Markup('<text class="{}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        name, short(x), short(y), anchor, words
    )


def short(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def path(name: str, drawn: str, *places: float, values: Iterable[str] = (), subject: str = "") -> Markup:
    """Return a path from its CSS class, its course with placeholders, and the coordinates for these; nothing if the
    course is empty. ``values`` are the texts that the page shows for its marks, one for each absolute M or
    L (or "3*" and a text for three of them), and ``subject`` is what they have in common."""
    if not drawn:
        return Markup("")
    told = "|".join(each.replace("|", "/") for each in values)
    return Markup('<path class="{}" d="{}"{}{}/>').format(
        name,
        drawn.format(*places),
        Markup(' data-n="{}"').format(subject) if told and subject else "",
        Markup(' data-v="{}"').format(told) if told else "",
    )


def upright_grid(axis: LogAxis, title: str, write: Callable[[float], str] = format_duration) -> Markup:
    """Return the grid of a vertical axis, whose values are formatted by a function."""
    places = [(axis.place(tick), write(tick)) for tick in axis.ticks()]
    lines = path("grid", "".join(f"M{LEFT} {short(y)}H{RIGHT}" for y, words in places))
    return lines + text("axis", 4, 12, title) + _texts("end", ((LEFT - 5, y + 4, words) for y, words in places))


def level_grid(ticks: Iterable[tuple[float, str]], title: str, bottom: float = BOTTOM) -> Markup:
    """Return the grid of a horizontal axis from places and their texts; texts that would touch the previous one are
    left out."""
    lines, texts, end = "", [((LEFT + RIGHT) / 2, bottom + 32, title)], -math.inf
    for x, words in ticks:
        lines += f"M{short(x)} {TOP}V{short(bottom)}"
        half = 3.8 * len(words)
        if x - half > end:
            texts.append((x, bottom + 15, words))
            end = x + half + 4
    return path("grid", lines) + _texts("middle", texts)


def _texts(anchor: str, texts: Iterable[tuple[float, float, str]]) -> Markup:
    """Return the texts of an axis, given by their places and words."""
    each = Markup('<text x="{}" y="{}">{}</text>')
    return Markup('<g class="axis" text-anchor="{}">{}</g>').format(
        anchor, joined(each.format(short(x), short(y), words) for x, y, words in texts)
    )


def lanes_grid(axis: LogAxis, bottom: float) -> Markup:
    """Return the grid of a horizontal axis of durations, under lanes that end at ``bottom``."""
    ticks = ((axis.place(tick), format_duration(tick)) for tick in axis.ticks())
    return level_grid(ticks, "Latency, logarithmic", bottom=bottom)


def line(
    name: str,
    points: Sequence[tuple[float, float | None]],
    dots: bool = False,
    values: Iterable[str] = (),
    subject: str = "",
) -> Markup:
    """Return a line through points, and a mark at each of them if requested. The marks of a figure have the same shape
    in every chart: p99 has full dots, the mean full squares, the maximum rings, and p50 hollow squares. ``values`` are
    the texts for the known points, as for a path."""
    drawn, marks = path(f"line {name}", course(points), values=values, subject=subject), dots_course(points)
    if dots:
        drawn += path(f"dots {name}", marks)
    return drawn + path(f"hole {name}", marks) if dots and name in HOLLOW else drawn


def course(points: Iterable[tuple[float, float | None]]) -> str:
    """Return the course of a line through points, with gaps where a height is unknown."""
    parts, pen = [], "M"
    for x, y in points:
        parts += [f"{pen}{short(x)} {short(y)}"] if y is not None else []
        pen = "M" if y is None else "L"
    return "".join(parts)


def dots_course(points: Iterable[tuple[float, float | None]]) -> str:
    """Return the course of a path with a mark at each point."""
    return "".join(f"M{short(x)} {short(y)}h0" for x, y in points if y is not None)


def thinned(items: Sequence[_Item], most: int = MOST_LINES) -> list[_Item]:
    """Return at most the given number of some sorted items, including the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]
