# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Small pictures in the rows of a table, all on one logarithmic axis: changes with their intervals, and how far figures
are from their limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from ....module_utils._units import format_number
from ..._judge.closest_limit import used_share
from ..._judge.metrics import find_metric
from ..changes import interval, percent
from ..series import LimitEntry
from .axes import Axis, LogAxis, apart, joined, path

WIDTH, HEIGHT = 210, 22
_SIDE = 14
_WIDEST = (math.log(0.25), math.log(5))
"""Changes beyond these are drawn at the edge, as arrows."""
_TICKS = (-0.7, -0.5, -0.3, -0.2, -0.1, -0.05, 0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
_TICK_DISTANCE = 36

_LIMIT_AXIS = LogAxis(-1.0, 1.0, 4, 116)
"""Ratios from a tenth of a limit to ten times the limit."""


@dataclass(frozen=True, slots=True)
class ChangeAxis(Axis):
    """A logarithmic axis for changes: 1.0 is twice as much, and -0.5 is half as much. ``margin`` is the change that
    matters, which every picture shows."""

    margin: float

    @classmethod
    def around(cls, changes: Iterable[float | None], margin: float) -> ChangeAxis:
        """Return an axis that covers some changes, and the margin on both sides."""
        scaled = [math.log1p(max(change, -0.99)) for change in changes if change is not None]
        least = 1.5 * math.log1p(margin)
        low, high = max(_WIDEST[0], min([-least, *scaled])), min(_WIDEST[1], max([least, *scaled]))
        return cls(low, high, _SIDE, WIDTH - _SIDE, margin)

    def scaled(self, value: float) -> float:
        return math.log1p(max(value, -0.99))


def row_picture(
    parts: Iterable[Markup], label: str, kind: str = "", width: float = WIDTH, height: float = HEIGHT
) -> Markup:
    """Return a picture for a row of a table. ``kind`` is an additional CSS class."""
    return Markup(
        '<svg class="{n}" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">{body}</svg>'
    ).format(n=f"intervals {kind}".strip(), w=width, h=height, label=label, body=joined(parts))


def row_scale(
    ticks: Iterable[tuple[float, str]], label: str, title: str = "", kind: str = "", width: float = WIDTH
) -> Markup:
    """Return the axis of such pictures for the head of the table, from the places and the texts of its ticks. The title
    is above them."""
    texts = (
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(x, 20 if title else 15, words)
        for x, words in ticks
    )
    above = [Markup('<text x="0" y="8">{}</text>').format(title)] if title else []
    return row_picture([*above, *texts], label, kind, width)


def row_upright(name: str, x: float) -> Markup:
    """Return an upright line through such a picture."""
    return path(name, "M{:.1f} 0V{}", x, HEIGHT)


def row_point(name: str, x: float, radius: float = 3.5) -> Markup:
    """Return a round mark in such a picture."""
    return Markup('<circle class="{}" cx="{:.1f}" cy="{:.0f}" r="{}"/>').format(name, x, HEIGHT / 2, radius)


def change_scale(axis: ChangeAxis) -> Markup:
    """Return the axis itself, with its ticks, for the head of the table."""
    shown = apart(filter(axis.holds, _TICKS), axis.place, _TICK_DISTANCE)
    ticks = [(axis.place(tick), percent(tick).replace(" ", "") if tick else "0") for tick in shown]
    return row_scale(ticks, f"logarithmic axis of the change; the margin is {percent(axis.margin)}")


def change_picture(
    axis: ChangeAxis, change: float | None, lower: float | None, upper: float | None, outcome: str
) -> Markup:
    """Return a change as a point with its interval, or without an interval if its certainty is unknown."""
    if change is None:
        return Markup("")
    name, parts = (
        f"interval {outcome}",
        [row_upright("zero", axis.place(0.0)), row_upright("margin", axis.place(axis.margin))],
    )
    if lower is not None and upper is not None:
        parts.append(path(name, "M{:.1f} 11H{:.1f}", axis.place(lower), axis.place(upper)))
        # An end beyond the axis is an arrow.
        parts += [
            path(
                name,
                "M{0:.1f} 7V15" if axis.holds(end) else "M{0:.1f} 7L{1:.1f} 11L{0:.1f} 15",
                x,
                x + math.copysign(6, end),
            )
            for end in (lower, upper)
            for x in [axis.place(end)]
        ]
    parts.append(row_point(f"point {outcome}", axis.place(change)))
    return row_picture(parts, f"{percent(change)}, {interval(lower, upper)}")


def limit_bar(limit: LimitEntry) -> Markup:
    """Return how far the worst row of a limit of the model is from the limit, and with what certainty: the limit is in
    the middle, and worse values are to the right. The bar is empty if nothing was measured."""
    found = _ratios(limit)
    if found is None:
        return Markup("")
    ratio, bound, what = found
    words = what.format(_times(ratio)) + (f", with confidence at most {_times(bound)}" if bound is not None else "")
    x, reach = _LIMIT_AXIS.place(ratio), "" if bound is None else "M{:.1f} 10H{b:.1f}M{b:.1f} 6V14"
    parts = [
        path("limit mark", "M60 1V19"),
        path("reach", reach.format(x, b=_LIMIT_AXIS.place(bound or 0.0))),
        path("dots p99", "M{:.1f} 10h0", x),
    ]
    return Markup('<svg class="chart bound" viewBox="0 0 120 20" role="img"><title>{}</title>{}</svg>').format(
        words, joined(parts)
    )


def _ratios(limit: LimitEntry) -> tuple[float, float | None, str] | None:
    """Return the ratio of the measured value to the limit, the ratio of its confidence bound to the limit, and the
    measured value."""
    worst, metric = limit["worst"], find_metric(str(limit["metric"]))
    share, share_bound = worst.get("share"), worst.get("share_bound")
    allowed = metric.allowed_share if metric and metric.name.startswith("latency_p") else None
    if allowed and share is not None and share_bound is not None:
        return share / allowed, share_bound / allowed, "share that took longer {} what is allowed"
    used = used_share(limit, worst.get("value"))
    if not used:
        return None
    return (
        used,
        used_share(limit, worst.get("value_bound")),
        "what is required is {} the figure" if limit["bound"] == "min" else "figure {} the limit",
    )


def _times(ratio: float) -> str:
    return f"{format_number(ratio)} times"
