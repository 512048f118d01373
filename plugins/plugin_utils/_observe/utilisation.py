# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Calculates how close the log is to its limit. One write is outstanding at a time, so the share of time with a write
in flight cannot exceed 1.

From the figures that MQ publishes, this share is estimated as (physical bytes per second / write size) x write
latency. The estimate may exceed 1, because these figures are rolling averages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from .interval import LOG, Interval, Observation

FEWEST_FOR_A_TREND = 3


@dataclass(frozen=True, slots=True)
class Utilisation:
    """The share of time during which the logger was writing, for the whole observation and for its busiest interval,
    and how much this share increased per hour (negative if it decreased).

    None means unknown. A trend requires three intervals.
    """

    share: float | None
    highest_share: float | None
    share_per_hour: float | None


def utilisation(observation: Observation) -> Utilisation:
    """Return the utilisation of the logger and its trend, from the intervals of an observation."""
    intervals = [each for each in observation.intervals if each.stream == LOG]
    points = [
        (each.start_epoch_s + each.elapsed_s / 2, share)
        for each in intervals
        if (share := utilisation_of([each])) is not None
    ]
    return Utilisation(
        utilisation_of(intervals), max((share for dummy, share in points), default=None), _slope_per_hour(points)
    )


def utilisation_of(intervals: Iterable[Interval]) -> float | None:
    """Return the share of time during which a write was in flight, in the intervals for which it is known; None if
    there are none."""
    known = [(each.elapsed_s, spent) for each in intervals if (spent := spent_ns(each)) is not None]
    elapsed_s = sum(elapsed_s for elapsed_s, dummy in known)
    return sum(spent for dummy, spent in known) / 1e9 / elapsed_s if elapsed_s else None


def latency_sum_ns(intervals: Sequence[Interval]) -> float | None:
    """Return the time spent in all operations, or None if it is unknown for an interval with operations."""
    spent = [spent_ns(each) for each in intervals]
    return None if None in spent else sum(ns for ns in spent if ns is not None)


def spent_ns(each: Interval) -> float | None:
    """Return the time spent in the operations of an interval, or None if unknown."""
    if each.latency_sum_ns is not None:
        return each.latency_sum_ns
    if each.operations == 0:
        return 0.0
    return (
        each.operations * each.latency_mean_ns
        if each.operations is not None and each.latency_mean_ns is not None
        else None
    )


def _slope_per_hour(points: Sequence[tuple[float, float]]) -> float | None:
    """Return the slope of the straight line through points of seconds and shares."""
    if len(points) < FEWEST_FOR_A_TREND:
        return None
    middle_s, middle = fmean(epoch_s for epoch_s, dummy in points), fmean(share for dummy, share in points)
    spread = sum((epoch_s - middle_s) ** 2 for epoch_s, dummy in points)
    return 3600 * sum((epoch_s - middle_s) * (share - middle) for epoch_s, share in points) / spread if spread else None
