#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws docs/images/burst.svg, which shows how bursts of slow writes affect a p99 and its confidence bounds during a
run.

    PYTHONPATH=collections .venv-dev/bin/python tools/draw_burst.py > docs/images/burst.svg

(`make link lint` creates `collections` and `.venv-dev`.) The disk is simulated. Its share of slow writes is twice what
its limit allows: 2 % of its writes take longer than 1 ms, in bursts of 1 s on average. The seed was chosen so that the
disk is lucky in the first minutes of the run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, groupby

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._numerics.student_t import incomplete_beta
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, INCONCLUSIVE, PASS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import bursty

SEED, SECONDS = 521, 600
SHARE, BURST_S = 0.02, 1
ALLOWED, ALPHA = Fraction(1, 100), 0.05
LIMIT_NS, SLOW_US, FASTEST_NS = 1_000_000, 1250, 200_000

WIDTH, HEIGHT = 900, 616
LEFT, RIGHT = 150, 30
COLOURS = {PASS: "#2a8f5b", INCONCLUSIVE: "#c9ced6", FAIL: "#c8452d"}
TEXT_COLOURS = {PASS: "#ffffff", INCONCLUSIVE: "#30363d", FAIL: "#ffffff"}
STYLE = """
text { font: 14px "Helvetica Neue", Helvetica, Arial, sans-serif; fill: #30363d }
.title { font-weight: 600; font-size: 15px }
.small { font-size: 12.5px }
.grid { stroke: #e3e6ea }
.limit { stroke: #c8452d; stroke-width: 1.5; stroke-dasharray: 7 4 }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
.slow { fill: #7a5195 }
.figure { stroke: #30363d }
.textbook { stroke: #d98200 }
.ours { stroke: #1f6fb2; stroke-width: 2.8 }
"""


def textbook(count: int, slow: int) -> tuple[float, str]:
    """Return the upper bound on a share, and the verdict, according to the binomial distribution, as if slow writes
    were independent."""
    upper = _solve(lambda share: incomplete_beta(slow + 1, count - slow, share) >= 1 - ALPHA)
    lower = _solve(lambda share: incomplete_beta(slow, count - slow + 1, share) >= ALPHA) if slow else 0.0
    return upper, PASS if upper <= ALLOWED else FAIL if lower > ALLOWED else INCONCLUSIVE


