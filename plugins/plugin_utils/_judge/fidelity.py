# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks whether the steps of a workload of streams did what the workload requires: its shares of reads, sizes,
operations and capacity.

Rates are not checked here: if a rate is too low, the run fails because the load cannot be sustained.
"""

from __future__ import annotations

import math
from typing import Any

from .._run.columns import ALL_STREAMS, READ_SHARE, Row
from .._run.findings import UNKNOWN_SHARES, Finding, finding
from .._run.table_reader import TablesError
from .._run.tables import Tables

TOLERANCE = 0.05
"""How much a share may differ from the requested one, relative to the latter."""
_Z = 3.29
"""The deviation that chance explains, in standard deviations. One random draw in 1,000 deviates more."""

_ABOUT = ("property", "stream", "item")
_SHARES = (READ_SHARE, "size_share", "operations_share", "capacity_share")


def deviations(tables: Tables) -> dict[int, list[dict[str, Any]]]:
    """Return, by step number, how the steps differ from the request, if they differ by more than the tolerance and more
    than chance explains. Raises TablesError."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in _shares(tables):
        off = abs(row["achieved"] - row["asked"])
        if off > TOLERANCE * row["asked"] and off > _by_chance(row, tables):
            found.setdefault(row["step"], []).append({key: row[key] for key in (*_ABOUT, "achieved", "asked")})
    return found


def fidelity_notes(tables: Tables) -> list[Finding]:
    """Return a note if the steps made so few operations that chance alone could explain a deviation as large as the
    tolerance."""
    try:
        rows = [row for row in _shares(tables) if row["asked"] and _by_chance(row, tables) > TOLERANCE * row["asked"]]
    except TablesError:
        return []  # the verdict already says that they cannot be used
    unknown = dict.fromkeys(tuple(row[key] for key in _ABOUT) for row in rows)
    return (
        [
            finding(
                UNKNOWN_SHARES,
                None,
                tolerance=TOLERANCE,
                shares=[dict(zip(_ABOUT, each, strict=True)) for each in unknown],
            )
        ]
        if unknown
        else []
    )


def _shares(tables: Tables) -> list[Row]:
    return [row for row in tables.fidelity if row["property"] in _SHARES]


def _by_chance(row: Row, tables: Tables) -> float:
    """Return how much a share can deviate by chance, because of n random draws, and because the last operation of each
    worker is cut off at the end of the step."""
    if row["property"] == "capacity_share":
        return 0.0
    operations, workers = _drawn(row, tables)
    if not operations:
        return 1.0
    return _Z * math.sqrt(row["asked"] * (1 - row["asked"]) / operations) + workers / operations


def _drawn(row: Row, tables: Tables) -> tuple[int, int]:
    """Return the number of operations on which a row's share is based, and the number of workers that made them."""
    stream = ALL_STREAMS if row["property"] == "operations_share" else row["stream"]
    together = [
        each
        for each in tables.streams_together
        if each["step"] == row["step"] and stream in (ALL_STREAMS, each["stream"])
    ]
    return sum(each["operations"] for each in together), sum(map(tables.workers_of, together))
