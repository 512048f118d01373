# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's tables, read strictly from untrusted bytes.

Columns are read by name, and a column's type follows from its name, so there is no list of columns here. A whole table is refused, with one sentence, if it
is incomplete, contradicts itself or contains an impossible figure. Text is safe for a terminal: characters that cannot be printed are escaped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units

Row = dict[str, Any]
"""A row by column name: int, float or str, None if the field is empty."""

Step = tuple[int, int | None]
"""Load point and size of a step, None if it has none of its own."""

SCHEMA_VERSION = 1
ALL_WORKERS = "all"
MQ_LOG = "mq-log"
"""The workload that writes as MQ's logger does."""
COMMITS = "commit"
"""The workload of applications that commit, and the name of their stream."""

STREAMS = "streams"
"""The workload that is described by places, streams and loads."""
ALL_STREAMS = "all"
"""The stream of the rows of a whole workload."""
ALL_OPERATIONS = "all"
"""The operation of rows of all operations of a stream, or of the whole workload."""

BLOCK, MESSAGE, NO_SIZE = "block", "message", "none"
"""Of what a step has a size (``step_size`` of run.csv)."""

TABLE_NAMES = ("run.csv", "results.csv", "intervals.csv", "histogram.csv", "stalls.csv", "rounds.csv", "over.csv", "responses.csv", "fidelity.csv")
"""The tester's tables. Nothing else is collected from a host."""

MAX_BYTES = {
    "run.csv": 1 << 20,
    "results.csv": 16 << 20,
    "intervals.csv": 64 << 20,
    "histogram.csv": 64 << 20,
    "stalls.csv": 16 << 20,
    "over.csv": 64 << 20,
    "responses.csv": 64 << 20,
    "fidelity.csv": 16 << 20,
}
"""The largest table that is read, in bytes; one hour of seven block sizes needs less than 4 MiB."""

EXIT_STATUSES = (0, 3, 4)
"""Exit statuses with which the tester leaves tables behind: measured, I/O error, interrupted or past its deadline."""

_LARGEST = (1 << 64) - 1
_ROUNDING_NS = 1
"""By how much a mean may differ from the one that follows from other rows."""
_LONGEST_UNIT = 32
"""How much of the unit of load points is shown."""
_INTEGER = re.compile(r"[0-9]{1,20}\Z")
_DECIMAL = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?\Z")
# Letters and marks that Unicode calls printable although they show nothing: fillers, variation selectors, an empty Braille cell.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}\Z")

KEY_COLUMNS = ("step", "block_size_bytes", "load_point", "stream", "operation", "worker")
"""Columns that every table but run.csv begins with."""
_FILLED = ("step", "load_point", "stream", "operation", "worker")
_RESULT_FILLED = (*_FILLED, "elapsed_ns", "operations", "bytes")
_RESULT_FIGURES = ("bytes_per_s", "latency_mean_ns", "latency_min_ns", "latency_p99_ns", "latency_max_ns", "latency_max_in_flight")
_RESULT_MANDATORY = (*KEY_COLUMNS, *_RESULT_FILLED, *_RESULT_FIGURES)
_INTERVAL_FIGURES = ("second", "partial", "operations", "bytes", "latency_sum_ns")
_HISTOGRAM_FIGURES = ("batch", "latency_upper_ns", "operations")
_STALL_FIGURES = ("rank", "start_offset_ns", "latency_ns")
_OVER_FIGURES = ("second", "over_ns", "operations", "latency_sum_ns")
_RESPONSE_FIGURES = ("response_upper_ns", "operations")
_FIDELITY_FIGURES = ("property", "asked", "achieved")
READ_SHARE = "read_share"
"""The property in fidelity.csv that every stream has."""
_OPERATIONS_OF_STREAMS = ("read", "write")

_NAMES = ("stream", "operation", "file", "property", "item")
"""The columns that hold a name. Every other column holds a number, whose unit is in the column's name; a count or a flag has no unit."""
_WHOLE = frozenset(
    ("step", "block_size_bytes", "load_point", "elapsed_ns", "operations", "bytes", "second", "partial", "batch", "over_ns", "operations_not_started")
)
"""Columns that are used as whole numbers here."""
_NEVER_NEGATIVE = ("_ns", "_bytes", "_s")


