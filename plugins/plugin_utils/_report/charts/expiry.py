# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the certificates of a fleet by their remaining days, with a mark for each volume. Below them is a lane for each
state in which a volume is not certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ....module_utils import _units
from .marks import LARGE, SMALL, WIDTH, Marks, picture, piles, ticks, upright

_HEIGHT, _LANE = 66, 18
_FEW = 60
"""Marks are large up to this number of volumes."""
_COLUMNS = 80
"""The number of marks side by side in a lane."""
_MOST_TICKS = 6


@dataclass(frozen=True, slots=True)
class DayAxis:
    """A linear axis of days, from today to the last day."""

    days: float

    def place(self, days: float) -> float:
        return 12 + min(1.0, max(0.0, days / self.days)) * (WIDTH - 24)

    def ticks(self) -> list[int]:
        """Return round numbers of days, beginning with today."""
        step = next(
            each for each in (1, 2, 7, 14, 30, 60, 90, 180, 365, 3650, 36500) if self.days / each <= _MOST_TICKS
        )
        return list(range(0, int(self.days) + 1, step))


@dataclass(frozen=True, slots=True)
class _Places:
    """An axis whose values are already coordinates."""

    def place(self, value: float) -> float:
        return value


def expiry_chart(days_left: Sequence[int], expiring_days: int, size: int) -> Markup:
    """Return the picture of the remaining days of certificates; empty if there are none. ``size`` is the number of
    volumes of the fleet."""
    if not days_left:
        return Markup("")
    axis = DayAxis(max(*days_left, expiring_days, 1) * 1.02)
    soon = [days for days in days_left if days < expiring_days]
    later = [days for days in days_left if days >= expiring_days]
    end = axis.place(expiring_days)
    body = [
        Markup('<path class="soon" d="M0 0H{:.1f}V{}H0Z"/>').format(end, _HEIGHT),
        *(upright("grid", axis.place(tick), 0, _HEIGHT) for tick in axis.ticks()),
        Markup('<path class="line" d="M0 {0}H{1}"/>').format(_HEIGHT - 1, WIDTH),
        piles((Marks("passes", later), Marks("soon-mark", soon)), axis, _HEIGHT - 2, 4 - _HEIGHT, _size(size)),
    ]
    label = (
        f"{_units.format_count(len(days_left))} certified volumes by the days that their certificates have left: from "
        f"{min(days_left)} to {max(days_left)}; {_units.format_count(len(soon))} with fewer than {expiring_days}."
    )
    texts = [(axis.place(tick), "today" if not tick else f"{tick} d") for tick in axis.ticks()]
    return picture(_HEIGHT, label, Markup("").join(body)) + ticks(texts)


def lanes(counts: Mapping[str, int], size: int) -> list[tuple[str, int, Markup]]:
    """Return the name, the number of volumes and the picture of each lane that has volumes. A lane has a mark for each
    volume or, if there is not enough room, a bar to scale."""
    shown = {name: count for name, count in counts.items() if count}
    return [
        (
            name,
            count,
            picture(
                _LANE,
                f"{_units.format_count(count)} {name}",
                _bar(count / max(shown.values())) if has_bars(shown) else _row(count, size),
            ),
        )
        for name, count in shown.items()
    ]


def has_bars(counts: Mapping[str, int]) -> bool:
    """Return whether lanes are bars instead of marks."""
    return max(counts.values(), default=0) > _COLUMNS


def _bar(share: float) -> Markup:
    return Markup('<path class="fails lane" d="M0 {:.1f}H{:.1f}"/>').format(_LANE / 2, max(2.0, share * WIDTH))


def _row(count: int, size: int) -> Markup:
    marks = Marks("fails", [6.0 + 12 * number for number in range(count)], is_upright=True)
    return piles([marks], _Places(), _LANE - 4, 2 - _LANE, _size(size))


def _size(volumes: int) -> int:
    return LARGE if volumes <= _FEW else SMALL
