# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A chart over an x axis, described as data: its curves, limits and marks. Labels are placed so that they do not
overlap."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ....module_utils._units import format_duration, format_number
from .axes import (
    BOTTOM,
    LEFT,
    RIGHT,
    TOP,
    Axis,
    LogAxis,
    Point,
    chart,
    joined,
    level_grid,
    line,
    path,
    room_for,
    text,
    upright_grid,
)

_LABEL_DISTANCE = 13
_CHARACTER = 6.6
"""The average width of a character in a label."""
_TRIED_STARTS = 24
"""The number of places along a line that are tried for its label."""
_ABOVE, _BELOW = -3, 12
"""The distance between the base of a label and its line."""

_Place = tuple[float, float, float]
"""The position and size of a label: its start, base and width."""
_Label = tuple[str, str, Sequence[_Place]]
"""The CSS class and the words of a label, and the places at which it may be, the best one first."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of a chart: its CSS class, its points in the units of the axes, the label at its end with its class, and
    whether each point has a mark. It has gaps where a height is None. A curve that is ``derived`` from other figures
    ends where the vertical axis ends, and labels may cover it. If it has a ``subject``, the page can show the value of
    each point under this name."""

    name: str
    points: Sequence[tuple[float, float | None]]
    label: str = ""
    label_name: str = ""
    dots: bool = False
    derived: bool = False
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Level:
    """A limit from one x value to another: its height, its CSS class, and the words of its label."""

    value: float
    first: float
    last: float
    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of one CSS class: the shape of each, with placeholders for its coordinates, and where they are. Their
    values have a ``subject``, as those of a curve."""

    name: str
    shape: str
    points: Sequence[Point]
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart over an x axis. ``ticks`` are values of the axis with their texts. ``courses`` are the names of curves,
    each with its CSS class and the points beside which it may be. ``passed`` is the x value up to which loads passed.
    The vertical axis contains all curves, limits and marks, and ``values``. If ``first_on_top``, the first curve covers
    the others. ``write`` and ``write_x`` format values of the axes, and ``unit`` follows
    values that are written without one. ``beneath`` draws what is under the lines.
    """

    x: Axis
    x_title: str
    ticks: Sequence[tuple[float, str]]
    curves: Sequence[Curve]
    levels: Sequence[Level] = ()
    marks: Sequence[Marks] = ()
    courses: Sequence[tuple[str, str, Sequence[Point]]] = ()
    passed: float | None = None
    title: str = "Latency"
    values: Sequence[float] = ()
    write: Callable[[float], str] = format_duration
    first_on_top: bool = False
    bottom: float = BOTTOM
    unit: str = ""
    write_x: Callable[[float], str] = format_number
    beneath: Callable[[LogAxis], Markup] | None = None

    def chart(self, kind: str, title: str, description: str, labels: Iterable[str] = ()) -> Markup:
        """Return the chart as an illustration, with room for the given labels at the ends of its lines."""
        return chart(kind, title, description, self.parts(), right=room_for(labels))

    def parts(self) -> list[Markup]:
        """Return the parts of the picture, those on top last."""
        y = self._upright_axis()
        places = [self._places(y, curve.points, curve.derived) for curve in self.curves]
        lines = [
            line(curve.name, points, curve.dots, self._values(curve), curve.subject)
            for curve, points in zip(self.curves, places, strict=True)
        ]
        levels = [
            (level, self.x.place(level.first) - 6, self.x.place(level.last) + 6, y.place(level.value))
            for level in self.levels
        ]
        strokes = self._strokes()
        firm = [points for curve, points in zip(self.curves, places, strict=True) if not curve.derived]
        courses = [(f"name {name}", words, self._places(y, points)) for name, words, points in self.courses]
        beside = [(level.name, level.words, level_places(*place, level.words)) for level, *place in levels]
        beside += [(name, words, _course_places(points, words)) for name, words, points in courses]
        level_lines = [[(left, height), (right, height)] for dummy, left, right, height in levels]
        ends = [
            (next(height for dummy, height in reversed(points) if height), curve.label_name or curve.name, curve.label)
            for curve, points in zip(self.curves, places, strict=True)
            if curve.label
        ]
        return [
            upright_grid(y, self.title, self.write),
            level_grid([(self.x.place(tick), words) for tick, words in self.ticks], self.x_title, bottom=self.bottom),
            *([self.beneath(y)] if self.beneath else []),
            *(path(level.name, "M{0:.1f} {2:.1f}H{1:.1f}", *place, values=[level.words]) for level, *place in levels),
            *(reversed(lines) if self.first_on_top else lines),
            *(line("passed", stroke) for stroke in strokes),
            *(
                path(
                    marks.name,
                    "".join(marks.shape.format(*place) for place in self._places(y, marks.points)),
                    values=self._values(marks),
                    subject=marks.subject,
                )
                for marks in self.marks
            ),
            *(_passed_label(*strokes[0][0]) for dummy in strokes[:1]),
            labels_beside(beside, [*firm, *strokes, *(points for dummy, dummy, points in courses), *level_lines]),
            end_labels(ends, self.bottom),
        ]

    def _values(self, drawn: Curve | Marks) -> list[str]:
        """Return the texts of the known points of a curve or of marks; none if they have no subject."""
        known = ((x, value) for x, value in drawn.points if value)
        return [f"{self.write_x(x)}: {self.write(value)}{self.unit}" for x, value in known if drawn.subject]

    def _upright_axis(self) -> LogAxis:
        drawn = [each.points for each in (*self.curves, *self.marks) if not getattr(each, "derived", False)]
        drawn += [points for dummy, dummy, points in self.courses]
        values = [value for points in drawn for dummy, value in points if value]
        return LogAxis.around([*values, *(level.value for level in self.levels), *self.values], self.bottom, TOP)

    def _places(self, y: LogAxis, points: Sequence[tuple[float, float | None]], within: bool = False) -> list[Point]:
        """Return the places of points; if ``within``, only those of points that the vertical axis contains."""
        return [
            (self.x.place(across), y.place(value) if value else None)
            for across, value in points
            if not within or y.holds(value)
        ]

    def _strokes(self) -> list[list[Point]]:
        """Return the strokes at the highest load that passed. They are only at the ends of its grid line, so that there
        is room for labels between them."""
        x = None if self.passed is None else self.x.place(self.passed)
        return [] if x is None else [[(x, TOP - 8), (x, TOP + 4)], [(x, BOTTOM - 10), (x, BOTTOM + 3)]]


