# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Code shared by charts: the frame with its text alternative, logarithmic axes, ticks and lines, and labels that do not
overlap."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from ....module_utils import _units

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

_LABEL_DISTANCE = 13
_CHARACTER = 6.6
"""The average width of a character in a label."""
_WIDEST_CHARACTER = 8.4
"""The same for small screens, on which labels are larger."""
_USUAL_LABEL = len("1000 KiB")
"""The number of characters of a label that fit into every chart."""
_TRIED_STARTS = 24
"""The number of places along a line that are tried for its label."""
_ABOVE, _BELOW = -3, 12
"""The distance between the base of a label and its line."""
_HOLD = 1e-9

_Item = TypeVar("_Item")
_Place = tuple[float, float, float]
"""The position and size of a label: its start, base and width."""


@dataclass(frozen=True, slots=True)
class LogAxis:
    """A logarithmic axis for values from low to high, drawn between two coordinates. The first coordinate belongs to
    low."""

    low: float
    high: float
    first: float
    last: float

    @classmethod
    def around(cls, values: Iterable[float], first: float, last: float) -> LogAxis:
        """Return an axis for some positive values, with a little room on either side."""
        known = [math.log10(value) for value in values]
        low, high = min(known), max(known)
        room = 0.04 * max(high - low, 1.0)
        return cls(low - room, high + room, first, last)

    def place(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.first + min(1.0, max(0.0, share)) * (self.last - self.first)

    def holds(self, value: float) -> bool:
        return self.low - _HOLD <= math.log10(value) <= self.high + _HOLD

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


def apart(ticks: Iterable[float], place: Callable[[float], float], distance: float) -> list[float]:
    """Return the ticks that are at least a given distance apart on the page, starting from the one closest to zero."""
    shown: list[float] = []
    for tick in sorted(ticks, key=abs):
        if all(abs(place(tick) - place(other)) >= distance for other in shown):
            shown.append(tick)
    return shown


def chart(
    kind: str, title: str, description: str, body: Markup, height: float = HEIGHT, left: float = 0, right: float = 0
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
        body=body,
    )


def room_for(labels: Iterable[str]) -> float:
    """Return how much more room than usual the labels beside the plot need. Block sizes need no more room."""
    longest = max(map(len, labels), default=0)
    return _WIDEST_CHARACTER * longest - (LEFT - 5) if longest > _USUAL_LABEL else 0.0


def text(name: str, x: float, y: float, words: str, anchor: str = "start") -> Markup:
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(name, x, y, anchor, words)


def upright_grid(axis: LogAxis, title: str, write: Callable[[float], str]) -> Markup:
    """Return the grid of a vertical axis, whose values are formatted by a function."""
    parts = [text("axis", 4, 12, title)]
    for tick in axis.ticks():
        y = axis.place(tick)
        parts.append(
            Markup('<path class="grid" d="M{} {:.1f}H{}"/>').format(LEFT, y, RIGHT)
            + text("axis", LEFT - 5, y + 4, write(tick), "end")
        )
    return Markup("").join(parts)


def duration_grid(axis: LogAxis, title: str) -> Markup:
    """Return the grid of a vertical axis of durations."""
    return upright_grid(axis, title, _units.format_duration)


def level_grid(ticks: Iterable[tuple[float, str]], title: str, top: float = TOP, bottom: float = BOTTOM) -> Markup:
    """Return the grid of a horizontal axis from places and their texts; texts that would touch the previous one are
    left out."""
    parts, end = [text("axis", (LEFT + RIGHT) / 2, bottom + 32, title, "middle")], -math.inf
    for x, words in ticks:
        parts.append(Markup('<path class="grid" d="M{:.1f} {:.0f}V{:.0f}"/>').format(x, top, bottom))
        half = 3.8 * len(words)
        if x - half > end:
            parts.append(text("axis", x, bottom + 15, words, "middle"))
            end = x + half + 4
    return Markup("").join(parts)


def line(name: str, points: Sequence[tuple[float, float]], dots: bool = False) -> Markup:
    """Return a line through points, with a mark at each of them if requested. The marks of a figure have the same shape
    in every chart: p99 has full dots, the mean full squares, the maximum rings, and p50 hollow squares."""
    if not points:
        return Markup("")
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    marks = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points) if dots else ""
    drawn = Markup('<path class="line {}" d="{}"/>').format(name, path)
    if dots:
        drawn += Markup('<path class="dots {}" d="{}"/>').format(name, marks)
    return drawn + (Markup('<path class="hole {}" d="{}"/>').format(name, marks) if dots and name in HOLLOW else "")


