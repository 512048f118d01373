# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Whether a volume is unlike the other volumes of its class: the logarithms of figures are compared, and higher means
worse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

FEWEST_ALIKE = 8
"""The number of hosts from which the common part of a class can be determined."""
MAD_TO_DEVIATION = 1.4826

_LEAST_DEVIATION = 0.02
"""The smallest difference assumed between volumes of one class, even if a few of them differ less."""


@dataclass(frozen=True)
class Likeness:
    """How alike the hosts of a class are: the middle and the range of their figures, and the conspicuous hosts with
    their deviation, as a share."""

    middle: float
    lowest: float
    highest: float
    conspicuous: Mapping[str, float]


def likeness(figures: Mapping[str, Sequence[float]], *, margin: float) -> Likeness:
    """Return how alike the hosts of a class are, by the figures of each host's rows.
    A class of fewer than eight hosts only has a range."""
    means = {host: fmean(map(math.log, rows)) for host, rows in figures.items()}
    middle = median(means.values())
    conspicuous = {}
    if len(means) >= FEWEST_ALIKE:
        deviation = max(_LEAST_DEVIATION, MAD_TO_DEVIATION * median(abs(mean - middle) for mean in means.values()))
        limit = max((4.2 + 30 / len(means)) * deviation, math.log1p(margin))
        conspicuous = {host: math.expm1(mean - middle) for host, mean in means.items() if abs(mean - middle) > limit}
    return Likeness(math.exp(middle), math.exp(min(means.values())), math.exp(max(means.values())), conspicuous)
