# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Series: the subject of one line in a chart, which is a block size of the log's writes or an operation of a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._judge.metrics import find_metric
from .._run.columns import ALL_WORKERS, Step
from .._run.words import Words, row_size_text, size_text
from .folding import shorten

WHOLE = "whole workload"
LONGEST_NAME = 20
"""The number of characters of a stream's name that charts show."""

Figures = Mapping[str, Any]
"""The figures of a row by column name."""
LimitEntry = Mapping[str, Any]
"""What a limit requires of a host, how many rows it judged, and its worst row: an entry of Host.limits."""

SeriesKey = tuple[str | None, str | None]
"""The stream and the operation, which identify a series in a run of streams."""


@dataclass(frozen=True, slots=True)
class Series:
    """The rows of different steps that belong together, and their name in charts."""

    stream: str
    operation: str
    block_size_bytes: int | None
    label: str

    @property
    def key(self) -> SeriesKey:
        return self.stream, self.operation


def stream_text(stream: str | None, operation: str | None) -> str:
    """Return the displayed name of a stream's operation: "database reads"."""
    if stream == ALL_WORKERS:
        return WHOLE
    name = shorten(str(stream), LONGEST_NAME)
    return name if operation == ALL_WORKERS else f"{name} {operation}s"


def operations_text(stream: str | None, operation: str | None) -> str:
    """Return the name of a stream's operation in a sentence: "database reads", "all operations of the workload"."""
    if stream == ALL_WORKERS:
        return "all operations of the workload"
    text = stream_text(stream, operation)
    return f"all operations of {text}" if operation == ALL_WORKERS else text


def series_of(words: Words, row: Figures) -> Series | None:
    """Return the series of a row of a table, or None if charts do not show it."""
    stream, operation, size = row["stream"], row["operation"], row["block_size_bytes"]
    if words.layout.by_stream:
        return Series(stream, operation, size, stream_text(stream, operation))
    return Series(stream, operation, size, row_size_text(size)) if operation == words.shown_operation and size else None


def judges_text(words: Words, rows: str | None, metric: str, hard: bool) -> str:
    """Return the stream and the operation that a limit names. If the limit names none, return those that it judges."""
    if not words.layout.of_mq and hard and metric == "latency_max":
        return rows or "every stream"
    return rows or words.every_row


def worst_text(limit: LimitEntry) -> str:
    """Return the worst figure of a limit: "4.2 ms", "at least 20 s"."""
    worst, metric = limit["worst"], find_metric(str(limit["metric"]))
    value = metric.kind.format(worst["value"]) if metric else str(worst["value"])
    return f"at least {value}" if worst["value_at_least"] else value


def at_worst(words: Words, limit: LimitEntry) -> str:
    """Describe the step of the worst figure of a limit, as at_text does."""
    return at_text(words, (limit["worst"]["load_point"], limit["worst"]["block_size_bytes"]))


def at_text(words: Words, step: Step | tuple[None, None]) -> str:
    """Describe the step of a figure, in a form that follows the figure: " at 4 KiB", or " at 8 threads". The text is
    empty if the figure does not belong to a step, or belongs to a live log, which has only one step."""
    if step[0] is None or words.layout.mixed:
        return ""
    return f" at {words.load_text(step[0])}" if words.layout.over_load else f" at {size_text(step[1])}"
