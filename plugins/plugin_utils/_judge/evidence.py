# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Gathers the evidence for or against a limit from the seconds of a step. Determines which test decides which metric,
and which columns it uses.

A test decides the row `all`. It also decides the rows of single workers among several if the tester counted the slow
operations of each worker. For hard limits, for metrics without a test, and for single workers whose slow operations
were not counted, the figures are compared with the limit directly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from .._run.columns import ALL_WORKERS, COMMITS, Row
from .._run.table_reader import TablesError
from .._run.tables import Tables
from .._run.verdicts import FAIL, INCONCLUSIVE, PASS
from . import means, statistics
from .metrics import BATCH_MEANS, SHARE_OF_OPERATIONS, SHARE_OF_TIME
from .profile import LOG, Limit, Profile
from .rows import rows_of
from .statistics import Evidence

_SECOND_NS = 10**9
_RATIOS = {
    "latency_mean": ("latency_sum_ns", "operations"),
    "bytes_per_s": ("bytes", None),
    "operations_per_s": ("operations", None),
}
"""The columns of intervals.csv whose sums give a mean: numerator, and denominator (None means the number of
seconds)."""


@dataclass(frozen=True)
class Confidence:
    """The required confidence of a judgement: 1 - alpha for a pass, and 1 - alpha/n for a fail, where n is the number
    of judgements on the host, so that a good host rarely fails.

    A row of one worker among several counts as a separate judgement if it is tested.
    """

    alpha: float
    judgements: int


def confidence_of(profile: Profile, tables: Tables) -> Confidence | None:
    """Return the confidence with which a host is judged, or None if its figures are used without a confidence bound."""
    if profile.confidence is None or not tables.counts_over:
        return None
    dummy = tables.batches  # checked even if no judgement needs them, because invalid seconds mean invalid tables
    tested = sum(is_tested(limit, row, tables) for limit in profile.limits for row in rows_of(limit, tables))
    alpha = 1 - profile.confidence
    # A sweep that ended early has fewer rows than planned, but it could have ended in any of the planned rows.
    planned = round((tables.number("fail_odds") or 0) * alpha)
    return Confidence(alpha, max(1, tested, planned))


def planned_tests(profile: Profile, sizes: Sequence[int], load_points: Sequence[int]) -> int:
    """Return the number of rows that the tests of a profile decide in a sweep of the log with one step for each size
    and load point."""
    tested = [limit for limit in profile.limits if has_test(limit)]
    return sum(
        limit.applies_to(row) * rows
        for limit, size, load in itertools.product(tested, sizes, load_points)
        for row, rows in (
            (_planned_row(size, load, ALL_WORKERS), 1),
            (_planned_row(size, load, 1), load if load > 1 else 0),
        )
    )


def _planned_row(size: int, load: int, worker: int | str) -> Row:
    return {"stream": LOG, "operation": "write", "worker": worker, "block_size_bytes": size, "load_point": load}


def is_tested(limit: Limit, row: Row, tables: Tables) -> bool:
    """Return whether a test, instead of a direct comparison of the figure, decides if a row meets a limit.

    All commits in a write end at the same time. The tests are for independent operations, so they are not valid for
    commits.
    """
    return has_test(limit) and (row["worker"] == ALL_WORKERS or tables.knows_workers(row))


def has_test(limit: Limit) -> bool:
    """Return whether there is a test for a limit. Without a test, the figures are compared with the limit directly."""
    return not limit.hard and limit.metric.method in _TESTS and limit.stream != COMMITS


def evidence_of(limit: Limit, row: Row, tables: Tables, confidence: Confidence | None) -> Evidence | None:
    """Return the evidence that the seconds of a row give for or against a limit, or None if no test decides it. Raises
    TablesError if the tables contradict each other."""
    if confidence is None or not is_tested(limit, row, tables) or not row["operations"]:
        return None
    seconds = seconds_of(tables.together_with(row), tables)
    test = partial(_TESTS[limit.metric.method], limit, row, tables, seconds, confidence)
    try:
        return test() if limit.metric.method == BATCH_MEANS else _at_threshold(limit, row, tables, test)
    except ValueError as error:
        raise TablesError(f"step {row['step']} contradicts itself: {error}") from None


