# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's tables. A whole table is refused, with one sentence, if it is incomplete,
contradicts itself or contains an impossible figure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any

from .columns import (
    ALL_OPERATIONS,
    ALL_STREAMS,
    ALL_WORKERS,
    BLOCK,
    KEY_COLUMNS,
    OBSERVER,
    Row,
    grouped,
    stream_key,
    worker_key,
)
from .table_checks import check_batches, check_fidelity, check_over, check_steps, is_of_averages, is_of_streams
from .table_reader import (
    DECIMAL_PATTERN,
    KEY_PATTERN,
    TablesError,
    lines_of,
    printable,
    quoted,
    read_integer,
    typed_rows,
)
from .words import LIVE_WORDS, Layout, Words, words_of

SCHEMA_VERSION = 1

EXIT_STATUSES = (0, 3, 4)
"""Exit statuses with which the tester leaves tables behind: measured, I/O error, interrupted or past its deadline."""

_COUNTED = "over_counted"
"""The column of results.csv that says whether over.csv contains the slow operations of the row. It is 0 if there were
too many of them, and empty if the operations of a worker are not counted by themselves."""
_PAUSES = ("option_delay_us", "option_rate_per_s", "option_think_time_us", "option_remote_delay_us")
"""The keys of run.csv with the options that let a worker pause, or wait until an operation is due."""
_FILLED = ("step", "load_point", "stream", "operation", "worker")
_RESULT_FILLED = (*_FILLED, "elapsed_ns", "operations", "bytes")
_RESULT_FIGURES = (
    "bytes_per_s",
    "latency_mean_ns",
    "latency_min_ns",
    "latency_p99_ns",
    "latency_max_ns",
    "latency_max_in_flight",
)
_RESULT_MANDATORY = (*KEY_COLUMNS, *_RESULT_FILLED, *_RESULT_FIGURES)
_INTERVAL_FIGURES = ("second", "partial", "operations", "bytes", "latency_sum_ns")
_HISTOGRAM_FIGURES = ("batch", "latency_upper_ns", "operations")
_STALL_FIGURES = ("rank", "start_offset_ns", "latency_ns")
_OVER_FIGURES = ("second", "over_ns", "operations", "latency_sum_ns")
_BATCH_FIGURES = ("batch", "operations", "latency_sum_ns")
_RESPONSE_FIGURES = ("response_upper_ns", "operations")
_FIDELITY_FIGURES = ("property", "asked", "achieved")


def _indexed(table: str, key: Callable[[Row], Any]) -> cached_property[dict[Any, list[Row]]]:
    """Return a property with the rows of a table by their keys."""
    return cached_property(lambda tables: grouped(getattr(tables, table), key))