@dataclass(frozen=True)
class Words:
    """What people call a worker of the workload, several of them, a load point, and the size of a step; loads is what a load point counts.

    operation is that of the rows whose figures stand for a step, empty if there are only rows of writes. If a workload consists of streams, the row of the
    whole workload stands for a step.
    """

    worker: str
    workers: str
    load: str
    loads: str
    size: str = "block size"
    operation: str = ""
    of_streams: bool = False

    @property
    def load_is_workers(self) -> bool:
        """Whether a load point is the number of workers."""
        return self.loads == self.workers and not self.of_streams

    @property
    def shown_operation(self) -> str:
        """What charts are about."""
        return "operation" if self.of_streams else self.operation or "write"

    @property
    def any_operation(self) -> str:
        """What is counted if rows of all operations are shown together."""
        return "operation" if self.operation else "write"

    @property
    def together(self) -> str:
        """Whose figures those of a step are."""
        return "the whole workload" if self.of_streams else f"all {self.workers} together"

    @property
    def every_row(self) -> str:
        """What a limit judges that names no rows."""
        if self.of_streams:
            return "every row of the stream log"
        return "every row of the log's writes" if self.operation else "every row"

    def stands_for_step(self, row: Mapping[str, Any]) -> bool:
        """Whether the figures of a row of results.csv are those of its step."""
        return row["worker"] == ALL_WORKERS and self.operation in ("", row["operation"])

    def step_of(self, row: Mapping[str, Any]) -> Step:
        """Return load point and size of the step of a row; the sizes of streams are their own."""
        return row["load_point"], None if self.of_streams else row["block_size_bytes"]

    def load_text(self, load_point: int) -> str:
        """Return a load point in full: "1 queue manager", "60 applications"."""
        return f"{load_point} {self.loads[:-1] if load_point == 1 and self.loads.endswith('s') else self.loads}"


_WORDS_BY_LOAD_UNIT = {
    "queue managers": Words("queue manager", "queue managers", "QM", "queue managers"),
    "applications": Words("queue manager", "queue managers", "app", "applications", "message size", "commit"),
}


def words_of(load_unit: str) -> Words:
    """Return the words of the workload whose load points have this unit (``load_unit`` of run.csv)."""
    return _words_of_streams(load_unit) if load_unit and load_unit not in _WORDS_BY_LOAD_UNIT else _words_of_workers(load_unit)


def _words_of_workers(load_unit: str) -> Words:
    return _WORDS_BY_LOAD_UNIT.get(load_unit) or Words("worker", "workers", load_unit or "workers", load_unit or "workers")


def _words_of_streams(load_unit: str) -> Words:
    load_unit = load_unit[:_LONGEST_UNIT]
    return Words("worker", "workers", load_unit, load_unit, "load point", ALL_OPERATIONS, of_streams=True)


def size_text(block_size_bytes: int | None) -> str:
    """Return a block size for people; a stream with a size mix of its own has none."""
    return "own sizes" if block_size_bytes is None else _units.format_size(block_size_bytes)


class TablesError(ValueError):
    """Tables that cannot be trusted; the message is one sentence that names the table."""


