# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The figures of finished steps in the progress that hosts report, which is untrusted, and the lines on the screen
about them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils import _units
from .._run.record import host_label

Step = tuple[int, int]
"""A step: its block size in bytes, or 0 if the workload has its own sizes, and its load point."""
Volume = tuple[str, str]
"""A volume: its host and its name."""

MOST_STEPS = 48
"""The tester reports at most this many steps."""
MOST_LINES = 7
"""The largest number of lines about finished steps that a run prints."""
NAMED_HOSTS = 4
"""If at most this many volumes have finished a step, its line names all of them."""

_FINISHED = re.compile(r"([0-9]{1,12}):([0-9]{1,9}):([0-9]{1,18}):([0-9]{1,18})\Z")


@dataclass(frozen=True)
class Figures:
    """The latencies of a step so far, in ns."""

    p99_ns: float
    max_ns: float


def number(volume: Mapping[str, Any], key: str) -> float | None:
    """Return a figure of a volume's progress, or None if it is not a finite number."""
    progress = volume.get("progress")
    try:
        value = float(progress[key]) if isinstance(progress, Mapping) else None
    except (KeyError, TypeError, ValueError):
        return None
    return value if value is not None and math.isfinite(value) else None


def finished_steps(volume: Mapping[str, Any]) -> dict[Step, Figures]:
    """Return the figures of the steps that a volume has finished, in the order in which it measured them."""
    progress = volume.get("progress")
    text = progress.get("done") if isinstance(progress, Mapping) else None
    parts = text.split(",")[:MOST_STEPS] if isinstance(text, str) else []
    found = [each for part in parts if (each := _FINISHED.match(part))]
    return {(int(each[1]), int(each[2])): Figures(float(each[3]), float(each[4])) for each in found}


def running_step(volume: Mapping[str, Any]) -> tuple[Step, Figures] | None:
    """Return the step that a volume was measuring when it last answered, with its figures so far. Returns None if there
    was no such step, or if nothing was written in it yet."""
    size, load, p99, most = (
        number(volume, key) for key in ("block_size_bytes", "load_point", "latency_p99_ns", "latency_max_ns")
    )
    if size is None or load is None or not p99 or not most or min(size, load, p99, most) < 0:
        return None
    step = (int(size), int(load))
    return None if step in finished_steps(volume) else (step, Figures(p99, most))


def worst_p99_ns(volume: Mapping[str, Any]) -> float:
    """Return the worst 99th percentile of all steps so far, in ns; 0 if there is none."""
    return max(number(volume, "latency_p99_ns") or 0.0, *(each.p99_ns for each in finished_steps(volume).values()), 0.0)


def step_titles(steps: Iterable[Step]) -> dict[Step, str]:
    """Return the names of steps: the block size, and the load point if there are several."""
    steps = list(steps)
    several = len({load for dummy, load in steps}) > 1
    return {
        (size, load): ", ".join(
            ([_units.format_size(size)] if size else []) + ([f"load {load:,}"] if several or not size else [])
        )
        for size, load in steps
    }


def new_lines(
    statuses: Mapping[str, Mapping[str, Any]], starts: Mapping[str, float], told: Collection[str]
) -> dict[str, str]:
    """Return the lines about steps that have finished since the lines in ``told``, each with its key in ``told``.

    Hosts that start at the same time share a line. ``starts`` holds the start time of each host. Hosts are polled one
    after the other, so a step is reported when all of them have reported it, or when one has reported the next step.
    """
    lines: dict[str, str] = {}
    for start in sorted(set(starts.values())):
        group = {
            (host, name): finished_steps(volume)
            for host, status in statuses.items()
            if starts.get(host) == start
            for name, volume in status["volumes"].items()
        }
        for step, line in _lines_of(group):
            key = f"{start:.0f}:{step[0]}:{step[1]}"
            if key not in told and len(told) + len(lines) < MOST_LINES:
                lines[key] = line
    return lines


def _lines_of(group: Mapping[Volume, Mapping[Step, Figures]]) -> Iterator[tuple[Step, str]]:
    order = list(dict.fromkeys(step for steps in group.values() for step in steps))
    titles = step_titles(order)
    for step in order:
        done = {volume: steps[step] for volume, steps in group.items() if step in steps}
        if len(done) == len(group) or any(list(steps)[-1] != step for steps in group.values() if step in steps):
            yield step, f"logdisk: {titles[step]} finished, p99 {_figures_of(done, len(group), _labels(group))}"


def _figures_of(done: Mapping[Volume, Figures], count: int, labels: Mapping[Volume, str]) -> str:
    worst_first = sorted(done, key=lambda volume: -done[volume].p99_ns)
    if count <= NAMED_HOSTS:
        known = [f"{_time(done[volume].p99_ns)} on {labels[volume]}" for volume in worst_first]
        unknown = [f"not reported yet by {label}" for volume, label in labels.items() if volume not in done]
        return ", ".join(known + unknown)
    worst, best = worst_first[0], worst_first[-1]
    return (
        f"{_time(done[best].p99_ns)} to {_time(done[worst].p99_ns)} on the {len(done)} of {count} that have reported "
        f"it, the worst on {labels[worst]}"
    )


def _labels(volumes: Collection[Volume]) -> dict[Volume, str]:
    several = len(volumes) > len({host for host, dummy in volumes})
    return {(host, name): host_label(host, name) if several else host for host, name in volumes}


def _time(nanoseconds: float) -> str:
    return _units.format_duration(nanoseconds)