class Tables:
    """The tables of one tester run on one host.

    ``run`` is run.csv as a dict of text; ``results`` is results.csv as typed rows in the order of the file.
    ``intervals``, ``histogram``, ``stalls``, ``over`` and ``batches`` are parsed when they are first used, and may
    raise TablesError at that time. They are empty if the table is absent.
    """

    def __init__(self, run: dict[str, str], results: list[Row], files: Mapping[str, bytes]) -> None:
        self.run = run
        self.results = results
        self._files = files

    @property
    def exit_status(self) -> int:
        """The tester's exit status: 0, 3 or 4."""
        return int(self.run["exit_status"])

    @cached_property
    def words(self) -> Words:
        """The displayed names of the workload's workers."""
        if self.of_observation:
            return LIVE_WORDS
        return words_of(self.run.get("load_unit", ""), is_of_streams(self.run))

    @property
    def step_size(self) -> str:
        """What the size of a step refers to: BLOCK, MESSAGE or NO_SIZE."""
        return self.run.get("step_size", BLOCK)

    @property
    def layout(self) -> Layout:
        """The meaning of the rows."""
        return self.words.layout

    @property
    def of_observation(self) -> bool:
        """Whether the tables come from the observation of a live queue manager and not from the tester."""
        return self.run.get("program") == OBSERVER

    @property
    def of_averages(self) -> bool:
        """Whether the tables contain only the rolling averages that MQ publishes about the log of a live queue
        manager."""
        return is_of_averages(self.run)

    @cached_property
    def intervals(self) -> list[Row]:
        """Rows of intervals.csv: one for each second, for all workers together."""
        return self._optional("intervals.csv", _INTERVAL_FIGURES, ("latency_p99_ns", "latency_max_ns"))

    @cached_property
    def histogram(self) -> list[Row]:
        """Rows of histogram.csv: counts by batch and upper bound, for all workers together. Empty buckets are left
        out."""
        return self._optional("histogram.csv", _HISTOGRAM_FIGURES)

    @cached_property
    def stalls(self) -> list[Row]:
        """Rows of stalls.csv: the slowest operations of each step."""
        return self._optional("stalls.csv", _STALL_FIGURES)

    @cached_property
    def over(self) -> list[Row]:
        """Rows of over.csv: how many operations of a second took longer than a threshold, for all workers together and
        for individual workers. Seconds without such operations have no row."""
        rows = self._optional("over.csv", _OVER_FIGURES)
        check_over(
            rows,
            self.over_thresholds_ns,
            self.worker_thresholds_ns,
            [row for row in self.results if row.get(_COUNTED) == 1],
        )
        return rows

    @cached_property
    def batches(self) -> list[Row]:
        """Rows of batches.csv: operations and their time in equal parts of a step, for individual workers among
        several."""
        rows = self._optional("batches.csv", _BATCH_FIGURES)
        check_batches(
            rows,
            [
                row
                for row in self.results
                if row.get(_COUNTED) is not None and row["worker"] != ALL_WORKERS and not self.repeats_all(row)
            ],
        )
        return rows

    @cached_property
    def responses(self) -> list[Row]:
        """Rows of responses.csv: counts by upper bound, for all workers together, for streams with a rate. Empty
        buckets are left out."""
        return self._optional("responses.csv", _RESPONSE_FIGURES)

    @cached_property
    def fidelity(self) -> list[Row]:
        """Rows of fidelity.csv: the requested and the achieved values of each step's streams.
        A workload of streams must have them, and no other workload has them."""
        if not self.layout.by_stream:
            return []
        rows = self._optional("fidelity.csv", _FIDELITY_FIGURES, ("item", "operations"))
        check_fidelity(rows, self.results)
        return rows

    @cached_property
    def over_thresholds_ns(self) -> tuple[int, ...]:
        """The thresholds of over.csv, in ascending order; empty if run.csv does not contain them. Raises TablesError if
        run.csv contains anything else under this key."""
        return self._thresholds("option_over_ns")

    @cached_property
    def worker_thresholds_ns(self) -> tuple[int, ...]:
        """The thresholds at which over.csv also counts individual workers, in the same form."""
        return self._thresholds("over_worker_ns")

    def _thresholds(self, key: str) -> tuple[int, ...]:
        try:
            thresholds = tuple(read_integer(text) for text in self.run.get(key, "").split())
        except ValueError as error:
            raise TablesError(f"run.csv has {error} in {key}.") from None
        if list(thresholds) != sorted(set(thresholds)) or 0 in thresholds:
            raise TablesError(f"run.csv has thresholds in {key} that are not above 0 and ascending.")
        return thresholds

    def thresholds_of(self, row: Row) -> tuple[int, ...]:
        """Return the thresholds that over.csv counts for a row; none for an individual worker if there were too many
        slow operations to count separately."""
        if row["worker"] == ALL_WORKERS:
            return self.over_thresholds_ns
        return self.worker_thresholds_ns if row.get(_COUNTED) == 1 else ()

    def knows_workers(self, row: Row) -> bool:
        """Whether the operations of a row are counted by themselves in parts of a step."""
        return row.get(_COUNTED) is not None

    @property
    def writes_without_pause(self) -> bool:
        """Whether each worker always had an operation in progress: it neither paused nor waited until one was due."""
        return not any(map(self.number, _PAUSES))

    @property
    def counts_over(self) -> bool:
        """Whether the tables contain, for each second, how many operations took longer than the thresholds;
        raises TablesError if only some of them do."""
        counted = bool(self.over_thresholds_ns)
        if counted != ("over.csv" in self._files):
            raise TablesError(
                f"option_over_ns in run.csv has {'' if counted else 'no '}thresholds, but there is "
                f"{'no' if counted else 'an'} over.csv."
            )
        if counted and "intervals.csv" not in self._files:
            raise TablesError("There is an over.csv, but no intervals.csv.")
        return counted

    def parts_of(self, row: Row) -> list[Row]:
        """Return the rows of results.csv that make up a row: the rows of all streams, the rows of a stream's
        operations, or the rows of the same stream and operation."""
        if row["operation"] != ALL_OPERATIONS:
            return self._rows.get(stream_key(row), [])
        of_step = [each for each in self.results if each["step"] == row["step"] and each["operation"] != ALL_OPERATIONS]
        return [each for each in of_step if row["stream"] in (ALL_STREAMS, each["stream"])]

    def seconds_of(self, row: Row) -> list[Row]:
        """Return the rows of intervals.csv of a step's stream and operation, in the order of the table. For a row that
        is the sum of others, their seconds are added up."""
        keys = dict.fromkeys(map(stream_key, self.parts_of(row)))
        found = [self._seconds.get(key, []) for key in keys]
        return found[0] if len(found) == 1 else _added(found)

    def over_of(self, row: Row) -> list[Row]:
        """Return the rows of over.csv for a row of results.csv. If this row is a sum, return those for all rows that it
        sums."""
        return [
            over
            for key in dict.fromkeys(map(stream_key, self.parts_of(row)))
            for over in self._over.get((*key, row["worker"]), [])
        ]

    def batches_of(self, row: Row) -> list[Row]:
        """Return the rows of batches.csv of an individual worker among several."""
        return self._batches.get(worker_key(row), [])

    def together_with(self, row: Row) -> Row:
        """Return the row of all workers of a step's stream and operation."""
        return (
            next(each for each in self._rows.get(stream_key(row), [row]) if each["worker"] == ALL_WORKERS)
            if row["worker"] != ALL_WORKERS
            else row
        )

    def latencies_of(self, row: Row) -> list[tuple[int, int]]:
        """Return the histogram of a row of all workers: pairs of upper bound in ns and operations; bounds may occur
        more than once."""
        return self._counts(self.histogram, "latency_upper_ns", row, self.parts_of(row))

    def responses_of(self, row: Row) -> list[tuple[int, int]]:
        """Return the histogram of the response times of a row of all workers, in the same way."""
        return self._counts(self.responses, "response_upper_ns", row, [row])

    @staticmethod
    def _counts(buckets: list[Row], bound: str, row: Row, parts: list[Row]) -> list[tuple[int, int]]:
        keys = {(*stream_key(part), row["worker"]) for part in parts}
        return [(bucket[bound], bucket["operations"]) for bucket in buckets if worker_key(bucket) in keys]

    def workers_of(self, row: Row) -> int:
        """Return how many workers the stream of a row had, or how many all streams together had. A worker performs all
        kinds of operations of its stream."""
        if row["operation"] != ALL_OPERATIONS:
            return self._workers.get(stream_key(row), 0)
        of_stream = {each["stream"]: self._workers[stream_key(each)] for each in self.parts_of(row)}
        return sum(of_stream.values())

    def repeats_all(self, row: Row) -> bool:
        """Whether a row belongs to the only worker of a stream. Its figures are the same as those of the row `all`."""
        return row["worker"] != ALL_WORKERS and self.workers_of(row) == 1

    @cached_property
    def streams_together(self) -> list[Row]:
        """A row for each step and stream with the sums of its reads and writes: counts and rates. A stream with one
        operation keeps its own row."""
        parts = [row for row in self.results if row["worker"] == ALL_WORKERS and row["stream"] != ALL_STREAMS]
        found = grouped(parts, lambda row: (row["step"], row["stream"]))
        return [rows[0] if len(rows) == 1 else _together(rows) for rows in found.values()]

    _rows = _indexed("results", stream_key)
    _seconds = _indexed("intervals", stream_key)
    _over = _indexed("over", worker_key)
    _batches = _indexed("batches", worker_key)

    @cached_property
    def _workers(self) -> dict[tuple[Any, ...], int]:
        return {key: len(rows) - 1 for key, rows in self._rows.items()}

    def distributions(self) -> dict[tuple[int, str, str, int | None], list[tuple[int, int]]]:
        """Return histogram.csv without its batches: (upper bound in ns, operations) by load point, stream, operation
        and block size; raises TablesError.

        The table is long and contains only a few different bounds, so each different text is parsed only once.
        """
        if "histogram.csv" not in self._files:
            return {}
        columns = ("load_point", "stream", "operation", "block_size_bytes", "latency_upper_ns", "operations")
        header, *lines = lines_of("histogram.csv", self._files["histogram.csv"])
        if len({*header}) != len(header) or not {*columns} <= {*header}:
            raise TablesError("histogram.csv does not have the columns of a histogram.")
        load_at, stream_at, operation_at, size_at, upper_at, count_at = map(header.index, columns)
        texts: dict[tuple[str, str, str, str], dict[str, int]] = {}
        try:
            for each in lines:
                counts = texts.setdefault((each[load_at], each[stream_at], each[operation_at], each[size_at]), {})
                counts[each[upper_at]] = counts.get(each[upper_at], 0) + read_integer(each[count_at])
            return {
                (
                    read_integer(load),
                    printable(stream),
                    printable(operation),
                    read_integer(size) if size else None,
                ): sorted((read_integer(upper), count) for upper, count in counts.items())
                for (load, stream, operation, size), counts in texts.items()
            }
        except ValueError as error:
            raise TablesError(f"histogram.csv has {error}.") from None

    def slow_counts(self) -> dict[tuple[Any, ...], dict[int, dict[int, int]]]:
        """Return over.csv for all workers together: the operations above each threshold in ns, by second, by step,
        stream and operation; empty if there is no such table. Raises TablesError. Like ``distributions``, it reads a
        long table without making a row of each line."""
        if "over.csv" not in self._files:
            return {}
        columns = (*KEY_COLUMNS, "second", "over_ns", "operations")
        header, *lines = lines_of("over.csv", self._files["over.csv"])
        if len({*header}) != len(header) or not {*columns} <= {*header}:
            raise TablesError("over.csv does not have the columns of counts.")
        pick = itemgetter(*map(header.index, columns))
        found: dict[tuple[str, str, str], dict[str, dict[int, int]]] = {}
        try:
            for step, _size, _load, stream, operation, worker, second, over_ns, count in map(pick, lines):
                if worker == ALL_WORKERS:
                    of_second = found.setdefault((step, stream, operation), {}).setdefault(second, {})
                    of_second[read_integer(over_ns)] = read_integer(count)
            return {
                (read_integer(step), printable(stream), printable(operation)): {
                    read_integer(second): counts for second, counts in seconds.items()
                }
                for (step, stream, operation), seconds in found.items()
            }
        except ValueError as error:
            raise TablesError(f"over.csv has {error}.") from None

    def number(self, key: str) -> float | None:
        """Return a key of run.csv as a number, or None if it is absent, empty or not a plain number."""
        text = self.run.get(key, "")
        return float(text) if DECIMAL_PATTERN.match(text) else None

    def _optional(self, name: str, filled: tuple[str, ...], others: tuple[str, ...] = ()) -> list[Row]:
        """Return the rows of a table that may be absent. The columns in ``filled`` must not be empty; those in
        ``others`` may be."""
        if name not in self._files:
            return []
        return typed_rows(name, self._files[name], (*KEY_COLUMNS, *filled, *others), (*_FILLED, *filled))


