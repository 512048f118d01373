# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Draws marks for many hosts along one line, such as the remaining days of their certificates, in a picture that fills
any width. Positions are shares of the width, and the style prevents strokes from being stretched.

Marks at the same place are piled up. A pile that would not fit is drawn as one bar, in which each host has the same
height, so that the picture stays small and legible with any number of hosts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ....module_utils._units import format_count
from .axes import Axis, joined, path, round_steps

WIDTH, HEIGHT = 1000, 66
"""The width of pictures in their own units, regardless of their width on the screen, and the height of an overview."""
_FEW_TOGETHER = 3
"""Marks of a pile have texts of their own up to this number."""
_FEW = 60
"""Marks are large up to this number of hosts or volumes."""

BIN = 12
"""The length of a section of the axis in which marks are piled up."""
LARGE, SMALL = 8, 5
"""Sizes of a mark in pixels. The style has a class for each."""
_LEAST = 3
"""The height of the shortest bar in pixels."""
_TICK, _TICK_IF_NARROW = 8, 16
"""The free space around the text of a tick, in percent of the width, and the same for narrow screens."""

_LANE = 18
_COLUMNS = 80
"""The number of marks side by side in a lane."""
_TICK_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 3650, 36500)


@dataclass(frozen=True, slots=True)
class Marks:
    """Marks of one kind: the CSS class of their paths, their values in ascending order, and the function that returns
    the text that the page shows for a value by its number; none if the marks say nothing more than their picture."""

    name: str
    values: Sequence[float]
    is_upright: bool = False
    """Whether the marks are short upright lines, which differ from dots and squares even in grey."""
    text: Callable[[int], str] | None = None


def picture(height: float, label: str, parts: Iterable[Markup]) -> Markup:
    """Return a picture of the given height that fills the available width."""
    return Markup(
        '<svg class="marks" width="100%" height="{0:.0f}" viewBox="0 0 {1} {0:.0f}" preserveAspectRatio="none" '
        'role="img" aria-label="{2}">{3}</svg>'
    ).format(height, WIDTH, label, joined(parts))


def overview(
    axis: Axis,
    grid: Iterable[float],
    kinds: Iterable[Marks],
    area: Markup,
    over: Sequence[Markup],
    count: int,
    label: str,
) -> Markup:
    """Return a picture of many hosts or volumes on one axis, with an area behind the marks."""
    parts = [
        area,
        *(upright("grid", axis.place(tick), 0, HEIGHT) for tick in grid),
        path("line", "M0 {}H{}", HEIGHT - 1, WIDTH),
        piles(kinds, axis, HEIGHT - 2, 4 - HEIGHT, size_of(count)),
    ]
    return picture(HEIGHT, label, [*parts, *over])


def size_of(count: int) -> int:
    """Return the size of marks if there is one for each of some hosts or volumes."""
    return LARGE if count <= _FEW else SMALL


