# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The picture of a takeover: who held the lock and wrote, how long the other host was refused, and when it had the
lock. Times are counted from the loss of the holder."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration
from ..._english.phrases import plural
from ..._report.charts.axes import Axis, chart, path, round_steps, text
from ..._report.folding import shorten
from ..._run.columns import Row
from ..._run.lock_steps import CUT_OFF, KEPT, POD_DELETED, figure, figure_text, late_writes

HEIGHT = 150
_LEFT, _RIGHT = 14.0, 446.0
_HOLDER, _OTHER = 48.0, 94.0
"""The upper edges of the two lanes."""
_BAR = 12.0
_AXIS = 126.0
_BELOW_TEXT = ((24.0, 31.0), (_HOLDER - 2, _OTHER - 18), (_OTHER - 2, _AXIS))
"""Where upright lines are drawn."""
_ARROW, _CROSS = "M{:.1f} {:.1f}l-5 -5m5 5l-5 5", "M{:.1f} {:.1f}m-6 -6l12 12m0 -12l-12 12"
_LONGEST_NAME = 40
_LOST = {CUT_OFF: "cut off", POD_DELETED: "deleted by force"}
_STEPS_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 3600)
"""The possible distances between ticks, in seconds."""


def takeover_chart(row: Row, limit_s: float) -> Markup:
    """Return the picture of a takeover with its title; empty if it is not known how long it took."""
    takeover = _s(row, "takeover_ns")
    if takeover is None:
        return Markup("")
    is_over = row["outcome"] == KEPT or row["cause"] != "never_taken_over"
    back = _s(row, "back_ns") if row["step"] == CUT_OFF else None
    ends = [takeover, limit_s, *([back] if back is not None else [])]
    clock = Axis(-0.25 * max(ends), 1.15 * max(ends), _LEFT, _RIGHT)
    parts = [*_frame(clock, limit_s), *_holder(row, clock, back), *_other(row, clock, takeover, is_over)]
    return chart("takeover", _title(row, takeover, is_over), _description(row, back, limit_s), parts, HEIGHT)


def _s(row: Row, name: str) -> float | None:
    value = figure(row, name)
    return None if value is None else value / 1e9


def _title(row: Row, takeover: float, is_over: bool) -> str:
    lost = _LOST.get(row["step"], "lost")
    after = format_duration(takeover * 1e9)
    holder, other = (shorten(row[key], _LONGEST_NAME) for key in ("holder", "other"))
    return f"{holder} is {lost}: {other} {'has the lock after' if is_over else 'has no lock after'} {after}"


def _description(row: Row, back: float | None, limit_s: float) -> str:
    parts = [f"Limit of a takeover {format_duration(limit_s * 1e9)}"]
    if back is not None:
        late, errno = late_writes(row), figure_text(row, "errno")
        parts.append(f"back after {format_duration(back * 1e9)}")
        parts.append(f"pending write: {errno or 'no error'}")
        parts += [f"{plural(late, 'late write')}"] if late is not None else []
    return ", ".join(parts) + "."


def _frame(clock: Axis, limit_s: float) -> Iterator[Markup]:
    """Yield the lines and labels of the axis: the seconds, the instant of the loss, and the limit."""
    end = -1e9
    for tick in round_steps(clock.high, _STEPS_S, most=5):
        x, words = clock.place(tick), format_duration(tick * 1e9) if tick else "0"
        yield _upright("grid", x)
        half = 3.8 * len(words)
        if x - half > end:
            yield text("axis", x, _AXIS + 15, words, "middle")
            end = x + half + 4
    x = clock.place(limit_s)
    yield _upright("limit", x)
    is_right = x > _RIGHT - 110
    yield text("limit", x - 3 if is_right else x + 3, 18, "limit of a takeover", "end" if is_right else "start")
    x = clock.place(0)
    yield _upright("loss", x)
    yield text("axis", x - 3, 18, "loss", "end")


def _upright(name: str, x: float) -> Markup:
    """Return an upright line that leaves room for the text above each lane."""
    return path(name, "".join(f"M{x:.1f} {top:.0f}V{bottom:.0f}" for top, bottom in _BELOW_TEXT))


def _bar(name: str, first: float, last: float, top: float, words: str) -> Markup:
    course = "M{0:.1f} {1:.1f}H{2:.1f}v{3:.1f}H{0:.1f}z"
    return path(f"fill {name}", course, first, top, max(last, first + 2), _BAR, values=[words])


def _thin(name: str, first: float, last: float, top: float, words: str) -> Markup:
    return path(name, "M{:.1f} {:.1f}H{:.1f}", first, top + _BAR / 2, max(last, first), values=[words])


def _lane(name: str, top: float, words: str) -> list[Markup]:
    return [text("lane", _LEFT, top - 5, f"{shorten(name, _LONGEST_NAME)}: {words}")]


def _holder(row: Row, clock: Axis, back: float | None) -> list[Markup]:
    """Return the lane of the host that held the lock: a bar until its loss, then a dotted line until it is back."""
    was = _LOST.get(row["step"], "lost")
    zero, end = clock.place(0), _RIGHT if back is None else clock.place(back)
    parts = _lane(row["holder"], _HOLDER, f"holds the lock and writes, then is {was}")
    host, until = shorten(row["holder"], _LONGEST_NAME), "" if back is None else f" until {_after(back)}"
    parts += [
        _bar("p99", _LEFT, zero, _HOLDER, f"{host} holds the lock and writes until its loss"),
        _thin("gone", zero, end, _HOLDER, f"{host} is {was}{until}"),
    ]
    if back is not None:
        is_fenced = row["outcome"] == KEPT and not late_writes(row)
        y = _HOLDER + _BAR / 2
        words = "back, its write fails" if is_fenced else "back, and writes"
        look, course = ("fenced", _ARROW) if is_fenced else ("landed", _CROSS)
        parts.append(path(look, course, end, y, values=[f"{host}: {words}, {_after(back)}"]))
        parts.append(text("back", end, y + 22, words, "end" if end > _RIGHT - 60 else "middle"))
    return parts


def _other(row: Row, clock: Axis, takeover: float, is_over: bool) -> list[Markup]:
    """Return the lane of the other host: a thin line while it is refused, then a bar."""
    tries = figure(row, "tries")
    refused = "refused" if tries is None else f"refused {format_count(int(tries))} times"
    words = f"{refused}, then holds the lock" if is_over else f"{refused}, and never gets the lock"
    got = clock.place(takeover)
    host, at = shorten(row["other"], _LONGEST_NAME), _after(takeover)
    parts = [*_lane(row["other"], _OTHER, words), _thin("refused", _LEFT, got, _OTHER, f"{host} is {refused}")]
    if is_over:
        parts.append(_bar("mean", got, _RIGHT, _OTHER, f"{host} holds the lock {at}"))
    else:
        parts.append(path("landed", _CROSS, got, _OTHER + _BAR / 2, values=[f"{host} has no lock {at}"]))
    return parts


def _after(seconds: float) -> str:
    return f"{format_duration(seconds * 1e9)} after the loss"
