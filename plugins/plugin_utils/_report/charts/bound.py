# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows how far the worst row of a limit is from the limit, and with what certainty, as a small bar for a table."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ....module_utils import _units
from ..._judge.closest_limit import used_share

_WIDTH, _HEIGHT = 120, 20
_REACH = math.log(10)
"""The bar covers ratios from a tenth of the limit to ten times the limit."""

_ALLOWED = {
    "latency_p50": 0.5,
    "latency_p90": 0.1,
    "latency_p99": 0.01,
    "latency_p99_9": 0.001,
    "latency_p99_99": 1e-4,
    "latency_p99_999": 1e-5,
}


def bound_bar(limit: Mapping[str, Any]) -> Markup:
    """Return the bar of a limit of the model: the limit is in the middle, and worse values are to the right. The bar is
    empty if nothing was measured."""
    found = _ratios(limit)
    if found is None:
        return Markup("")
    ratio, bound, what = found
    words = what.format(_times(ratio)) + (f", with confidence at most {_times(bound)}" if bound is not None else "")
    parts = [Markup('<path class="limit mark" d="M{:.0f} 1V{}"/>').format(_WIDTH / 2, _HEIGHT - 1)]
    if bound is not None:
        parts.append(
            Markup('<path class="reach" d="M{:.1f} 10H{b:.1f}M{b:.1f} 6V14"/>').format(_place(ratio), b=_place(bound))
        )
    parts.append(Markup('<path class="dots p99" d="M{:.1f} 10h0"/>').format(_place(ratio)))
    return Markup('<svg class="chart bound" viewBox="0 0 {} {}" role="img"><title>{}</title>{}</svg>').format(
        _WIDTH, _HEIGHT, words, Markup("").join(parts)
    )


def _ratios(limit: Mapping[str, Any]) -> tuple[float, float | None, str] | None:
    """Return the ratio of the measured value to the limit, the ratio of its confidence bound to the limit, and the
    measured value."""
    worst, allowed = limit["worst"], _ALLOWED.get(str(limit["metric"]))
    share, share_bound = worst.get("share"), worst.get("share_bound")
    if allowed and share is not None and share_bound is not None:
        return share / allowed, share_bound / allowed, "share that took longer {} what is allowed"
    used = used_share(limit, worst.get("value"))
    if not used:
        return None
    return (
        used,
        used_share(limit, worst.get("value_bound")),
        "what is required is {} the figure" if limit["bound"] == "min" else "figure {} the limit",
    )


def _place(ratio: float) -> float:
    share = 0.0 if ratio <= 0 else 0.5 + math.log(ratio) / (2 * _REACH)
    return 4 + min(1.0, max(0.0, share)) * (_WIDTH - 8)


def _times(ratio: float) -> str:
    return f"{_units.format_number(ratio)} times"
