# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the latencies of a step are distributed in each part of its time: a heat map of seconds and latencies, from the
number of operations above the thresholds that the tester counts in each second."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from ....module_utils._units import format_count, format_duration
from ..series import Figures
from .axes import Axis, LogAxis, joined, path, short

SHADES = 5
"""The number of shades. Each stands for about ten times as many operations as the next lighter one."""
_DIGITS = (1, 2, 5)

Counts = Mapping[int, Mapping[int, int]]
"""The number of operations above each threshold in nanoseconds, by second, from 1."""


@dataclass(frozen=True)
class Heat:
    """The seconds of a step in columns of equal length, and the operations above each threshold. ``counts`` is empty if
    the tester did not count them; then there are only the p99 and the maximum of each column.

    ``stretch`` is the number of seconds in a column; the last column may be shorter."""

    seconds: Sequence[Figures]
    counts: Counts
    stretch: int
    operation: str

    @property
    def columns(self) -> list[Sequence[Figures]]:
        """The seconds of each column."""
        return [self.seconds[start : start + self.stretch] for start in range(0, len(self.seconds), self.stretch)]

    @property
    def count(self) -> int:
        """The number of columns."""
        return math.ceil(len(self.seconds) / self.stretch)

    def highest(self, column: str) -> list[float | None]:
        """Return the highest value of a column of intervals.csv in each column of the chart, None if there is none."""
        return [max((row[column] for row in rows if row[column]), default=None) for rows in self.columns]

    @cached_property
    def bounds_ns(self) -> list[int]:
        """The upper bounds of the rows, in ascending order. The last row has no bound of its own and is drawn up to
        twice its lower one."""
        known = sorted({over for each in self.counts.values() for over in each if _is_round(over)})
        return [*known, 2 * known[-1]] if known else []

    @cached_property
    def cells(self) -> list[list[int]]:
        """The number of operations in each row of each column."""
        bounds = self.bounds_ns[:-1]
        found = []
        for rows in self.columns if bounds else ():
            over = [sum(self.counts.get(row["second"], {}).get(bound, 0) for row in rows) for bound in bounds]
            above = [sum(row["operations"] for row in rows), *over]
            # Slow operations may be counted up to 1 % early, so a count may exceed the one below it.
            found.append([max(0, here - next_above) for here, next_above in zip(above, [*over, 0], strict=True)])
        return found

    @property
    def values_ns(self) -> list[float]:
        """The ends of the rows, for the axis."""
        return [self.bounds_ns[0] / 2, self.bounds_ns[-1]] if self.bounds_ns and self.counts else []

    def drawn(self, x: Axis, y: LogAxis) -> Markup:
        """Return the cells as areas by shade, with the values of all columns."""
        cells = [[count / len(rows) for count in column] for column, rows in zip(self.cells, self.columns)]
        most = max((rate for column in cells for rate in column), default=0.0)
        courses: dict[int, list[str]] = {}
        for place, upper in enumerate(self.bounds_ns):
            lower = self.bounds_ns[place - 1] if place else upper / 2
            top, bottom = round(y.place(upper)), round(y.place(lower))
            shades = [_shade(column[place], most) for column in cells]
            for first, last, shade in _runs(shades):
                left, right = (round(x.place(min(each * self.stretch, len(self.seconds)))) for each in (first, last))
                course = f"M{left} {top}H{right}V{bottom}H{left}"
                courses.setdefault(shade, []).append(course)
        areas = joined(path(f"heat h{shade}", "".join(course)) for shade, course in sorted(courses.items()))
        return Markup('<g data-c="{}">{}</g>').format("|".join(self._values(x)), areas)

    def _values(self, x: Axis) -> list[str]:
        """Return what the page shows for the columns: their places, the bounds of the rows, and for each column its
        p99, its maximum and the operations in each row."""
        width = (x.last - x.first) / len(self.seconds)
        places = (short(x.first), f"{width:.4g}", self.stretch, len(self.seconds), self.operation)
        names = [format_duration(bound) for bound in self.bounds_ns[:-1]]
        columns = []
        cells = self.cells or [[]] * self.count
        for p99, most, counts in zip(*map(self.highest, ("latency_p99_ns", "latency_max_ns")), cells, strict=True):
            texts = [format_duration(value) if value else "" for value in (p99, most)]
            columns.append(";".join([*texts, *(str(count or "") for count in counts)]).rstrip(";"))
        return [";".join(map(str, places)), ";".join(names), *columns]

    def sentence(self) -> str:
        """Describe where most operations are and how many took longest, for those who do not see the colours."""
        if not self.cells:
            return ""
        totals = [sum(column[place] for column in self.cells) for place in range(len(self.bounds_ns))]
        fullest = max(range(len(totals)), key=totals.__getitem__)
        slowest = max(place for place, total in enumerate(totals) if total)
        text = f"{format_count(totals[fullest])} of {format_count(sum(totals))} {self.operation}s took "
        text += f"up to {format_duration(self.bounds_ns[fullest])}"
        if slowest == fullest or slowest == 0:
            return f"{text}."
        columns = sum(column[slowest] > 0 for column in self.cells)
        lower = format_duration(self.bounds_ns[slowest - 1])
        share = f"in {format_count(columns)} of {format_count(self.count)} columns"
        return f"{text}; {format_count(totals[slowest])} took longer than {lower}, {share}."


def _is_round(over_ns: int) -> bool:
    """Return whether a threshold is one of those in every run, and not one that a limit requires in addition."""
    return any(over_ns == digit * 10 ** (len(str(over_ns)) - 1) for digit in _DIGITS)


def _shade(rate: float, most: float) -> int:
    """Return the shade of a cell, from 1, from its operations per second; 0 if it is empty."""
    return max(1, SHADES - int(math.log10(most / rate) + 1e-9)) if rate else 0


def _runs(shades: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the first place, the end and the shade of each run of equal shades that are not empty."""
    found: list[tuple[int, int, int]] = []
    for place, shade in enumerate(shades):
        if shade and found and found[-1][1:] == (place, shade):
            found[-1] = (found[-1][0], place + 1, shade)
        elif shade:
            found.append((place, place + 1, shade))
    return found
