# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests a mean or a rate, using the parts of a run: with a t interval from their differences, widened to account for
the correlation of neighbours.

For a pass, it is also widened to account for the skewness of the parts (Johnson 1978): rare standstills make few parts
much worse than the others, and a run that happens to contain too few of them looks better than it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._numerics import student_t
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .blocks import lag_1, running_sums, sums_between
from .statistics import BATCH_MEANS, Evidence, covered_episode, crowded, within_reach

_MOST_BATCHES = 30
_FEWEST_BATCHES = 10
_LEAST_BATCH_S = 2
SECONDS_FOR_A_MEAN = _LEAST_BATCH_S * _FEWEST_BATCHES
"""The fewest seconds that can decide a mean."""


@dataclass(frozen=True)
class Question:
    """A mean or rate that must meet a limit (a `max` or a `min`), the accepted risks of a wrong decision, and the
    number of judgements.

    ``most_x`` is the greatest possible sum of x if only standstills were measured, or None if the ratio is a rate.
    ``suspicion`` is the probability of a deviation by chance below which a row of one worker among several is suspect.
    """

    limit: float
    bound: str
    alpha: float
    judgements: int
    most_x: float | None = None
    suspicion: float | None = None


def ratio_within(x: Sequence[float], y: Sequence[float], question: Question) -> Evidence:
    """Test whether sum(x) / sum(y) meets its limit; ``x`` and ``y`` contain one value for each second. Raises
    ValueError if the sum of y is 0."""
    if not x or len(x) != len(y):
        raise ValueError(f"{len(x)} seconds cannot be tested with the figures of {len(y)}.")
    seconds = len(x)
    count = min(_MOST_BATCHES, seconds // _LEAST_BATCH_S)
    cuts = [seconds * batch // count for batch in range(count + 1)] if count else [0, seconds]
    evidence = ratio_of_batches(*(sums_between(cuts, running_sums(values)) for values in (x, y)), seconds, question)
    return replace(evidence, crowded_s=crowded(_spare_s(x, y, question)))


def _spare_s(x: Sequence[float], y: Sequence[float], question: Question) -> list[float]:
    """Return how much additional standstill each second could have had within the limit, in seconds; negative if it had
    too much."""
    if question.most_x is None:
        return [part_x / question.limit - part_y if question.limit > 0 else 0 for part_x, part_y in zip(x, y)]
    unit = question.most_x / len(x)
    return [(question.limit * part_y - part_x) / unit for part_x, part_y in zip(x, y)]


def ratio_of_batches(x: Sequence[float], y: Sequence[float], seconds: int, question: Question) -> Evidence:
    """Test the mean. ``x`` and ``y`` contain the sums over equal parts, which cover ``seconds`` in total. Raises
    ValueError if the sum of y is 0."""
    total_x, total_y, count = sum(x), sum(y), len(x)
    if not total_y > 0:
        raise ValueError("there is nothing to compute a mean from")
    ratio = total_x / total_y
    facts = {
        "allowed": question.limit,
        "confidence": 1 - question.alpha,
        "seconds": seconds,
        "blocks": count,
        "block_s": seconds // count,
    }
    if count < _FEWEST_BATCHES or seconds < SECONDS_FOR_A_MEAN:
        return Evidence(BATCH_MEANS, INCONCLUSIVE, ratio, seconds_needed=SECONDS_FOR_A_MEAN, **facts)
    # The deviation is computed without division, so that it is 0 for exactly proportional parts.
    exact = [part_x * total_y - total_x * part_y for part_x, part_y in zip(x, y)]
    deviations = [deviation * count / (total_y * total_y) for deviation in exact]
    error, side = _standard_error(deviations, lag_1(exact)), 1 if question.bound == "max" else -1
    half_width = error * _for_a_pass(deviations, side, student_t.quantile(1 - question.alpha, count - 1))
    fail_half_width = error * student_t.quantile(1 - question.alpha / question.judgements, count - 1)
    margin = side * (question.limit - ratio)
    outcome = PASS if margin >= half_width else FAIL if -margin > fail_half_width else INCONCLUSIVE
    needed = None
    if outcome == INCONCLUSIVE and margin:
        # Errors shrink with the square root of the time.
        needed = within_reach(seconds * ((half_width if margin > 0 else fail_half_width) / margin) ** 2, seconds)
    return Evidence(
        BATCH_MEANS,
        outcome,
        ratio,
        ratio + side * half_width,
        episode_s=covered_episode(_reserve(total_x, total_y, question), seconds) if outcome == PASS else None,
        seconds_needed=needed,
        suspect=question.suspicion is not None
        and -margin > error * student_t.quantile(1 - question.suspicion, count - 1),
        **facts,
    )


def merged(batches: Sequence[int], seconds: int) -> list[int]:
    """Return the sums over equal parts, which cover ``seconds`` in total. Parts that are too short are merged into
    fewer ones."""
    together = next(
        (
            count
            for count in range(1, len(batches) + 1)
            if len(batches) % count == 0 and seconds * count >= _LEAST_BATCH_S * len(batches)
        ),
        1,
    )
    return [sum(batches[first : first + together]) for first in range(0, len(batches), together)]


def _for_a_pass(deviations: Sequence[float], side: int, quantile: float) -> float:
    """Return how many standard errors away the limit must be for a pass, if the parts are skewed towards the limit."""
    count, variance = len(deviations), math.fsum(deviation**2 for deviation in deviations) / len(deviations)
    if not variance:
        return quantile
    scale = math.sqrt(variance)
    skewness = max(0.0, side * math.fsum((deviation / scale) ** 3 for deviation in deviations) / count)
    return quantile + skewness * (1 + 2 * quantile**2) / (6 * math.sqrt(count))


def _reserve(total_x: float, total_y: float, question: Question) -> float:
    """Return how much additional standstill would break the limit, as a share of the measured time."""
    if question.most_x is not None:
        return (question.limit * total_y - total_x) / question.most_x
    return total_x / total_y / question.limit - 1 if question.limit > 0 else math.inf


def _standard_error(deviations: Sequence[float], correlation: float) -> float:
    """Return the standard error of the mean of parts with correlated neighbours."""
    count = len(deviations)
    corrected = min(0.9, max(0.0, correlation + (1 + 3 * correlation) / count))
    variance = math.fsum(deviation * deviation for deviation in deviations) / (count - 1)
    return math.sqrt(variance / count * (1 + corrected) / (1 - corrected))
