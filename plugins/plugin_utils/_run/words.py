# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The meaning of the rows of a workload's tables, which decides how they are judged and shown, and the displayed names
of its workers, load points and sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...module_utils import _units
from .columns import (
    ALL_OPERATIONS,
    ALL_STREAMS,
    ALL_WORKERS,
    BLOCK,
    COMMITS,
    LOG,
    MESSAGE,
    NO_SIZE,
    Row,
    Step,
)

_LONGEST_UNIT = 32
"""How many characters of the unit of load points are shown."""


@dataclass(frozen=True)
class Layout:
    """The properties in which the tables of workloads differ. The defaults are those of log writes in steps with a
    single size.

    ``of_step``: stream and operation of the row that represents a step, and what its size refers to. ``mixed``: rows
    have one size, which differs from host to host: the mean of what a live log wrote. ``of_mq``: workers are queue
    managers, and every row is of a log. ``described``: the workload is described in a file and has a name.
    ``by_stream``: a row is identified by its stream and operation, and has its own size. ``over_load``: steps differ in
    their loads, not in their sizes. ``adds_up``: the reads and writes of a stream are also judged together. ``paced``:
    operations can be due without having started. ``wide``: tables for people have so many columns and rows that
    verdicts are shown before figures, and only informative ones are shown.
    """

    of_step: tuple[str, str, str] = (LOG, "write", BLOCK)
    mixed: bool = False
    of_mq: bool = True
    described: bool = False
    by_stream: bool = False
    over_load: bool = False
    adds_up: bool = False
    paced: bool = False
    wide: bool = False

    def stands_for_step(self, row: Row) -> bool:
        """Whether the figures of a row of results.csv are those of its step."""
        return (row["stream"], row["operation"], row["worker"]) == (*self.of_step[:2], ALL_WORKERS)

    def step_of(self, row: Row) -> Step:
        """Return the load point and the size of a row's step. The sizes of streams and live logs do not belong to the
        step."""
        return row["load_point"], None if self.by_stream or self.mixed else row["block_size_bytes"]


LOG_WRITES = Layout()
COMMIT_ROWS = Layout((COMMITS, COMMITS, MESSAGE))
LIVE_LOG = Layout(mixed=True)
STREAM_ROWS = Layout(
    (ALL_STREAMS, ALL_OPERATIONS, NO_SIZE),
    of_mq=False,
    described=True,
    by_stream=True,
    over_load=True,
    adds_up=True,
    paced=True,
    wide=True,
)


@dataclass(frozen=True)
class Words:
    """The displayed names for one worker, for several workers, for a load point, and for the size of a step. ``loads``
    is the unit of load points.

    ``operation`` is the operation of the rows whose figures represent a step; empty if there are only rows of writes.
    ``shown_operation`` is the operation that charts show, ``any_operation`` is the word for an operation if rows of all
    operations are shown together, and ``timed`` is the word for the operations that were timed. ``together`` says to
    whom the figures of a step belong, and ``every_row`` is the text for the rows of a limit that does not name any.
    ``row_title``, ``worker_title`` and ``loads_title`` are titles of columns. ``series`` names the lines of charts,
    ``goes`` is the verb for them, and ``at`` precedes the name of a single line. ``does`` says how the workload wrote,
    ``for_each`` says for whom it wrote files, and ``files`` says to which files the size refers.
    """

    worker: str = "queue manager"
    workers: str = "queue managers"
    load: str = "QM"
    loads: str = "queue managers"
    size: str = "block size"
    operation: str = ""
    load_is_workers: bool = True
    layout: Layout = LOG_WRITES
    shown_operation: str = "write"
    any_operation: str = "write"
    timed: str = "writes"
    together: str = "all queue managers together"
    every_row: str = "every row"
    row_title: str = "Block size"
    worker_title: str = "Queue manager"
    loads_title: str = "QMs"
    series: str = "sizes"
    goes: str = "goes"
    at: str = "at"
    does: str = "wrote as MQ does, as fast as it could"
    for_each: str = " for each queue manager"
    files: str = "the files of a queue manager"

    def row_text(self, row: Row) -> str:
        """Return the name of a row of all workers, for use within a sentence."""
        of_stream = f"{self.load_text(row['load_point'])} for {row['operation']}s of {row['stream']}"
        return of_stream if self.layout.by_stream else size_text(row["block_size_bytes"])

    def load_text(self, load_point: int) -> str:
        """Return a load point in full: "1 queue manager", "60 applications"."""
        return f"{load_point} {self.loads[:-1] if load_point == 1 and self.loads.endswith('s') else self.loads}"


