# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The names in the tester's tables: the names of workloads, and of rows that stand for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

Row = dict[str, Any]
"""A row by column name: int, float or str, or None if the field is empty."""


def stream_key(row: Row) -> tuple[Any, ...]:
    """Return the step, the stream and the operation of a row."""
    return row["step"], row["stream"], row["operation"]


def worker_key(row: Row) -> tuple[Any, ...]:
    """Return the step, the stream, the operation and the worker of a row."""
    return row["step"], row["stream"], row["operation"], row["worker"]


_Each = TypeVar("_Each")


def grouped(rows: Iterable[_Each], key: Callable[[_Each], Any]) -> dict[Any, list[_Each]]:
    """Return rows (or other items) by their keys, in their order."""
    found: dict[Any, list[_Each]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


Step = tuple[int, int | None]
"""The load point and the size of a step. Each is None if the step has none."""

ALL_WORKERS = "all"
MQ_LOG = "mq-log"
"""The workload that writes as MQ's logger does."""
COMMITS = "commit"
"""The workload of applications that commit, and the name of their stream."""

OBSERVER = "observe"
"""The name of the program in run.csv if the tables come from an observation and not from the tester."""

NO_FIGURES = "no_figures"
"""The ``exit_reason`` in run.csv of an observation that was not cut short but has no figures to judge."""

LOG = "log"
"""The stream of the writes of a queue manager's log."""

STREAMS = "streams"
"""The workload that is described by places, streams and loads."""
ALL_STREAMS = "all"
"""The stream of the rows of a whole workload."""
ALL_OPERATIONS = "all"
"""The operation in rows for all operations of a stream or of the whole workload."""

BLOCK, MESSAGE, NO_SIZE = "block", "message", "none"
"""What the size of a step refers to (``step_size`` of run.csv)."""

KEY_COLUMNS = ("step", "block_size_bytes", "load_point", "stream", "operation", "worker")
"""The first columns of every table except run.csv."""
READ_SHARE = "read_share"
"""A property in fidelity.csv that every stream has."""
