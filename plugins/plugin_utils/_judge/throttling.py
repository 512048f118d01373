# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Evidence that writes were slow because of a throughput limit or an exhausted burst allowance of the volume."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from .._run.columns import COMMITS, grouped, stream_key
from .._run.findings import PLATEAU, VOLUME_LIMIT, Finding, finding
from .._run.shapes import Facts, Within, dicts_in, fits
from .._run.table_reader import TablesError, printable
from .._run.tables import Tables

NOTED_SHARE = 0.001
"""If a limit was reached for a smaller share of the time, there is no note."""

_LIMITS = ("volume_iops", "volume_throughput", "instance_iops", "instance_throughput")
_COUNTER = Within(0, 1 << 64)
_LONGEST = 60


def volume_limits(before: Any, after: Any) -> dict[str, Any]:
    """Return facts that state how long volumes were throttled between two readings of their counters (see the module
    workspace). The counters are untrusted.

    If there are several volumes, the longest time of any of them is used for each limit. The facts are empty if no
    volume was read twice. A limit whose counter went backwards is left out.
    """
    later = {_name(volume): volume for volume in dicts_in(after)}
    facts: dict[str, Any] = {}
    for earlier in dicts_in(before):
        name = _name(earlier)
        elapsed_s = _difference(earlier, later.get(name, {}), "monotonic_s")
        if not elapsed_s:
            continue
        facts["volume_limits_devices"] = ", ".join(filter(None, (facts.get("volume_limits_devices"), name)))
        facts["volume_limits_elapsed_s"] = max(facts.get("volume_limits_elapsed_s", 0.0), round(elapsed_s, 3))
        for limit in _LIMITS:
            limited_us = _difference(earlier, later[name], limit)
            if limited_us is not None:
                key = _key(limit)
                facts[key] = max(facts.get(key, 0.0), round(min(limited_us / 1e6, elapsed_s), 3))
    return facts


def limit_notes(facts: Facts) -> list[Finding]:
    """Return a note for each limit that was reached, from the facts of :func:`volume_limits`."""
    elapsed_s = facts.get("volume_limits_elapsed_s") or 0
    reached = {limit: facts.get(_key(limit)) or 0 for limit in _LIMITS}
    return [
        finding(
            VOLUME_LIMIT,
            None,
            limit=limit,
            limited_s=limited_s,
            elapsed_s=elapsed_s,
            devices=facts["volume_limits_devices"],
        )
        for limit, limited_s in reached.items()
        if limited_s and limited_s >= NOTED_SHARE * elapsed_s
    ]


def _key(limit: str) -> str:
    return f"volume_limits_{limit}_s"


def _name(volume: Mapping[str, Any]) -> str:
    device, serial = (printable(str(volume.get(key) or "")[:_LONGEST]) for key in ("device", "serial"))
    return f"{device} {serial}".strip()


def _difference(earlier: Mapping[str, Any], later: Mapping[str, Any], key: str) -> float | None:
    """Return how much a counter has increased, or None if it has decreased or is not a number."""
    first, last = (volume.get(key) for volume in (earlier, later))
    return last - first if fits(first, _COUNTER) and fits(last, _COUNTER) and last >= first else None


MIN_BEFORE_S = 5
MIN_AFTER_S = 10
"""The number of whole seconds that are required before and after the second in which the rate falls."""
SHARE_BELOW = 0.8
VARIATION_BELOW = 0.02
_ABOUT = ("block_size_bytes", "load_point", "stream", "operation")


def find_plateau(rates: Sequence[int]) -> dict[str, Any]:
    """Return the plateau with which the rates end, as figures of a finding; empty if there is none. There is one rate
    for each whole second. From second ``from_second`` on (counted from 1), the mean rate was ``share`` times the mean
    rate before. The coefficient of variation of the rate was ``variation``.

    Two constants are fitted by least squares. The second in which the rate falls belongs to neither.
    """
    if len(rates) < MIN_BEFORE_S + MIN_AFTER_S:
        return {}
    sums, squares = ([0, *accumulate(values)] for values in (rates, (rate * rate for rate in rates)))

    def residual(first: int, end: int) -> float:
        count, total = end - first, sums[end] - sums[first]
        return (
            count * (squares[end] - squares[first]) - total * total
        ) / count  # whole numbers up to here, so cancellation does not lose any digits

    knee = min(range(1, len(rates) - 1), key=lambda second: residual(0, second) + residual(second + 1, len(rates)))
    before, after = statistics.fmean(rates[:knee]), statistics.fmean(rates[knee + 1 :])
    if knee < MIN_BEFORE_S or len(rates) - knee - 1 < MIN_AFTER_S or not after or after >= SHARE_BELOW * before:
        return {}
    variation = statistics.pstdev(rates[knee + 1 :]) / after
    if variation >= VARIATION_BELOW:
        return {}
    reached = abs(rates[knee] - after) < VARIATION_BELOW * after
    return {"from_second": knee + 1 if reached else knee + 2, "share": after / before, "variation": variation}


def plateaus(tables: Tables) -> list[Finding]:
    """Return a finding for each step and stream whose rate ends in a plateau. Commits are left out, because they depend
    on the writes that contain them."""
    try:
        seconds = [row for row in tables.intervals if not row["partial"] and row["stream"] != COMMITS]
    except TablesError:
        return []  # the report already says that they cannot be shown
    return [
        {"kind": PLATEAU, "verdict": None, **{key: rows[0][key] for key in _ABOUT}, **plateau}
        for rows in grouped(seconds, stream_key).values()
        if (plateau := find_plateau([row["bytes"] for row in rows]))
    ]
