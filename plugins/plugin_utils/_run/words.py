# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What people call the workers, load points and sizes of a workload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.columns import ALL_OPERATIONS, ALL_WORKERS, LOG, Step

_LONGEST_UNIT = 32
"""How much of the unit of load points is shown."""


@dataclass(frozen=True)
class Words:
    """What people call a worker of the workload, several of them, a load point, and the size of a step; loads is what a load point counts.

    operation is that of the rows whose figures stand for a step, empty if there are only rows of writes. If a workload consists of streams, the row of the
    whole workload stands for a step. mixed says that the rows of a step have one size, which differs from host to host: the mean of what a live log wrote.
    """

    worker: str
    workers: str
    load: str
    loads: str
    size: str = "block size"
    operation: str = ""
    of_streams: bool = False
    mixed: bool = False

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
        return row["worker"] == ALL_WORKERS and (row["stream"] == LOG if self.mixed else self.operation in ("", row["operation"]))

    def step_of(self, row: Mapping[str, Any]) -> Step:
        """Return load point and size of the step of a row; the sizes of streams and of live logs are their own."""
        return row["load_point"], None if self.of_streams or self.mixed else row["block_size_bytes"]

    def load_text(self, load_point: int) -> str:
        """Return a load point in full: "1 queue manager", "60 applications"."""
        return f"{load_point} {self.loads[:-1] if load_point == 1 and self.loads.endswith('s') else self.loads}"


_WORDS_BY_LOAD_UNIT = {
    "queue managers": Words("queue manager", "queue managers", "QM", "queue managers"),
    "applications": Words("queue manager", "queue managers", "app", "applications", "message size", "commit"),
}


def words_of(load_unit: str) -> Words:
    """Return the words of the workload whose load points have this unit (``load_unit`` of run.csv)."""
    return words_of_streams(load_unit) if load_unit and load_unit not in _WORDS_BY_LOAD_UNIT else words_of_workers(load_unit)


def words_of_observations() -> Words:
    """Return the words of live queue managers, whose logs write many sizes."""
    return replace(_WORDS_BY_LOAD_UNIT["queue managers"], size="log write", mixed=True)


def words_of_workers(load_unit: str) -> Words:
    """Return the words of a workload whose rows are those of workers that all do the same."""
    return _WORDS_BY_LOAD_UNIT.get(load_unit) or Words("worker", "workers", load_unit or "workers", load_unit or "workers")


def words_of_streams(load_unit: str) -> Words:
    """Return the words of a workload of streams."""
    load_unit = load_unit[:_LONGEST_UNIT]
    return Words("worker", "workers", load_unit, load_unit, "load point", ALL_OPERATIONS, of_streams=True)


def size_text(block_size_bytes: int | None) -> str:
    """Return a block size for people; a stream with a size mix of its own has none."""
    return "own sizes" if block_size_bytes is None else _units.format_size(block_size_bytes)


def mean_size_text(size_bytes: float) -> str:
    """Return a mean size for people, which is hardly ever a whole number of anything."""
    unit, name = (1 << 20, "MiB") if size_bytes >= 1 << 20 else (1 << 10, "KiB")
    return f"{_units.format_number(size_bytes / unit)} {name}"
