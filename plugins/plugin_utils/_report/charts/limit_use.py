# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet in one picture: a mark for every host at the share that it uses of the limit that it comes closest to, on a
logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.axes import LogAxis
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.charts.marks import (
    LARGE,
    SMALL,
    WIDTH,
    Marks,
    picture,
    piles,
    ticks,
    upright,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import FAIL, PASS
from markupsafe import Markup

_HEIGHT = 66
_FEW = 60
"""Up to this number of hosts, marks are large."""
_LEAST, _MOST = 0.01, 1000.0
"""The ends of the axis, beyond which marks are drawn at its end."""
_ROOM = 0.08
"""Decades that are left free on either side."""


@dataclass(frozen=True, slots=True)
class Use:
    """A host: its verdict, and the largest share that it uses of a limit; 1 is all of it, and more breaks it."""

    label: str
    verdict: str
    share: float


def limit_use_chart(uses: Sequence[Use], label: str) -> Markup:
    """Return the picture, empty without hosts. ``label`` says in words what it shows."""
    if not uses:
        return Markup("")
    shares = [min(_MOST, max(_LEAST, use.share)) for use in uses]
    axis = LogAxis(min(math.log10(min(shares)), -1.0) - _ROOM, max(math.log10(max(shares)), 0.3) + _ROOM, 0, WIDTH)
    limit = axis.place(1.0)
    shown = [tick for tick in axis.round_values((1, 2, 5)) if tick != 1.0]
    kinds = (
        Marks("passes", [share for use, share in zip(uses, shares, strict=True) if use.verdict == PASS]),
        Marks("neither", [share for use, share in zip(uses, shares, strict=True) if use.verdict not in (PASS, FAIL)]),
        Marks(
            "fails", [share for use, share in zip(uses, shares, strict=True) if use.verdict == FAIL], is_upright=True
        ),
    )
    body = [
        Markup('<path class="beyond" d="M{:.1f} 0H{}V{}H{:.1f}Z"/>').format(limit, WIDTH, _HEIGHT, limit),
        *(upright("grid", axis.place(tick), 0, _HEIGHT) for tick in shown),
        Markup('<path class="line" d="M0 {0}H{1}"/>').format(_HEIGHT - 1, WIDTH),
        piles(kinds, axis, _HEIGHT - 2, 4 - _HEIGHT, LARGE if len(uses) <= _FEW else SMALL),
        upright("limit", limit, 0, _HEIGHT),
    ]
    # The limit's own text comes first, so that no other one takes its place.
    texts = sorted([(limit, "the limit"), *_beside(limit, [(axis.place(tick), _text(tick)) for tick in shown])])
    return picture(_HEIGHT, label, Markup("").join(body)) + ticks(texts)


def _beside(limit: float, texts: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the texts that do not touch the one of the limit."""
    return [(x, words) for x, words in texts if abs(x - limit) >= 0.11 * WIDTH]


def _text(share: float) -> str:
    return f"{_units.format_number(share)} \u00d7" if share >= 2 else f"{_units.format_number(100 * share)} %"
