# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A chart of a volume's certificates as inline SVG: it has a line for each block size, marks for changes between
certificates, and the control limit.

The figures of a row are divided by its usual value. The scale is logarithmic and higher means worse, so that rows of
100 us and of 1 ms can be shown together.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from markupsafe import Markup

from ..changes import figure_text, moments_text, percent, row_text
from .axes import apart

WIDTH = 640
HEIGHT = 210
COLOURS = 7
MARKS = {"method_version": "M", "kernel": "K", "device_firmware": "F", "mount_options": "O", "array_settings": "A"}
"""Changes that have their own letter. All others share one letter."""
OTHER_MARK = "\u2022"
IMPORTED_MARK = "\u25c7"

_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 10, 20, 36
_MOST_DATES = 6
_DATE = 62
"""Width of a date."""
_TICKS = (-0.9, -0.8, -0.7, -0.5, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0, 9.0)
_TICK_DISTANCE = 14
_WIDEST = (math.log(0.1), math.log(10))


def chart(
    series: Mapping[str, Any], certificates: Sequence[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> Markup:
    """Return the chart of one figure, or "" if no certificate contains it."""
    rates = series["figure"].endswith("_per_s")
    left_out = {each["place"] for each in series["left_out"]}
    lines = [_logarithms(row, left_out, rates) for row in series["rows"]]
    limits = [_share(row["limit"], row["usual"], rates) for row in series["rows"] if row["limit"]]
    values = [value for line in lines for value in line if value is not None]
    if not values:
        return Markup("")
    canvas = _Canvas(len(certificates), [*values, *limits])
    parts = [canvas.grid(), canvas.dates(certificates), canvas.marks(certificates)]
    parts += [canvas.event(event) for event in events]
    if limits:
        parts.append(canvas.limit(min(limits)))
    for number, (row, line) in enumerate(zip(series["rows"], lines)):
        parts.append(canvas.line(number % COLOURS, line, left_out, row["conspicuous"]))
    label = f"{figure_text(series['figure'])} of {len(certificates)} certificates"
    return Markup('<svg class="drift" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{body}</svg>').format(
        w=WIDTH, h=HEIGHT, label=label, body=Markup("").join(parts)
    )


def legend(series: Mapping[str, Any]) -> list[tuple[int, str]]:
    """Return the colour and the name of each line."""
    return [(number % COLOURS, row_text(row)) for number, row in enumerate(series["rows"])]


def _share(value: float, usual: float, rates: bool) -> float:
    """Return how much worse a value is than the usual value, as a logarithm."""
    return math.log(usual / value) if rates else math.log(value / usual)


def _logarithms(row: Mapping[str, Any], left_out: set[int], rates: bool) -> list[float | None]:
    """Return how much worse each value of a row is than the usual value, which is the mean used for the control limit,
    or else the mean of the values that are used."""
    known = [value for place, value in enumerate(row["values"]) if value is not None and place not in left_out]
    known = known or [value for value in row["values"] if value is not None]
    usual = row["usual"] or (math.exp(fmean(map(math.log, known))) if known else 1.0)
    return [None if value is None else _share(value, usual, rates) for value in row["values"]]


class _Canvas:
    """The axes of one chart: certificates from left to right, logarithms from bottom to top."""

    def __init__(self, certificates: int, values: Sequence[float]) -> None:
        self._step = (WIDTH - _LEFT - _RIGHT) / max(1, certificates)
        room = math.log1p(0.15)
        self._low, self._high = max(_WIDEST[0], min([-room, *values])), min(_WIDEST[1], max([room, *values]))

    def x(self, place: float) -> float:
        return _LEFT + (place + 0.5) * self._step

    def y(self, value: float) -> float:
        share = (min(self._high, max(self._low, value)) - self._low) / (self._high - self._low)
        return _TOP + 6 + (1 - share) * (HEIGHT - _TOP - _BOTTOM - 12)

    def grid(self) -> Markup:
        held = [tick for tick in _TICKS if self._low <= math.log1p(tick) <= self._high]
        shown = apart(held, lambda tick: self.y(math.log1p(tick)), _TICK_DISTANCE)
        return Markup("").join(
            Markup(
                '<line class="{}" x1="{}" y1="{y:.1f}" x2="{}" y2="{y:.1f}"/><text x="{}" '
                'y="{:.1f}" text-anchor="end">{}</text>'
            ).format(
                "grid" if tick else "zero",
                _LEFT,
                WIDTH - _RIGHT,
                _LEFT - 5,
                self.y(math.log1p(tick)) + 3,
                f"{100 * tick:+.0f}%" if tick else "usual",
                y=self.y(math.log1p(tick)),
            )
            for tick in shown
        )

    def dates(self, certificates: Sequence[Mapping[str, Any]]) -> Markup:
        """Return the day of some certificates, including the first and the last; with the time of day if days
        repeat."""
        last = len(certificates) - 1
        count = min(_MOST_DATES, len(certificates))
        write = moments_text(each["judged_at"] for each in certificates)
        width = _DATE * len(write(certificates[0]["judged_at"])) / len("2026-11-21")
        places = sorted({round(last * number / max(1, count - 1)) for number in range(count)})
        anchors = {0: "start", last: "end"} if last else {}
        shown, free = places[:1], self.x(0) + width
        for place in places[1:-1]:
            if free <= self.x(place) - width / 2 and self.x(place) + width / 2 <= self.x(last) - width:
                shown.append(place)
                free = self.x(place) + width / 2
        shown += places[1:][-1:]
        return Markup("").join(
            Markup('<text x="{:.1f}" y="{}" text-anchor="{}">{}</text>').format(
                self.x(place), HEIGHT - 6, anchors.get(place, "middle"), write(certificates[place]["judged_at"])
            )
            for place in shown
        )

    def marks(self, certificates: Sequence[Mapping[str, Any]]) -> Markup:
        """Return a mark below each certificate that was imported, and letters below each certificate before which
        something changed."""
        parts = []
        for place, certificate in enumerate(certificates):
            letters = dict.fromkeys(MARKS.get(change["name"], OTHER_MARK) for change in certificate["changes"])
            if certificate["imported"]:
                parts.append(self._letters(place, IMPORTED_MARK))
            if letters:
                parts.append(self._letters(place, "".join(letters)))
                parts.append(_vertical("mark", self.x(place - 0.5)))
        return Markup("").join(parts)

    def _letters(self, place: int, letters: str) -> Markup:
        return Markup('<text class="mark" x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            self.x(place), HEIGHT - 21, letters
        )

    def event(self, event: Mapping[str, Any]) -> Markup:
        """Return a change point: a line before the first certificate after the change, and the size of the change."""
        most = max((row["change"] for row in event["rows"]), key=abs)
        place = self.x(event["place"] - 0.5)
        name = "point preliminary" if event["preliminary"] else "point"
        text = Markup('<text class="point" x="{:.1f}" y="{}" text-anchor="middle">{}{}</text>').format(
            min(place, WIDTH - 34), _TOP - 7, percent(most), "?" if event["preliminary"] else ""
        )
        return _vertical(name, place) + text

    def limit(self, value: float) -> Markup:
        return Markup('<line class="limit" x1="{}" y1="{y:.1f}" x2="{}" y2="{y:.1f}"/>').format(
            _LEFT, WIDTH - _RIGHT, y=self.y(value)
        )

    def line(
        self, colour: int, values: Sequence[float | None], left_out: set[int], conspicuous: Sequence[int]
    ) -> Markup:
        """Return a line through the certificates that are used. Each of these has a dot, each certificate that is not
        used has a pale dot, and conspicuous certificates have a ring around the dot."""
        counted = [(place, value) for place, value in enumerate(values) if value is not None and place not in left_out]
        pale = [(place, value) for place, value in enumerate(values) if value is not None and place in left_out]
        parts = [
            _path(f"row c{colour}", "L".join(f"{self.x(place):.1f} {self.y(value):.1f}" for place, value in counted))
        ]
        parts.append(_path(f"dots c{colour}", self._dots(counted)))
        parts.append(_path(f"dots pale c{colour}", self._dots(pale)))
        parts += [
            Markup('<circle class="ring" cx="{:.1f}" cy="{:.1f}" r="4.5"/>').format(self.x(place), self.y(value))
            for place, value in counted
            if place in conspicuous
        ]
        return Markup("").join(parts)

    def _dots(self, points: Iterable[tuple[int, float]]) -> str:
        return "M".join(f"{self.x(place):.1f} {self.y(value):.1f}h0" for place, value in points)


def _path(name: str, course: str) -> Markup:
    return Markup('<path class="{}" d="M{}"/>').format(name, course) if course else Markup("")


def _vertical(name: str, place: float) -> Markup:
    return Markup('<line class="{}" x1="{x:.1f}" y1="{}" x2="{x:.1f}" y2="{}"/>').format(
        name, _TOP, HEIGHT - _BOTTOM + 2, x=place
    )
