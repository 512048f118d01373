# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which hosts a run is expected to certify, from the inventory, a pattern and a limit.

If a part of a pattern matches nothing, Ansible itself only prints a warning. Here it is an error, so that a typo never
reduces the number of expected hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible.inventory.manager import InventoryManager, split_host_pattern
from ansible.module_utils.parsing.convert_bool import boolean

from .._run.answers import is_empty
from .outcome import CONTROLLER

SLICED = "logdisk_sliced"
"""The extra variable that the sliced template of playbooks/awx/logdisk.yml sets. A job cannot find out in any other way
that it is a slice."""

_PLAIN_NAME = re.compile(r"[\w.-]+")
_KNOWN_TERMS = (("certify_hosts", "!localhost"), ("--limit", "localhost"))
"""Terms that are accepted even if localhost is not in the inventory: one in the default pattern, and those of a limit
that includes plays on the controller."""
_NOT_LOCALHOST = f"!{CONTROLLER}"
HOW_TO_INCLUDE = f"To include {CONTROLLER}, which is in the inventory, set certify_hosts=all"
LOCALHOST_LEFT_OUT = f"certify_hosts leaves {CONTROLLER} out. {HOW_TO_INCLUDE}."


class ExpectationError(Exception):
    """An expectation cannot be met. The message states why and what to do."""


@dataclass(frozen=True)
class Expectation:
    """``hosts`` are the hosts to be certified; ``left_out`` are hosts that match the pattern, but are left out by the
    limit. Both are sorted. ``unmatched`` are the terms of the limit that match no host of the inventory slice, in the
    order of the limit. ``localhost_left_out``: whether the inventory contains localhost, and only ``!localhost`` in the
    pattern, which is part of the default, leaves it out."""

    hosts: list[str]
    left_out: list[str]
    unmatched: list[str] = field(default_factory=list)
    localhost_left_out: bool = False


def is_slice(extra: Mapping[str, Any]) -> bool:
    """Return whether the extra variables of a job state that the job is a slice, which sees only a part of the
    inventory. Raises ExpectationError if the value is unclear."""
    try:
        return not is_empty(extra.get(SLICED)) and boolean(extra[SLICED])
    except TypeError:
        raise ExpectationError(f"{SLICED}: {extra[SLICED]!r} is neither true nor false") from None


def expectation(
    groups: Mapping[str, Sequence[str]],
    loader: Any,
    pattern: str | Sequence[str],
    limit: str | None,
    sliced: bool = False,
    named: bool = False,
) -> Expectation:
    """Return the hosts to certify. Raises ExpectationError if there are none, or if a term of the pattern or the limit
    matches no host. In a slice, a term of the limit may match only hosts of another slice. If a play will have the
    hosts by their names (``named``), Ansible must not read a name as anything but this host.

    ``groups`` holds the host names of every group of the inventory (Ansible's magic variable of that name).
    """
    inventory = _inventory(groups, loader)
    terms, limits = _terms(pattern), _terms(_limit_terms(limit or ""))
    unmatched = [term for term in limits if not _is_matched(inventory, "--limit", term)] if sliced else []
    for option, each in [("certify_hosts", term) for term in terms] + [
        ("--limit", term) for term in limits if term not in unmatched
    ]:
        _check_term(inventory, option, each)
        _check_meaning(groups, option, each.lstrip("!&"))
    matched = _match(inventory, terms)
    limited = _match(inventory, limits) if limits else {CONTROLLER, *matched}
    hosts = matched & limited
    others = [term for term in terms if term != _NOT_LOCALHOST]
    localhost_left_out = CONTROLLER in _match(inventory, others or ["all"]) & limited - hosts
    if not hosts:
        by_limit = f" and --limit {limit}" if limit else ""
        way_out = f". {HOW_TO_INCLUDE}" if localhost_left_out else ""
        raise ExpectationError(
            f"no host is left: the inventory, certify_hosts ({':'.join(terms)}){by_limit} have none in common{way_out}"
        )
    for host in hosts if named else ():
        _check_name(inventory, host)
        _check_meaning(groups, "the inventory", host)
    return Expectation(sorted(hosts), sorted(matched - hosts), unmatched, localhost_left_out)


def check_slices(groups: Mapping[str, Sequence[str]], loader: Any, unmatched: Iterable[str]) -> None:
    """Raise ExpectationError if a term of the limit matches no host of any slice, and no host of the whole inventory
    either."""
    inventory = _inventory(groups, loader)
    for term in dict.fromkeys(unmatched):
        _check_term(inventory, "--limit of a slice", term)


