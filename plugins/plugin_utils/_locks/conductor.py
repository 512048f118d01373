# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Tests all pairs of a run: pairs that share a host or a file server one after the other, and the others at the same
time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .pairs import Pair, in_turn


def conduct(
    pairs: Sequence[Pair], servers: Mapping[str, str], test: Callable[[Pair], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the results in the order of the pairs. ``servers`` holds the file server of each host (empty if it is not
    known), and ``test`` tests a pair and returns its result."""
    groups = in_turn(pairs, servers)
    if not groups:
        return []
    with ThreadPoolExecutor(len(groups)) as executor:
        tested = executor.map(lambda group: [(pair, test(pair)) for pair in group], groups)
        results = {pair: result for group in tested for pair, result in group}
    return [results[pair] for pair in pairs]
