# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calculates how much of a limit a figure uses, and which limit a volume comes closest to or breaks most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .metrics import MARGIN

_KEYS = (
    "metric",
    "bound",
    "limit_value",
    "unit",
    "value",
    "value_at_least",
    "load_point",
    "block_size_bytes",
    "stream",
    "operation",
)
"""The keys of a judgement that say which figure it is about."""


def used_share(limit: Mapping[str, Any], value: float | None) -> float | None:
    """Return the share of a limit (or of the limit of a judgement) that a figure uses. The share is above 1 if the
    figure breaks the limit. It is None if there is no figure, or if the calculation would be a division by 0."""
    bound, limit_value = limit["bound"], limit["limit_value"]
    if limit["unit"] == MARGIN.unit and value is not None and limit_value is not None:
        # The carried load is compared with the required one, as a share of the target.
        value, limit_value = 1 + value, 1 + limit_value
    over, under = (limit_value, value) if bound == "min" else (value, limit_value)
    return over / under if over is not None and under else None


def closest_limit(judgements: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the figure that uses the largest share of its limit, with this share; None if no limit judged a figure."""
    shares = ((used_share(judgement, judgement["value"]), judgement) for judgement in judgements)
    share, worst = max(
        ((share, judgement) for share, judgement in shares if share is not None),
        key=lambda each: each[0],
        default=(None, {}),
    )
    return None if share is None else {**{key: worst.get(key) for key in _KEYS}, "share": share}
