# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Converts an observation to the tester's tables, so that every reader of these tables can read it.

The log is one step, whose size is the mean write size. Each MQI call is a separate step without a size, in a stream
with the name of the call, so that no limit on the log judges it. A figure that the source does not report is an empty
field, and a table without any figures is absent.

In addition to keys of the tester, run.csv has ``source``, ``queue_manager``,
``log_path`` and the facts of the observation under their own names.
"""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from .._numerics.percentile import percentile_ns
from .._run.columns import ALL_WORKERS, KEY_COLUMNS, MQ_LOG, NO_FIGURES, OBSERVER
from .._run.moment import utc_text
from .._run.table_reader import KEY_PATTERN, printable
from .buckets import bucket_of, lower_ns, upper_ns
from .interval import LOG, Interval, Observation, Options, Second, latency_sum_ns, utilisation_of

COLUMNS = {
    "results.csv": (
        *KEY_COLUMNS,
        "start_time_epoch_s",
        "elapsed_ns",
        "operations",
        "bytes",
        "bytes_per_s",
        "operations_per_s",
        "interval_bytes_per_s_max",
        "interval_bytes_per_s_min",
        "latency_sum_ns",
        "latency_mean_ns",
        "latency_min_ns",
        "latency_max_ns",
        "latency_max_in_flight",
        "latency_p50_ns",
        "latency_p90_ns",
        "latency_p99_ns",
        "latency_p99_9_ns",
        "latency_p99_99_ns",
        "latency_p99_999_ns",
        "latency_time_weighted_p50_ns",
        "latency_time_weighted_p99_ns",
        "latency_time_weighted_p99_9_ns",
        "write_size_mean_bytes",
        "logger_utilisation_share",
    ),
    "intervals.csv": (
        *KEY_COLUMNS,
        "second",
        "partial",
        "operations",
        "bytes",
        "latency_sum_ns",
        "latency_min_ns",
        "latency_p50_ns",
        "latency_p99_ns",
        "latency_p99_9_ns",
        "latency_max_ns",
    ),
    "histogram.csv": (*KEY_COLUMNS, "batch", "latency_upper_ns", "operations"),
    "stalls.csv": (*KEY_COLUMNS, "rank", "start_offset_ns", "latency_ns", "in_flight", "file"),
    "over.csv": (*KEY_COLUMNS, "second", "over_ns", "operations", "latency_sum_ns"),
}
"""The columns of each table that an observation fills in. They are some of the tester's columns, in the same order."""

_WORKER = 1
_WRITE, _CALL = "write", "call"
_LEFT = {
    "p50": Fraction(1, 2),
    "p90": Fraction(1, 10),
    "p99": Fraction(1, 100),
    "p99_9": Fraction(1, 10**3),
    "p99_99": Fraction(1, 10**4),
}
_ABOVE = {**_LEFT, "p99_999": Fraction(1, 10**5)}
"""The share of the operations above each percentile."""
_BY_TIME = ("p50", "p99", "p99_9")
_NS_PER_S = 10**9
_MOST_STALLS = 1000
_MOST_WARNINGS = 100

_Row = dict[str, Any]


def tables_of(observation: Observation, options: Options) -> dict[str, bytes]:
    """Return the tables of an observation by their names."""
    steps = _steps(observation)
    makers = {"results.csv": _results}
    if observation.seconds:
        makers.update({"intervals.csv": _seconds, "histogram.csv": _histogram, "stalls.csv": _stalls})
    if observation.seconds and options.thresholds_ns:
        makers["over.csv"] = _over
    rows = {name: [{**key, **row} for key, step in steps for row in make(step)] for name, make in makers.items()}
    run = _run(observation, options, len(steps))
    return {
        "run.csv": _csv(("key", "value"), run.items()),
        **{name: _table(name, found) for name, found in rows.items()},
    }


def _steps(observation: Observation) -> list[tuple[_Row, Observation]]:
    """Return the key of each step, and the data of its stream: seconds if the source is exact, otherwise the intervals
    whose operations are known."""
    found: list[tuple[_Row, Observation]] = []
    for stream in sorted(observation.streams, key=lambda stream: stream != LOG):
        own = observation.only(stream)
        known = tuple(each for each in own.intervals if each.operations is not None and each.bytes is not None)
        if own.seconds or known:
            size = _mean_size(own.seconds or known) if stream == LOG else None
            values = (len(found) + 1, size, 1, stream, _WRITE if stream == LOG else _CALL, ALL_WORKERS)
            found.append((dict(zip(KEY_COLUMNS, values, strict=True)), dataclasses.replace(own, intervals=known)))
    return found


