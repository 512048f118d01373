# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What power cuts without a loss prove: a bound on the chance of a loss, which they never exclude."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils import _units

STAGE = "power cut"
"""The stage in records that state why the power of a host cannot be cut."""

CONFIDENCE = 0.95

CERTIFYING_BOUND = 0.05
"""The largest acceptable bound on the chance of a loss per cut if no profile requires a number of cuts. If the bound is
higher, there are too few cuts without a loss to certify anything."""


def chance_bound(cuts: int, confidence: float = CONFIDENCE) -> float:
    """Return the largest chance of a loss per cut for which this number of cuts without a loss still has a probability
    of 1 - ``confidence``.

    It is 1 - (1 - confidence)^(1/n), which is a little below 3/n at 95 %. This holds for cuts that are independent and
    similar.
    """
    return -math.expm1(math.log1p(-confidence) / cuts)


def claim_of(cuts: Sequence[Mapping[str, Any]]) -> str:
    """Describe what power cuts without any loss prove, and what they could not have shown."""
    number = len(cuts)
    percent = percent_upwards(100 * chance_bound(number))
    text = (
        f"{_units.format_count(number)} {'cut' if number == 1 else 'cuts'} without a loss: with {100 * CONFIDENCE:.0f} "
        f"% confidence, the chance of a loss is at most {percent} % per "
        f"cut{' (about 3/n for n cuts)' if number >= 10 else ''}, if later cuts are like these. "
    )
    return text + _unseen(cuts)


def why_not_certifying(cuts: int, wanted: int) -> str:
    """Return the reason if this number of cuts without a loss does not certify anything under a profile that requires
    ``wanted`` of them (0 if it does not require any number); otherwise an empty string."""
    if wanted:
        return "" if cuts >= wanted else f"too few, the profile asks for {_units.format_count(wanted)}"
    bound = chance_bound(cuts)
    if bound > CERTIFYING_BOUND:
        return "too few to certify"
    return (
        f"with {100 * CONFIDENCE:.0f} % confidence, the chance of a loss is at most "
        f"{percent_upwards(100 * bound)} % per cut"
    )


def percent_upwards(value: float) -> str:
    """Return a percentage with two digits, rounded up."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{math.ceil(round(value / unit, 6)) * unit:.2g}"


def _unseen(cuts: Sequence[Mapping[str, Any]]) -> str:
    """Return the size of the loss that could have gone unnoticed in the least sensitive cut."""
    spans_ns = [cut.get("visible_from_ns") for cut in cuts]
    writes = [cut.get("visible_from_writes") for cut in cuts]
    if None in spans_ns or None in writes:
        return "It is not known how long a loss at the end could have gone unnoticed."
    span = _units.format_duration(max(spans_ns))
    return f"A loss at the end of less than {span} or {_units.format_count(max(writes))} writes could not be seen."
