# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Defines which result in a history is the newest.

A date comes from the clock of a controller, which may be wrong. Therefore, a history gives each result a position when
it stores the result, and never changes it. What a run has just measured is newer than everything that was stored
before, whatever the clocks show. What is imported is placed by its date among what was measured live: a pass as early,
and anything else as late, as the clocks that were read when the others were stored allow.

A date that is later than a clock that was read afterwards is wrong, unless the difference is within the tolerance. A
pass then certifies and clears nothing, but a failure and a fact about a volume still count.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from .._run.directory import RunDirectory
from .._run.files import fingerprint
from .._run.moment import is_moment
from .._run.record import HostRecord
from .._run.run_files import RunDirectoryError
from .._run.table_reader import printable


@dataclass(frozen=True, kw_only=True)
class Dated:
    """A result in a history. Only the history knows these fields: ``position`` is its place in the order, and
    ``misdated`` is the clock that contradicts its date; empty if none does. A result that is not stored yet is newer
    than all that are."""

    date_column: ClassVar[str] = "judged_at"
    """The name of the field with its date."""

    if TYPE_CHECKING:
        sha256: str
        run_id: str

    position: int = field(default=sys.maxsize, compare=False)
    misdated: str = field(default="", compare=False)

    @property
    def order(self) -> tuple[int, str, str, str]:
        """The sort key of results, oldest first."""
        return self.position, self.date, self.run_id, self.sha256

    @property
    def date(self) -> str:
        """Its date, according to the clock of the controller that made the run."""
        date: str = getattr(self, self.date_column)
        return date

    @property
    def passes(self) -> bool:
        """Whether it certifies or clears something, and nothing in it counts against its volume."""
        return False

    def void(self) -> Dated:
        """Return the result if it is misdated, so that it neither certifies nor clears anything."""
        return self

    def date_text(self) -> str:
        """Return the date of a misdated result, and what it contradicts."""
        return f"dated {self.date}, but a clock that was read later showed {self.misdated}"


def date_of(directory: RunDirectory, record: HostRecord) -> str:
    """Return the date of a record of a run. Raises RunDirectoryError if it is malformed, because dates are compared as
    text."""
    if not is_moment(record.created_at):
        raise RunDirectoryError(f"{directory.path} does not state when {printable(record.host)} was tested.")
    return record.created_at


DatedT = TypeVar("DatedT", bound=Dated)


def result_of(kind: type[DatedT], directory: RunDirectory, record: HostRecord, **fields: Any) -> DatedT:
    """Return the result of a record of a run, with these fields in addition to those that tell its run, its volume and
    its date. Raises RunDirectoryError."""
    known = {
        "run_id": record.run_id or str(directory.run["run_id"]),
        "host": printable(record.host),
        "volume": printable(record.volume),
        "judged_at": date_of(directory, record),
        **fields,
    }
    return kind(sha256=fingerprint(known), **known)


@cache
def column_names(result: type) -> tuple[str, ...]:
    """Return the names of the fields of a result that are stored."""
    return tuple(each.name for each in fields(result) if each.compare)


def column_values(result: Any) -> tuple[Any, ...]:
    """Return the values of these fields."""
    return tuple(getattr(result, name) for name in column_names(type(result)))


def still_misdated(results: Iterable[DatedT], key: Callable[[DatedT], Any]) -> list[DatedT]:
    """Return the misdated results that no later pass replaces. ``key`` returns what a result is about."""
    found: dict[Any, list[DatedT]] = {}
    for result in sorted(results, key=lambda result: result.order):
        if result.passes:
            found.pop(key(result), None)
        elif result.misdated:
            found.setdefault(key(result), []).append(result)
    return [result for own in found.values() for result in own]
