# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Merges the seconds of a run into blocks that are independent of each other. Sums of integers remain exact."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import mul, sub

_FEWEST = 20
_INDEPENDENT = 0.3
"""The autocorrelation up to which neighbouring blocks are considered independent."""


@dataclass(frozen=True)
class Blocks:
    """How the seconds are divided into blocks: the offsets, and the length of a block. If even the longest blocks are
    not independent, they are not resolved."""

    cuts: list[int]
    block_s: int
    resolved: bool = True


def choose_blocks(spare: Sequence[int]) -> Blocks:
    """Return the shortest blocks for which the excesses of neighbouring blocks are uncorrelated, both for this length
    and for all greater lengths.

    ``spare`` contains how far each second is below the allowed value; it is negative if the second is above. Only
    excesses are considered, because a slow drift far below the limit must not lengthen the blocks. All longer blocks
    are also checked, so that single peaks that occur in clusters are not considered independent.
    """
    seconds, running = len(spare), running_sums(spare)
    if min(spare) >= 0:
        return Blocks(cut(seconds, 1, 0), 1)
    shortest, block_s = None, _longest(seconds)
    while block_s:
        correlations = [
            lag_1([max(0, -block) for block in sums_between(cut(seconds, block_s, first), running)])
            for first in range(block_s)
        ]
        blocks = Blocks(cut(seconds, block_s, correlations.index(min(correlations))), block_s)
        if math.fsum(correlations) / block_s > _INDEPENDENT:
            return shortest or replace(blocks, resolved=False)
        shortest, block_s = blocks, block_s // 2
    return shortest


def longest_blocks(seconds: int) -> list[Blocks]:
    """Return the longest blocks, with two offsets: they show whether evidence depends on clusters whose neighbouring
    seconds are not correlated enough to lengthen the blocks."""
    block_s = _longest(seconds)
    return [Blocks(cut(seconds, block_s, first), block_s, resolved=False) for first in dict.fromkeys((0, block_s // 2))]


def _longest(seconds: int) -> int:
    """Return the longest block, a power of two, that fits often enough into the given number of seconds."""
    block_s = 1
    while -(-seconds // (2 * block_s)) >= _FEWEST:
        block_s *= 2
    return block_s


def cut(seconds: int, block_s: int, first: int) -> list[int]:
    """Return the offsets of blocks of ``block_s`` seconds, followed by the end. The first block may be shorter."""
    return [0, *range(first or block_s, seconds, block_s), seconds]


def running_sums(values: Iterable[int]) -> list[int]:
    """Return the running sums of the values, beginning with 0."""
    return list(accumulate(values, initial=0))


def sums_between(cuts: Sequence[int], running: Sequence[int]) -> list[int]:
    """Return the sums between the cuts, from running sums."""
    ends = [running[place] for place in cuts]
    return list(map(sub, ends[1:], ends))


def lag_1(values: Sequence[int]) -> float:
    """Return the autocorrelation of neighbouring values; 0 if all are equal. For integers, the result is exact, so that
    equal correlations compare as equal."""
    count, total, squares = len(values), sum(values), sum(map(mul, values, values))
    variation = count * squares - total * total
    if not variation:
        return 0.0
    neighbours = sum(map(mul, values, values[1:]))
    covariation = (
        count * count * neighbours - count * total * (2 * total - values[0] - values[-1]) + (count - 1) * total * total
    )
    return covariation / (count * variation)
