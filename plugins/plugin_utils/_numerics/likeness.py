# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines whether a volume is unlike the other volumes of its class. The logarithms of figures are compared, and
higher means worse."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

FEWEST_ALIKE = 8
"""The smallest number of hosts from which the common change of a class can be determined."""
MAD_TO_DEVIATION = 1.4826

_LEAST_DEVIATION = 0.02
"""The smallest difference assumed between volumes of one class, even if a few of them differ less."""


@dataclass(frozen=True)
class Likeness:
    """How similar the hosts of a class are: the middle and the range of their figures, and the conspicuous hosts with
    their deviations as shares."""

    middle: float
    lowest: float
    highest: float
    conspicuous: Mapping[str, float]


def likeness(figures: Mapping[str, Sequence[float]], *, margin: float) -> Likeness:
    """Return how similar the hosts of a class are, according to the figures of each host's rows. If a class has fewer
    than eight hosts, only the range is returned."""
    means = {host: fmean(map(math.log, rows)) for host, rows in figures.items()}
    middle = median(means.values())
    conspicuous = {}
    if len(means) >= FEWEST_ALIKE:
        deviation = max(_LEAST_DEVIATION, MAD_TO_DEVIATION * median(abs(mean - middle) for mean in means.values()))
        limit = max((4.2 + 30 / len(means)) * deviation, math.log1p(margin))
        conspicuous = {host: math.expm1(mean - middle) for host, mean in means.items() if abs(mean - middle) > limit}
    return Likeness(math.exp(middle), math.exp(min(means.values())), math.exp(max(means.values())), conspicuous)
