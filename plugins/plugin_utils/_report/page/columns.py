# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tables of hosts for the page, without columns that are empty for all hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.changes import UNKNOWN

NUMBER, TEXT, LONG_TEXT, PICTURE, NAME = "", "left", "text", "left axis", "name"
"""The alignment of columns, as CSS classes of the page."""

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
class Row:
    """A row of a table, with the word that the page uses to filter it."""

    verdict: str
    cells: list[Cell]


def filled(
    columns: Sequence[Column[_Item]], items: Iterable[_Item], word: Callable[[_Item], str]
) -> tuple[list[tuple[Any, str]], list[Row]]:
    """Return the titles and the rows of a table without its empty columns; the first column is always kept."""
    rows = [(word(item), [column.cell(item) for column in columns]) for item in items]
    kept = [
        place for place in range(len(columns)) if not place or any(not cells[place].is_empty for dummy, cells in rows)
    ]
    titles = [(columns[place].title, columns[place].kind) for place in kept]
    return titles, [Row(name, [cells[place] for place in kept]) for name, cells in rows]