def piles(kinds: Iterable[Marks], axis: Axis, line: float, room: float, size: int = SMALL) -> Markup:
    """Return the marks of several kinds, piled up from the line into the given room. If ``room`` is negative, it is
    above the line. Marks of later kinds are on top of those of earlier kinds."""
    shown = [kind for kind in kinds if kind.values]
    counts: dict[int, list[int]] = {}
    for number, kind in enumerate(shown):
        for value in kind.values:
            counts.setdefault(int(axis.place(value) // BIN), [0] * len(shown))[number] += 1
    if not counts:
        return Markup("")
    direction, most = -1 if room < 0 else 1, max(map(sum, counts.values()))
    pitch = min(size + 1.0, (abs(room) - size) / max(1, most - 1))
    first = line + direction * (size / 2 + 1.5)
    paths: list[list[str]] = [[] for kind in shown]
    values: list[list[str]] = [[] for kind in shown]
    told = [0] * len(shown)
    for place, found in sorted(counts.items()):
        below = 0
        for number, (parts, kind, count) in enumerate(zip(paths, shown, found, strict=True)):
            values[number] += _told(kind.text, range(told[number], told[number] + count), pitch < size)
            told[number] += count
            x = (place + 0.5) * BIN
            if count and pitch < size:
                parts.append(_bar(x, first + direction * pitch * below, direction * pitch * count))
            else:
                heights = [first + direction * pitch * number for number in range(below, below + count)]
                # Shorter than other marks, so that a pile does not look like one line.
                parts.extend(_marks(x, heights, size - size // 4 if kind.is_upright else 0))
            below += count
    look = "bar" if pitch < size else f"size{size}"
    return joined(
        path(f"{kind.name} {look}", "".join(parts), values=words)
        for kind, parts, words in zip(shown, paths, values, strict=True)
    )


def _told(text: Callable[[int], str] | None, pile: range, is_bar: bool) -> list[str]:
    """Return the texts of the marks of a pile, by their numbers. Many marks have one text, which names the first and
    the last."""
    if not text or (len(pile) <= _FEW_TOGETHER and not (is_bar and len(pile) > 1)):
        return [text(number) for number in pile] if text else []
    words = f"{format_count(len(pile))} marks, from {text(pile[0])} to {text(pile[-1])}"
    return [words if is_bar else f"{len(pile)}*{words}"]


def _marks(x: float, heights: Sequence[float], upright_size: int) -> Iterable[str]:
    """Yield the path of the marks of a pile, one by one."""
    for y in heights:
        yield f"M{x:.0f} {y - upright_size / 2:.1f}v{upright_size}" if upright_size else f"M{x:.0f} {y:.1f}h0"


def _bar(x: float, start: float, height: float) -> str:
    """Return the path of a pile whose marks would overlap. A single mark among many is still visible."""
    return f"M{x:.0f} {start:.1f}v{math.copysign(max(_LEAST, abs(height)), height):.1f}"


def upright(name: str, x: float, top: float, bottom: float) -> Markup:
    """Return an upright line."""
    return path(name, "M{:.1f} {:.1f}V{:.1f}", x, top, bottom)


def ticks(places: Iterable[tuple[float, str]]) -> Markup:
    """Return the texts of an axis, given their positions and words. Texts that are too close to the previous one are
    left out; on narrow screens, more are left out."""
    parts, end, narrow_end = [], -float(_TICK), -float(_TICK_IF_NARROW)
    for x, words in places:
        percent = 100 * x / WIDTH
        if percent - end < _TICK:
            continue
        is_minor = percent - narrow_end < _TICK_IF_NARROW
        end, narrow_end = percent, narrow_end if is_minor else percent
        anchor = "start" if percent < _TICK / 2 else "end" if percent > 100 - _TICK / 2 else "middle"
        parts.append(
            Markup('<text{} x="{:.2f}%" y="11" text-anchor="{}">{}</text>').format(
                Markup(' class="minor"') if is_minor else "", percent, anchor, words
            )
        )
    return Markup('<svg class="ticks" width="100%" height="15" aria-hidden="true">{}</svg>').format(joined(parts))


def expiry_chart(days_left: Sequence[int], expiring_days: int, size: int) -> Markup:
    """Return the picture of the remaining days of certificates; empty if there are none. ``size`` is the number of
    volumes of the fleet."""
    if not days_left:
        return Markup("")
    last = max(*days_left, expiring_days, 1) * 1.02
    axis, shown = Axis(0, last, 12, WIDTH - 12), round_steps(last, _TICK_DAYS)
    soon = [days for days in days_left if days < expiring_days]
    later = [days for days in days_left if days >= expiring_days]
    area = path("soon", "M0 0H{:.1f}V{}H0Z", axis.place(expiring_days), HEIGHT)
    label = (
        f"{format_count(len(days_left))} certified volumes by the days that their certificates have left: from "
        f"{min(days_left)} to {max(days_left)}; {format_count(len(soon))} with fewer than {expiring_days}."
    )
    drawn = overview(axis, shown, (Marks("passes", later), Marks("soon-mark", soon)), area, (), size, label)
    return drawn + ticks((axis.place(tick), f"{tick} d" if tick else "today") for tick in shown)


def lanes(counts: Mapping[str, int], size: int) -> list[tuple[str, int, Markup]]:
    """Return the name, the number of volumes and the picture of each lane that has volumes. A lane has a mark for each
    volume or, if there is not enough room, a bar to scale."""
    shown = {name: count for name, count in counts.items() if count}
    return [
        (
            name,
            count,
            picture(
                _LANE,
                f"{format_count(count)} {name}",
                [_lane_bar(count / max(shown.values())) if has_bars(shown) else _lane_row(count, size)],
            ),
        )
        for name, count in shown.items()
    ]


def has_bars(counts: Mapping[str, int]) -> bool:
    """Return whether lanes are bars instead of marks."""
    return max(counts.values(), default=0) > _COLUMNS


def _lane_bar(share: float) -> Markup:
    return path("fails lane", "M0 {:.1f}H{:.1f}", _LANE / 2, max(2.0, share * WIDTH))


def _lane_row(count: int, size: int) -> Markup:
    marks = Marks("fails", [6.0 + 12 * number for number in range(count)], is_upright=True)
    return piles([marks], Axis(0, WIDTH, 0, WIDTH), _LANE - 4, 2 - _LANE, size_of(size))
