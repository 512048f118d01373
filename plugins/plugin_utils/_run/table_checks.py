# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks that the rows of the tester's tables agree with each other: a missing row would not be judged, and a repeated
row would be counted twice."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from .columns import (
    ALL_OPERATIONS,
    ALL_STREAMS,
    ALL_WORKERS,
    MQ_LOG,
    OBSERVER,
    READ_SHARE,
    STREAMS,
    Row,
    grouped,
    stream_key,
    worker_key,
)
from .table_reader import LARGEST_NUMBER, TablesError, quoted

_ROUNDING_NS = 1
"""How much a mean may differ from the mean that is calculated from other rows."""
_OPERATIONS_OF_STREAMS = ("read", "write")


def is_of_streams(run: Mapping[str, str]) -> bool:
    """Whether the workload was described with places, streams and loads."""
    return run.get("workload", MQ_LOG) == STREAMS


def is_of_averages(run: Mapping[str, str]) -> bool:
    """Whether the tables contain only rolling averages, which MQ publishes about the log of a live queue manager. MQ
    does not publish the number of writes."""
    return run.get("program") == OBSERVER and run.get("operations_are_estimated") == "1"


def check_steps(run: dict[str, str], results: list[Row]) -> None:
    """Refuse results in which a row is missing or occurs twice: a missing row would not be judged."""
    steps = grouped(results, itemgetter("step"))
    for step, of_step in steps.items():
        streams = grouped(of_step, itemgetter("stream", "operation"))
        if is_of_streams(run):
            _check_whole(step, streams)  # the only kind of row with streams that has no workers
        first = of_step[0]
        for (stream, operation), rows in streams.items():
            # Each stream has its own size, or none.
            same = {**first, "block_size_bytes": rows[0]["block_size_bytes"]} if is_of_streams(run) else first
            place = f"step {step}, stream {stream}, {operation}"
            _check_rows(place, rows, same)
            if not is_of_averages(run):
                _check_extremes(place, rows)
            if not (is_of_streams(run) and stream == ALL_STREAMS):
                _check_workers(place, rows)
    planned = run.get("steps_planned", "")
    expected = run.get("steps_measured", "") if stopped_above(run) or ended_early(run) else planned
    if run["exit_status"] == "0" and (not steps or (expected and expected != str(len(steps)))):
        raise TablesError(
            f"results.csv has {len(steps)} of {quoted(planned or 'at least 1')} steps although the "
            "tester reports that it measured all."
        )
    if run.get("workload", MQ_LOG) == MQ_LOG:
        for row in results:
            if row["worker"] != ALL_WORKERS and row["worker"] > row["load_point"]:
                raise TablesError(
                    f"results.csv has queue manager {row['worker']} in step {row['step']}, "
                    f"which has {row['load_point']}."
                )


def stopped_above(run: Mapping[str, str]) -> bool:
    """Whether the tester left out its last steps, because the mean of an earlier step exceeded a limit that was passed
    to the tester."""
    return run.get("exit_reason") == "stopped_above" and bool(run.get("stop_above_1")) and run["exit_status"] == "0"


def ended_early(run: Mapping[str, str]) -> bool:
    """Whether the tester ended its last step early, because a limit that was passed to it was broken, and left out the
    following steps."""
    return (
        run.get("exit_reason") == "ended_early"
        and bool(run.get("fail_above_1"))
        and run.get("ended_early_step") == run.get("steps_measured")
        and run["exit_status"] == "0"
    )


def _check_whole(step: int, streams: dict[tuple[str, str], list[Row]]) -> None:
    """In a step of streams, check the row of the whole workload against the sum of the streams."""
    whole = streams.get((ALL_STREAMS, ALL_OPERATIONS), [])
    if [row["worker"] for row in whole] != [ALL_WORKERS]:
        raise TablesError(f"results.csv does not have one row for the whole workload in step {step}.")
    parts = [row for key, rows in streams.items() if key != (ALL_STREAMS, ALL_OPERATIONS) for row in rows]
    for row in parts:
        if row["stream"] == ALL_STREAMS or row["operation"] not in _OPERATIONS_OF_STREAMS:
            raise TablesError(
                f"results.csv has the operation {quoted(row['operation'])} of stream "
                f"{quoted(row['stream'])} in step {step}."
            )
    parts = [row for row in parts if row["worker"] == ALL_WORKERS]
    for column in ("operations", "bytes"):
        if whole[0][column] != sum(row[column] for row in parts):
            raise TablesError(
                f"results.csv: {column} of the whole workload in step {step} differ from the sum of its streams."
            )
    _check_mean("latency_mean_ns", step, whole[0], [(row, row["operations"]) for row in parts])
    if whole[0].get("response_mean_ns") is not None:
        _check_mean(
            "response_mean_ns",
            step,
            whole[0],
            [(row, row["operations"] + (row.get("operations_not_started") or 0)) for row in parts],
        )


def _check_mean(column: str, step: int, whole: Row, parts: list[tuple[Row, int]]) -> None:
    """Check a mean of the whole workload against the means of its streams, each weighted with the number of its
    operations."""
    total = sum(count for dummy, count in parts)
    mean_ns = sum((row.get(column) or 0) * count for row, count in parts) / total if total else 0
    if abs((whole[column] or 0) - mean_ns) > _ROUNDING_NS:
        raise TablesError(
            f"results.csv: {column} of the whole workload in step {step} differs from that of its streams together."
        )


