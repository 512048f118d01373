# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows a fleet in one picture, on a logarithmic axis. The mark of each host shows the share that the host uses of the
limit to which it comes closest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from ....module_utils import _units
from ..._run.verdicts import FAIL, PASS
from .axes import LogAxis
from .marks import LARGE, SMALL, WIDTH, Marks, picture, piles, ticks, upright

_HEIGHT = 66
_FEW = 60
"""Marks are large up to this number of hosts."""
_LEAST, _MOST = 0.01, 1000.0
"""The ends of the axis. Marks beyond them are drawn at the end."""
_ROOM = 0.08
"""The room on either side of the axis, in decades."""


@dataclass(frozen=True, slots=True)
class Use:
    """A host: its verdict, and the largest share that it uses of a limit. At 1, the limit is fully used; above 1, it is
    broken."""

    label: str
    verdict: str
    share: float


def limit_use_chart(uses: Sequence[Use], label: str) -> Markup:
    """Return the picture; empty if there are no hosts. ``label`` describes what it shows."""
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
    # The text of the limit is placed first, so that no other text takes its place.
    texts = sorted([(limit, "the limit"), *_beside(limit, [(axis.place(tick), _text(tick)) for tick in shown])])
    return picture(_HEIGHT, label, Markup("").join(body)) + ticks(texts)


def _beside(limit: float, texts: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Return the texts that do not touch the text of the limit."""
    return [(x, words) for x, words in texts if abs(x - limit) >= 0.11 * WIDTH]


def _text(share: float) -> str:
    return f"{_units.format_number(share)} \u00d7" if share >= 2 else f"{_units.format_number(100 * share)} %"
