# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the certificates of a fleet by their remaining days, with a mark for each volume. Below them is a lane for each
state in which a volume is not certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from ....module_utils._units import format_count
from .axes import Axis, path, round_steps
from .marks import HEIGHT, WIDTH, Marks, overview, picture, piles, size_of, ticks

_LANE = 18
_COLUMNS = 80
"""The number of marks side by side in a lane."""
_TICK_DAYS = (1, 2, 7, 14, 30, 60, 90, 180, 365, 3650, 36500)


def expiry_chart(days_left: Sequence[int], expiring_days: int, size: int) -> Markup:
    """Return the picture of the remaining days of certificates; empty if there are none. ``size`` is the number of
    volumes of the fleet."""
    if not days_left:
        return Markup("")
    last = max(*days_left, expiring_days, 1) * 1.02
    axis, shown = Axis(0, last, 12, WIDTH - 12), round_steps(last, _TICK_DAYS)
    soon = [days for days in days_left if days < expiring_days]
    later = [days for days in days_left if days >= expiring_days]
    area = path("soon", "M0 0H{:.1f}V{}H0Z", axis.place(expiring_days), HEIGHT)
    label = (
        f"{format_count(len(days_left))} certified volumes by the days that their certificates have left: from "
        f"{min(days_left)} to {max(days_left)}; {format_count(len(soon))} with fewer than {expiring_days}."
    )
    drawn = overview(axis, shown, (Marks("passes", later), Marks("soon-mark", soon)), area, (), size, label)
    return drawn + ticks((axis.place(tick), f"{tick} d" if tick else "today") for tick in shown)


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
                f"{format_count(count)} {name}",
                [_bar(count / max(shown.values())) if has_bars(shown) else _row(count, size)],
            ),
        )
        for name, count in shown.items()
    ]


def has_bars(counts: Mapping[str, int]) -> bool:
    """Return whether lanes are bars instead of marks."""
    return max(counts.values(), default=0) > _COLUMNS


def _bar(share: float) -> Markup:
    return path("fails lane", "M0 {:.1f}H{:.1f}", _LANE / 2, max(2.0, share * WIDTH))


def _row(count: int, size: int) -> Markup:
    marks = Marks("fails", [6.0 + 12 * number for number in range(count)], is_upright=True)
    return piles([marks], Axis(0, WIDTH, 0, WIDTH), _LANE - 4, 2 - _LANE, size_of(size))