_COMMITS = {
    "size": "message size",
    "row_title": "Message size",
    "operation": "commit",
    "shown_operation": "commit",
    "any_operation": "operation",
}
_APPLICATIONS = {
    "load": "app",
    "loads": "applications",
    "loads_title": "apps",
    "every_row": "every row of the log's writes",
}
_WORDS_BY_LOAD_UNIT = {
    "queue managers": Words(),
    "applications": Words(load_is_workers=False, layout=COMMIT_ROWS, **_COMMITS, **_APPLICATIONS),
}
_WORKERS = Words("worker", "workers", together="all workers together", worker_title="Worker")
_STREAMS = Words(
    "worker",
    "workers",
    size="load point",
    load_is_workers=False,
    layout=STREAM_ROWS,
    shown_operation="operation",
    any_operation="operation",
    timed="operations",
    together="the whole workload",
    every_row="every row of the stream log",
    row_title="Stream",
    worker_title="Load",
    series="streams",
    goes="go",
    at="for",
    does="did as the workload describes",
    for_each="",
    files="its files",
)
LIVE_WORDS = Words(size="log write", row_title="Mean size", layout=LIVE_LOG)
"""The words of live queue managers, whose logs write many sizes."""


def words_of(load_unit: str, by_stream: bool | None = None) -> Words:
    """Return the words of the workload whose load points have this unit (``load_unit`` in run.csv). If ``by_stream`` is
    not given, the unit also determines whether the workload has streams."""
    known = _WORDS_BY_LOAD_UNIT.get(load_unit)
    if by_stream or (by_stream is None and load_unit and not known):
        return replace(_STREAMS, **dict.fromkeys(("load", "loads", "loads_title"), load_unit[:_LONGEST_UNIT]))
    load = load_unit or "workers"
    return known or replace(_WORKERS, load=load, loads=load, loads_title=f"{load}s", load_is_workers=load == "workers")


_SECTOR_BYTES = 512


def size_text(block_size_bytes: int | None) -> str:
    """Return a block size as text; a stream with a mix of sizes has none."""
    return "own sizes" if block_size_bytes is None else _units.format_size(block_size_bytes)


def row_size_text(size_bytes: int | None) -> str:
    """Return the block size of a row as text: a size that cannot come from a test is the mean of a live log."""
    return mean_size_text(size_bytes) if size_bytes and size_bytes % _SECTOR_BYTES else size_text(size_bytes)


def mean_size_text(size_bytes: float) -> str:
    """Return a mean size as text. Such a size is hardly ever a whole number of units."""
    unit, name = (1 << 20, "MiB") if size_bytes >= 1 << 20 else (1 << 10, "KiB")
    return f"{_units.format_number(size_bytes / unit)} {name}"


def state_text(state: str) -> str:
    """Return the state of a certificate as text."""
    return {"none": "never certified", "unmeasured": "never measured"}.get(state, state)


def days_text(days: int) -> str:
    """Describe how far a day is from the day of the report."""
    if days == 0:
        return "today"
    count = f"{_units.format_count(abs(days))} {'day' if abs(days) == 1 else 'days'}"
    return f"{count} left" if days > 0 else f"{count} ago"