def _together(rows: list[Row]) -> Row:
    """Return the sum of the operations of a stream."""
    row = {
        **rows[0],
        **dict.fromkeys((*rows[0].keys() - {*KEY_COLUMNS}, "operations_per_s", "operations_not_started")),
        "operation": ALL_OPERATIONS,
    }
    for column in ("operations", "bytes", "bytes_per_s", "operations_per_s", "operations_not_started"):
        known = [each[column] for each in rows if each.get(column) is not None]
        row[column] = sum(known) if len(known) == len(rows) else None
    return {**row, "elapsed_ns": max(each["elapsed_ns"] for each in rows)}


def _added(tables: list[list[Row]]) -> list[Row]:
    """Return the seconds of several streams or operations, added up."""
    seconds = grouped(itertools.chain.from_iterable(tables), itemgetter("second"))
    return [_added_second(rows) for dummy, rows in sorted(seconds.items())]


def _added_second(rows: list[Row]) -> Row:
    sums = {column: sum(row[column] for row in rows) for column in ("operations", "bytes", "latency_sum_ns")}
    longest_ns = max(row["latency_max_ns"] or 0 for row in rows)
    return {
        "second": rows[0]["second"],
        "partial": max(row["partial"] for row in rows),
        **sums,
        "latency_max_ns": longest_ns or None,
    }