def _solve(reached: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def across(second: float) -> float:
    """Return the x coordinate of a moment."""
    return LEFT + second / SECONDS * (WIDTH - LEFT - RIGHT)


class Panel:
    """A rectangular part of the picture, with a scale in percent."""

    def __init__(self, top: float, bottom: float, percents: Sequence[float]) -> None:
        self._top, self._bottom, self._percents = top, bottom, percents

    def down(self, percent: float) -> float:
        """Return the y coordinate of a share."""
        return self._bottom - percent / self._percents[-1] * (self._bottom - self._top)

    def frame(self) -> Iterator[str]:
        """Yield the grid and its labels."""
        for percent in self._percents:
            y = self.down(percent)
            yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{percent:g} %</text>'

    def bars(self, percents: Sequence[float]) -> Iterator[str]:
        """Yield a bar for each second that has something to show."""
        width = 1.5 * (across(1) - across(0))  # a little wider than its second, so that it is visible on a screen
        for second, percent in enumerate(percents):
            if percent:
                y = self.down(percent)
                yield (
                    f'<rect class="slow" x="{across(second):.1f}" y="{y:.1f}" width="{width:.2f}" '
                    f'height="{self._bottom - y:.1f}"/>'
                )

    def line(self, name: str, percents: Sequence[float]) -> str:
        """Return a line through the values after each second, with a gap while they are above the panel."""
        path, pen = [], "M"
        for second, percent in enumerate(percents, start=1):
            inside = percent <= self._percents[-1]
            if inside:
                path.append(f"{pen}{across(second):.1f} {self.down(percent):.1f}")
            pen = "L" if inside else "M"
        return f'<path class="line {name}" d="{"".join(path)}"/>'


def strip(top: float, label: str, verdicts: Sequence[str]) -> Iterator[str]:
    """Yield the verdict that a method would have given after each second."""
    yield f'<text class="small" x="{LEFT - 8}" y="{top + 17}" text-anchor="end">{label}</text>'
    second = 0
    for verdict, run in groupby(verdicts):
        end = second + len(list(run))
        x, width = across(second), across(end) - across(second)
        yield f'<rect x="{x:.1f}" y="{top}" width="{width:.2f}" height="25" fill="{COLOURS[verdict]}"/>'
        if width > 7 * len(verdict) + 10:
            yield (
                f'<text class="small" x="{x + width / 2:.1f}" y="{top + 17}" text-anchor="middle" style="fill: '
                f'{TEXT_COLOURS[verdict]}">{verdict}</text>'
            )
        second = end


def legend(y: float, entries: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield the legend, which shows a piece of each line and its name."""
    x = LEFT
    for name, text in entries:
        yield (
            f'<line class="line {name}" x1="{x}" x2="{x + 26}" y1="{y - 5}" y2="{y - 5}"/><text class="small" '
            f'x="{x + 33}" y="{y}">{text}</text>'
        )
        x += 58 + 6.6 * len(text)


def seconds_axis(y: float) -> Iterator[str]:
    """Yield the labels of the time axis."""
    for second in range(0, SECONDS + 1, 60):
        yield f'<text class="small" x="{across(second):.1f}" y="{y}" text-anchor="middle">{second} s</text>'


def picture() -> Iterator[str]:
    """Yield the lines of the picture."""
    writes, slow = bursty(SHARE, SLOW_US, BURST_S)(random.Random(SEED), SECONDS)
    counts, slows = list(accumulate(writes)), list(accumulate(slow))
    ours = [
        statistics.share_of_operations(
            writes[:end], slow[:end], ALLOWED, LIMIT_NS, FASTEST_NS, 1, alpha=ALPHA, judgements=1
        )
        for end in range(1, SECONDS + 1)
    ]
    bounds, verdicts = zip(*map(textbook, counts, slows))
    shares = [100 * over / count for count, over in zip(counts, slows)]

    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-labelledby="title">'
    )
    yield (
        '<title id="title">Slow writes of a simulated disk over 600 s, the bounds of their share, and the verdict of '
        "three methods at each moment</title>"
    )
    yield f'<style>{STYLE}</style><rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    yield f'<text class="title" x="{LEFT}" y="28">Writes that took longer than 1 ms, second by second</text>'
    upper = Panel(44, 144, (0, 50, 100))
    yield from upper.frame()
    yield from upper.bars([100 * over / count for count, over in zip(writes, slow)])
    yield f'<text class="title" x="{LEFT}" y="190">Their share of all writes so far</text>'
    yield from legend(
        214,
        [
            ("figure", "as measured"),
            ("textbook", "textbook upper bound"),
            ("ours", "this collection's upper bound"),
            ("limit", "allowed"),
        ],
    )
    lower = Panel(230, 450, (0, 1, 2, 3, 4, 5))
    yield from lower.frame()
    yield f'<line class="limit" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{lower.down(1):.1f}" y2="{lower.down(1):.1f}"/>'
    yield lower.line("textbook", [100 * bound for bound in bounds])
    yield lower.line("figure", shares)
    yield lower.line("ours", [100 * each.bound for each in ours])
    yield (
        f'<text class="title" x="{LEFT}" y="488">The verdict on "p99 at most 1 ms" if the run '
        "had ended at that moment</text>"
    )
    yield from strip(500, "figure as it stands", [PASS if share <= 1 else FAIL for share in shares])
    yield from strip(529, "textbook bound", verdicts)
    yield from strip(558, "this collection", [each.outcome for each in ours])
    yield from seconds_axis(601)
    yield "</svg>"


if __name__ == "__main__":
    print("\n".join(picture()))