def _passed_label(x: float, top: float) -> Markup:
    return text("passed", x, top - 3, "passed up to here", "middle" if x > LEFT + 60 else "start")


def end_labels(labels: Iterable[tuple[float, str, str]], lowest: float) -> Markup:
    """Return labels with the names of lines, from (height, class, words). They are to the right of the plot, and are
    moved apart if they would overlap."""
    placed: list[tuple[float, str, str]] = []
    for y, name, words in sorted(labels, key=lambda label: label[0]):
        placed.append((max(y, placed[-1][0] + _LABEL_DISTANCE) if placed else max(y, TOP), name, words))
    limit = lowest
    for number in range(len(placed) - 1, -1, -1):
        y, name, words = placed[number]
        placed[number] = (min(y, limit), name, words)
        limit = placed[number][0] - _LABEL_DISTANCE
    return joined(text(f"name {name}", RIGHT + 6, y + 4, words) for y, name, words in placed)


def level_places(left: float, right: float, y: float, words: str) -> list[_Place]:
    """Return the places of a label above and below a horizontal line."""
    width = _CHARACTER * len(words)
    shares = (0, 1, *(number / _TRIED_STARTS for number in (_TRIED_STARTS // 2, *range(1, _TRIED_STARTS))))
    starts = [min(max(left + share * (right - width - left), LEFT), RIGHT - width) for share in shares]
    return [(start, y + away, width) for away in (_ABOVE, _BELOW) for start in starts]


def _course_places(points: Sequence[Point], words: str) -> list[_Place]:
    """Return the places of a label beside a line."""
    width = _CHARACTER * len(words)
    return [
        (min(max(x - width / 2, LEFT + 2), RIGHT - width), y + away, width)
        for x, y in _along(points)
        for away in (_ABOVE - 2, _BELOW + 1, _ABOVE - 6, _BELOW + 5)
    ]


def labels_beside(labels: Sequence[_Label], lines: Iterable[Sequence[Point]]) -> Markup:
    """Return labels, each at the first place where it covers as little as possible of other labels and lines."""
    drawn = [point for course in lines for point in _along(course)] if labels else []
    placed: list[_Place] = []
    for dummy, dummy, places in labels:
        within = [place for place in places if TOP <= place[1] <= BOTTOM]
        # Many places have the same height, and few points of the lines are near it.
        near = {height: _near(height, drawn) for height in {place[1] for place in within}}
        clearest = min((_hidden(place, placed, near[place[1]]), number) for number, place in enumerate(within))
        placed.append(within[clearest[1]])
    return joined(text(name, x, y, words) for (name, words, dummy), (x, y, dummy) in zip(labels, placed, strict=True))


def _near(height: float, drawn: Sequence[Point]) -> list[float]:
    """Return the horizontal positions, in ascending order, of the points that a label at this height can cover."""
    return sorted(x for x, y in drawn if height - 10 <= y <= height + 2)


def _hidden(label: _Place, placed: Sequence[_Place], near: Sequence[float]) -> tuple[int, int]:
    """Return how many other labels a label would cover, and how many of the points near its height."""
    covered = bisect_right(near, label[0] + label[2]) - bisect_left(near, label[0])
    return sum(_overlap(label, other) for other in placed), covered


def _along(course: Sequence[Point]) -> Iterable[Point]:
    """Yield points along a line. The distance between them is about that between the strokes of a letter."""
    for (x, y), (next_x, next_y) in zip(course, course[1:]):
        count = 1 + int(max(abs(next_x - x), abs(next_y - y)) / 3)
        yield from (
            (x + (next_x - x) * number / count, y + (next_y - y) * number / count) for number in range(count + 1)
        )


def _overlap(one: _Place, other: _Place) -> bool:
    """Return whether two labels overlap."""
    return one[0] < other[0] + other[2] and other[0] < one[0] + one[2] and abs(one[1] - other[1]) < _LABEL_DISTANCE
