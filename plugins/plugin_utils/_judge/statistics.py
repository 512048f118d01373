# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests a limit, using the seconds of a run: the result, its confidence and, if inconclusive, how long the run would
have to be.

For each block of seconds, a share test bets that the limit is met (or broken). If this is not true, the product of the
gains is at most 1 on average, so it exceeds 1/alpha with a probability of at most alpha (Markov; Waudby-Smith and
Ramdas, arXiv 2010.09686). The bets are fixed beforehand. Blocks grow until the excesses of neighbours are no longer
correlated (blocks.py): disks are slow in bursts, and a burst must not be counted as several independent observations.
If blocks of every length are correlated, nothing passes, and a fail needs the square of the evidence. A fail also
needs some evidence from the longest blocks: otherwise, it depends on clusters that are not correlated from second to
second.

A pass needs evidence at alpha, and a fail at alpha divided by the number of judgements: a host passes only if all its
judgements do, but one fail is enough to fail it. Counts and times remain integers until the gain is calculated, and
products are calculated as sums of logarithms.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from .blocks import Blocks, choose_blocks, longest_blocks, running_sums, sums_between

SHARE_OF_OPERATIONS = "share of operations"
"""Method of a percentile over operations: based on how many of them took longer than the limit."""
SHARE_OF_TIME = "share of time"
"""Method of a time-weighted percentile: based on the share of the time during which an operation was in progress that
took longer than the limit."""
BATCH_MEANS = "batch means"
"""Method of a mean or a rate: based on how much the means of parts of the run differ."""
AS_IT_STANDS = "as it stands"
"""Method of every other figure: it is compared with its limit, without any further claim."""

_SECOND_NS = 10**9
_FOREVER_S = 10**12

_PASS_BETS = ((1.0, 0.6), (0.5, 0.2), (0.25, 0.1), (0.125, 0.1))
_FAIL_BETS = tuple((4.0**-power, 1 / 6) for power in range(6))
"""The stakes, as shares of the largest possible stake, and their weights."""

_BOUND_WIDTH, _BOUND_WIDTH_OF_ALLOWED = 1e-6, 1e-5
"""The precision of a bound: absolute, and relative to the allowed share; the finer one applies."""
_LONGEST_EXTENSION = 20
"""A figure that needs more than this many times the measured seconds is too close to the limit for any duration to
decide it."""
_EPISODES_EXPECTED = 10
_FEWEST_UNRESOLVED_BLOCKS = 40
"""If blocks are correlated, a run must have at least this many more of them."""
_CROWD_S = 30
"""The length of time within which several slow phases are considered a cluster."""
_SUSPICIOUS_SHARE = 5
"""A row among several is suspect if its evidence is at least the number of rows divided by this value. The more rows
there are, the more of them exceed their limit by chance."""


@dataclass(frozen=True)
class Evidence:
    """The result of a test of a row. ``outcome`` is pass, fail or inconclusive. ``value`` is the observed share or
    ratio, ``bound`` is its confidence bound on the side of the limit (None if there are too few seconds, if their
    blocks are correlated, or for one row among several), and ``allowed`` is the share or limit with which it is
    compared. ``block_s`` is the number of seconds in a block, and ``blocks`` the number of blocks; they are not
    resolved if even these blocks are correlated. ``episode_s`` is the longest slow phase that a pass covers (for a
    mean, the longest standstill), None if there is none, and ``crowded_s`` is the most slow time that was seen within
    30 s, None for the mean of one row among several. ``seconds_needed`` is the total length that a run needs if this
    one is inconclusive. ``log_evidence`` is the logarithm of the product of the gains, for a pass if the value meets
    the limit, for a fail if the value breaks it; None for means. ``suspect`` is true for a row of one worker among
    several that breaks its limit by more than chance explains among that many rows. ``counted_over_ns`` is the
    threshold over which operations were counted, or None if that is the limit.
    """

    method: str
    outcome: str
    value: float
    bound: float | None = None
    allowed: float | None = None
    confidence: float | None = None
    seconds: int = 0
    blocks: int = 0
    block_s: int = 0
    resolved: bool = True
    episode_s: float | None = None
    crowded_s: float | None = None
    seconds_needed: int | None = None
    log_evidence: float | None = None
    suspect: bool = False
    counted_over_ns: int | None = None


