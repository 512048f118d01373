# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which result in a history is the newest, from the order of storing together with the dates.

A date comes from the clock of a controller, which may be wrong. Therefore, a history numbers its storings and notes the
clock at each of them. If a clock contradicts one that was read later (when something else was stored, or now), what was
stored with it is ordered by its number instead of its date: it is newer than everything that was stored before it, and
older than everything that was stored after it. If the clocks differ by more than the tolerance, it is also misdated: a
pass then certifies and clears nothing, but a failure and a fact about a volume still count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.moment import CLOCK_TOLERANCE_S, later

_LONGEST_RUN_S = 86400
"""A result that is older than this when it is stored was imported. Its date is then not from the clock of this
storing."""


@dataclass(frozen=True, kw_only=True)
class Dated:
    """A result in a history. Only the history knows these fields: ``moment`` and ``number`` are its place in the order,
    and ``misdated`` is the clock that its date contradicts; empty if there is none."""

    date_column: ClassVar[str] = "judged_at"
    """The name of the field with its date."""

    if TYPE_CHECKING:
        sha256: str
        run_id: str

    moment: str = field(default="", compare=False)
    number: int = field(default=0, compare=False)
    misdated: str = field(default="", compare=False)

    @property
    def order(self) -> tuple[str, int, str, str, str]:
        """The sort key of results, oldest first."""
        date = self.date
        return self.moment or date, self.number, date, self.run_id, self.sha256

    @property
    def date(self) -> str:
        """Its date, according to the clock of the controller that made the run."""
        date: str = getattr(self, self.date_column)
        return date

    def void(self) -> Dated:
        """Return the result if it is misdated, so that it neither certifies nor clears anything."""
        return self

    def date_text(self) -> str:
        """Return the date of a misdated result, and what it contradicts."""
        when = "later" if self.date > self.misdated else "earlier"
        return f"dated {self.date}, but a clock that was read {when} showed {self.misdated}"


DatedT = TypeVar("DatedT", bound=Dated)


@cache
def date_place(result: type[Dated]) -> int:
    """Return the place of the date among the values of a result."""
    return column_names(result).index(result.date_column)


@cache
def column_names(result: type) -> tuple[str, ...]:
    """Return the names of the fields of a result that are stored."""
    return tuple(each.name for each in fields(result) if each.compare)


def column_values(result: Any) -> tuple[Any, ...]:
    """Return the values of these fields."""
    return tuple(getattr(result, name) for name in column_names(type(result)))


@dataclass(frozen=True)
class Storing:
    """A storing: its number, the clock, and whether other clocks agreed with this clock. A clock with which others
    disagreed is no evidence against other dates."""

    number: int
    clock: str
    agreed: int = 1


@dataclass(frozen=True)
class _Window:
    """A storing among the others: ``floor`` is the newest clock before it, ``bound`` the oldest clock after it."""

    clock: str
    floor: str
    bound: str

    @cached_property
    def fits(self) -> bool:
        return self.floor <= self.clock <= self.bound

    @cached_property
    def earliest_end(self) -> str:
        return min(self.clock, self.bound)

    @cached_property
    def live_from(self) -> str:
        """From when results were made by the run that stored them."""
        return later(self.clock, -_LONGEST_RUN_S)

    @cached_property
    def latest(self) -> str:
        """The latest date that a result can have."""
        return later(self.earliest_end, CLOCK_TOLERANCE_S)

    @cached_property
    def is_behind(self) -> bool:
        return bool(self.floor) and later(self.clock, CLOCK_TOLERANCE_S) < self.floor

    @cached_property
    def live_moment(self) -> str:
        """The place of its own results in the order, if it does not fit."""
        return self.floor if self.clock < self.floor else max(self.floor, later(self.bound, -_LONGEST_RUN_S))


class Timeline:
    """The storings of a history, in their order, and the present time."""

    def __init__(self, storings: Sequence[Storing], now: str) -> None:
        bounds, bound = [], now
        for each in reversed(storings):
            bounds.append(bound)
            if each.agreed:
                bound = min(bound, each.clock)
        self._windows: dict[int, _Window] = {}
        floor = ""
        for each, bound in zip(storings, reversed(bounds), strict=True):
            window = self._windows[each.number] = _Window(each.clock, floor, bound)
            floor = each.clock if window.fits else floor
        self.newest_clock = floor

    def knows(self, number: int) -> bool:
        """Return whether a storing is among these."""
        return number in self._windows

    def odd(self) -> list[int]:
        """Return the numbers of the storings whose clock contradicts others."""
        return [number for number, window in self._windows.items() if not window.fits]

    def placed(self, result: type[DatedT], values: Sequence[Any], number: int) -> DatedT:
        """Return the result with the given values, which was stored with a number, with its place in the order."""
        window, date = self._windows[number], values[date_place(result)]
        if window.fits and date <= window.earliest_end:
            return result(*values, moment=date, number=number)
        is_live = date > window.live_from
        is_shifted = is_live and not window.fits
        moment = window.live_moment if is_shifted else min(date, window.earliest_end)
        misdated = window.floor if is_live and window.is_behind else ""
        misdated = window.earliest_end if date > window.latest else misdated
        found: Any = result(*values, moment=moment, number=number, misdated=misdated)
        return found.void() if misdated else found


def still_misdated(
    results: Iterable[DatedT], key: Callable[[DatedT], Any], certifies: Callable[[DatedT], bool]
) -> list[DatedT]:
    """Return the misdated results that no later result replaces. ``key`` returns what a result is about, and
    ``certifies`` whether it certifies that."""
    found: dict[Any, list[DatedT]] = {}
    for result in sorted(results, key=lambda result: result.order):
        if certifies(result):
            found.pop(key(result), None)
        elif result.misdated:
            found.setdefault(key(result), []).append(result)
    return [result for own in found.values() for result in own]