def end_labels(labels: Iterable[tuple[float, str, str]], lowest: float = BOTTOM, x: float = RIGHT + 6) -> Markup:
    """Return labels with the names of lines, from (height, class, words). They are to the right of the plot unless
    another place is given, and are moved apart if they would overlap."""
    placed: list[tuple[float, str, str]] = []
    for y, name, words in sorted(labels, key=lambda label: label[0]):
        placed.append((max(y, placed[-1][0] + _LABEL_DISTANCE) if placed else max(y, TOP), name, words))
    limit = lowest
    for number in range(len(placed) - 1, -1, -1):
        y, name, words = placed[number]
        placed[number] = (min(y, limit), name, words)
        limit = placed[number][0] - _LABEL_DISTANCE
    return Markup("").join(text(f"name {name}", x, y + 4, words) for y, name, words in placed)


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A horizontal line on the page, and the class and the words of its label."""

    left: float
    right: float
    y: float
    name: str
    words: str


def level_labels(levels: Sequence[LevelLine], lines: Iterable[Sequence[tuple[float, float]]]) -> Markup:
    """Return the labels of horizontal lines, each above or below its own line, at the place where it covers as little
    as possible of other labels and lines."""
    drawn = _drawn([*lines, *(((each.left, each.y), (each.right, each.y)) for each in levels)])
    placed: list[_Place] = []
    for each in levels:
        width = _CHARACTER * len(each.words)
        last = each.right - width
        shares = (0, 1, *(number / _TRIED_STARTS for number in (_TRIED_STARTS // 2, *range(1, _TRIED_STARTS))))
        starts = [min(max(each.left + share * (last - each.left), LEFT), RIGHT - width) for share in shares]
        places = [(start, each.y + away, width) for away in (_ABOVE, _BELOW) for start in starts]
        placed.append(_clearest(places, placed, drawn))
    return _texts(((each.name, each.words) for each in levels), placed)


def course_labels(
    courses: Sequence[tuple[str, str, Sequence[tuple[float, float]]]], lines: Iterable[Sequence[tuple[float, float]]]
) -> Markup:
    """Return the labels of lines, from (class, words, points), each beside its own line, at the first place where it
    covers as little as possible of other labels and lines."""
    drawn = _drawn([*lines, *(points for name, words, points in courses)])
    placed: list[_Place] = []
    for dummy, words, points in courses:
        width = _CHARACTER * len(words)
        places = [
            (min(max(x - width / 2, LEFT + 2), RIGHT - width), y + away, width)
            for x, y in _along(points)
            for away in (_ABOVE - 2, _BELOW + 1, _ABOVE - 6, _BELOW + 5)
        ]
        placed.append(_clearest(places, placed, drawn))
    return _texts(((f"name {name}", words) for name, words, points in courses), placed)


def _drawn(lines: Iterable[Sequence[tuple[float, float]]]) -> list[tuple[float, float]]:
    return [point for course in lines for point in _along(course)]


def _clearest(places: Sequence[_Place], placed: Sequence[_Place], drawn: Sequence[tuple[float, float]]) -> _Place:
    """Return the first of the places within the plot at which a label covers as little as possible."""
    within = [place for place in places if TOP <= place[1] <= BOTTOM]
    # Many places have the same height, and few points of the lines are near it.
    near = {height: _near(height, drawn) for height in {place[1] for place in within}}
    return min(
        within,
        key=lambda place: (sum(_overlap(place, other) for other in placed), _covered(place, near[place[1]])),
    )


def _near(height: float, drawn: Sequence[tuple[float, float]]) -> list[float]:
    """Return the horizontal positions, in ascending order, of the points that a label at this height can cover."""
    return sorted(x for x, y in drawn if height - 10 <= y <= height + 2)


def _covered(label: _Place, near: Sequence[float]) -> int:
    """Return how many of the points near its height a label covers."""
    return bisect_right(near, label[0] + label[2]) - bisect_left(near, label[0])


def _texts(labels: Iterable[tuple[str, str]], places: Iterable[_Place]) -> Markup:
    return Markup("").join(text(name, x, y, words) for (name, words), (x, y, dummy) in zip(labels, places, strict=True))


def _along(course: Sequence[tuple[float, float]]) -> Iterable[tuple[float, float]]:
    """Yield points along a line. The distance between them is about that between the strokes of a letter."""
    for (x, y), (next_x, next_y) in zip(course, course[1:]):
        count = 1 + int(max(abs(next_x - x), abs(next_y - y)) / 3)
        yield from (
            (x + (next_x - x) * number / count, y + (next_y - y) * number / count) for number in range(count + 1)
        )


def _overlap(one: _Place, other: _Place) -> bool:
    """Return whether two labels overlap."""
    return one[0] < other[0] + other[2] and other[0] < one[0] + one[2] and abs(one[1] - other[1]) < _LABEL_DISTANCE


def thinned(items: Sequence[_Item], most: int = MOST_LINES) -> list[_Item]:
    """Return at most the given number of some sorted items, including the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(number * (len(items) - 1) / (most - 1))] for number in range(most)]