def share_of_operations(
    operations: Sequence[int],
    over: Sequence[int],
    allowed_share: Fraction | str | float,
    limit_ns: int,
    latency_min_ns: int,
    writers: int,
    *,
    alpha: float,
    judgements: int,
    in_flight_over: int = 0,
    part_of: tuple[int, int] | None = None,
    rows: int = 1,
) -> Evidence:
    """Test whether at most the allowed share of all operations take longer than the limit.

    ``operations`` and ``over`` contain a count for each second, including the last one, which was cut short. Each
    writer has one operation in flight, which limits how many can be slow and how many can end in a block.
    ``in_flight_over`` is the number of operations that were in flight at the end and already older than the limit. The
    allowed share of p99.9 is Fraction(1, 1000) or "0.001": 1 - 0.999 has lost digits.

    If the row is one of several, ``part_of`` contains its number of operations and the number of operations of all rows
    together. In that case, ``operations`` contains the counts of all rows, and each second is divided in proportion.
    ``rows`` is the number of these rows, including this one. Raises ValueError if the counts contradict one another.
    """
    own, unit = part_of or (1, 1)  # operations are counted in this many parts, so that all numbers are whole

    def most(block_s: int) -> tuple[int, int]:
        slow = -(-101 * block_s * _SECOND_NS // (100 * limit_ns))  # the factor 1.01 allows for the width of a bucket
        return unit * writers * slow, unit * writers * (block_s * _SECOND_NS // latency_min_ns + 1)

    _check_seconds(operations, over)
    for second, (count, slow) in enumerate(zip(operations, over), start=1):
        if not 0 <= slow <= count:
            raise ValueError(f"Second {second} has {slow} operations over the limit among {count}.")
        if unit * slow > most(1)[0]:
            raise ValueError(
                f"Second {second} has {slow} operations over the limit, but {writers} writers cannot have "
                f"more than {most(1)[0] // unit}."
            )
    counts, slows = [own * count for count in operations], [unit * slow for slow in over]
    counts[-1], slows[-1] = counts[-1] + unit * in_flight_over, slows[-1] + unit * in_flight_over
    return _share_test(SHARE_OF_OPERATIONS, counts, slows, allowed_share, most, _Risk(alpha, judgements, rows), unit)


def share_of_time(
    latency_sum_ns: Sequence[int],
    over_sum_ns: Sequence[int],
    allowed_share: Fraction | str | float,
    writers: int,
    *,
    alpha: float,
    judgements: int,
    in_flight_age_ns: int = 0,
    rows: int = 1,
) -> Evidence:
    """Test whether operations that take longer than a limit make up at most the allowed share of the time that all
    operations take.

    There is one sum for each second. ``over_sum_ns`` is calculated from the middles of histogram buckets.
    ``in_flight_age_ns`` is the age of an operation that was in flight at the end and already older than the limit, else
    0. ``rows`` is the number of rows that are judged together, including this one. Raises ValueError if the sums
    contradict one another.
    """

    def most(block_s: int) -> tuple[int, int]:
        return (writers * block_s * _SECOND_NS,) * 2

    _check_seconds(latency_sum_ns, over_sum_ns)
    for second, (time_ns, slow_ns) in enumerate(zip(latency_sum_ns, over_sum_ns), start=1):
        if not 0 <= 100 * slow_ns <= 101 * time_ns:  # the middle of a bucket can be above the durations in it
            raise ValueError(f"Second {second} has {slow_ns} ns of operations over the limit in {time_ns} ns of all.")
    slow_ns = [min(pair) for pair in zip(latency_sum_ns, over_sum_ns)]
    slow_ns[-1] += in_flight_age_ns
    time_ns, slow_ns = move_back([*latency_sum_ns[:-1], latency_sum_ns[-1] + in_flight_age_ns], slow_ns, writers)
    return _share_test(SHARE_OF_TIME, time_ns, slow_ns, allowed_share, most, _Risk(alpha, judgements, rows))


def move_back(time_ns: Sequence[int], slow_ns: Sequence[int], writers: int) -> tuple[list[int], list[int]]:
    """Return the time of all operations, and of slow ones, in the seconds in which it was spent, instead of the second
    in which the operation returned."""
    if max(time_ns) <= writers * _SECOND_NS:
        return [*time_ns], [*slow_ns]
    times, slows, carry = [], [], 0
    for time, slow in zip(reversed(time_ns), reversed(slow_ns)):
        quick = time - slow
        here = min(slow + carry, max(0, writers * _SECOND_NS - quick))
        carry += slow - here
        times.append(quick + here)
        slows.append(here)
    return times[::-1], slows[::-1]


def rare_second_share(seconds: int, alpha: float) -> float:
    """Return the upper bound for the share of seconds in which an event occurs that did not occur in any measured
    second."""
    return -math.expm1(math.log(alpha) / seconds)


def seconds_to_pass(allowed_share: Fraction | str | float, limit_over_mean: float, alpha: float) -> int:
    """Return the smallest number of seconds in which a share of operations can pass, if none is over the limit. The
    limit is given as a multiple of the mean latency."""
    share = _fraction(allowed_share)
    return _clean_seconds(float(share / (1 - share)) * limit_over_mean / 1.01, alpha)


def seconds_to_pass_time(allowed_share: Fraction | str | float, alpha: float) -> int:
    """Return the smallest number of seconds in which a share of time can pass, if no operation is over the limit."""
    share = _fraction(allowed_share)
    return _clean_seconds(float(share / (1 - share)), alpha)


def _clean_seconds(gain: float, alpha: float) -> int:
    """Return the smallest number of seconds that is enough for a pass if each contributes this gain."""

    def log_evidence(seconds: int) -> float:
        return _log_evidence([seconds * math.log1p(stake * gain) for stake, dummy in _PASS_BETS], _PASS_BETS)

    return bisect_left(range(_FOREVER_S), -math.log(alpha), key=log_evidence)


def _check_seconds(total: Sequence[float], part: Sequence[float]) -> None:
    if not total or len(total) != len(part):
        raise ValueError(f"{len(total)} seconds cannot be tested with the figures of {len(part)}.")


def _fraction(share: Fraction | str | float) -> Fraction:
    """Return a share exactly as it is written: 0.01 becomes 1/100, not the nearest binary number."""
    exact = Fraction(str(share))
    if not 0 < exact < 1:
        raise ValueError(f"The allowed share {share} must be above 0 and below 1.")
    return exact


@dataclass(frozen=True)
class _Risk:
    """The allowed probability of a wrong pass, the number of judgements for a fail, and the number of rows for
    suspicion."""

    alpha: float
    judgements: int
    rows: int


def _share_test(
    method: str,
    total: Sequence[int],
    over: Sequence[int],
    allowed_share: Fraction | str | float,
    most: Callable[[int], tuple[int, int]],
    risk: _Risk,
    unit: int = 1,
    blocks: Blocks | None = None,
) -> Evidence:
    """Test a claim about sum over / sum total. ``most(block_s)`` returns the largest sums of ``over`` and of
    ``total`` that are possible in a block of ``block_s`` seconds. ``blocks`` are chosen if they are not given."""
    if not sum(total):
        raise ValueError("No operation was counted.")
    share = _fraction(allowed_share)
    part, whole, seconds = share.numerator, share.denominator, len(total)
    spare = [
        part * count - whole * slow for count, slow in zip(total, over)
    ]  # how much more may be over the limit, multiplied by the denominator
    # With parts of operations, choosing blocks would only be slower.
    blocks = blocks or choose_blocks([second // unit for second in spare])
    spare_of_blocks, total_of_blocks, over_of_blocks = (
        sums_between(blocks.cuts, running_sums(values)) for values in (spare, total, over)
    )
    most_over, most_in_all = most(blocks.block_s)
    a_second_over = (whole - part) * most(1)[0]
    direction = sum(spare)
    if direction >= 0:
        bets, target, decided = _PASS_BETS, -math.log(risk.alpha), PASS
        gains = [block / ((whole - part) * most_over) for block in spare_of_blocks]
    else:
        bets, target, decided = _FAIL_BETS, math.log(risk.judgements / risk.alpha) * (1 if blocks.resolved else 2), FAIL
        gains = [-block / (part * most_in_all) for block in spare_of_blocks]
    products = _log_products(gains, bets)
    evidence = _log_evidence(products, bets) if direction else 0.0
    outcome = decided if evidence >= target and (blocks.resolved or decided == FAIL) else INCONCLUSIVE
    if outcome == FAIL and blocks.resolved:
        weakest = min(longest_blocks(seconds), key=lambda each: _log_evidence_against(spare, each, part, most))
        if _log_evidence_against(spare, weakest, part, most) < -math.log(risk.alpha):  # the fail depends on clusters
            return _share_test(method, total, over, allowed_share, most, risk, unit, weakest)
    needed, has_bound = None, blocks.resolved and risk.rows == 1
    if outcome == INCONCLUSIVE and direction:
        needed_s = blocks.block_s * _blocks_needed(products, bets, target, len(gains))
        needed_s = needed_s if blocks.resolved else max(needed_s, _FEWEST_UNRESOLVED_BLOCKS * blocks.block_s)
        # If no operation is over the limit, the run is not close to the limit, no matter how short it was.
        needed = within_reach(needed_s, seconds) if any(over) else math.ceil(needed_s)
    return Evidence(
        method,
        outcome,
        value=sum(over) / sum(total),
        bound=_upper_bound(total_of_blocks, over_of_blocks, most_over, float(share), outcome == PASS, risk.alpha)
        if has_bound
        else None,
        allowed=float(share),
        confidence=1 - risk.alpha,
        seconds=seconds,
        blocks=len(gains),
        block_s=blocks.block_s,
        resolved=blocks.resolved,
        episode_s=covered_episode(direction / (a_second_over * seconds), seconds) if outcome == PASS else None,
        crowded_s=crowded(spare) / a_second_over,
        seconds_needed=needed,
        log_evidence=evidence,
        suspect=risk.rows > 1 and direction < 0 and evidence >= math.log(max(1, risk.rows / _SUSPICIOUS_SHARE)),
    )


def _log_evidence_against(
    spare: Sequence[int], blocks: Blocks, part: int, most: Callable[[int], tuple[int, int]]
) -> float:
    """Return the logarithm of the evidence that a limit is broken, with these blocks."""
    scale = part * most(blocks.block_s)[1]
    gains = [-block / scale for block in sums_between(blocks.cuts, running_sums(spare))]
    return _log_evidence(_log_products(gains, _FAIL_BETS), _FAIL_BETS)


def crowded(spare: Sequence[float]) -> float:
    """Return the greatest excess within any period that is as long as a cluster."""
    running = running_sums([max(0, -second) for second in spare])
    return max(end - start for start, end in zip(running, running[_CROWD_S:] or running[-1:]))


def _blocks_needed(products: Sequence[float], bets: Sequence[tuple[float, float]], target: float, blocks: int) -> float:
    """Return the number of blocks after which the best bet alone reaches the target if it continues to grow as in these
    blocks."""
    return min(
        (
            blocks * (target - math.log(weight)) / product
            for product, (dummy, weight) in zip(products, bets)
            if product > 0
        ),
        default=math.inf,
    )


def _log_products(gains: Sequence[float], bets: Sequence[tuple[float, float]]) -> list[float]:
    """Return, for each stake, the logarithm of the product of 1 + stake x gain. If any factor is 0 or less, this is the
    logarithm of 0."""
    worst = min(gains)
    return [
        math.fsum(map(math.log1p, [stake * gain for gain in gains])) if stake * worst > -1 else -math.inf
        for stake, dummy in bets
    ]


def _log_evidence(products: Sequence[float], bets: Sequence[tuple[float, float]]) -> float:
    """Return the logarithm of the weighted sum of the products, given by their logarithms."""
    greatest = max(products)
    if greatest == -math.inf:
        return greatest
    return greatest + math.log(
        math.fsum(weight * math.exp(product - greatest) for product, (dummy, weight) in zip(products, bets))
    )


def _upper_bound(
    total: Sequence[int], over: Sequence[int], most_over: int, allowed: float, passed: bool, alpha: float
) -> float:
    """Return the smallest allowed share with which the blocks would still pass. It is below the actual allowed share if
    the test passed, and otherwise above it."""
    observed = sum(over) / sum(total)
    low, high = (observed, allowed) if passed else (max(observed, allowed), 1.0)
    width = min(_BOUND_WIDTH, _BOUND_WIDTH_OF_ALLOWED * allowed)
    while high - low > width:
        share = (low + high) / 2
        scale = 1 / ((1 - share) * most_over)
        gains = [(share * count - slow) * scale for count, slow in zip(total, over)]
        if _log_evidence(_log_products(gains, _PASS_BETS), _PASS_BETS) >= -math.log(alpha):
            high = share
        else:
            low = share
    return high


def covered_episode(reserve: float, seconds: int) -> float:
    """Return how long each slow phase would be if ten of them were expected in the run and together just broke the
    limit. At least one of them would probably have been seen."""
    return seconds / _EPISODES_EXPECTED * (1 - 1 / (1 + reserve))


def within_reach(needed: float, seconds: int) -> int | None:
    """Return the total number of whole seconds needed, or None if a longer run would not help."""
    return math.ceil(needed) if needed <= _LONGEST_EXTENSION * seconds else None