def _mean_size(parts: Sequence[Second | Interval]) -> int | None:
    operations = sum(each.operations or 0 for each in parts)
    return max(1, round(sum(each.bytes or 0 for each in parts) / operations)) if operations else None


def _results(step: Observation) -> list[_Row]:
    figures = _exact(step) if step.seconds else _published(step)
    elapsed_s, operations = figures["elapsed_ns"] / _NS_PER_S, figures["operations"]
    is_log = step.streams == (LOG,)
    figures["bytes_per_s"] = _fixed(figures["bytes"] / elapsed_s, 0) if is_log and elapsed_s else None
    figures["operations_per_s"] = _fixed(operations / elapsed_s, 3) if elapsed_s else None
    figures["write_size_mean_bytes"] = _fixed(figures["bytes"] / operations, 0) if is_log and operations else None
    figures["latency_max_in_flight"] = figures.get("latency_max_in_flight", 0)
    return [{"worker": worker, **figures} for worker in (_WORKER, ALL_WORKERS)]


def _published(step: Observation) -> _Row:
    """Return the figures that can be derived from rolling averages. There are no percentiles, and the only extreme is
    the slowest write, if it is known."""
    sum_ns = latency_sum_ns(step.intervals)
    operations = sum(each.operations or 0 for each in step.intervals)
    return {
        "start_time_epoch_s": _fixed(step.intervals[0].start_epoch_s, 6),
        "elapsed_ns": round(sum(each.elapsed_s for each in step.intervals) * _NS_PER_S),
        "operations": operations,
        "bytes": sum(each.bytes or 0 for each in step.intervals),
        "latency_sum_ns": None if sum_ns is None else round(sum_ns),
        "latency_mean_ns": _fixed(sum_ns / operations, 3) if sum_ns is not None and operations else None,
        "latency_max_ns": max((each.latency_max_ns for each in step.intervals if each.latency_max_ns), default=None),
        "logger_utilisation_share": _fixed(utilisation_of(step.intervals), 6),
    }


def _exact(step: Observation) -> _Row:
    seconds, is_log = step.seconds, step.streams == (LOG,)
    operations, sum_ns = sum(each.operations for each in seconds), sum(each.latency_sum_ns for each in seconds)
    longest_ns = max((each.latency_max_ns for each in seconds if each.latency_max_ns), default=None)
    pending_ns = max((each.latency_ns for each in step.stalls if each.in_flight), default=0)
    in_flight = pending_ns > (longest_ns or 0)
    rates = [each.bytes for each in seconds if not each.partial] if is_log else []
    return {
        "start_time_epoch_s": _fixed(step.start_epoch_s, 6),
        "elapsed_ns": step.elapsed_ns,
        "operations": operations,
        "bytes": sum(each.bytes for each in seconds),
        "interval_bytes_per_s_max": max(rates, default=None),
        "interval_bytes_per_s_min": min(rates, default=None),
        "latency_sum_ns": sum_ns,
        "latency_mean_ns": _fixed(sum_ns / operations, 3) if operations else None,
        "latency_min_ns": min((each.latency_min_ns for each in seconds if each.latency_min_ns), default=None),
        "latency_max_ns": pending_ns if in_flight else longest_ns,
        "latency_max_in_flight": int(in_flight),
        **_percentiles([pair for counts in step.histograms.values() for pair in counts.items()], longest_ns or 0),
        "logger_utilisation_share": _fixed(sum_ns / step.elapsed_ns, 6) if is_log and step.elapsed_ns else None,
    }


def _percentiles(pairs: Sequence[tuple[int, int]], longest_ns: int) -> _Row:
    """Return the percentiles of pairs of upper bound and operations, as the tester computes them; for time-weighted
    percentiles, buckets are weighted by their middles."""
    operations = sum(count for dummy, count in pairs)
    by_time = [(upper, count * (upper + lower_ns(bucket_of(upper)))) for upper, count in pairs]
    found: _Row = {f"latency_{name}_ns": percentile_ns(pairs, above, longest_ns) for name, above in _ABOVE.items()}
    for name in _BY_TIME:
        enough = operations * _ABOVE[name] >= 1
        found[f"latency_time_weighted_{name}_ns"] = percentile_ns(by_time, _ABOVE[name], longest_ns) if enough else None
    return found