def seconds_of(row: Row, tables: Tables) -> list[Row]:
    """Return the seconds of a row in order, checked against each other and against the row.
    Raises TablesError if they contradict one another."""
    seconds = tables.seconds_of(row)
    if not seconds or [second["second"] for second in seconds] != list(range(1, len(seconds) + 1)):
        raise TablesError(f"intervals.csv does not contain each second of step {row['step']} once.")
    if any(second["partial"] for second in seconds[:-1]):
        raise TablesError(f"intervals.csv contains a cut-short second before the last one of step {row['step']}.")
    if sum(second["operations"] for second in seconds) != row["operations"]:
        raise TablesError(f"intervals.csv and results.csv differ in the operations of step {row['step']}.")
    if abs(len(seconds) - row["elapsed_ns"] / 1e9) > 1:
        raise TablesError(
            f"intervals.csv has {len(seconds)} seconds of step {row['step']}, which took "
            f"{row['elapsed_ns'] / 1e9:.3f} s in results.csv."
        )
    return seconds


def _operations_over(
    limit: Limit, row: Row, tables: Tables, seconds: list[Row], confidence: Confidence, over_ns: int
) -> Evidence:
    is_single, workers = row["worker"] != ALL_WORKERS, tables.workers_of(row)
    return statistics.share_of_operations(
        [second["operations"] for second in seconds],
        _over(row, tables, seconds, over_ns, "operations"),
        limit.metric.allowed_share,
        over_ns,
        int(row["latency_min_ns"]),
        1 if is_single else workers,
        **vars(confidence),
        in_flight_over=int(_in_flight_ns(row) > over_ns),
        # The tester does not count, for each second, all operations of single workers.
        part_of=(row["operations"], tables.together_with(row)["operations"]) if is_single else None,
        rows=workers if is_single else 1,
    )


def _time_over(
    limit: Limit, row: Row, tables: Tables, seconds: list[Row], confidence: Confidence, over_ns: int
) -> Evidence:
    is_single, workers, in_flight_ns = row["worker"] != ALL_WORKERS, tables.workers_of(row), _in_flight_ns(row)
    age_ns = in_flight_ns if in_flight_ns > over_ns else 0
    slow_ns = _over(row, tables, seconds, over_ns, "latency_sum_ns")
    time_ns = [int(second["latency_sum_ns"]) for second in seconds]
    if is_single:
        time_ns, slow_ns = _time_of_worker(row, slow_ns, age_ns)
    return statistics.share_of_time(
        time_ns,
        slow_ns,
        limit.metric.allowed_share,
        1 if is_single else workers,
        **vars(confidence),
        in_flight_age_ns=0 if is_single else age_ns,
        rows=workers if is_single else 1,
    )


def knows_time_of_worker(limit: Limit, tables: Tables) -> bool:
    """Return whether the time that a single worker spent in operations in each second, if a limit depends on it, is
    known: only a worker that neither pauses nor waits is always in an operation."""
    return limit.metric.method != SHARE_OF_TIME or tables.writes_without_pause


def _time_of_worker(row: Row, slow_ns: Sequence[int], in_flight_age_ns: int) -> tuple[list[int], list[int]]:
    """Return the time that a single worker spent in operations in each second, and in slow ones.

    A worker has one operation at a time, so a slow one fills the seconds before the one in which it returned. During
    the rest of each second, the worker was in quick operations, or between two of them.
    """
    elapsed_ns, count = int(row["elapsed_ns"]), len(slow_ns)
    lengths_ns = [_SECOND_NS] * (count - 1) + [min(_SECOND_NS, max(0, elapsed_ns - (count - 1) * _SECOND_NS))]
    spent_ns, waiting_ns = [], in_flight_age_ns
    for length_ns, returned_ns in zip(reversed(lengths_ns), reversed(slow_ns)):
        waiting_ns += returned_ns
        spent_ns.append(min(waiting_ns, length_ns))
        waiting_ns -= spent_ns[-1]
    spent_ns.reverse()
    rest_ns = max(1, sum(lengths_ns) - sum(spent_ns))
    quick_ns = min(rest_ns, max(0, int(row["latency_sum_ns"]) - sum(slow_ns)))
    return [
        spent + (length_ns - spent) * quick_ns // rest_ns for length_ns, spent in zip(lengths_ns, spent_ns)
    ], spent_ns


