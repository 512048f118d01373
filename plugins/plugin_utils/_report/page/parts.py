# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parts of pages: the badge of a verdict, columns of tables, and what the header shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from ..._run.kinds import UNJUDGED
from ..._run.names import safe_name
from ..._run.record import DEFAULT_VOLUME
from ..changes import UNKNOWN
from ..figures import MARKS
from ..folding import brief

CLASSES = {**{verdict: f"v-{verdict}" for verdict in MARKS}, **dict.fromkeys((*UNJUDGED, ""), "v-none")}
"""The class of each verdict in the page's style."""

SIGNS = {**MARKS, **dict.fromkeys(UNJUDGED, "\u2013"), "": ""}


def badge(verdict: str) -> Markup:
    """Return the badge of a verdict."""
    return Markup('<span class="badge {}">{} {}</span>').format(CLASSES[verdict], SIGNS[verdict], verdict)


def anchor_of(host: str, volume: str) -> str:
    """Return the name of the section of a host's volume: unique, and the same in each run. It is safe in an address and
    as an attribute."""
    return f"host-{safe_name(host)}{'' if volume == DEFAULT_VOLUME else '/' + safe_name(volume)}"


def host_link(label: str, anchor: str | None) -> Markup:
    """Return the name of a host, as a link to its section if it has one. The name cannot change the direction of the
    surrounding text."""
    shown = brief(label)
    name = Markup("<bdi>{}</bdi>").format(shown)
    title = Markup(' title="{}"').format(brief(label, 1000)) if shown != label else Markup("")
    return (
        Markup('<a href="#{}"{}>{}</a>').format(anchor, title, name)
        if anchor
        else Markup("<span{}>{}</span>").format(title, name)
    )


SHOWN = 3
"""The maximum number of versions of the tester that are named."""


def versions(collection: str, ansible: str = "", testers: Iterable[str] = ()) -> list[str]:
    """Return the known versions of the collection, ansible-core and the tester. The versions of the tester are listed
    most frequent first."""
    named = (
        ("mqops.logdisk", [collection]),
        ("ansible-core", [ansible]),
        ("tester", _few(testers)),
    )
    return [f"{name} {', '.join(known)}" for name, found in named if (known := [each for each in found if each])]


def _few(names: Iterable[str]) -> list[str]:
    """Return the most frequent names, and how many more there are."""
    known = [name for name, count in Counter(filter(None, names)).most_common()]
    more = [f"and {len(known) - SHOWN} more"] if len(known) > SHOWN else []
    return [*(brief(name) for name in known[:SHOWN]), *more]


NUMBER, TEXT, LONG_TEXT, PICTURE, NAME = "", "left", "text", "left axis", "name"
"""The alignment of columns, as CSS classes of the page."""

_MOST_VALUES = 200
"""The maximum number of values of a filter. A filter with more values is not offered."""

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Cell:
    """The text or picture in a cell, the smaller text below it, and the class of its column."""

    text: Any
    more: str = ""
    kind: str = NUMBER

    @property
    def is_empty(self) -> bool:
        """Whether the cell is empty."""
        return not self.more and str(self.text) in ("", UNKNOWN)


@dataclass(frozen=True)
class Column(Generic[_Item]):
    """A column: its title, which may be a picture, its alignment, and a function that returns the cell for the item of
    a row."""

    title: Any
    kind: str
    text: Callable[[_Item], Any]
    more: Callable[[_Item], str] = lambda item: ""

    def cell(self, item: _Item) -> Cell:
        return Cell(self.text(item), self.more(item), self.kind)


@dataclass(frozen=True)
class Filter(Generic[_Item]):
    """A filter for rows, in addition to names and verdicts: its name, its title, the values that occur, and a
    function that returns the value for the item of a row."""

    name: str
    title: str
    values: list[str]
    of: Callable[[_Item], str]

    @property
    def options(self) -> list[str]:
        """The values as they are shown."""
        return [brief(value) for value in self.values]


def distinguishing(name: str, title: str, items: Iterable[_Item], of: Callable[[_Item], str]) -> list[Filter[_Item]]:
    """Return a list with a filter that distinguishes items by a value. The list is empty if the filter would
    distinguish nothing, or if there are too many values to choose from."""
    values = sorted({of(item) for item in items} - {""})
    return [Filter(name, title, values, of)] if 1 < len(values) <= _MOST_VALUES else []


def numbers_of(item: _Item, filters: Iterable[Filter[_Item]]) -> list[tuple[str, int]]:
    """Return the name of each filter, with the position of the item's value among the values of the filter, from 1."""
    return [(each.name, each.values.index(each.of(item)) + 1) for each in filters if each.of(item) in each.values]


@dataclass(frozen=True)
class Row:
    """A row of a table: the verdict or state and the additional values by which the page can filter it, and its cells.
    Each value is given by the name of its filter and its number."""

    verdict: str
    cells: list[Cell]
    filters: list[tuple[str, int]]


def filled(
    columns: Sequence[Column[_Item]],
    items: Iterable[_Item],
    word: Callable[[_Item], str],
    filters: Sequence[Filter[_Item]] = (),
) -> tuple[list[tuple[Any, str]], list[Row]]:
    """Return the titles and the rows of a table without its empty columns; the first column is always kept."""
    rows = [Row(word(item), [column.cell(item) for column in columns], numbers_of(item, filters)) for item in items]
    kept = [place for place in range(len(columns)) if not place or any(not row.cells[place].is_empty for row in rows)]
    titles = [(columns[place].title, columns[place].kind) for place in kept]
    return titles, [Row(row.verdict, [row.cells[place] for place in kept], row.filters) for row in rows]
