# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes the consequence of a broken limit for queue managers, in figures that are derived from the measured ones.
docs/causes.md lists the same consequences with their sources."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....module_utils import _units
from ..._estimate.commits import log_bytes
from ..._judge.metrics import NOT_STARTED
from ..._run.columns import ALL_WORKERS, COMMITS
from ..._run.words import Words, row_size_text
from ..model import JudgedRow
from ..series import operations_text

MESSAGE_BYTES = 2048
_LOG = "log"

_PERCENTILE = re.compile(r"latency_(time_weighted_)?p([0-9]+(?:_[0-9]+)?)\Z")


@dataclass(frozen=True, slots=True)
class Excess:
    """The metric of a limit, with the rows of each host that break the limit. All rows have the same stream, such as
    the log, and the same operation, such as writes."""

    metric: str
    rows: Sequence[Sequence[JudgedRow]]
    operation: str = "write"
    stream: str = "log"

    @property
    def values(self) -> list[float]:
        """All figures that break the limit."""
        return [row.value for rows in self.rows for row in rows if row.value is not None]


def consequence_of(excess: Excess) -> str:
    """Return the consequence of the figures for queue managers, or empty if there is none."""
    if not excess.values:
        return ""
    percentile = _PERCENTILE.match(excess.metric)
    if excess.operation == COMMITS:
        return _of_commits(excess, percentile)
    if percentile:
        return _of_percentile(excess, percentile)
    write = _CONSEQUENCES.get(excess.metric)
    return write(excess) if write else ""


def consequence_of_stream(excess: Excess, words: Words) -> str:
    """Return the consequence of a stream's figures for the programs that wait for its operations, or empty if there is
    none."""
    if not excess.values:
        return ""
    if excess.metric == "capacity":
        return (
            f"No load above {words.load_text(int(min(excess.values)))} keeps all "
            f"limits{'' if len(excess.rows) == 1 else ' on the worst of these hosts'}."
        )
    what = operations_text(excess.stream, excess.operation)
    one = "operation" if excess.operation == ALL_WORKERS else excess.operation
    kind, dummy, figure = excess.metric.partition("_")
    on = "" if len(excess.rows) == 1 else "on the worst of these hosts, "
    percentile = _PERCENTILE.match(f"latency_{figure}")
    if excess.metric in _RATES:
        _who, least, _size = _least(excess)
        said = f"{on}{what} reach only {_RATES[excess.metric](least)}"
    elif excess.metric == NOT_STARTED:
        said = (
            f"{on}{_units.format_ratio(max(excess.values))} of {_the(what)} that were due did not start: the storage "
            "does not keep up with this load"
        )
    elif excess.metric == "target_operations_share":
        said = f"{on}{what} reach only {_units.format_ratio(min(excess.values))} of the required rate"
    elif kind not in ("latency", "response"):
        return ""
    elif figure == "mean":
        said = f"{on}{what} take {_units.format_duration(max(excess.values))} on average"
    elif figure == "max":
        said = f"{on}one of {_the(what)} took {_units.format_duration(max(excess.values))}"
    elif percentile and not percentile[1]:
        share = 100 - float(percentile[2].replace("_", "."))
        said = (
            f"{on}{_units.format_number(share)} % of {_the(what)} take "
            f"{_units.format_duration(max(excess.values))} or longer"
        )
    else:
        return ""
    if kind == "response":
        said += ", counted from the instant at which they were due"
    return f"{said[0].upper()}{said[1:]}{_WAITING.get((excess.stream == _LOG, one), '')}."


def _the(what: str) -> str:
    return what if what.startswith("all ") else f"the {what}"


def _of_mean(excess: Excess) -> str:
    smallest = min((row.block_size_bytes or 0) for rows in excess.rows for row in rows)
    means = [min(found) for found in (_at_size(rows, smallest) for rows in excess.rows) if found]
    least = min(means)
    per_second = 1e9 / least
    many = _units.format_count(per_second) if per_second >= 1 else _units.format_number(per_second)
    on = "this host" if len(excess.rows) == 1 else "these hosts"
    return (
        f"Persistent commits on {on} wait {_units.format_duration(least)} or more on average for a log write of "
        f"{row_size_text(smallest)}. One queue manager makes at most about {many} such writes per second, and one "
        "application thread as many commits: only simultaneous commits share a write."
    )


def _at_size(rows: Sequence[JudgedRow], size: int) -> list[float]:
    return [row.value for row in rows if row.value is not None and (row.block_size_bytes or 0) == size]