def parse_tables(files: Mapping[str, bytes]) -> Tables:
    """Parse the tester's tables from their bytes by file name; run.csv and results.csv are required. Raises
    TablesError."""
    for name in ("run.csv", "results.csv"):
        if name not in files:
            raise TablesError(f"{name} is missing.")
    run = parse_run(files["run.csv"])
    results = typed_rows("results.csv", files["results.csv"], _RESULT_MANDATORY, _RESULT_FILLED)
    check_steps(run, results)
    return Tables(run, results, dict(files))


def parse_run(content: bytes, statuses: Collection[int] = EXIT_STATUSES) -> dict[str, str]:
    """Return run.csv as a dict of text, if the tester ended with one of the given statuses. Raises TablesError."""
    header, *lines = lines_of("run.csv", content)
    if header != ["key", "value"]:
        raise TablesError("run.csv does not begin with the columns key and value.")
    run: dict[str, str] = {}
    for key, value in lines:
        if not KEY_PATTERN.match(key):
            raise TablesError(f"run.csv has the malformed key {quoted(key)}.")
        if key in run:
            raise TablesError(f"run.csv has the key {key} twice.")
        run[key] = printable(value)
    _check_run(run, lines, statuses)
    return run


def _check_run(run: dict[str, str], lines: list[list[str]], statuses: Collection[int]) -> None:
    if run.get("tables_missing"):
        because = f" ({run['exit_message']})" if run.get("exit_message") else ""
        raise TablesError(f"run.csv says that {quoted(run['tables_missing'])} could not be written{because}.")
    if not lines or lines[-1] != ["complete", "1"]:
        raise TablesError("run.csv is not complete: its last row is not complete=1.")
    version = run.get("schema_version", "")
    if version != str(SCHEMA_VERSION):
        raise TablesError(f"run.csv has schema version {quoted(version)}, this collection reads {SCHEMA_VERSION}.")
    if run.get("exit_status") not in {str(status) for status in statuses}:
        raise TablesError(
            f"run.csv has the exit status {quoted(run.get('exit_status', ''))}, with which no tables are written."
        )
