# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

# This code is private to the collection and may change at any time.

"""What a measured figure proves about a limit: the one place that decides it.

The figure is compared with the limit as it stands; how sure it is, is answered in so far as a figure that the number of writes cannot support is no
figure at all, and decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from ._profile import Limit
from ._tables import Row
from ._verdict_names import FAIL, INCONCLUSIVE, PASS


@dataclass(frozen=True)
class Evidence:
    """What was measured in one row of results.csv."""

    row: Row

    @property
    def samples(self) -> int:
        """The number of writes behind the figures."""
        return self.row['writes']


@dataclass(frozen=True)
class Comparison:
    """What the evidence says about a limit.

    outcome is pass, fail or inconclusive; value is the figure in the metric's base unit, None where there is none; at_least says that the true figure
    is not below it; why says in a few words why an inconclusive outcome is one.
    """

    outcome: str
    value: float | None
    at_least: bool = False
    why: str = ''


def compare(limit: Limit, evidence: Evidence) -> Comparison:
    """Decide whether the evidence shows that the limit is kept or broken, or neither."""
    value = evidence.row.get(limit.metric.column)
    if value is None:
        return Comparison(INCONCLUSIVE, None, why='too few writes for this figure')
    at_least = evidence.row.get(limit.metric.at_least_column) == 1
    if limit.broken_by(value) or (at_least and value >= limit.value):
        return Comparison(FAIL, value, at_least)
    if at_least:
        return Comparison(INCONCLUSIVE, value, at_least, why='the slowest write was still in flight')
    return Comparison(PASS, value)
