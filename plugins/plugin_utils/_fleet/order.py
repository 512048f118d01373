# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order for a host's measurement, and how the host's answer differs from it.

The order is recorded twice when the tester is started: in full in the run directory on the controller, and only the
names of run, host and volume in start.json on the host. The collected tables can then be compared with it, even if a
different machine now answers under the host's name.

This detects mix-ups such as changed addresses, a second name for a machine, old tables, or a different tester. It
cannot detect a forgery by anyone who has the rights of the tester's user on the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils import _units
from .._run.columns import ALL_STREAMS, ALL_WORKERS, COMMITS, MQ_LOG, STREAMS
from .._run.shapes import as_dict
from .._run.table_checks import ended_early, stopped_above
from .._run.table_reader import printable
from .._run.tables import Tables
from .._run.tester_options import OPTIONS, in_run_csv
from .machines import MACHINE_KEYS

SEARCH = "search"
"""The key that only orders of a round of a search have."""
MOUNT_KEYS = ("mount_point", "mount_source", "device_number")
"""The facts that identify the file system of a directory, and their keys in run.csv."""
_WITHOUT_DEVICE = "0:"
"""The beginning of the number of a file system that is not on one block device. For such a file system, the tester
reports the device below it, if there is one."""
CLOCK_SLACK_S = 60.0
"""How much a host's clock may be stepped between the order and the start before its tables are refused. Tables of
another order also differ in their start, which is compared exactly."""

_LONGEST = 200
_DECIMAL = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?\Z")

_PART = re.compile(r"(?:(?:place|stream|stop_above|fail_above)_[0-9]{1,4}|fail_odds|pass_after_s|pass_odds)\Z")

_TEXTS = {
    "loadUnit": "load_unit",
    "failOdds": "fail_odds",
    "passAfter": "pass_after_s",
    "passOdds": "pass_odds",
    "place": "place",
    "stream": "stream",
    "stopAbove": "stop_above",
    "failAbove": "fail_above",
}
"""The options that only some orders have, with their keys in run.csv. The keys of the items of a list are numbered."""
_STEPS = {
    MQ_LOG: ("option_block_sizes_bytes", "option_load_points"),
    COMMITS: ("option_message_sizes_bytes", "option_applications"),
    STREAMS: ("", "option_loads"),
}
"""The keys of run.csv that determine the steps of a workload: sizes (if its steps have sizes) and load points."""

Pair = tuple[str, str, str]
"""The name of a compared value, the value found, and the value ordered."""


