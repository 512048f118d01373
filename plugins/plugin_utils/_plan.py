# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sweep will do on one host: the tester's arguments, the space it takes, the time it takes.

Private to this collection; it may change at any time.
"""

from __future__ import annotations

from typing import Any

from ansible_collections.mqops.logdisk.plugins.module_utils import _units

FILE_PREFIX = "logdisk"
STEP_GAP_S = 2
"""What the tester leaves between two steps that have their own absolute starts (STEP_GAP_S of its main.c)."""
DEADLINE_MAX_S = 31536000
"""The longest deadline that the tester takes."""
VERIFY_BYTES_PER_S = 32 << 20
"""How fast the tester's plan takes the files to be read back after each step (PASS_BYTES_PER_S of its main.c)."""
ASSUMED_FORMAT_BYTES_PER_S = 100e6
"""How fast the files are taken to be written in full before the start, where every host starts at one instant."""
MAX_QUEUE_MANAGERS = 1000


class PlanError(Exception):
    """An option of the sweep that cannot be; the message names it."""


def make_plan(options: dict[str, Any], queue_managers: int) -> dict[str, Any]:
    """Return the plan of a sweep.

    ``options`` are the role's variables without their prefix: ``block_sizes`` (list of sizes), ``load_points`` (list of
    numbers of queue managers; empty: all together), ``duration_s``, ``warmup_s``, ``file_size``, ``files``, ``sync``,
    ``direct`` (yes or no), ``rate_per_s``, ``delay_us``, ``verify``, ``deadline_s`` (0: twice the plan and a minute).
    Optional ones may be left out or empty for the tester's own default.

    The plan holds ``arguments`` (the tester's, without directories), ``footprint_bytes``, ``steps``, ``planned_s`` (the
    steps alone), ``format_s`` (an estimate), ``deadline_s`` and the options as numbers. Raises PlanError.
    """
    block_sizes = [_size("sweep_block_sizes", item) for item in options["block_sizes"]]
    file_size = _size("sweep_file_size", options["file_size"])
    files = _whole("sweep_files", options["files"], 1, 10000)
    direct_sizes = [] if options.get("direct") == "no" else block_sizes
    load_points = _load_points(options.get("load_points") or [], queue_managers)
    duration_s = _whole("sweep_duration", options["duration_s"], 1, 86400)
    warmup_s = _whole("sweep_warmup", options.get("warmup_s", 0), 0, 86400)
    if not block_sizes:
        raise PlanError("sweep_block_sizes is empty: name at least one block size, such as 4K")
    twice = next((size for size in block_sizes if block_sizes.count(size) > 1), None)
    if twice:
        raise PlanError(f"sweep_block_sizes names {_units.format_size(twice)} twice")
    if max(block_sizes) > file_size:
        raise PlanError(f"sweep_block_sizes: {_units.format_size(max(block_sizes))} does not fit into a file of "
                        f"{_units.format_size(file_size)} (sweep_file_size)")
    steps = len(block_sizes) * len(load_points)
    footprint_bytes = file_size * files * queue_managers
    gap_s = STEP_GAP_S + (footprint_bytes // VERIFY_BYTES_PER_S if options.get("verify") else 0)
    planned_s = steps * (warmup_s + duration_s + gap_s) - (gap_s if not options.get("verify") else 0)
    format_s = footprint_bytes / ASSUMED_FORMAT_BYTES_PER_S
    for name, option in (("sweep_rate", "rate_per_s"), ("sweep_delay", "delay_us")):
        _not_negative(name, options.get(option) or 0)
    deadline_s = _whole("sweep_deadline", options.get("deadline_s", 0), 0, 604800) or min(round(2 * planned_s + 4 * format_s + 60), DEADLINE_MAX_S)
    numbers = {"block_sizes_bytes": block_sizes, "load_points": load_points, "duration_s": duration_s, "warmup_s": warmup_s,
               "file_size_bytes": file_size, "files": files}
    return {**numbers, "direct_sizes_bytes": direct_sizes, "arguments": _arguments(numbers, options), "steps": steps, "footprint_bytes": footprint_bytes,
            "planned_s": planned_s, "format_s": format_s, "deadline_s": deadline_s}


def _arguments(numbers: dict[str, Any], options: dict[str, Any]) -> list[str]:
    arguments = [
        "--bsize=" + ",".join(str(size) for size in numbers["block_sizes_bytes"]),
        "--qm=" + ",".join(str(count) for count in numbers["load_points"]),
        f"--duration={numbers['duration_s']}",
        f"--warmup={numbers['warmup_s']}",
        f"--fileSize={numbers['file_size_bytes']}",
        f"--numFiles={numbers['files']}",
        f"--filePrefix={FILE_PREFIX}",
    ]
    arguments.extend(f"--{name}={options[option]}" for option, name in (("sync", "sync"), ("direct", "direct")) if options.get(option))
    arguments.extend(f"--{name}={_plain(options[option])}" for option, name in (("rate_per_s", "rate"), ("delay_us", "delay")) if options.get(option))
    return [*arguments, "--verify"] if options.get("verify") else arguments


def _plain(number: Any) -> str:
    """Return a number in plain digits, without an exponent."""
    return f"{float(number):.6f}".rstrip("0").rstrip(".")


def _load_points(items: list[Any], queue_managers: int) -> list[int]:
    if not 1 <= queue_managers <= MAX_QUEUE_MANAGERS:
        raise PlanError(f"workspace_queue_managers: {queue_managers} queue managers; allowed are 1 to {MAX_QUEUE_MANAGERS}")
    points = [_whole("sweep_queue_managers", item, 1, queue_managers) for item in items] or [queue_managers]
    if len(set(points)) != len(points):
        raise PlanError("sweep_queue_managers names a load point twice")
    return points


def _size(name: str, value: Any) -> int:
    try:
        size = _units.parse_size(value)
    except ValueError as error:
        raise PlanError(f"{name}: {error}") from error
    if size < 512:
        raise PlanError(f"{name}: {value} is below 512 bytes")
    return size


def _not_negative(name: str, value: Any) -> None:
    try:
        _units.parse_number(value)
    except ValueError as error:
        raise PlanError(f"{name}: {error}") from error


def _whole(name: str, value: Any, low: int, high: int) -> int:
    try:
        number = int(str(value).strip())
    except ValueError as error:
        raise PlanError(f"{name}: {value!r} is no whole number from {low} to {high}") from error
    if not low <= number <= high:
        raise PlanError(f"{name}: {number} is outside {low} to {high}")
    return number