def _check_rows(place: str, rows: list[Row], first: Row) -> None:
    """Check the rows of one stream and operation of a step: there must be one row for each worker, and one for all
    workers together."""
    for row in rows:
        if (row["block_size_bytes"], row["load_point"]) != (first["block_size_bytes"], first["load_point"]):
            raise TablesError(f"results.csv has two block sizes or load points in {place}.")
    if first["block_size_bytes"] == 0:
        raise TablesError(f"results.csv has the block size 0 in {place}.")


def _check_extremes(place: str, rows: list[Row]) -> None:
    for row in rows:
        if row["operations"] and not (row["latency_min_ns"] and row["latency_max_ns"]):
            raise TablesError(f"results.csv has operations without the fastest or the slowest one in {place}.")


def _check_workers(place: str, rows: list[Row]) -> None:
    workers = [row["worker"] for row in rows]
    if len(set(workers)) != len(workers):
        raise TablesError(f"results.csv has the same worker twice in {place}.")
    if len(workers) < 2 or set(workers) != {*range(1, len(workers)), ALL_WORKERS}:
        raise TablesError(f"results.csv does not have one row for each worker and one for all of them in {place}.")


def check_fidelity(rows: list[Row], results: list[Row]) -> None:
    """Refuse rows of fidelity.csv that occur twice or are impossible, and a step in which a stream is missing, which
    would otherwise not be noticed."""
    seen = set()
    for number, row in enumerate(rows, start=2):
        key = (row["step"], row["stream"], row["property"], row["item"])
        if key in seen:
            raise TablesError(
                f"fidelity.csv line {number} repeats {quoted(row['property'])} of stream "
                f"{quoted(row['stream'])} in step {row['step']}."
            )
        seen.add(key)
        highest = 1 if row["property"].endswith("_share") else LARGEST_NUMBER
        if not (0 <= row["asked"] <= highest and 0 <= row["achieved"] <= highest):
            raise TablesError(f"fidelity.csv line {number} has a figure that {quoted(row['property'])} cannot have.")
    for row in results:
        if row["stream"] != ALL_STREAMS and (row["step"], row["stream"], READ_SHARE, None) not in seen:
            raise TablesError(f"fidelity.csv does not have stream {quoted(row['stream'])} in step {row['step']}.")


def check_over(
    rows: list[Row], thresholds_ns: tuple[int, ...], worker_thresholds_ns: tuple[int, ...], counted: list[Row]
) -> None:
    """Refuse rows of over.csv that cannot be counted: an extra row would add slow operations that never happened, and
    a missing one would hide some.

    ``counted`` are the rows of results.csv whose slow operations are in over.csv. Single workers are counted only at
    some of the thresholds, and only if there are several.
    """
    together: dict[tuple[Any, ...], int] = {}
    single: dict[tuple[Any, ...], int] = {}
    workers = {worker_key(row) for row in counted if row["worker"] != ALL_WORKERS}
    seen = set()
    for number, row in enumerate(rows, start=2):
        of_all, stream = row["worker"] == ALL_WORKERS, stream_key(row)
        if row["over_ns"] not in (thresholds_ns if of_all else worker_thresholds_ns):
            listed = "option_over_ns" if of_all else "over_worker_ns"
            raise TablesError(
                f"over.csv line {number} has the threshold {row['over_ns']}, which {listed} in run.csv does not have."
            )
        if row["operations"] < 1:
            raise TablesError(f"over.csv line {number} has no operation.")
        place = (*stream, row["second"], row["over_ns"])
        if (*place, row["worker"]) in seen:
            raise TablesError(
                f"over.csv line {number} repeats the threshold {row['over_ns']} in second "
                f"{row['second']} of step {row['step']}."
            )
        seen.add((*place, row["worker"]))
        if of_all:
            together[place] = row["operations"]
        elif (*stream, row["worker"]) in workers:
            single[place] = single.get(place, 0) + row["operations"]
    # If the slowest operation of a worker is below the threshold but in the same bucket, it is counted only in the row
    # of all workers.
    streams = {key[:3] for key in workers}
    for place in {*single, *(place for place in together if place[:3] in streams and place[4] in worker_thresholds_ns)}:
        if not 0 < single.get(place, 0) <= together.get(place, 0):
            raise TablesError(
                "over.csv: the slow operations of individual workers differ from those of all together in second "
                f"{place[3]} of step {place[0]}."
            )


def check_batches(rows: list[Row], workers: list[Row]) -> None:
    """Refuse a batches.csv whose rows do not match the rows of results.csv exactly. For each row of results.csv, the
    batches must be in order and contain all of its operations."""
    found = grouped(rows, worker_key)
    for row in workers:
        parts = found.pop(worker_key(row), [])
        place = f"worker {row['worker']} in step {row['step']}"
        if [part["batch"] for part in parts] != list(range(1, len(parts) + 1)):
            raise TablesError(f"batches.csv does not have each batch of {place} once.")
        if sum(part["operations"] for part in parts) != row["operations"]:
            raise TablesError(f"batches.csv and results.csv differ in the operations of {place}.")
    if found:
        raise TablesError(f"batches.csv has step {min(found, key=str)[0]} of a worker that results.csv does not have.")
