# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tables of several rounds of a search, combined as if they came from a single run, so that other code does not
have to handle rounds.

Steps are numbered consecutively over all rounds. run.csv describes all rounds together: all load points, sums, and the
worst disturbance.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from .table_reader import TablesError
from .tables import parse_tables

ROUNDS = "rounds"
"""The key of run.csv that says how many rounds were joined."""

_RUN = "run.csv"
_STEP = "step"

_FROZEN, _FROZEN_STEP = "oversleep_max_ns", "oversleep_max_step"
_SAME = (
    "schema_version",
    "method_version",
    "source_hash",
    "workload",
    "load_unit",
    "step_size",
    "hostname",
    "option_over_ns",
    "over_worker_ns",
)

RunTable = dict[str, str]


def _first(texts: Sequence[str]) -> str:
    return texts[0]


def _united(texts: Sequence[str]) -> str:
    """Return all items of some lists; only those of the last list if one of the lists is unknown."""
    known = texts if all(texts) else texts[-1:]
    return " ".join(dict.fromkeys(item for text in known for item in text.split()))


def _sum(texts: Sequence[str]) -> str:
    """Return the sum of some figures; empty if any of them is unknown."""
    return str(sum(map(int, texts))) if all(texts) else ""


def _largest(texts: Sequence[str]) -> str:
    return max(filter(None, texts), key=float, default="")


def _smallest(texts: Sequence[str]) -> str:
    return min(filter(None, texts), key=float, default="")


_JOINED = {
    **dict.fromkeys(("start_time_epoch_s", "start_time_utc"), _first),
    **dict.fromkeys(("option_loads", "option_load_points", "option_applications"), _united),
    **dict.fromkeys(
        (
            "steps_planned",
            "steps_measured",
            "planned_duration_s",
            "initial_write_bytes",
            "initial_write_ns",
            "involuntary_context_switches",
            "cpu_throttled_ns",
            "device_read_bytes",
            "device_written_bytes",
            "own_written_bytes",
            "foreign_io_bytes",
            "swap_in_pages",
            "swap_out_pages",
            "major_faults",
            "paged_in_bytes",
            "paged_out_bytes",
        ),
        _sum,
    ),
    **dict.fromkeys(
        (
            "initial_write_slowest_ns",
            "cpu_steal_share",
            "cpu_throttled_share",
            "psi_cpu_some_share",
            "psi_io_some_share",
            "psi_memory_some_share",
            "run_queue_wait_share",
            "foreign_io_share",
        ),
        _largest,
    ),
    **dict.fromkeys(("cpu_idle_share", "initial_write_bytes_per_s"), _smallest),
}
"""How the texts of a key of run.csv are joined. The texts of all other keys are those of the last round."""


def join_tables(rounds: Sequence[Mapping[str, bytes]]) -> dict[str, bytes]:
    """Return the tables of all rounds as the tables of one run; the tables of a single round are returned unchanged.
    Raises TablesError if they do not belong together.

    The search ends with the first round that did not measure everything, so the last round says how the run ended.
    """
    if len(rounds) == 1:
        return dict(rounds[0])
    runs = [parse_tables(dict(files)).run for files in rounds]
    for key in _SAME:
        if len({run.get(key, "") for run in runs}) > 1:
            raise TablesError(f"the rounds differ in {key} of run.csv.")
    first_steps = _first_steps(runs)
    names = dict.fromkeys(name for files in rounds for name in files if name != _RUN)
    joined = {name: _join_rows(name, [files.get(name) for files in rounds], first_steps) for name in names}
    return {_RUN: _join_runs(runs, first_steps), **joined}


def _first_steps(runs: Sequence[RunTable]) -> list[int]:
    """Return, for each round, the number of steps in the rounds before it."""
    first_steps = [0]
    for run in runs[:-1]:
        try:
            first_steps.append(first_steps[-1] + int(run["steps_planned"]))
        except (KeyError, ValueError):
            raise TablesError("run.csv of a round does not say how many steps were planned.") from None
    return first_steps


def _join_rows(name: str, tables: Sequence[bytes | None], first_steps: Sequence[int]) -> bytes:
    header: list[str] | None = None
    rows = []
    for table, first_step in zip(tables, first_steps, strict=True):
        if table is None:
            raise TablesError(f"{name} is missing in one of the rounds.")
        columns, *lines = csv.reader(io.StringIO(table.decode("utf-8", "replace"), newline=""))
        if header not in (None, columns) or _STEP not in columns:
            raise TablesError(f"{name} has different columns in one of the rounds.")
        header, place = columns, columns.index(_STEP)
        rows += [[*line[:place], str(int(line[place]) + first_step), *line[place + 1 :]] for line in lines]
    return _written([header or [], *rows])


def _join_runs(runs: Sequence[RunTable], first_steps: Sequence[int]) -> bytes:
    joined = {key: value for key, value in runs[-1].items() if key != "complete"}
    joined.update({key: join([run.get(key, "") for run in runs]) for key, join in _JOINED.items() if key in joined})
    frozen = [
        (float(run[_FROZEN]), run, first_step)
        for run, first_step in zip(runs, first_steps, strict=True)
        if run.get(_FROZEN)
    ]
    if frozen:
        dummy, run, first_step = max(frozen, key=lambda each: each[0])
        joined[_FROZEN] = run[_FROZEN]
        joined[_FROZEN_STEP] = str(int(run[_FROZEN_STEP]) + first_step) if run.get(_FROZEN_STEP) else ""
    # All directories that any of the rounds used, because more load uses more log directories.
    joined.update({key: value for run in runs for key, value in run.items() if key.startswith("directory_")})
    return _written(
        [
            ["key", "value"],
            *([key, value] for key, value in joined.items()),
            [ROUNDS, str(len(runs))],
            ["complete", "1"],
        ]
    )


def _written(rows: Sequence[Sequence[str]]) -> bytes:
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode("utf-8")