def _seconds(step: Observation) -> Iterable[_Row]:
    return map(_second, step.seconds)


def _second(second: Second) -> _Row:
    pairs = [(upper_ns(bucket), operations) for bucket, operations in second.buckets.items()]
    percentiles = _percentiles(pairs, second.latency_max_ns or 0)
    return {
        "second": second.number,
        "partial": int(second.partial),
        "operations": second.operations,
        "bytes": second.bytes,
        "latency_sum_ns": second.latency_sum_ns,
        "latency_min_ns": second.latency_min_ns,
        "latency_max_ns": second.latency_max_ns,
        **{name: percentiles[name] for name in ("latency_p50_ns", "latency_p99_ns", "latency_p99_9_ns")},
    }


def _histogram(step: Observation) -> Iterable[_Row]:
    for (_stream, batch), counts in sorted(step.histograms.items()):
        yield from (
            {"batch": batch, "latency_upper_ns": upper, "operations": counts[upper]}
            for upper in sorted(counts)
            if counts[upper]
        )


def _stalls(step: Observation) -> Iterable[_Row]:
    slowest = sorted(step.stalls, key=lambda each: -each.latency_ns)
    for rank, stall in enumerate(slowest[:_MOST_STALLS], start=1):
        offset_ns = max(0, round((stall.epoch_s - step.start_epoch_s) * _NS_PER_S))
        yield {
            "worker": _WORKER,
            "rank": rank,
            "start_offset_ns": offset_ns,
            "latency_ns": stall.latency_ns,
            "in_flight": int(stall.in_flight),
            "file": printable(stall.file),
        }


def _over(step: Observation) -> Iterable[_Row]:
    return map(dataclasses.asdict, sorted(step.over, key=lambda each: (each.second, each.over_ns)))


def _run(observation: Observation, options: Options, steps: int) -> dict[str, Any]:
    """Return the keys of run.csv, with ``complete`` last. If there is no step, ``exit_message`` says why."""
    ending = observation.ending or ("" if steps else (observation.problems or ("the source reported nothing",))[0])
    ended_epoch_s = observation.start_epoch_s + observation.elapsed_ns / _NS_PER_S
    run = {
        "schema_version": 1,
        "program": OBSERVER,
        "source": observation.source,
        "queue_manager": options.queue_manager,
        "log_path": options.log_path,
        "hostname": options.hostname,
        "workload": MQ_LOG,
        "load_unit": "queue managers",
        "step_size": "block",
        "exit_status": 4 if ending else 0,
        "exit_reason": "interrupted" if observation.ending else NO_FIGURES if ending else "measured",
        "exit_message": ending,
        "tables_missing": "",
        "start_time_epoch_s": _fixed(observation.start_epoch_s, 6),
        "start_time_utc": utc_text(observation.start_epoch_s),
        "end_time_epoch_s": _fixed(ended_epoch_s, 6),
        "end_time_utc": utc_text(ended_epoch_s),
        "option_load_points": 1,
        "option_duration_s": options.duration_s,
        "steps_planned": max(1, steps),
        "steps_measured": steps,
        "planned_duration_s": options.duration_s,
    }
    if observation.seconds and options.thresholds_ns:
        run["option_over_ns"] = " ".join(map(str, options.thresholds_ns))
    facts = {name: value for name, value in observation.facts.items() if KEY_PATTERN.match(name) and name not in run}
    warnings = {
        f"warning_{number}": problem for number, problem in enumerate(observation.problems[:_MOST_WARNINGS], start=1)
    }
    return {name: _cell(value) for name, value in {**run, **facts, **warnings, "complete": 1}.items()}


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return _fixed(value, 3) or ""
    return "" if value is None else printable(str(value))


def _fixed(value: float | None, places: int) -> str | None:
    return f"{value:.{places}f}" if value is not None and math.isfinite(value) else None


def _table(name: str, rows: Sequence[_Row]) -> bytes:
    columns = COLUMNS[name]
    return _csv(columns, ([row.get(column) for column in columns] for row in rows))


def _csv(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode()
