# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Percentiles of histograms, as the tester computes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction


def percentile_ns(buckets: Iterable[tuple[int, int]], allowed_share: Fraction, longest_ns: int) -> int | None:
    """Return the nearest-rank percentile with the given share of operations above it, as the tester computes it; None
    if the histogram has too few operations.

    ``buckets`` are pairs of upper bound and number of operations in any order; a bound may occur more than once. The
    result is the bound of the bucket that contains the operation of this rank, but not more than ``longest_ns``.
    """
    ordered = sorted(buckets)
    count = sum(operations for dummy, operations in ordered)
    if count * allowed_share < 1:
        return None
    rank = max(1, math.ceil(count * (1 - allowed_share)))
    seen = 0
    for upper_ns, operations in ordered:
        seen += operations
        if seen >= rank:
            return min(upper_ns, longest_ns)
    return None
