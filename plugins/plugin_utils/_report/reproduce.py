# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Commands that repeat a host's measurement: with Ansible, and with the tester alone.

Text from a host or an inventory is quoted for the shell, so it is never more than one word of a command.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._command_lines import command, extra_variable
from .._options.reading import PRESET, values_of
from .._run.columns import STREAMS
from .._run.host_settings import VARIES
from .._run.table_reader import printable
from .._run.tester_options import ALL

_LIST = re.compile(r"[0-9]{1,20}(?: [0-9]{1,20})*\Z")
_DESCRIBED = re.compile(r"(place|stream)_[0-9]{1,2}\Z")
_DIRECTORY = re.compile(r"(?<![^,])dir=([^,]*)")
_OF_A_RUN = re.compile(r"/logdisk-[^/]*(?:/[^/]*)?\Z")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The commands that repeat a measurement, and the variables that the first command omits because they differ
    between hosts. A command is empty if it is unknown."""

    ansible: str
    varying: tuple[str, ...]
    tester: str


def run_options(run_table: Mapping[str, str]) -> dict[str, str]:
    """Return the keys of run.csv that describe how the tester wrote, without the keys that differ in each run."""
    keys = [option.key for option in ALL if not option.of_one_run]
    if run_table.get("workload") == STREAMS:
        keys += [*(key for key in run_table if _DESCRIBED.match(key)), "load_unit"]
    return {key: run_table[key] for key in keys if key in run_table}


def reproduction(
    host: str,
    workspace: Mapping[str, Any],
    options: Mapping[str, str],
    parameters: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> Reproduction:
    """Return the commands that repeat the measurement of a host. ``parameters`` are the parameters of the run,
    ``defaults`` are the defaults of the options that a command repeats, and ``options`` come from ``run_options``."""
    path = str(workspace.get("path") or "")
    known = {**defaults, **values_of(parameters)}
    own = {name: value for name, value in parameters.items() if name in defaults and value != known[name]}
    varying = tuple(sorted(name for name, value in own.items() if value == VARIES))
    return Reproduction(
        ansible=_ansible_command(host, {name: value for name, value in own.items() if name not in varying}),
        varying=varying,
        tester=_tester_command(path, options) if options and _is_below(path, workspace) else "",
    )


def _is_below(path: str, workspace: Mapping[str, Any]) -> bool:
    """Return whether everything that was tested is below one path, and is not a device."""
    return all(str(directory).startswith(f"{path}/") for directory in workspace.get("directories") or [])


def _ansible_command(host: str, variables: Mapping[str, Any]) -> str:
    words = ["ansible-playbook", "playbooks/certify.yml", "-i", "inventory.yml", f"--limit={host}"]
    preset = " " + extra_variable(PRESET, printable(str(variables[PRESET]))) if PRESET in variables else ""
    others = {name: value for name, value in sorted(variables.items()) if name != PRESET}
    rest = " " + _command(["-e", json.dumps(others, default=str)]) if others else ""
    return _command(words) + preset + rest


def _tester_command(path: str, options: Mapping[str, str]) -> str:
    words = ["logdisk", f"--dir={path.rstrip('/')}/repeat", "--createDirs", *_described(options)]
    for option in ALL:
        value = options.get(option.key, "")
        if value in ("", option.unset):
            continue
        if option.kind == "flag":
            words.append(f"--{option.name}")
        else:
            words.append(f"--{option.name}={value.replace(' ', ',') if _LIST.match(value) else value}")
    return _command(words)


def _described(options: Mapping[str, str]) -> list[str]:
    """Return the options that describe places and streams; a place that has directories gets a new directory beside
    each of them."""
    words = []
    for key, value in options.items():
        match = _DESCRIBED.match(key)
        if match:
            words.append(f"--{match[1]}={_DIRECTORY.sub(_repeated(value), value) if match[1] == 'place' else value}")
    return words + ([f"--loadUnit={options['load_unit']}"] if options.get("load_unit") else [])


def _repeated(place: str) -> Callable[[re.Match[str]], str]:
    """Return a replacement for the directories of a place, because the directories of the run have been removed."""
    name = re.search(r"(?:^|,)name=([^,]*)", place)

    def replace(match: re.Match[str]) -> str:
        directories = match[1].split("+")
        return "dir=" + "+".join(
            f"{_OF_A_RUN.sub('', directory).rstrip('/')}/repeat-{name[1] if name else ''}" for directory in directories
        )

    return replace


def _command(words: list[str]) -> str:
    return command(map(printable, words))