def has_controller(groups: Mapping[str, Sequence[str]], loader: Any, limit: str | None) -> bool:
    """Return whether plays that name the controller still include it if there is a limit. A controller that is not in
    the inventory belongs to no group."""
    limits = _terms(_limit_terms(limit or ""))
    return not limits or any(
        host.name == CONTROLLER
        for host in _inventory(groups, loader).get_hosts(limits, ignore_limits=True, ignore_restrictions=True)
    )


def check_count(hosts: Sequence[str], expected_count: int) -> None:
    """Raise ExpectationError if a number of hosts is required (0: any number) and there are more or fewer."""
    if expected_count and len(hosts) != expected_count:
        raise ExpectationError(
            f"gate_expected_count is {expected_count}, but there are {len(hosts)} hosts to certify: {_shown(hosts)}"
        )


def check_play(hosts: Sequence[str], play_hosts: Sequence[str]) -> None:
    """Raise ExpectationError unless a run expects exactly the hosts of its play. Otherwise hosts would be measured and
    not judged, or judged and not measured."""
    for name, more, fewer in (("expects", hosts, play_hosts), ("does not expect", play_hosts, hosts)):
        others = sorted(set(more) - set(fewer))
        if others:
            raise ExpectationError(
                f"gate_hosts {name} {_shown(others)}, unlike the play that opens the run: leave gate_hosts out, and "
                "choose the hosts with -e certify_hosts=..."
            )


def _shown(hosts: Sequence[str]) -> str:
    return ", ".join(hosts[:10]) + (f" and {len(hosts) - 10} more" if len(hosts) > 10 else "")


def _inventory(groups: Mapping[str, Sequence[str]], loader: Any) -> InventoryManager:
    inventory = InventoryManager(loader, parse=False)
    for group, hosts in groups.items():
        inventory.add_group(group)
        for host in hosts:
            inventory.add_host(host, group=group)
    return inventory


def _terms(pattern: str | Sequence[str]) -> list[str]:
    given = [pattern] if isinstance(pattern, str) else list(pattern)
    return [term for part in given for term in split_host_pattern(str(part)) if term]


def _limit_terms(limit: str) -> list[str]:
    """Return the terms of a limit. As in Ansible, ``@file`` stands for the lines of the file."""
    terms: list[str] = []
    for term in split_host_pattern(limit):
        if not term.startswith("@"):
            terms.append(term)
            continue
        try:
            with open(term[1:], encoding="utf-8") as file:
                terms.extend(line.strip() for line in file if line.strip())
        except OSError as error:
            raise ExpectationError(f"--limit {term} cannot be read: {error.strerror}") from None
    return terms


def _is_matched(inventory: InventoryManager, option: str, term: str) -> bool:
    return (option, term) in _KNOWN_TERMS or bool(_match(inventory, [term.lstrip("!&")]))


def _check_term(inventory: InventoryManager, option: str, term: str) -> None:
    if _is_matched(inventory, option, term):
        return
    if not inventory.get_hosts("all"):
        raise ExpectationError("the inventory contains no hosts: name one with -i, for example -i hosts.yml")
    raise ExpectationError(
        f"{option} names {term!r}, which matches no host of the inventory: correct it or leave it out"
    )


def _check_name(inventory: InventoryManager, host: str) -> None:
    """Raise ExpectationError if Ansible would not read the name of a host as this host alone."""
    if _PLAIN_NAME.fullmatch(host) or (split_host_pattern(host) == [host] and _match(inventory, [host]) == {host}):
        return
    raise ExpectationError(
        f"Ansible reads the name of the host {host!r} as a pattern for hosts: give the host a name without blanks, "
        "commas and other characters of patterns, and set its address as ansible_host"
    )


def _check_meaning(groups: Mapping[str, Sequence[str]], option: str, name: str) -> None:
    """Raise ExpectationError if a name belongs to a host and to a group with other hosts: Ansible uses the group, and
    ignores the host."""
    if name in groups and name in groups.get("all", ()) and set(groups[name]) != {name}:
        raise ExpectationError(
            f"{option} names {name!r}, which is both a host and a group with other hosts, so it is not clear what is "
            "meant: rename one of them in the inventory"
        )


def _match(inventory: InventoryManager, terms: list[str]) -> set[str]:
    # Ansible creates a host for "localhost" if it is not in the inventory.
    return (
        {
            host.name
            for host in inventory.get_hosts(terms, ignore_limits=True, ignore_restrictions=True)
            if not host.implicit
        }
        if terms
        else set()
    )