def make_order(
    run_id: str,
    host: str,
    volume: str,
    facts: Mapping[str, Any],
    source_hash: str,
    tester_options: Mapping[str, Any],
    directories: list[str],
    ordered_epoch_s: float,
    deadline_epoch_s: float,
    search: Mapping[str, Any] | None = None,
    mount: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an order. It identifies the tester by its sources and the machine by its facts, and contains the option
    values with which the tester is started (``tester_options``). Times are by the host's clock.

    ``search`` holds the parameters of a search for the capacity, with the number of this ``round``. ``mount`` holds the
    facts about the file system of the first directory, as the preflight found them.
    """
    workload = tester_options.get("workload", MQ_LOG)
    unset = {each.key: each.unset if each.belongs_to(workload) else "" for each in OPTIONS}
    options = {
        each.key: in_run_csv(tester_options[each.name]) if each.name in tester_options else unset[each.key]
        for each in OPTIONS
    }
    return {
        "run_id": run_id,
        "host": host,
        "volume": volume,
        "machine": {key: str(facts.get(key) or "") for key in MACHINE_KEYS},
        "source_hash": source_hash,
        "options": options,
        "texts": _texts(tester_options),
        # The tester takes one directory for each place, or for each queue manager of its largest load point.
        "directories": directories
        if workload == STREAMS
        else directories[: max(int(count) for count in options["option_load_points"].split())],
        "ordered_epoch_s": ordered_epoch_s,
        "deadline_epoch_s": deadline_epoch_s,
        "clock_error_s": float(facts.get("clock_offset_error_s") or 0),
        "mount": {key: text for key in MOUNT_KEYS if (text := _text((mount or {}).get(key)))},
        **({SEARCH: dict(search)} if search else {}),
    }


def _texts(tester_options: Mapping[str, Any]) -> dict[str, str]:
    """Return, by keys of run.csv, the values that only some orders have: the places and streams of a workload in order,
    the unit of the load points, and the limits that end a step or a run."""
    found: dict[str, str] = {}
    for option, key in _TEXTS.items():
        value = tester_options.get(option)
        if isinstance(value, list):
            found.update({f"{key}_{number}": text for number, text in enumerate(value, start=1)})
        elif value is not None:
            found[key] = str(value)
    return found


def names(order: Mapping[str, Any]) -> dict[str, str]:
    """Return the part of an order that the host keeps: its run, host and volume."""
    return {key: order[key] for key in ("run_id", "host", "volume")}


def machine_differences(order: Mapping[str, Any], start: Mapping[str, Any], machine: Mapping[str, Any]) -> list[str]:
    """Return short descriptions of how the machine that answers differs, in its identity and its start.json, from the
    machine that was started."""
    ordered, kept = order["machine"], as_dict(start.get("order"))
    then = as_dict(start.get("machine"))
    pairs = [(f"{key} in start.json", _text(kept.get(key)), wanted) for key, wanted in names(order).items()]
    # The host may have been restarted since then, so its boot_id proves nothing.
    pairs += [
        (f"{key} {when}", _text(found.get(key)), ordered[key])
        for when, found in (("in start.json", then), ("of the machine that answers", machine))
        for key in ("hostname", "machine_id")
    ]
    return list(_differing(pairs))


def table_differences(order: Mapping[str, Any], tables: Tables) -> list[str]:
    """Return short descriptions of how the tables differ from the order."""
    rows = _row_differences(order, tables) if tables.layout.described and tables.exit_status == 0 else ()
    return [
        *_differing(_run_pairs(order, tables.run)),
        *_time_differences(order, tables),
        *_step_differences(order, tables),
        *rows,
    ]


def _run_pairs(order: Mapping[str, Any], run: Mapping[str, str]) -> Iterator[Pair]:
    yield "run id in run.csv", run.get("option_run_id", ""), order["run_id"]
    yield "hostname in run.csv", run.get("hostname", ""), printable(order["machine"]["hostname"])
    yield "hash of the tester's sources", run.get("source_hash", ""), order["source_hash"]
    for each in OPTIONS:
        found, wanted = run.get(each.key, ""), order["options"][each.key]
        if not _same(found, wanted):
            yield each.title, *(text and text.replace(" ", ", ") + each.unit for text in (found, wanted))
    texts = order["texts"]
    for key in sorted({*texts, *(key for key in run if _PART.match(key))}):
        yield key.replace("_", " "), run.get(key, ""), printable(texts.get(key, ""))
    for key, wanted in order["mount"].items():
        if not (key == "device_number" and wanted.startswith(_WITHOUT_DEVICE)):
            yield key.replace("_", " "), run.get(key, ""), printable(wanted)
    for number, wanted in enumerate(order["directories"], start=1):
        yield f"directory {number}", run.get(f"directory_{number}", ""), printable(wanted)


def _time_differences(order: Mapping[str, Any], tables: Tables) -> Iterator[str]:
    began, slack_s = tables.number("start_time_epoch_s"), CLOCK_SLACK_S + order["clock_error_s"]
    if began is None:
        yield "its run.csv does not contain start_time_epoch_s"
    elif began < order["ordered_epoch_s"] - slack_s:
        yield f"it began {order['ordered_epoch_s'] - began:.0f} s before it was ordered"
    elif began > order["deadline_epoch_s"] + slack_s:
        yield f"it began {began - order['deadline_epoch_s']:.0f} s after its deadline"


def _step_differences(order: Mapping[str, Any], tables: Tables) -> Iterator[str]:
    size_key, load_key = _STEPS[order["options"]["workload"]]
    sizes = [int(number) for number in order["options"][size_key].split()] if size_key else [None]
    loads = [int(number) for number in order["options"][load_key].split()]
    ordered = {(size, load) for load in loads for size in sizes}
    measured = {(row["block_size_bytes"] if size_key else None, row["load_point"]) for row in tables.results}
    # A tester that was stopped early reports this, and is judged accordingly. If a tester ended because a limit was
    # exceeded, only the last loads are missing.
    if stopped_above(tables.run):
        ordered = {(size, load) for load in loads[: len({load for dummy, load in measured})] for size in sizes}
    if ended_early(tables.run):
        ordered = set([(size, load) for load in loads for size in sizes][: len(measured)])
    for step in sorted(ordered - measured if tables.exit_status == 0 else ()):
        yield f"no rows of {_step_text(step, tables)}"
    for step in sorted(measured - ordered):
        yield f"rows of {_step_text(step, tables)}, which was not ordered"


def _row_differences(order: Mapping[str, Any], tables: Tables) -> Iterator[str]:
    """Return the ordered streams that the steps lack, and the streams that were not ordered. This matters because a
    limit on missing rows would not judge anything."""
    ordered = dict(row for key, text in order["texts"].items() if key.startswith("stream_") for row in _rows_of(text))
    loads = {row["step"]: row["load_point"] for row in tables.results}
    rows = {
        (row["step"], row["stream"], row["operation"]): row
        for row in tables.results
        if row["worker"] == ALL_WORKERS and row["stream"] != ALL_STREAMS
    }
    for step, load in sorted(loads.items()):
        at_load = f"at {tables.words.load_text(load)}"
        for (stream, operation), has_rate in ordered.items():
            row = rows.pop((step, stream, operation), None)
            if row is None:
                yield f"no {operation}s of {stream} {at_load}"
            elif has_rate and row.get("operations_not_started") is None:
                yield f"no operations_not_started for the {operation}s of {stream} {at_load}, which have a rate"
    for step, stream, operation in sorted(rows):
        yield f"{operation}s of {printable(stream)} at {tables.words.load_text(loads[step])}, which were not ordered"


def _rows_of(stream: str) -> Iterator[tuple[tuple[str, str], bool]]:
    """Return, for each row (stream and operation) that an order expects in each step, whether it has a rate."""
    keys = dict(each.partition("=")[::2] for each in stream.split(","))
    share = keys.get("read", "0%")
    for operation, none in (("read", "0%"), ("write", "100%")):
        if share != none:
            yield (keys["name"], operation), "rate" in keys


def _step_text(step: tuple[int | None, int], tables: Tables) -> str:
    size, load = step
    load_text = tables.words.load_text(load)
    return load_text if size is None else f"{_units.format_size(size)} with {load_text}"


def _differing(pairs: Iterator[Pair] | list[Pair]) -> Iterator[str]:
    for title, found, wanted in pairs:
        if not _same(found, wanted):
            yield f"{title} {_shown(found)} instead of {_shown(wanted)}"


def _same(found: str, wanted: str) -> bool:
    if found == wanted:
        return True
    return bool(_DECIMAL.match(found) and _DECIMAL.match(wanted)) and float(found) == float(wanted)


def _shown(text: str) -> str:
    return printable(text[:_LONGEST]) or "nothing"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