def _batch_means(limit: Limit, row: Row, tables: Tables, seconds: list[Row], confidence: Confidence) -> Evidence:
    if row["worker"] != ALL_WORKERS:
        return _batch_means_of_worker(limit, row, tables, confidence)
    numerator, denominator = _RATIOS[limit.metric.name]
    whole = [second for second in seconds if not second["partial"]]
    counted = [second[denominator] if denominator else 1 for second in whole]
    if not any(counted):
        needed = max(means.SECONDS_FOR_A_MEAN, 2 * len(whole))
        return Evidence(
            BATCH_MEANS, INCONCLUSIVE, 0.0, confidence=1 - confidence.alpha, seconds=len(whole), seconds_needed=needed
        )
    most_ns = len(whole) * tables.workers_of(row) * _SECOND_NS if denominator else None
    question = means.Question(limit.value, limit.bound, **vars(confidence), most_x=most_ns)
    return means.ratio_within([second[numerator] for second in whole], counted, question)


def _batch_means_of_worker(limit: Limit, row: Row, tables: Tables, confidence: Confidence) -> Evidence:
    """Test the mean of a single worker, using the batches into which the tester divided the measured time."""
    elapsed_s = round(row["elapsed_ns"] / _SECOND_NS)
    latency_ns, operations = (
        means.merged([part[column] for part in tables.batches_of(row)], elapsed_s)
        for column in ("latency_sum_ns", "operations")
    )
    chance = 1 / (2 * tables.workers_of(row))
    question = means.Question(limit.value, limit.bound, **vars(confidence), most_x=row["elapsed_ns"], suspicion=chance)
    return means.ratio_of_batches(latency_ns, operations, elapsed_s, question)


_TESTS: dict[str, Callable[..., Evidence]] = {
    SHARE_OF_OPERATIONS: _operations_over,
    SHARE_OF_TIME: _time_over,
    BATCH_MEANS: _batch_means,
}
"""The tests of a limit, its row, the tables, the seconds of the row and the confidence. Those of a share also take the
threshold above which an operation counts as slow."""


def _at_threshold(limit: Limit, row: Row, tables: Tables, test: Callable[[int], Evidence]) -> Evidence | None:
    """Apply the test at the limit itself if the tester counted there. Otherwise, a pass must hold at the next lower
    threshold, and a fail at the next higher one."""
    wanted, counted = limit.threshold_ns, tables.thresholds_of(row)
    if wanted in counted:
        return test(wanted)
    lower = max((each for each in counted if each < wanted), default=None)
    upper = min((each for each in counted if each > wanted), default=None)
    found = [
        None if threshold is None else replace(test(threshold), counted_over_ns=threshold)
        for threshold in (lower, upper)
    ]
    for evidence, decided in zip(found, (PASS, FAIL)):
        if evidence and evidence.outcome == decided:
            return evidence
    # Operations between the two thresholds were not counted separately.
    undecided = next((evidence for evidence in found if evidence), None)
    return replace(undecided, outcome=INCONCLUSIVE, suspect=undecided.suspect or lower is None) if undecided else None


def _over(row: Row, tables: Tables, seconds: list[Row], over_ns: int, column: str) -> list[int]:
    """Return a column of over.csv for each second; 0 for seconds without an operation above the threshold."""
    found: dict[int, int] = {}
    for over in tables.over_of(row):
        if over["over_ns"] == over_ns:
            found[over["second"]] = found.get(over["second"], 0) + int(over[column])
    # A missing row means that nothing was above the threshold, so a lost row must be detected.
    if row["worker"] == ALL_WORKERS and set(found) != {
        second["second"] for second in seconds if (second["latency_max_ns"] or 0) > over_ns
    }:
        raise TablesError(
            f"over.csv and intervals.csv differ in which seconds of step {row['step']} had an "
            f"operation of more than {over_ns} ns."
        )
    if not set(found) <= {second["second"] for second in seconds}:
        raise TablesError(f"over.csv contains a second of step {row['step']} that intervals.csv does not contain.")
    return [found.get(second["second"], 0) for second in seconds]


def _in_flight_ns(row: Row) -> int:
    """Return the age of the operation that had not returned at the end; 0 if it is not older than the slowest one that
    returned."""
    return int(row["latency_max_ns"] or 0) if row["latency_max_in_flight"] == 1 else 0
