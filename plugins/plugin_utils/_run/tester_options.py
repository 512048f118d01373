# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The options of the tester that the collection sets, each with the role's variable and its key in run.csv.

Ranges are checked by the tester itself, which refuses wrong values and says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils import _units
from .answers import read_list
from .columns import COMMITS, MQ_LOG, STREAMS


class OptionError(Exception):
    """An option of the sweep cannot be used. The message names its variable."""


@dataclass(frozen=True)
class Option:
    """An option of the tester.

    ``variable`` is the role's variable for it; empty if only the collection sets it. ``kind`` determines how a value is
    parsed. ``key`` is its key in run.csv, and ``unset`` is the value there if the option is not given. ``title`` and
    ``unit`` are for people. ``workload`` is the only workload that has the option; empty if all workloads have it.
    ``compared``: whether only figures that were measured with the same value can be compared. ``of_one_run``: whether
    each run has its own value.
    """

    name: str
    variable: str
    kind: str
    key: str
    unset: str
    title: str
    unit: str = ""
    workload: str = ""
    compared: bool = True
    of_one_run: bool = False

    def belongs_to(self, workload: str) -> bool:
        """Whether a workload has the option."""
        return self.workload in ("", workload)


OPTIONS = (
    Option("workload", "sweep_workload", "text", "workload", MQ_LOG, "workload"),
    Option("bsize", "sweep_block_sizes", "sizes", "option_block_sizes_bytes", "", "block sizes", workload=MQ_LOG),
    Option("apps", "sweep_apps", "counts", "option_applications", "", "applications", workload=COMMITS),
    Option(
        "msgSize", "sweep_message_sizes", "sizes", "option_message_sizes_bytes", "", "message sizes", workload=COMMITS
    ),
    Option(
        "putsPerCommit",
        "sweep_puts_per_commit",
        "count",
        "option_puts_per_commit",
        "1",
        "messages in a commit",
        workload=COMMITS,
    ),
    Option("thinkTime", "sweep_think_time", "count", "option_think_time_us", "0", "think time", " us", COMMITS),
    Option(
        "logBuffer", "sweep_log_buffer", "size", "option_log_buffer_bytes", "2097152", "log buffer", " bytes", COMMITS
    ),
    Option(
        "tripleWrite",
        "sweep_triple_write",
        "flag",
        "option_triple_write",
        "0",
        "rewriting of partial pages",
        workload=COMMITS,
    ),
    Option("remoteDelay", "sweep_remote_delay", "count", "option_remote_delay_us", "0", "remote delay", " us", COMMITS),
    Option("qm", "sweep_queue_managers", "counts", "option_load_points", "1", "load points"),
    Option("duration", "sweep_duration", "count", "option_duration_s", "", "duration", " s"),
    Option("warmup", "sweep_warmup", "count", "option_warmup_s", "", "warm-up", " s"),
    Option("fileSize", "sweep_file_size", "size", "option_file_size_bytes", "", "file size", " bytes"),
    Option("numFiles", "sweep_files", "count", "option_files", "", "number of files"),
    Option("filePrefix", "", "text", "option_file_prefix", "", "file prefix", compared=False, of_one_run=True),
    Option("sync", "sweep_sync", "text", "option_sync", "dsync", "sync mode"),
    Option("direct", "sweep_direct", "yes_no", "option_direct", "yes", "direct I/O"),
    Option("rate", "sweep_rate", "number", "option_rate_per_s", "", "rate", " writes/s", MQ_LOG),
    Option("delay", "sweep_delay", "count", "option_delay_us", "0", "delay", " us", MQ_LOG),
    Option("verify", "sweep_verify", "flag", "option_verify", "0", "verify", workload=MQ_LOG),
    Option("load", "", "counts", "option_loads", "", "loads", workload=STREAMS, compared=False),
    Option(
        "deadline",
        "sweep_deadline",
        "count",
        "option_deadline_s",
        "",
        "deadline",
        " s",
        compared=False,
        of_one_run=True,
    ),
    Option("startAt", "", "number", "option_start_at_epoch_s", "", "start", compared=False, of_one_run=True),
)
"""The options that are part of an order. Their values in run.csv are compared with the order."""

ALL = (
    *OPTIONS,
    Option("alignment", "sweep_options", "size", "option_alignment_bytes", "4096", "alignment", " bytes"),
    Option("cpu", "sweep_options", "text", "option_cpus", "", "processors"),
    Option("mlock", "sweep_options", "flag", "option_mlock", "0", "locked memory"),
    Option("backgroundThreads", "sweep_options", "count", "option_background_threads", "0", "background threads"),
)
"""The options that are part of an order, and others that only sweep_options can set and that affect the measurement."""

LARGEST_LOAD = 100_000
"""The largest load point that the tester accepts (OPTIONS_LOAD_MAX in the tester)."""
LOADS = ("load", "apps", "qm")
"""The options that list load points. Of those that are given, the first one counts, because simulated applications
also have a number of queue managers."""

