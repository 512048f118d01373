# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A small chart of one step's seconds as inline SVG: p99 and slowest write, on a logarithmic scale."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import Words, size_text
from markupsafe import Markup

WIDTH = 300
HEIGHT = 84
MAX_POINTS = 150

_LEFT = 46
_BOTTOM = 14
_TOP = 6


def charts(intervals: list[dict[str, Any]], words: Words) -> list[Markup]:
    """Return a figure for each step that has at least two whole seconds."""
    steps: dict[int, list[dict[str, Any]]] = {}
    for second in intervals:
        if not second["partial"]:
            steps.setdefault(second["step"], []).append(second)
    return [_figure(seconds, words) for seconds in steps.values() if len(seconds) > 1]


def _figure(seconds: list[dict[str, Any]], words: Words) -> Markup:
    first = seconds[0]
    p99, slowest = _condensed(second["latency_p99_ns"] for second in seconds), _condensed(second["latency_max_ns"] for second in seconds)
    known = [value for value in (*p99, *slowest) if value]
    if not known:
        return Markup("")
    low, high = _decades(min(known), max(known))
    name = f"{size_text(first['block_size_bytes'])}, {first['load_point']} {words.load}, {len(seconds)} s"
    label = f"{name}: slowest write {_units.format_duration(max(known))}"
    return Markup(
        '<figure><svg class="chart" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-label="{label}">{body}</svg>'
        "<figcaption>{name}</figcaption></figure>"
    ).format(w=WIDTH, h=HEIGHT, label=label, name=name, body=_grid(low, high) + _line("max", slowest, low, high) + _line("p99", p99, low, high))


def _condensed(values: Iterable[float | None]) -> list[float | None]:
    """Return at most MAX_POINTS values: the largest of each stretch of seconds, None for a stretch without one."""
    values = list(values)
    stretch = max(1, math.ceil(len(values) / MAX_POINTS))
    pieces = (values[start : start + stretch] for start in range(0, len(values), stretch))
    return [max((value for value in piece if value), default=None) for piece in pieces]


def _decades(low: float, high: float) -> tuple[int, int]:
    first = math.floor(math.log10(low))
    return first, max(first + 1, math.ceil(math.log10(high)))


def _height(value: float, low: int, high: int) -> float:
    share = (math.log10(value) - low) / (high - low)
    return _TOP + (1 - share) * (HEIGHT - _BOTTOM - _TOP)


def _grid(low: int, high: int) -> Markup:
    step = 1 + (high - low) // 4
    parts = []
    for decade in range(low, high + 1, step):
        y = _height(10.0**decade, low, high)
        parts.append(
            Markup('<line class="grid" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"/><text x="2" y="{:.1f}">{}</text>').format(
                _LEFT, y, WIDTH - 4, y, y + 3, _units.format_duration(10.0**decade)
            )
        )
    return Markup("").join(parts)


def _line(name: str, values: list[float | None], low: int, high: int) -> Markup:
    """Return a line through the values; it breaks if a stretch has none."""
    width = (WIDTH - _LEFT - 8) / max(1, len(values) - 1)
    path, pen = [], "M"
    for index, value in enumerate(values):
        if value:
            path.append(f"{pen}{_LEFT + 2 + index * width:.1f} {_height(value, low, high):.1f}")
        pen = "L" if value else "M"
    return Markup('<path class="{}" d="{}"/>').format(name, "".join(path))