class Tables:
    """The tables of one run of the tester on one host.

    run is run.csv as a dict of text; results is results.csv as typed rows in the order of the file. intervals, histogram, stalls and over are parsed when
    they are first read, raise TablesError then, and are empty if the table is absent.
    """

    def __init__(self, run: dict[str, str], results: list[Row], files: Mapping[str, bytes]) -> None:
        self.run = run
        self.results = results
        self._files = files

    @property
    def exit_status(self) -> int:
        """The tester's exit status: 0, 3 or 4."""
        return int(self.run["exit_status"])

    @property
    def words(self) -> Words:
        """What people call the workers of the workload."""
        load_unit = self.run.get("load_unit", "")
        return _words_of_streams(load_unit) if self.of_streams else _words_of_workers(load_unit)

    @property
    def step_size(self) -> str:
        """Of what a step has a size: BLOCK, MESSAGE or NO_SIZE."""
        return self.run.get("step_size", BLOCK)

    @property
    def of_streams(self) -> bool:
        """Whether the workload was described by places, streams and loads."""
        return _is_of_streams(self.run)

    @cached_property
    def intervals(self) -> list[Row]:
        """Rows of intervals.csv: one per second, all workers together."""
        return self._optional("intervals.csv", _INTERVAL_FIGURES, ("latency_p99_ns", "latency_max_ns"))

    @cached_property
    def histogram(self) -> list[Row]:
        """Rows of histogram.csv: sparse counts by batch and upper bound, all workers together."""
        return self._optional("histogram.csv", _HISTOGRAM_FIGURES)

    @cached_property
    def stalls(self) -> list[Row]:
        """Rows of stalls.csv: the slowest operations of each step."""
        return self._optional("stalls.csv", _STALL_FIGURES)

    @cached_property
    def over(self) -> list[Row]:
        """Rows of over.csv: how many operations of a second took longer than a threshold, all workers together; only if one did."""
        rows = self._optional("over.csv", _OVER_FIGURES)
        _check_over(rows, self.over_thresholds_ns)
        return rows

    @cached_property
    def responses(self) -> list[Row]:
        """Rows of responses.csv: sparse counts by upper bound, all workers together, of streams with a rate."""
        return self._optional("responses.csv", _RESPONSE_FIGURES)

    @cached_property
    def fidelity(self) -> list[Row]:
        """Rows of fidelity.csv: what the streams of each step asked for, and what they achieved. A workload of streams must have them."""
        rows = self._optional("fidelity.csv", _FIDELITY_FIGURES, ("item", "operations"))
        _check_fidelity(rows, self.results if self.of_streams else [])
        return rows

    @cached_property
    def over_thresholds_ns(self) -> tuple[int, ...]:
        """The thresholds that over.csv counts, rising; raises TablesError if run.csv has something else there. Empty if it does not have them."""
        try:
            thresholds = tuple(_read_integer(text) for text in self.run.get("option_over_ns", "").split())
        except ValueError as error:
            raise TablesError(f"run.csv has {error} in option_over_ns.") from None
        if list(thresholds) != sorted(set(thresholds)) or 0 in thresholds:
            raise TablesError("run.csv has thresholds in option_over_ns that do not rise from above 0.")
        return thresholds

    @property
    def counts_over(self) -> bool:
        """Whether the tables say of each second how many operations took longer than the thresholds; raises TablesError if only some of them do."""
        counted = bool(self.over_thresholds_ns)
        if counted != ("over.csv" in self._files):
            raise TablesError(f"option_over_ns in run.csv has {'' if counted else 'no '}thresholds, but there is {'no' if counted else 'an'} over.csv.")
        if counted and "intervals.csv" not in self._files:
            raise TablesError("There is an over.csv, but no intervals.csv.")
        return counted

    def parts_of(self, row: Row) -> list[Row]:
        """Return the rows of results.csv that a row adds up: those of all streams, or of a stream's operations; else those of its own stream and operation."""
        if row["operation"] != ALL_OPERATIONS:
            return self._rows.get(_stream_key(row), [])
        of_step = [each for each in self.results if each["step"] == row["step"] and each["operation"] != ALL_OPERATIONS]
        return [each for each in of_step if row["stream"] in (ALL_STREAMS, each["stream"])]

    def seconds_of(self, row: Row) -> list[Row]:
        """Return the rows of intervals.csv of a step's stream and operation, in the order of the table. Those of a row that adds up others are added up."""
        keys = dict.fromkeys(map(_stream_key, self.parts_of(row)))
        found = [self._seconds.get(key, []) for key in keys]
        return found[0] if len(found) == 1 else _added(found)

    def over_of(self, row: Row) -> list[Row]:
        """Return the rows of over.csv of a step's stream and operation, or of all that a row adds up."""
        return [over for key in dict.fromkeys(map(_stream_key, self.parts_of(row))) for over in self._over.get(key, [])]

    def latencies_of(self, row: Row) -> list[tuple[int, int]]:
        """Return the histogram of a row of all workers: pairs of upper bound in ns and operations; a bound may come more than once."""
        keys = {_stream_key(each) for each in self.parts_of(row)}
        return [
            (bucket["latency_upper_ns"], bucket["operations"]) for bucket in self.histogram if _stream_key(bucket) in keys and bucket["worker"] == row["worker"]
        ]

    def responses_of(self, row: Row) -> list[tuple[int, int]]:
        """Return the histogram of the response times of a row of all workers, in the same way."""
        key = _stream_key(row)
        return [
            (bucket["response_upper_ns"], bucket["operations"]) for bucket in self.responses if _stream_key(bucket) == key and bucket["worker"] == row["worker"]
        ]

    def workers_of(self, row: Row) -> int:
        """Return how many workers the stream of a row had, or all streams together. A worker makes all operations of its stream."""
        if row["operation"] != ALL_OPERATIONS:
            return self._workers.get(_stream_key(row), 0)
        of_stream = {each["stream"]: self._workers[_stream_key(each)] for each in self.parts_of(row)}
        return sum(of_stream.values())

    def repeats_all(self, row: Row) -> bool:
        """Whether a row is that of a stream's only worker, which has the same figures as the row `all`."""
        return row["worker"] != ALL_WORKERS and self.workers_of(row) == 1

    @cached_property
    def streams_together(self) -> list[Row]:
        """A row for each step and stream with what its reads and writes come to together: counts and rates. That of a stream with one operation is its own."""
        found: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.results:
            if row["worker"] == ALL_WORKERS and row["stream"] != ALL_STREAMS:
                found.setdefault((row["step"], row["stream"]), []).append(row)
        return [rows[0] if len(rows) == 1 else _together(rows) for rows in found.values()]

    @cached_property
    def _rows(self) -> dict[tuple[Any, ...], list[Row]]:
        return _by_stream(self.results)

    @cached_property
    def _workers(self) -> dict[tuple[Any, ...], int]:
        return {key: len(rows) - 1 for key, rows in self._rows.items()}

    @cached_property
    def _seconds(self) -> dict[tuple[Any, ...], list[Row]]:
        return _by_stream(self.intervals)

    @cached_property
    def _over(self) -> dict[tuple[Any, ...], list[Row]]:
        return _by_stream(self.over)

    def distributions(self) -> dict[tuple[int, str, str, int | None], list[tuple[int, int]]]:
        """Return histogram.csv without its batches: (upper bound in ns, operations) by load point, stream, operation and block size; raises TablesError.

        The table is long and repeats the same few bounds, so each text is read once.
        """
        if "histogram.csv" not in self._files:
            return {}
        columns = ("load_point", "stream", "operation", "block_size_bytes", "latency_upper_ns", "operations")
        header, *lines = _lines("histogram.csv", self._files["histogram.csv"])
        if len({*header}) != len(header) or not {*columns} <= {*header}:
            raise TablesError("histogram.csv does not have the columns that a histogram has.")
        load_at, stream_at, operation_at, size_at, upper_at, count_at = map(header.index, columns)
        texts: dict[tuple[str, str, str, str], dict[str, int]] = {}
        try:
            for each in lines:
                counts = texts.setdefault((each[load_at], each[stream_at], each[operation_at], each[size_at]), {})
                counts[each[upper_at]] = counts.get(each[upper_at], 0) + _read_integer(each[count_at])
            return {
                (_read_integer(load), printable(stream), printable(operation), _read_integer(size) if size else None): sorted(
                    (_read_integer(upper), count) for upper, count in counts.items()
                )
                for (load, stream, operation, size), counts in texts.items()
            }
        except ValueError as error:
            raise TablesError(f"histogram.csv has {error}.") from None

    def number(self, key: str) -> float | None:
        """Return a key of run.csv as a number, None if it is absent, empty or not a plain number."""
        text = self.run.get(key, "")
        return float(text) if _DECIMAL.match(text) else None

    def _optional(self, name: str, filled: tuple[str, ...], others: tuple[str, ...] = ()) -> list[Row]:
        """Return the rows of a table that may be absent; of its mandatory columns, others may be empty."""
        if name not in self._files:
            return []
        return _typed_rows(name, self._files[name], (*KEY_COLUMNS, *filled, *others), (*_FILLED, *filled))