SET_BY_THE_COLLECTION = {
    "dir": "workspace_path",
    "tables": "sweep_state_dir",
    "progress": "sweep_state_dir",
    "shareDevice": "workspace_allow",
    "over": "",
    "place": "sweep_workload",
    "eraseDevice": "sweep_devices_erase",
    "stream": "sweep_workload",
    "loadUnit": "sweep_workload",
    "stopAbove": "",
    "failAbove": "sweep_end_early",
    "failOdds": "sweep_end_early",
    "passAfter": "sweep_end_early",
    "passOdds": "sweep_end_early",
    "runId": "",
    "csvFile": "",
    **dict.fromkeys(("acknowledge", "checkAcknowledged", "lock", "removeAcknowledged"), ""),
    **{each.name: each.variable for each in OPTIONS},
    "load": "sweep_loads",
}
"""The options that ``sweep_options`` must not set, each with its role variable, if any."""


def read(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the role's variables by the tester's options. Raises OptionError."""
    return {each.name: _read(each, variables[each.variable]) for each in OPTIONS if each.variable in variables}


def options_for_tester(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options to pass to the tester: those ``values`` that differ from the tester's defaults and that the
    workload has.

    A value is a list of numbers, a string, a whole number, or true for a flag.
    """
    workload = values.get("workload") or MQ_LOG
    given = {**values, "workload": None if workload == MQ_LOG else workload}
    found = {each.name: _for_tester(each, given.get(each.name)) for each in OPTIONS if each.belongs_to(workload)}
    return {name: value for name, value in found.items() if value is not None}


def command_line(options: Mapping[str, Any]) -> list[str]:
    """Return the tester's arguments for its options. A list of numbers becomes one argument, and a list of strings
    becomes one argument for each string."""
    return [
        f"--{name}" if text is True else f"--{name}={text}" for name, value in options.items() for text in _texts(value)
    ]


def in_run_csv(value: Any) -> str:
    """Return the tester's value of an option in the form used in run.csv."""
    return " ".join(map(str, value)) if isinstance(value, list) else "1" if value is True else str(value)


def with_load(options: Mapping[str, Any], load: int) -> dict[str, Any]:
    """Return the options of the tester with a single load point instead of the given ones."""
    return {**options, next(name for name in LOADS if name in options): [load]}


def passed_through(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the tester that the variable ``sweep_options`` sets by their names. These are options that
    have no variable of their own. Raises OptionError."""
    made: dict[str, Any] = {}
    for name, value in options.items():
        if not (isinstance(name, str) and name.isascii() and name.isalnum()):
            raise OptionError(
                f"sweep_options: {name!r} is not the name of an option of the tester; logdisk --help lists them"
            )
        meant = _set_by_the_collection(name)
        if meant:
            variable = SET_BY_THE_COLLECTION[meant]
            raise OptionError(
                f"sweep_options must not set {meant}: "
                f"{f'set {variable} instead' if variable else 'the collection sets it'}"
            )
        made[name] = True if value is True else str(value)
    return made


def _set_by_the_collection(name: str) -> str:
    """Return the option to which a name refers, if it is one that the collection sets; otherwise empty. Like the
    tester, accepts abbreviations."""
    return (
        name
        if name in SET_BY_THE_COLLECTION
        else next((each for each in SET_BY_THE_COLLECTION if each.startswith(name)), "")
    )


def with_variables(text: str) -> str:
    """Return a warning of the tester, followed by the role variables for the options that it mentions."""
    variables = dict.fromkeys(SET_BY_THE_COLLECTION.get(name) for name in re.findall(r"--([A-Za-z]+)", text))
    known = [variable for variable in variables if variable]
    return f"{text} (set by {', '.join(known)})" if known else text


def _read(option: Option, value: Any) -> Any:
    try:
        return _READERS[option.kind](value)
    except (TypeError, ValueError) as error:
        raise OptionError(f"{option.variable}: {error}") from error


def _count(value: Any) -> int:
    try:
        return int(str(value).strip())
    except ValueError:
        raise ValueError(f"{value!r} is not a whole number") from None


_READERS = {
    "sizes": lambda value: [_units.parse_size(item) for item in read_list(value, quantities=True)],
    "size": _units.parse_size,
    "counts": lambda value: [_count(item) for item in read_list(value)],
    "count": _count,
    "number": _units.parse_number,
    "text": str,
    "yes_no": lambda value: "yes" if boolean(value) else "no",
    "flag": boolean,
}


def _for_tester(option: Option, value: Any) -> Any:
    """Return the tester's value of an option, or None if the default is used."""
    if option.kind in ("flag", "number") and not value:
        return None
    if value is None or value == "" or (option.unset and not value):
        return None
    return f"{float(value):.6f}".rstrip("0").rstrip(".") if option.kind == "number" else value


def _texts(value: Any) -> list[Any]:
    """Return the string of each argument for a value, or true for an argument without a string."""
    if not isinstance(value, list):
        return [value]
    return value if any(isinstance(each, str) for each in value) else [",".join(map(str, value))]
