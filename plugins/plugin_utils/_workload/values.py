# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The values of the keys of places and streams. Their text is in the form that the tester accepts, and they are parsed
as strictly as in the tester.

Every reader raises ValueError if a value is not allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...module_utils import _units

WHOLE_PPM = 1_000_000
LEAST_BYTES, MOST_BYTES = 512, 64 << 20
MOST_SIZES = 16
MOST_WORKERS = 4096
LEAST_PER_S, MOST_PER_S = Decimal("0.001"), 1_000_000
LONGEST_PAUSE_US = 60_000_000
ALL = "all"
"""This name is not allowed for a place or a stream, because it is used for the rows of the whole workload."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}\Z")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%\Z")
_TERM = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)( ?\* ?load)?\Z")


@dataclass(frozen=True)
class Percent:
    """A share in millionths."""

    ppm: int

    def __str__(self) -> str:
        return f"{Decimal(self.ppm).scaleb(-4).normalize():f}%"


@dataclass(frozen=True)
class Range:
    """A range from one share to another."""

    first: Percent
    last: Percent

    def __str__(self) -> str:
        return f"{self.first}-{self.last}" if self.first != self.last else str(self.first)


@dataclass(frozen=True)
class Sizes:
    """One size, or a mix of several: the share of each by the number of bytes, in millionths."""

    shares_ppm: Mapping[int, int]

    def __str__(self) -> str:
        if len(self.shares_ppm) == 1:
            return _units.short_size(next(iter(self.shares_ppm)))
        return "+".join(f"{_units.short_size(size)}:{str(Percent(ppm))[:-1]}" for size, ppm in self.shares_ppm.items())


@dataclass(frozen=True)
class Term:
    """A number that is either constant or multiplied by the load point."""

    factor: Decimal = Decimal(1)
    scales: bool = False

    def __str__(self) -> str:
        return f"{self.factor.normalize():f}{'*load' if self.scales else ''}"

    def at(self, load_point: int) -> Decimal:
        return self.factor * load_point if self.scales else self.factor


def read_name(value: Any) -> str:
    _require(isinstance(value, str) and _NAME.match(value) and value != ALL)
    return str(value)


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return a reader that accepts one of a few words."""

    def read(value: Any) -> str:
        _require(isinstance(value, str) and value in choices)
        return str(value)

    return read


def read_yes_no(value: Any) -> str:
    _require(isinstance(value, bool))
    return "yes" if value else "no"


def read_percent(value: Any) -> Percent:
    match = _PERCENT.match(value) if isinstance(value, str) else None
    _require(match)
    percent = Percent(int(Decimal(match.group(1)).scaleb(4)))
    _require(percent.ppm <= WHOLE_PPM)
    return percent


def read_share(value: Any) -> Percent:
    """Return a percentage that is not 0."""
    share = read_percent(value)
    _require(share.ppm)
    return share


def read_range(value: Any) -> Range:
    """Return a percentage, or a range of percentages such as 20%-60%."""
    _require(isinstance(value, str) and value.count("-") <= 1)
    ends = [read_percent(end.strip()) for end in value.split("-")]
    _require(ends[0].ppm <= ends[-1].ppm)
    return Range(ends[0], ends[-1])


def read_sizes(value: Any) -> Sizes:
    """Return a size, or a mix of sizes from a dictionary with their shares."""
    if not isinstance(value, Mapping):
        return Sizes({_size(value): WHOLE_PPM})
    shares_ppm = {_size(size): read_share(share).ppm for size, share in value.items()}
    _require(len(shares_ppm) == len(value) <= MOST_SIZES and sum(shares_ppm.values()) == WHOLE_PPM)
    return Sizes(shares_ppm)


def read_workers(value: Any) -> Term:
    term = Term(scales=True) if value == "load" else _term(value)
    _require(term.factor == int(term.factor) and 1 <= term.factor <= MOST_WORKERS)
    return term


def read_rate(value: Any) -> Term:
    term = _term(value)
    _require(LEAST_PER_S <= term.factor <= MOST_PER_S)
    return term


def read_pause(value: Any) -> int:
    pause_us = _units.parse_count(value)
    _require(pause_us <= LONGEST_PAUSE_US)
    return pause_us


def read_size(value: Any) -> Sizes:
    """Return one size."""
    return Sizes({_size(value): WHOLE_PPM})


def _size(value: Any) -> int:
    size = _units.parse_size(value)
    _require(LEAST_BYTES <= size <= MOST_BYTES)
    return size


def _term(value: Any) -> Term:
    if isinstance(value, float):
        value = format(Decimal(repr(value)), "f")
    match = _TERM.match(str(value)) if isinstance(value, (int, str)) else None
    _require(match)
    return Term(Decimal(match.group(1)), bool(match.group(2)))


def _require(holds: Any) -> None:
    if not holds:
        raise ValueError