def _stream_key(row: Row) -> tuple[Any, ...]:
    return row["step"], row["stream"], row["operation"]


def _by_stream(rows: list[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """Return rows by step, stream and operation."""
    found: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        found.setdefault(_stream_key(row), []).append(row)
    return found


def _together(rows: list[Row]) -> Row:
    """Return what the operations of a stream come to together."""
    row = {**rows[0], **dict.fromkeys((*rows[0].keys() - {*KEY_COLUMNS}, "operations_per_s", "operations_not_started")), "operation": ALL_OPERATIONS}
    for column in ("operations", "bytes", "bytes_per_s", "operations_per_s", "operations_not_started"):
        known = [each[column] for each in rows if each.get(column) is not None]
        row[column] = sum(known) if len(known) == len(rows) else None
    return {**row, "elapsed_ns": max(each["elapsed_ns"] for each in rows)}


def _added(tables: list[list[Row]]) -> list[Row]:
    """Return the seconds of several streams or operations, added up."""
    seconds: dict[int, list[Row]] = {}
    for row in (row for rows in tables for row in rows):
        seconds.setdefault(row["second"], []).append(row)
    return [_added_second(rows) for dummy, rows in sorted(seconds.items())]


def _added_second(rows: list[Row]) -> Row:
    sums = {column: sum(row[column] for row in rows) for column in ("operations", "bytes", "latency_sum_ns")}
    longest_ns = max(row["latency_max_ns"] or 0 for row in rows)
    return {"second": rows[0]["second"], "partial": max(row["partial"] for row in rows), **sums, "latency_max_ns": longest_ns or None}


def parse_tables(files: Mapping[str, bytes]) -> Tables:
    """Parse the tester's tables from their bytes by file name; run.csv and results.csv must be there. Raises TablesError."""
    for name in ("run.csv", "results.csv"):
        if name not in files:
            raise TablesError(f"{name} is missing.")
    run = _parse_run(files["run.csv"])
    results = _typed_rows("results.csv", files["results.csv"], _RESULT_MANDATORY, _RESULT_FILLED)
    _check_steps(run, results)
    return Tables(run, results, dict(files))


def printable(text: str) -> str:
    """Return text with everything that cannot be seen, or changes how the rest is seen, as an escape such as \\x1b or \\u202e."""
    if text.isprintable() and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    return "".join(letter if letter.isprintable() and not _INVISIBLE.match(letter) else _escape(letter) for letter in text)


def _escape(letter: str) -> str:
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _parse_run(content: bytes) -> dict[str, str]:
    header, *lines = _lines("run.csv", content)
    if header != ["key", "value"]:
        raise TablesError("run.csv does not begin with the columns key and value.")
    run: dict[str, str] = {}
    for key, value in lines:
        if not _KEY.match(key):
            raise TablesError(f"run.csv has the malformed key {_shown(key)}.")
        if key in run:
            raise TablesError(f"run.csv has the key {key} twice.")
        run[key] = printable(value)
    _check_run(run, lines)
    return run


def _check_run(run: dict[str, str], lines: list[list[str]]) -> None:
    if run.get("tables_missing"):
        because = f" ({run['exit_message']})" if run.get("exit_message") else ""
        raise TablesError(f"run.csv says that {_shown(run['tables_missing'])} could not be written{because}.")
    if not lines or lines[-1] != ["complete", "1"]:
        raise TablesError("run.csv is not complete: its last row is not complete=1.")
    version = run.get("schema_version", "")
    if version != str(SCHEMA_VERSION):
        raise TablesError(f"run.csv has schema version {_shown(version)}, this collection reads {SCHEMA_VERSION}.")
    if run.get("exit_status") not in {str(status) for status in EXIT_STATUSES}:
        raise TablesError(f"run.csv has the exit status {_shown(run.get('exit_status', ''))}, with which no tables are written.")


def _typed_rows(name: str, content: bytes, mandatory: tuple[str, ...], filled: tuple[str, ...]) -> list[Row]:
    header, *lines = _lines(name, content)
    if len(set(header)) != len(header):
        raise TablesError(f"{name} has a column twice.")
    for column in header:
        if not _KEY.match(column):
            raise TablesError(f"{name} has the malformed column {_shown(column)}.")
    for column in mandatory:
        if column not in header:
            raise TablesError(f"{name} lacks the column {column}.")
    readers = [(column, _reader(column)) for column in header]
    rows = []
    for number, line in enumerate(lines, start=2):
        try:
            row = {column: reader(text) if text else None for (column, reader), text in zip(readers, line, strict=True)}
        except ValueError as error:
            raise TablesError(f"{name} line {number} has {error}.") from None
        for column in filled:
            if row[column] is None:
                raise TablesError(f"{name} line {number} has nothing in the column {column}.")
        rows.append(row)
    return rows


def _reader(column: str) -> Any:
    if column in _NAMES:
        return printable
    if column in _WHOLE:
        return _read_integer
    if column == "worker":
        return _read_worker
    return _read_decimal if column.endswith(_NEVER_NEGATIVE) else _read_signed


def _read_integer(text: str) -> int:
    if not _INTEGER.match(text) or int(text) > _LARGEST:
        raise ValueError(f"{_shown(text)} instead of a whole number")
    return int(text)


def _read_decimal(text: str) -> float | int:
    if not _DECIMAL.match(text) or float(text) > _LARGEST:
        raise ValueError(f"{_shown(text)} instead of a number")
    return float(text) if "." in text else int(text)


def _read_signed(text: str) -> float | int:
    return -_read_decimal(text[1:]) if text.startswith("-") else _read_decimal(text)


def _read_worker(text: str) -> int | str:
    return text if text == ALL_WORKERS else _read_integer(text)


def _is_of_streams(run: Mapping[str, str]) -> bool:
    return run.get("workload", MQ_LOG) == STREAMS


def _check_steps(run: dict[str, str], results: list[Row]) -> None:
    """Refuse results in which a row is missing or occurs twice: a missing row would not be judged."""
    steps: dict[int, dict[tuple[str, str], list[Row]]] = {}
    for row in results:
        steps.setdefault(row["step"], {}).setdefault((row["stream"], row["operation"]), []).append(row)
    for step, streams in steps.items():
        if _is_of_streams(run):
            _check_whole(step, streams)  # the only row of streams that has no workers of its own
        first = next(iter(streams.values()))[0]
        for (stream, operation), rows in streams.items():
            # Each stream has a size of its own, or none.
            same = {**first, "block_size_bytes": rows[0]["block_size_bytes"]} if _is_of_streams(run) else first
            place = f"step {step}, stream {stream}, {operation}"
            _check_rows(place, rows, same)
            if not (_is_of_streams(run) and stream == ALL_STREAMS):
                _check_workers(place, rows)
    planned = run.get("steps_planned", "")
    expected = run.get("steps_measured", "") if stopped_above(run) else planned
    if run["exit_status"] == "0" and (not steps or (expected and expected != str(len(steps)))):
        raise TablesError(f"results.csv has {len(steps)} of {_shown(planned or 'at least 1')} steps although the tester says that it measured all.")
    if run.get("workload", MQ_LOG) == MQ_LOG:
        for row in results:
            if row["worker"] != ALL_WORKERS and row["worker"] > row["load_point"]:
                raise TablesError(f"results.csv has queue manager {row['worker']} in step {row['step']}, which has {row['load_point']}.")


def stopped_above(run: Mapping[str, str]) -> bool:
    """Whether the tester left out its last steps, because one before them had a mean above a limit that it was given."""
    return run.get("exit_reason") == "stopped_above" and bool(run.get("stop_above_1")) and run["exit_status"] == "0"


def _check_whole(step: int, streams: dict[tuple[str, str], list[Row]]) -> None:
    """Check the row of the whole workload, of which a step of streams has one, against the streams that it adds up."""
    whole = streams.get((ALL_STREAMS, ALL_OPERATIONS), [])
    if [row["worker"] for row in whole] != [ALL_WORKERS]:
        raise TablesError(f"results.csv does not have one row for the whole workload in step {step}.")
    parts = [row for key, rows in streams.items() if key != (ALL_STREAMS, ALL_OPERATIONS) for row in rows]
    for row in parts:
        if row["stream"] == ALL_STREAMS or row["operation"] not in _OPERATIONS_OF_STREAMS:
            raise TablesError(f"results.csv has the operation {_shown(row['operation'])} of stream {_shown(row['stream'])} in step {step}.")
    parts = [row for row in parts if row["worker"] == ALL_WORKERS]
    for column in ("operations", "bytes"):
        if whole[0][column] != sum(row[column] for row in parts):
            raise TablesError(f"results.csv has another number of {column} in the row of the whole workload of step {step} than in its streams.")
    _check_mean("latency_mean_ns", step, whole[0], [(row, row["operations"]) for row in parts])
    if whole[0].get("response_mean_ns") is not None:
        _check_mean("response_mean_ns", step, whole[0], [(row, row["operations"] + (row.get("operations_not_started") or 0)) for row in parts])


def _check_mean(column: str, step: int, whole: Row, parts: list[tuple[Row, int]]) -> None:
    """Check a mean of the whole workload against those of its streams, each with the number of operations that it is of."""
    total = sum(count for dummy, count in parts)
    mean_ns = sum((row.get(column) or 0) * count for row, count in parts) / total if total else 0
    if abs((whole[column] or 0) - mean_ns) > _ROUNDING_NS:
        raise TablesError(f"results.csv has another {column} in the row of the whole workload of step {step} than its streams come to together.")


def _check_rows(place: str, rows: list[Row], first: Row) -> None:
    """Check the rows of one stream and operation of a step: one for each worker and one for all of them."""
    for row in rows:
        if (row["block_size_bytes"], row["load_point"]) != (first["block_size_bytes"], first["load_point"]):
            raise TablesError(f"results.csv has two block sizes or load points in {place}.")
        if row["operations"] and not (row["latency_min_ns"] and row["latency_max_ns"]):
            raise TablesError(f"results.csv has operations without the fastest or the slowest one in {place}.")
    if first["block_size_bytes"] == 0:
        raise TablesError(f"results.csv has the block size 0 in {place}.")


def _check_workers(place: str, rows: list[Row]) -> None:
    workers = [row["worker"] for row in rows]
    if len(set(workers)) != len(workers):
        raise TablesError(f"results.csv has the same worker twice in {place}.")
    if len(workers) < 2 or set(workers) != {*range(1, len(workers)), ALL_WORKERS}:
        raise TablesError(f"results.csv does not have one row for each worker and one for all of them in {place}.")


def _check_fidelity(rows: list[Row], results: list[Row]) -> None:
    """Refuse rows of fidelity.csv that occur twice or cannot be, and a step of which a stream is missing: what is missing would go unnoticed."""
    seen = set()
    for number, row in enumerate(rows, start=2):
        key = (row["step"], row["stream"], row["property"], row["item"])
        if key in seen:
            raise TablesError(f"fidelity.csv line {number} repeats {_shown(row['property'])} of stream {_shown(row['stream'])} in step {row['step']}.")
        seen.add(key)
        highest = 1 if row["property"].endswith("_share") else _LARGEST
        if not (0 <= row["asked"] <= highest and 0 <= row["achieved"] <= highest):
            raise TablesError(f"fidelity.csv line {number} has a figure that {_shown(row['property'])} cannot have.")
    for row in results:
        if row["stream"] != ALL_STREAMS and (row["step"], row["stream"], READ_SHARE, None) not in seen:
            raise TablesError(f"fidelity.csv does not have stream {_shown(row['stream'])} in step {row['step']}.")


def _check_over(rows: list[Row], thresholds_ns: tuple[int, ...]) -> None:
    """Refuse rows of over.csv that cannot be counted: a row too many would be slow operations that never were."""
    known, seen = set(thresholds_ns), set()
    for number, row in enumerate(rows, start=2):
        if row["over_ns"] not in known:
            raise TablesError(f"over.csv line {number} has the threshold {row['over_ns']}, which option_over_ns in run.csv does not have.")
        if row["operations"] < 1:
            raise TablesError(f"over.csv line {number} has no operation.")
        key = (row["step"], row["stream"], row["operation"], row["worker"], row["second"], row["over_ns"])
        if key in seen:
            raise TablesError(f"over.csv line {number} repeats the threshold {row['over_ns']} in second {row['second']} of step {row['step']}.")
        seen.add(key)


def _lines(name: str, content: bytes) -> list[list[str]]:
    """Return a table's lines as lists of text, the header first, all of one length."""
    if len(content) > MAX_BYTES[name]:
        raise TablesError(f"{name} has {len(content)} bytes, more than the {MAX_BYTES[name]} that are read.")
    if b"\0" in content:
        raise TablesError(f"{name} contains a NUL byte.")
    try:
        text = content.decode("utf-8")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise TablesError(f"{name} is not a CSV table in UTF-8: {error}.") from None
    if not lines:
        raise TablesError(f"{name} is empty.")
    if not text.endswith("\n"):
        raise TablesError(f"{name} is cut off: its last line has no end.")
    for number, line in enumerate(lines, start=1):
        if len(line) != len(lines[0]):
            raise TablesError(f"{name} record {number} has {len(line)} fields, its header has {len(lines[0])}.")
    return lines


def _shown(text: str) -> str:
    shortened = text if len(text) <= 60 else text[:60] + "..."
    return '"' + printable(shortened) + '"'
