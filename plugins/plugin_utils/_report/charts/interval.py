# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Pictures of changes with their intervals as inline SVG, one for each row of a table, all on one logarithmic axis in
per cent."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from ..changes import interval, percent
from .axes import apart

WIDTH = 210
HEIGHT = 22
_SIDE = 14
_WIDEST = (math.log(0.25), math.log(5))
"""Changes beyond these are drawn at the edge, as arrows."""
_TICKS = (-0.7, -0.5, -0.3, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
_TICK_DISTANCE = 36


@dataclass(frozen=True)
class Axis:
    """The axis that all pictures of a table share, as logarithms. ``margin`` is the change that matters, which every
    picture shows."""

    low: float
    high: float
    margin: float

    @classmethod
    def around(cls, changes: Iterable[float | None], margin: float) -> Axis:
        """Return an axis that covers some changes, and the margin on both sides."""
        logarithms = [math.log1p(max(change, -0.99)) for change in changes if change is not None]
        least = 1.5 * math.log1p(margin)
        return cls(max(_WIDEST[0], min([-least, *logarithms])), min(_WIDEST[1], max([least, *logarithms])), margin)

    def place(self, change: float) -> float:
        """Return the horizontal position of a change. Changes beyond the axis are placed at its edge."""
        share = (math.log1p(max(change, -0.99)) - self.low) / (self.high - self.low)
        return _SIDE + min(1.0, max(0.0, share)) * (WIDTH - 2 * _SIDE)

    def is_beyond(self, change: float) -> bool:
        return not self.low - 1e-9 <= math.log1p(max(change, -0.99)) <= self.high + 1e-9


def scale(axis: Axis) -> Markup:
    """Return the axis itself, with its ticks, for the head of the table."""
    shown = apart([tick for tick in _TICKS if not axis.is_beyond(tick)], axis.place, _TICK_DISTANCE)
    ticks = Markup("").join(
        Markup('<text x="{:.1f}" y="15" text-anchor="middle">{}</text>').format(
            axis.place(tick), f"{100 * tick:+.0f}%" if tick else "0"
        )
        for tick in shown
    )
    return _svg(ticks, f"logarithmic axis of the change; the margin is {percent(axis.margin)}")


def picture(axis: Axis, change: float | None, lower: float | None, upper: float | None, outcome: str) -> Markup:
    """Return a change as a point with its interval, or without an interval if its certainty is unknown."""
    if change is None:
        return Markup("")
    middle = HEIGHT / 2
    parts = [_vertical("zero", axis.place(0.0)), _vertical("margin", axis.place(axis.margin))]
    if lower is not None and upper is not None:
        left, right = axis.place(lower), axis.place(upper)
        parts.append(
            Markup('<line class="interval {}" x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}"/>').format(
                outcome, left, middle, right, middle
            )
        )
        parts += [_end(axis, bound, outcome) for bound in (lower, upper)]
    parts.append(
        Markup('<circle class="point {}" cx="{:.1f}" cy="{}" r="3.5"/>').format(outcome, axis.place(change), middle)
    )
    return _svg(Markup("").join(parts), f"{percent(change)}, {interval(lower, upper)}")


def _end(axis: Axis, bound: float, outcome: str) -> Markup:
    """Return the mark at the end of an interval: a stroke, or an arrow if the end is beyond the axis."""
    place, middle = axis.place(bound), HEIGHT / 2
    if not axis.is_beyond(bound):
        return Markup('<line class="interval {}" x1="{x:.1f}" y1="7" x2="{x:.1f}" y2="15"/>').format(outcome, x=place)
    side = 6 if bound > 0 else -6
    return Markup('<path class="interval {}" d="M{:.1f} 7L{:.1f} {}L{:.1f} 15"/>').format(
        outcome, place, place + side, middle, place
    )


def _vertical(name: str, place: float) -> Markup:
    return Markup('<line class="{}" x1="{x:.1f}" y1="0" x2="{x:.1f}" y2="{}"/>').format(name, HEIGHT, x=place)


def _svg(body: Markup, label: str) -> Markup:
    return Markup(
        '<svg class="intervals" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" '
        'aria-label="{label}">{body}</svg>'
    ).format(w=WIDTH, h=HEIGHT, label=label, body=body)