def _of_percentile(excess: Excess, match: re.Match[str]) -> str:
    longest = _units.format_duration(max(excess.values))
    share = 100 - float(match[2].replace("_", "."))
    on = "" if len(excess.rows) == 1 else "on the worst of these hosts, "
    if match[1]:
        said = (
            f"{on}for {_units.format_number(share)} % of the time, a log write that takes {longest} or longer is under "
            "way, and all persistent commits wait"
        )
    elif share > 10:
        said = (
            f"{on}{_units.format_number(share)} % of the log writes take {longest} or longer, and so do "
            "the persistent commits in them"
        )
    else:
        said = (
            f"{on}one log write in {_units.format_number(100 / share)} takes {longest} or longer, and so do all "
            "persistent commits that wait for it"
        )
    return f"{said[0].upper()}{said[1:]}."


def _of_commits(excess: Excess, match: re.Match[str] | None) -> str:
    """Return the consequence of the figures of commits, which are measured as applications experience them."""
    longest = _units.format_duration(max(excess.values))
    if match and not match[1]:
        share = 100 - float(match[2].replace("_", "."))
        said = (
            f"{_units.format_number(share)} % of the commits take {longest} or longer, and "
            "the applications wait for them"
        )
    elif excess.metric == "latency_mean":
        said = f"an application waits {longest} on average for a commit"
    elif excess.metric == "latency_max":
        said = f"an application waited {longest} for a commit"
    else:
        return ""
    said = said if len(excess.rows) == 1 else f"on the worst of these hosts, {said}"
    return f"{said[0].upper()}{said[1:]}."


def _of_minimum(excess: Excess) -> str:
    return (
        f"Even the fastest log write takes {_units.format_duration(min(excess.values))}, so no "
        "persistent commit waits for less."
    )


def _of_maximum(excess: Excess) -> str:
    return (
        f"For up to {_units.format_duration(max(excess.values))}, a queue manager would complete no persistent "
        "commit: it has one log write outstanding, and all commits wait for it."
    )


def _of_rate(excess: Excess) -> str:
    who, least, size = _least(excess)
    messages = least / log_bytes(MESSAGE_BYTES)
    return (
        f"{who} cannot log more than {_units.format_rate(least)} in writes of {size}: at most about "
        f"{_units.format_number(messages, 2)} persistent messages of {_units.format_size(MESSAGE_BYTES)} per "
        "second, each put and got once."
    )


def _of_slowest_second(excess: Excess) -> str:
    who, least, size = _least(excess)
    return f"{who} logged only {_units.format_rate(least)} in the slowest second of writes of {size}."


def _of_frequency(excess: Excess) -> str:
    who, least, size = _least(excess)
    return f"{who} cannot exceed about {_units.format_number(least)} log writes of {size} per second."


def _of_headroom(excess: Excess) -> str:
    least = min(excess.values)
    on = "The volume" if len(excess.rows) == 1 else "On the worst of these hosts, the volume"
    if least < 0:
        return (
            f"{on} carries {_units.format_ratio(-least)} less than required: at that rate, messages arrive "
            "faster than they can be committed."
        )
    return (
        f"{on} carries only {_units.format_ratio(least)} more than required: in a higher peak, messages arrive faster "
        "than they can be committed."
    )


def _least(excess: Excess) -> tuple[str, float, str]:
    """Return the smallest figure, with the workers that wrote and the block size. The workers are named, because the
    throughput of one queue manager is not a bound for several."""
    row = min((row for rows in excess.rows for row in rows if row.value is not None), key=lambda row: row.value or 0.0)
    who = "one queue manager" if row.load_point == 1 else f"{row.load_point} queue managers together"
    text = who if len(excess.rows) == 1 else f"on the worst of these hosts, {who}"
    return f"{text[0].upper()}{text[1:]}", row.value or 0.0, row_size_text(row.block_size_bytes)


_RATES: dict[str, Callable[[float], str]] = {
    "bytes_per_s": _units.format_rate,
    "interval_bytes_per_s_min": _units.format_rate,
    "operations_per_s": lambda value: f"{_units.format_number(value)} operations per second",
}
_WAITING = {
    (True, "write"): ", and commits of the database or queue manager to which this log belongs wait for them",
    (False, "read"): ", and users wait for the data",
}
"""The clauses that state who waits for an operation, by its stream (true: a log) and its kind. Nothing waits
immediately for a write that is not part of a commit."""

_CONSEQUENCES: dict[str, Callable[[Excess], str]] = {
    "latency_mean": _of_mean,
    "latency_min": _of_minimum,
    "latency_max": _of_maximum,
    "bytes_per_s": _of_rate,
    "interval_bytes_per_s_min": _of_slowest_second,
    "operations_per_s": _of_frequency,
    "headroom_margin": _of_headroom,
}
