# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The meaning of the rows of tables, which decides how they are judged and shown. Their displayed names are in
words.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import columns


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

    of_step: tuple[str, str, str] = (columns.LOG, "write", columns.BLOCK)
    mixed: bool = False
    of_mq: bool = True
    described: bool = False
    by_stream: bool = False
    over_load: bool = False
    adds_up: bool = False
    paced: bool = False
    wide: bool = False

    def stands_for_step(self, row: Mapping[str, Any]) -> bool:
        """Whether the figures of a row of results.csv are those of its step."""
        return (row["stream"], row["operation"], row["worker"]) == (*self.of_step[:2], columns.ALL_WORKERS)

    def step_of(self, row: Mapping[str, Any]) -> columns.Step:
        """Return the load point and the size of a row's step. The sizes of streams and live logs do not belong to the
        step."""
        return row["load_point"], None if self.by_stream or self.mixed else row["block_size_bytes"]


LOG_WRITES = Layout()
COMMIT_ROWS = Layout((columns.COMMITS, columns.COMMITS, columns.MESSAGE))
LIVE_LOG = Layout(mixed=True)
_WHOLE = (columns.ALL_STREAMS, columns.ALL_OPERATIONS, columns.NO_SIZE)
STREAM_ROWS = Layout(
    _WHOLE, of_mq=False, described=True, by_stream=True, over_load=True, adds_up=True, paced=True, wide=True
)
