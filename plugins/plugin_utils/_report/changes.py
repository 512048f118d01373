# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Formats changes for pages and screens: shares, intervals, rows of a sweep, and other changes. A screen shows only the
first ones of each group, so that its text stays short for any fleet."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._units import format_count, format_number, format_size
from .._run.shapes import Keys, Maybe, Within, dicts_in, fits
from .._run.words import size_text

UNKNOWN = "\u2013"
SCREEN_WIDTH = 110
_DAY, _MINUTE, _SECOND = len("2026-11-21"), len("2026-11-21T10:49"), len("2026-11-21T10:49:35")
"""The number of characters of a time that are shown."""
_COMPARED = Keys(
    {
        **dict.fromkeys(("before", "after"), Within(1e-9, 1e18)),
        "block_size_bytes": Maybe(Within(1, 1 << 40, int)),
        "load_point": Within(0, 1 << 40, int),
        "stream": str,
        "operation": str,
    }
)
"""A row of a comparison, as in comparison.json."""
_USUAL_STREAM = ("log", "write")


def percent(share: float | None) -> str:
    """Format a change: +31 %, -2.4 %; from a doubling on, as a factor: 4.2 \u00d7."""
    if share is None:
        return UNKNOWN
    if share >= 1:
        return f"{format_number(1 + share, 2)} \u00d7"
    value = 100 * share
    digits = 0 if abs(value) >= 10 else 1
    return f"{value:+,.{digits}f} %"


def interval(lower: float | None, upper: float | None) -> str:
    """Format the bounds of a change: +25 % to +38 %."""
    return UNKNOWN if lower is None or upper is None else f"{percent(lower)} to {percent(upper)}"


def row_text(row: Mapping[str, Any]) -> str:
    """Format the name of a row of a sweep: its block size, and any other unusual key."""
    parts = [size_text(row["block_size_bytes"])]
    if row["load_point"] != 1:
        parts.append(f"load point {row['load_point']}")
    if (row["stream"], row["operation"]) != _USUAL_STREAM:
        parts.append(f"{row['stream']} {row['operation']}")
    return ", ".join(parts)


def fact_text(name: str, value: Any) -> str:
    """Format a recorded fact."""
    return format_size(value) if name.endswith("_bytes") and isinstance(value, int) else str(value)


def compared_rows(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a host's comparison with its baseline; none if no comparison could be made."""
    return [row for row in dicts_in(said.get("rows")) if fits(row, _COMPARED)]


def change_text(change: Mapping[str, Any], arrow: str = "->") -> str:
    """Format a changed fact: kernel 6.1 -> 6.12."""
    before, after = (fact_text(change["name"], change[side]) for side in ("before", "after"))
    return f"{change['name']} {before} {arrow} {after}"


def figure_text(figure: str) -> str:
    """Format the name of a figure for which higher means worse: a latency under its usual name, and a rate as its
    reciprocal."""
    return f"1 / {figure}" if figure.endswith("_per_s") else figure.removesuffix("_ns")


def moments_text(instants: Iterable[str]) -> Callable[[str], str]:
    """Return the texts of some times: days, with the time of day if several of them are on the same day."""
    known = set(instants)
    length = next((each for each in (_DAY, _MINUTE) if len({text[:each] for text in known}) == len(known)), _SECOND)
    return lambda instant: instant[:length].replace("T", " ")


class Lines(NamedTuple):
    """A group of lines: the title beside each, the items, the largest number of items that are shown, the largest
    number of lines for one of them, the function that returns the text of an item, and what the other items are."""

    title: str
    items: Sequence[Any]
    most: int = 1
    most_lines: int = 2
    text: Callable[[Any], str] = str
    more: str = "more"


def screen_text(headline: str, groups: Iterable[Lines], page: str) -> str:
    """Return a headline, the groups and the path of the page."""
    lines = [line for group in groups for line in _shown(group)]
    return "\n".join([headline, *lines, f"  page          {page}"])


def _shown(group: Lines) -> list[str]:
    """Return the lines of the first items, and the number of those that are left out."""
    lines = [line for item in group.items[: group.most] for line in _wrapped(group, item)]
    left = len(group.items) - group.most
    return [*lines, f"                and {format_count(left)} {group.more}"] if left > 0 else lines


def _wrapped(group: Lines, item: Any) -> list[str]:
    """Return the title in a separate column, with the text beside it. A text that is too long is cut off."""
    column = f"  {group.title:<13} "
    return textwrap.wrap(
        group.text(item),
        SCREEN_WIDTH,
        initial_indent=column,
        subsequent_indent=" " * len(column),
        max_lines=group.most_lines,
        placeholder=" ...",
        break_on_hyphens=False,
    )
