# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the values of options that an inventory, a survey or a preset provides."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils import _units
from .._run.answers import is_empty, is_pasted, plain, read_dictionary, read_list, read_yaml_list, template_in
from .._run.definitions import shown
from .table import FROM_HOSTS, OF_PLAYBOOKS, options

PRESET = "sweep_preset"
"""The option that names a preset."""
PRESETS: dict[str, dict[str, Any]] = {
    "certify": {},
    "look": {
        "gate_profile": "look",
        "sweep_duration": 3,
        "sweep_warmup": 1,
        "sweep_file_size": "16M",
        "sweep_files": 4,
    },
}
"""The values that replace the defaults of options, by preset."""
DECIDED = ("gate_profile",)
"""The options of a preset that cannot be overridden, because a preset is judged by its own profile."""


def values_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the preset that is named in the values of options."""
    return PRESETS.get(str(options.get(PRESET)), {})


def contradiction(name: str, preset: str) -> str:
    """Return a sentence about an extra variable that contradicts a preset."""
    return (
        f"{name}, an extra variable, contradicts {PRESET}: {preset}, which always has {name}: {PRESETS[preset][name]}. "
        f"Leave {name} out of the extra variables, or leave {PRESET} out and set the other options of the sweep "
        "themselves"
    )


def reserve_option(reserve: str) -> dict[str, Any]:
    """Return the module's option for a reserve, which is given as a size or as a share of the file system. Raises
    ValueError."""
    number, percent, rest = reserve.strip().partition("%")
    if not percent or rest:
        return {"reserve_bytes": _units.parse_size(reserve.strip())}
    share = _units.parse_ratio(f"{number}%")
    if share >= 1:
        raise ValueError(f"{reserve!r} is not a share from 0 to below 100 %")
    return {"reserve_share": share}


LEAST = {"sweep_nice": -20}
"""The smallest allowed value of numbers that may be negative."""


def read_option(name: str, given: Any) -> Any:
    """Return the value of an option or, if none is given, its default (None if the default is computed). Raises
    ValueError with a sentence that names the option."""
    option = OF_PLAYBOOKS.get(name, name)
    if is_empty(given):
        return options()[option].default
    if option in FROM_HOSTS:
        return given
    value, spec = plain(given), options()[option].spec
    try:
        value = plain(_READERS.get(option, partial(_read, spec))(value.strip() if isinstance(value, str) else value))
        _check(option, value, spec)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    return value


def read_options(given: Mapping[str, Any], problems: list[str]) -> dict[str, Any]:
    """Return the values of the given options. Adds a sentence to the problems for each option that cannot be used."""
    values: dict[str, Any] = {}
    for name in given:
        try:
            values[name] = read_option(name, given[name])
        except ValueError as error:
            problems.append(str(error))
    return values


def read_with_preset(given: Mapping[str, Any], extra: Container[str], problems: list[str]) -> dict[str, Any]:
    """Return the values of the options that are given for a host, and the values of its preset for other options.
    ``extra`` contains the names of the extra variables. Adds to the problems as ``read_options`` does."""
    values = read_options(given, problems)
    for name, value in values_of(values).items():
        if name not in given or is_empty(given[name]):
            values[name] = value
        elif name in DECIDED:
            if name in extra and values.get(name, value) != value:
                problems.append(contradiction(name, values[PRESET]))
            values[name] = value
    return values


def _check(name: str, value: Any, spec: Mapping[str, Any]) -> None:
    """Raise ValueError if the spec does not allow a value that was read."""
    text = template_in(value)
    if text:
        raise ValueError(
            f"{shown(text)} contains a template, and a template is not evaluated in an answer of a survey: write the "
            "value itself, or set the variable in the inventory"
        )
    for each in value if isinstance(value, list) else [value]:
        if "choices" in spec and each not in spec["choices"]:
            raise ValueError(f"{shown(each)} is not one of {', '.join(map(str, spec['choices']))}")
        if isinstance(each, (int, float)) and not isinstance(each, bool) and each < LEAST.get(name, 0):
            raise ValueError(f"{each} is below {LEAST.get(name, 0)}")
    if "options" in spec:
        problems = ArgumentSpecValidator({name: spec}).validate({name: value}).error_messages
        if problems:
            raise ValueError("; ".join(problems))


def _read(spec: Mapping[str, Any], value: Any) -> Any:
    """Return a value as the type that an argument spec names."""
    if spec["type"] == "list":
        return [_TYPES[spec["elements"]](each) for each in read_list(value)]
    return _TYPES[spec["type"]](value)


def _whole_number(value: Any) -> int:
    try:
        number = float(value) if isinstance(value, str) else value
        if not isinstance(number, bool) and number == int(number):
            return int(number)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"{shown(value)} is not a whole number")


def _number(value: Any) -> float:
    try:
        if not isinstance(value, bool) and math.isfinite(float(value)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{shown(value)} is not a number")


def _flag(value: Any) -> bool:
    try:
        return boolean(value)
    except TypeError:
        raise ValueError(f"{shown(value)} is neither true nor false") from None


def _text(value: Any) -> str:
    if isinstance(value, (list, Mapping)):
        raise ValueError(f"{shown(value)} is not a text")
    return str(value)


def _as_it_is(value: Any) -> Any:
    return value


_TYPES: dict[str, Callable[[Any], Any]] = {
    "int": _whole_number,
    "float": _number,
    "bool": _flag,
    "str": _text,
    "path": _text,
    "raw": _as_it_is,
    "dict": read_dictionary,
}


def _name_or_definition(value: Any) -> Any:
    """Return the name or the path of a definition, or the definition itself if it was pasted."""
    return read_dictionary(value) if is_pasted(value) else value


def _text_or_dictionary(value: Any) -> Any:
    """Return a string, or the dictionary that the string contains, if any."""
    try:
        return read_dictionary(value) if is_pasted(value) else value
    except ValueError:
        return value


def _pattern(value: Any) -> Any:
    """Return a host pattern. A string that contains blanks or several lines is a list of patterns."""
    return read_list(value) if isinstance(value, str) and len(value.split()) > 1 else value


def _verdicts(value: Any) -> list[str]:
    found = read_list(value)
    if not found:
        raise ValueError(
            "an empty list would let every run through: leave the option out, or set gate_report_only: true to "
            "report without failing the run"
        )
    return found


def _reserve(value: Any) -> str:
    reserve_option(_text(value))
    return _text(value)


_quantities = partial(read_list, quantities=True)

_READERS: dict[str, Callable[[Any], Any]] = {
    "gate_profile": _name_or_definition,
    "gate_array_settings": _text_or_dictionary,
    "gate_hosts": _pattern,
    "gate_fail_on": _verdicts,
    "sweep_workload": _name_or_definition,
    "sweep_target": read_dictionary,
    "sweep_block_sizes": _quantities,
    "sweep_message_sizes": _quantities,
    "sweep_loads": _quantities,
    "workspace_volumes": read_yaml_list,
    "workspace_planned_queue_managers": read_yaml_list,
    "tester_planned_queue_managers": read_yaml_list,
    "workspace_reserve": _reserve,
}
"""Options that are read differently from what their type implies."""
