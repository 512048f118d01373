# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Fits the summary on a screen: wraps it to the width of the screen, and shortens it to the most important lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ...module_utils._units import format_count
from .._run.kinds import UNJUDGED
from .._run.verdicts import WORST_FIRST

MOST_LINES = 25
NARROWEST = 40
"""A narrower terminal is treated as if it had this width."""
UNWRAPPED = 100_000
"""A width at which nothing is wrapped."""

DETAIL = 15 * " "
"""The beginning of lines that belong to the cause above them."""

TABLE = "   "
"""The beginning of the lines of a table: one space more than other indented lines."""

_WHOLE = 12
"""The maximum number of lines of one statement."""
_CROWDED = 3
"""The same for the statement of a cause, if not all causes fit."""
_LEAST_WANTED = (r"Throughput", r".*/s", r"Writes|Reads|Commits|Operations", r"p50", r"Mean.*")
"""The titles of the columns of a table that are left out first if there is no room. The last percentiles and the
maximum are kept longest, because they decide most verdicts."""
_GAP = re.compile(r" {2,}")
_FIRST_DETAILS = 2
"""The number of details of the first cause that come before the other causes."""
_LABEL = 11 * " "
_PATHS = ("  report ", "  signed ", "  kept ")
"""Lines that are never wrapped, so that their paths can be copied."""
_VERDICTS = (*WORST_FIRST, *UNJUDGED)
_HEAD = re.compile(rf"  ({'|'.join(_VERDICTS)}) +\S")
_FIRST_WORD = re.compile(rf"({'|'.join(verdict.upper() for verdict in _VERDICTS)}|INTERNAL|USAGE|READY|NOT READY)\b")
_MORE = re.compile(r"  and ([0-9,]+) more, in the report$")


@dataclass(slots=True)
class _Part:
    """A cause with its details, each as a list of displayed lines."""

    head: list[str]
    details: list[list[str]] = field(default_factory=list)


def head(verdict: str, text: str) -> str:
    """Return the first line of a cause."""
    return f"  {verdict:<12} {text}"


def fit(text: str, width: int = UNWRAPPED, most: int = MOST_LINES) -> str:
    """Return a summary with at most the given number of lines. No line is wider than the given width.

    The first cause is kept with its first details, then the first cause of each other verdict, then as many other
    causes as possible, and then more details. Fitting a text that already fits changes nothing.
    """
    before, parts, after, left_out = _read(text, max(NARROWEST, width), _WHOLE)
    room = most - len(before) - len(after)
    shown = _chosen(parts, room)
    if left_out or len(shown) < len(parts):
        before, parts, after, left_out = _read(text, max(NARROWEST, width), _CROWDED)
        shown = _chosen(parts, room - 1)
        left_out += len(parts) - len(shown)
    more = [f"  and {format_count(left_out)} more, in the report"] if left_out else []
    causes = (line for part in shown for line in (*part.head, *(line for detail in part.details for line in detail)))
    return "".join(f"{line}\n" for line in (*before, *causes, *more, *after))


def verdict_of(line: str) -> str:
    """Return the verdict at the beginning of a line of a summary, in lower case; empty if the line does not begin with
    a verdict."""
    found = _FIRST_WORD.match(line) or _HEAD.match(line)
    return found[1].lower() if found else ""


def _chosen(parts: Sequence[_Part], room: int) -> list[_Part]:
    """Return as many causes as fit, with as many of their details as fit."""
    shown: dict[int, _Part] = {}
    for number in _most_important_first(parts):
        part = parts[number]
        if len(part.head) <= room:
            shown[number] = _Part(part.head)
            room -= len(part.head)
            room = room if number else _add_details(shown[0], part.details[:_FIRST_DETAILS], room)
    for number in sorted(shown):
        room = _add_details(shown[number], parts[number].details[0 if number else _FIRST_DETAILS :], room)
    return [shown[number] for number in sorted(shown)]


def _most_important_first(parts: Sequence[_Part]) -> list[int]:
    """Return the indexes of causes: the first cause of each verdict, and then the others."""
    firsts: dict[str, int] = {}
    for number, part in enumerate(parts):
        firsts.setdefault(verdict_of(part.head[0]), number)
    return [*firsts.values(), *(number for number in range(len(parts)) if number not in firsts.values())]


def _add_details(kept: _Part, details: Sequence[list[str]], room: int) -> int:
    """Add those details of a cause that fit, and return how much room is left."""
    for detail in details:
        if len(detail) <= room:
            kept.details.append(detail)
            room -= len(detail)
    return room


def _read(text: str, width: int, head_lines: int) -> tuple[list[str], list[_Part], list[str], int]:
    """Return the parts of a summary, all wrapped: the lines before the causes, the causes, and the lines after them.
    Also return how many causes had already been left out."""
    before: list[str] = []
    parts: list[_Part] = []
    after: list[str] = []
    left_out = 0
    for line in text.splitlines():
        more = _MORE.match(line)
        if more:
            left_out = int(more[1].replace(",", ""))
        elif line.startswith(DETAIL) and parts and not after:
            parts[-1].details.append(_wrapped(line, width, DETAIL, _WHOLE))
        elif _HEAD.match(line):
            parts.append(_Part(_wrapped(line, width, DETAIL, head_lines)))
        else:
            (after if parts or left_out else before).append(line)
    return list(_others(before, width)), parts, list(_others(after, width)), left_out


def _others(lines: Sequence[str], width: int) -> Iterator[str]:
    """Yield wrapped lines. In tables, columns for which there is no room are removed."""
    narrow = _narrowed([line for line in lines if line.startswith(TABLE)], width)
    for line in lines:
        yield from [narrow.pop(0)] if line.startswith(TABLE) else _wrapped(line, width, _LABEL, _WHOLE)


def _narrowed(table: Sequence[str], width: int) -> list[str]:
    """Return the lines of a table, without the columns for which there is no room: first those that are least wanted,
    then the last ones."""
    longest = max(map(len, table), default=0)
    if longest <= width:
        return [line.rstrip() for line in table]
    padded = [line.ljust(longest) for line in table]
    blank = "".join(" " if all(line[place] == " " for line in padded) else "x" for place in range(longest))
    places = [0, *(gap.start() for gap in _GAP.finditer(blank, len(TABLE))), longest]
    columns = [[line[start:end] for line in padded] for start, end in zip(places, places[1:])]
    wanted = [pattern for pattern in _LEAST_WANTED if any(re.fullmatch(pattern, each[0].strip()) for each in columns)]
    while columns[1:] and sum(len(column[0]) for column in columns) > width:
        pattern = wanted.pop(0) if wanted else None
        kept = [each for each in columns if not (pattern and re.fullmatch(pattern, each[0].strip()))]
        columns = kept if pattern else columns[:-1]
    return ["".join(parts).rstrip() for parts in zip(*columns)]


def _wrapped(line: str, width: int, indent: str, most: int) -> list[str]:
    if len(line) <= width or line.startswith(_PATHS):
        return [line]
    lines = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
    if len(lines) <= most:
        return lines
    # The middle is left out, because the remedy comes last.
    end = line[len(indent) + len("... ") - width :].partition(" ")[2]
    return [*lines[: most - 1], f"{indent}... {end}"]
