# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings of a whole run, which must be the same for every host under test, and the options that confirm what is
done to a host."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ...module_utils import _units
from .._estimate.target import read_target
from .._options.reading import read_option
from .._run.answers import read_list, template_in
from .._run.host_settings import LAST
from .._run.tester_options import OptionError
from .schedule import read_start_at

SHOWN_HOSTS = 5
MOST_DAYS = 3650
MOST_CHARACTERS = 500
"""The longest text that a host's variable about its storage array may contain."""
LEAST_MARGIN = 0.01
MOST_MARGIN = 1.0
NO_BASELINE = "none"
_Read = TypeVar("_Read")


class SettingsError(Exception):
    """Some settings cannot be used. The message names the variable, the hosts and the values."""


def _baseline(value: Any) -> list[str]:
    """Return the baselines of the hosts: none, only LAST, or certificates and runs by name."""
    names = [str(name) for name in read_list(value)]
    if len(names) > 1 and {NO_BASELINE, LAST} & set(names):
        raise ValueError(f"{NO_BASELINE} and {LAST} cannot be combined with anything else")
    return [] if names == [NO_BASELINE] else names


def read_margin(value: Any) -> float:
    """Return the change that matters, as a share. Raises ValueError."""
    margin = _units.parse_ratio(value)
    if not LEAST_MARGIN <= margin <= MOST_MARGIN:
        raise ValueError(f"it must be from {_units.format_ratio(LEAST_MARGIN)} to {_units.format_ratio(MOST_MARGIN)}")
    return margin


MEANINGS: dict[str, Callable[[Any], Any]] = {
    "gate_baseline": _baseline,
    "gate_margin": read_margin,
    "sweep_start_at": read_start_at,
}
"""Conversions for options whose type does not fully determine their meaning. Each function raises ValueError."""


_ONE_RUN = (
    "A run needs a single value: set it for all of them (for example with -e), or certify these hosts in separate runs"
)


def agreed(name: str, values: Mapping[str, Any], remedy: str = _ONE_RUN) -> Any:
    """Return the single value of an option that applies to all hosts. ``values`` holds the value of each host. Raises
    SettingsError if they differ or cannot be read."""
    return one_value(name, values, lambda given: MEANINGS.get(name, _as_it_is)(read_option(name, given)), remedy)


def agreed_value(name: str, values: Mapping[str, Any]) -> Any:
    """Return the single value, from values that have already been read. Raises SettingsError."""
    return one_value(name, values, MEANINGS.get(name, _as_it_is), _ONE_RUN)


def one_value(name: str, values: Mapping[str, Any], read: Callable[[Any], Any], remedy: str) -> Any:
    """Return the single value of a variable. ``read`` parses the value of each host. Raises SettingsError, which
    contains the remedy, if the values differ.

    Inventories, surveys and templates may write the same value in different ways.
    """
    hosts_by_value: dict[str, list[str]] = {}
    found: dict[str, Any] = {}
    for host in sorted(values):
        try:
            value = read(values[host])
        except (TypeError, ValueError) as error:
            raise SettingsError(
                f"{name}: {values[host]!r} (of {host}) cannot be used: {str(error).removeprefix(f'{name}: ')}"
            ) from None
        hosts_by_value.setdefault(repr(value), []).append(host)
        found[repr(value)] = value
    if len(found) > 1:
        raise SettingsError(f"{name} differs between hosts: {_groups(hosts_by_value)}. {remedy}")
    return next(iter(found.values()), None)


def _as_it_is(value: Any) -> Any:
    return value


def check_days(name: str, days: int) -> int:
    """Return a number of days for which a certificate can be valid. Raises SettingsError."""
    if not 1 <= days <= MOST_DAYS:
        raise SettingsError(f"{name} is {days}, but must be from 1 to {MOST_DAYS}")
    return days


def array_settings(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of the storage array behind each host, in one line, for hosts that state them. Raises
    SettingsError."""
    return {host: text for host, text in _of_each_host("gate_array_settings", values, _one_line).items() if text}


def targets(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """For each host with a target, return the required load of its volumes as facts. Raises SettingsError."""
    return {
        host: target.as_facts() for host, target in _of_each_host("sweep_target", values, read_target).items() if target
    }


def _of_each_host(name: str, values: Mapping[str, Any], read: Callable[[Any], _Read]) -> dict[str, _Read]:
    """Return the value of a variable for each host. ``read`` raises ValueError with the problem. Raises SettingsError
    with all problems."""
    found: dict[str, _Read] = {}
    problems: dict[str, list[str]] = {}
    for host, value in values.items():
        try:
            found[host] = read(value)
        except ValueError as error:
            problems[host] = [f"{name} {error}"]
    if problems:
        raise SettingsError("; ".join(same_problem_once(problems)))
    return found


def _one_line(value: Any) -> str:
    """Return a string, or a dict of strings and numbers, as one line that does not depend on the order of the keys.
    Raises ValueError."""
    if isinstance(value, Mapping):
        value = ", ".join(f"{key}={_one_line(value[key])}" for key in sorted(value, key=str))
    elif isinstance(value, (list, tuple)):
        raise ValueError("must be a string, or a dictionary of strings and numbers")
    text = " ".join(str("" if value is None else value).split())
    if not text.isprintable():
        raise ValueError("contains characters that cannot be printed")
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"has {len(text)} characters, but may have at most {MOST_CHARACTERS}")
    return text


def same_problem_once(problems: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the problems without duplicates, with the hosts that have them."""
    hosts_by_problem: dict[str, list[str]] = {}
    for host in sorted(problems):
        for problem in problems[host]:
            hosts_by_problem.setdefault(" ".join(problem.split()), []).append(host)
    return [f"{shown(hosts)}: {problem}" for problem, hosts in hosts_by_problem.items()]


def _groups(hosts_by_value: Mapping[str, list[str]]) -> str:
    return "; ".join(f"{value} on {shown(hosts)}" for value, hosts in hosts_by_value.items())


def shown(hosts: list[str]) -> str:
    """Return the names of hosts, or the first few names and how many more there are."""
    more = f" and {len(hosts) - SHOWN_HOSTS} more" if len(hosts) > SHOWN_HOSTS else ""
    return ", ".join(hosts[:SHOWN_HOSTS]) + more


def refuse_computed(option: str, value: Any) -> None:
    """Raise OptionError if an option is a template in the inventory, because a template would confirm every host."""
    template = template_in(value)
    if template:
        raise OptionError(
            f"{option} is computed ({template}), so it would confirm every host: write the name "
            "of the host, in its host_vars"
        )


def refuse_unconfirmed(option: str, value: str, host: str, what: str) -> None:
    """Raise OptionError if the value of an option is not the name of the host; ``what`` is done only if it is."""
    if value != host:
        raise OptionError(
            f"{option} is {value or 'empty'}, but {what} only if it is the host's own name in the inventory: set it "
            "for each host, in its host_vars"
        )
