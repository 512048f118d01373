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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from markupsafe import Markup

from ..changes import figure_text, moments_text, percent, row_text
from .axes import Axis, apart, course, dots_course, path, picture, text

WIDTH = 640
HEIGHT = 210
COLOURS = 7
MARKS = {"method_version": "M", "kernel": "K", "device_firmware": "F", "mount_options": "O", "array_settings": "A"}
"""Changes that have their own letter. All others share one letter."""
OTHER_MARK = "\u2022"
IMPORTED_MARK = "\u25c7"

Certificates = Sequence[Mapping[str, Any]]

_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 10, 20, 36
_MOST_DATES = 6
_DATE = 62
"""Width of a date."""
_TICKS = (-0.9, -0.8, -0.7, -0.5, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 4.0, 9.0)
_TICK_DISTANCE = 14
_WIDEST = (math.log(0.1), math.log(10))


def chart(series: Mapping[str, Any], certificates: Certificates, events: Iterable[Mapping[str, Any]]) -> Markup:
    """Return the chart of one figure, or "" if no certificate contains it."""
    rates = series["figure"].endswith("_per_s")
    left_out = {each["place"] for each in series["left_out"]}
    lines = [_logarithms(row, left_out, rates) for row in series["rows"]]
    limits = [_share(row["limit"], row["usual"], rates) for row in series["rows"] if row["limit"]]
    values = [value for line in lines for value in line if value is not None]
    if not values:
        return Markup("")
    canvas = _Canvas(len(certificates), [*values, *limits])
    parts = [*canvas.grid(), *canvas.dates(certificates), *canvas.marks(certificates)]
    parts += [part for event in events for part in canvas.event(event)]
    parts += [canvas.level("limit", min(limits))] if limits else []
    for number, (row, line) in enumerate(zip(series["rows"], lines)):
        parts += canvas.line(number % COLOURS, row_text(row), line, left_out, row["conspicuous"])
    return picture(
        "drift", WIDTH, HEIGHT, f"{figure_text(series['figure'])} of {len(certificates)} certificates", parts
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
        self._x = Axis(-0.5, max(1, certificates) - 0.5, _LEFT, WIDTH - _RIGHT)
        room = math.log1p(0.15)
        low, high = max(_WIDEST[0], min([-room, *values])), min(_WIDEST[1], max([room, *values]))
        self._y = Axis(low, high, HEIGHT - _BOTTOM - 6, _TOP + 6)

    def grid(self) -> Iterator[Markup]:
        heights = {tick: self._y.place(math.log1p(tick)) for tick in _TICKS if self._y.holds(math.log1p(tick))}
        for tick in apart(heights, heights.__getitem__, _TICK_DISTANCE):
            yield self.level("grid" if tick else "zero", math.log1p(tick))
            yield text("tick", _LEFT - 5, heights[tick] + 3, percent(tick).replace(" ", "") if tick else "usual", "end")

    def dates(self, certificates: Certificates) -> list[Markup]:
        """Return the day of some certificates, including the first and the last; with the time of day if days
        repeat."""
        last = len(certificates) - 1
        count = min(_MOST_DATES, len(certificates))
        write = moments_text(each["judged_at"] for each in certificates)
        width = _DATE * len(write(certificates[0]["judged_at"])) / len("2026-11-21")
        places = sorted({round(last * number / max(1, count - 1)) for number in range(count)})
        anchors = {0: "start", last: "end"} if last else {}
        shown, free = places[:1], self._x.place(0) + width
        for place in places[1:-1]:
            if (
                free <= self._x.place(place) - width / 2
                and self._x.place(place) + width / 2 <= self._x.place(last) - width
            ):
                shown.append(place)
                free = self._x.place(place) + width / 2
        shown += places[1:][-1:]
        return [
            text(
                "tick",
                self._x.place(place),
                HEIGHT - 6,
                write(certificates[place]["judged_at"]),
                anchors.get(place, "middle"),
            )
            for place in shown
        ]

    def marks(self, certificates: Certificates) -> Iterator[Markup]:
        """Yield a mark below each certificate that was imported, and letters below each certificate before which
        something changed."""
        for place, certificate in enumerate(certificates):
            letters = dict.fromkeys(MARKS.get(change["name"], OTHER_MARK) for change in certificate["changes"])
            for written in ([IMPORTED_MARK] if certificate["imported"] else []) + (
                ["".join(letters)] if letters else []
            ):
                yield text("mark", self._x.place(place), HEIGHT - 21, written, "middle")
            if letters:
                yield self._upright("mark", place)

    def event(self, event: Mapping[str, Any]) -> list[Markup]:
        """Return a change point: a line before the first certificate after the change, and the size of the change."""
        most = f"level {percent(max((row['change'] for row in event['rows']), key=abs))}"
        place = min(self._x.place(event["place"] - 0.5), WIDTH - 34)
        name, words = ("point preliminary", f"{most}?") if event["preliminary"] else ("point", most)
        return [self._upright(name, event["place"]), text("point", place, _TOP - 7, words, "middle")]

    def level(self, name: str, value: float) -> Markup:
        """Return a line across the chart."""
        return path(name, "M{} {:.1f}H{}", _LEFT, self._y.place(value), WIDTH - _RIGHT)

    def _upright(self, name: str, place: int) -> Markup:
        """Return a line between a certificate and the previous one."""
        return path(name, "M{:.1f} {}V{}", self._x.place(place - 0.5), _TOP, HEIGHT - _BOTTOM + 2)

    def line(
        self, colour: int, label: str, values: Sequence[float | None], left_out: set[int], conspicuous: Sequence[int]
    ) -> Iterator[Markup]:
        """Yield a line through the certificates that are used. Each of these has a dot, each certificate that is not
        used has a pale dot, and conspicuous certificates have a ring around the dot."""
        points = {
            place: (self._x.place(place), self._y.place(value))
            for place, value in enumerate(values)
            if value is not None
        }
        counted = [point for place, point in points.items() if place not in left_out]
        yield path(f"row c{colour}", course(counted))
        told = {
            place: f"{percent(math.expm1(value))} against usual"
            for place, value in enumerate(values)
            if value is not None
        }
        used = [told[place] for place in points if place not in left_out]
        yield path(f"dots c{colour}", dots_course(counted), values=used, subject=label)
        pale = [place for place in points if place in left_out]
        yield path(
            f"dots pale c{colour}",
            dots_course(points[place] for place in pale),
            values=[told[place] for place in pale],
            subject=f"{label}, not used",
        )
        for place in sorted({*conspicuous} & {*points} - left_out):
            yield Markup('<circle class="ring" cx="{:.1f}" cy="{:.1f}" r="4.5"/>').format(*points[place])
