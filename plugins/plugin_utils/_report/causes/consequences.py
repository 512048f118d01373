# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Describes the consequence of a broken limit for queue managers, or for the programs that wait for a stream, in
figures that are derived from the measured ones. docs/causes.md lists the same consequences with their sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._english.phrases import capitalized, phrase
from ..._estimate.commits import log_bytes
from ..._judge.metrics import NOT_STARTED, RESPONSES, find_metric
from ..._run.columns import COMMITS
from ..._run.words import Words, row_size_text
from ..model import JudgedRow
from ..series import operations_text

MESSAGE_BYTES = 2048
_LOG = "log"

_WORST = "[{on_worst}, ]"
_OF_QUEUE_MANAGERS = {
    "latency_mean": "Persistent commits on {hosts} wait {least_mean:duration} or more on average for a log write of "
    "{smallest}. One queue manager makes at most about {per_second} such writes per second, and one application thread "
    "as many commits: only simultaneous commits share a write",
    "latency_min": "Even the fastest log write takes {lowest:duration}, so no persistent commit waits for less",
    "latency_max": "For up to {highest:duration}, a queue manager would complete no persistent commit: it has one log "
    "write outstanding, and all commits wait for it",
    "weighted": _WORST + "for {share:number} % of the time, a log write that takes {highest:duration} or longer is "
    "under way, and all persistent commits wait",
    "many": _WORST + "{share:number} % of the log writes take {highest:duration} or longer, and so do the persistent "
    "commits in them",
    "few": _WORST + "one log write in {one_in:number} takes {highest:duration} or longer, and so do all persistent "
    "commits that wait for it",
    "bytes_per_s": _WORST + "{who} cannot log more than {lowest:rate} in writes of {size}: at most about "
    "{messages:number,2} persistent messages of {message_bytes:size} per second, each put and got once",
    "interval_bytes_per_s_min": _WORST + "{who} logged only {lowest:rate} in the slowest second of writes of {size}",
    "operations_per_s": _WORST + "{who} cannot exceed about {lowest:number} log writes of {size} per second",
    "headroom_margin": _WORST + "the volume carries [{lacking:ratio} less than required: at that rate|only "
    "{lowest:ratio} more than required: in a higher peak], messages arrive faster than they can be committed",
}
"""The consequences for queue managers, by metric. Those of percentiles depend on the share of slow writes."""

_OF_COMMITS = {
    "latency_mean": _WORST + "an application waits {highest:duration} on average for a commit",
    "latency_max": _WORST + "an application waited {highest:duration} for a commit",
    **dict.fromkeys(
        ("many", "few"),
        _WORST
        + "{share:number} % of the commits take {highest:duration} or longer, and the applications wait for them",
    ),
}
"""The consequences of the figures of commits, which are measured as applications experience them."""

_DUE = ", counted from the instant at which they were due"
_MEAN, _MAX = _WORST + "{what} take {highest:duration} on average", _WORST + "one of {the_what} took {highest:duration}"
_LONGER = _WORST + "{share:number} % of {the_what} take {highest:duration} or longer"
_OF_STREAMS = {
    "latency_mean": _MEAN,
    "response_mean": _MEAN + _DUE,
    "latency_max": _MAX,
    "response_max": _MAX + _DUE,
    **dict.fromkeys(("many", "few"), _LONGER),
    "response": _LONGER + _DUE,
    **dict.fromkeys(("bytes_per_s", "interval_bytes_per_s_min"), _WORST + "{what} reach only {lowest:rate}"),
    "operations_per_s": _WORST + "{what} reach only {lowest:number} operations per second",
    NOT_STARTED: _WORST + "{highest:ratio} of {the_what} that were due did not start: the storage does not keep up "
    "with this load",
    "target_operations_share": _WORST + "{what} reach only {lowest:ratio} of the required rate",
    "capacity": "no load above {load} keeps all limits[ {on_worst}]",
}
"""The consequences for the programs that wait for a stream."""

_WAITING = {
    (True, "write"): ", and commits of the database or queue manager to which this log belongs wait for them",
    (False, "read"): ", and users wait for the data",
}
"""The clauses that state who waits for an operation, by its stream (true: a log) and its kind. Nothing waits
immediately for a write that is not part of a commit."""


Rows = Sequence[Sequence[JudgedRow]]
"""The rows of each host that break a limit. All rows have the same stream, such as the log, and the same operation,
such as writes."""


def consequence_of(words: Words, metric: str, rows: Rows, operation: str = "write", stream: str = _LOG) -> str:
    """Return the consequence of the figures that break a limit on a metric, or empty if there is none."""
    found = find_metric(metric)
    # The percentage of operations that take at least as long as a percentile.
    longer = 100 * found.allowed_share if found and found.allowed_share else None
    key = metric if longer is None else _key(metric, longer)
    of_mq = words.layout.of_mq
    texts = (_OF_COMMITS if operation == COMMITS else _OF_QUEUE_MANAGERS) if of_mq else _OF_STREAMS
    values = [row.value for each in rows for row in each if row.value is not None]
    if not values or key not in texts:
        return ""
    text = phrase(
        texts[key] + ("" if of_mq else _WAITING.get((stream == _LOG, operation), "")),
        _of_rows(rows) if of_mq else {**_of_stream(stream, operation), "load": words.load_text(int(min(values)))},
        hosts="these hosts" if len(rows) > 1 else "this host",
        on_worst="on the worst of these hosts" if len(rows) > 1 else "",
        lowest=min(values),
        highest=max(values),
        share=longer,
        one_in=100 / longer if longer else None,
    )
    return f"{capitalized(text)}."


def _key(metric: str, longer: float) -> str:
    """Return the key of a percentile in the tables of consequences."""
    if metric.startswith("latency_time_weighted_"):
        return "weighted"
    return "response" if metric.startswith(RESPONSES) else "many" if longer > 10 else "few"


def _of_stream(stream: str, operation: str) -> dict[str, Any]:
    what = operations_text(stream, operation)
    return {"what": what, "the_what": what if what.startswith("all ") else f"the {what}"}


def _of_rows(rows: Rows) -> dict[str, Any]:
    """Return the values for the consequences for queue managers. The workers of the row with the smallest figure are
    named, because the throughput of one queue manager is not a bound for several."""
    known = [row for each in rows for row in each if row.value is not None]
    least = min(known, key=lambda row: row.value)
    smallest = min(row.block_size_bytes or 0 for row in known)
    mean = min(row.value for row in known if (row.block_size_bytes or 0) == smallest)
    return {
        "who": "one queue manager" if least.load_point == 1 else f"{least.load_point} queue managers together",
        "size": row_size_text(least.block_size_bytes),
        "messages": least.value / log_bytes(MESSAGE_BYTES),
        "message_bytes": MESSAGE_BYTES,
        "lacking": -least.value if least.value < 0 else None,
        "smallest": row_size_text(smallest),
        "least_mean": mean,
        "per_second": phrase("{rate:count}" if mean <= 1e9 else "{rate:number}", {"rate": 1e9 / mean if mean else 0.0}),
    }
