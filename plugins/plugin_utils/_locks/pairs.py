# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which hosts are tested with each other, in which directory, and which pairs must wait for each other, and
tests all pairs of a run: pairs that share a host or a file server one after the other, and the others at the same
time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from .._run.volume_identity import share_storage


class PairsError(ValueError):
    """Hosts that cannot be paired; the message says why."""


@dataclass(frozen=True)
class Pair:
    """Two hosts. ``maker`` is the host that creates the directory under test. The names of this pair's files in the
    directory begin with ``label``, so that files left by a lost host do not affect other pairs."""

    first: str
    second: str
    maker: str
    label: str

    @property
    def hosts(self) -> tuple[str, str]:
        return self.first, self.second


Shared = Mapping[str, frozenset[tuple[str, str]]]
"""For each host, the names of its queue managers, each with the directory of its log."""


def check_pairs(plans: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise PairsError if a host under test names itself, or a host that is not under test. ``plans`` holds the plan of
    each host under test."""
    for host, plan in plans.items():
        for partner in plan["lock_test"]["partners"]:
            if partner == host:
                raise PairsError(f"locks_pair of {host} names the host itself: name the other host")
            if partner not in plans:
                raise PairsError(f"locks_pair of {host} names {partner}, which is not a host under test")


def pairs_of(plans: Mapping[str, Mapping[str, Any]], shared: Shared) -> list[Pair]:
    """Return the pairs of the hosts under test, in the order of the hosts: the pairs that the plans name, and the pairs
    of remaining hosts that have a queue manager of the same name with the same directory."""
    named = _named_couples(plans)
    others = [host for host in plans if not any(host in couple for couple in named)]
    found = [couple for couple in itertools.combinations(others, 2) if common(shared, *couple)]
    couples = [couple for couple in itertools.combinations(plans, 2) if couple in (*named, *found)]
    pairs, numbers = [], dict.fromkeys(plans, 0)
    makers = {host: members[0] for members in joined(plans, couples) for host in members}
    for first, second in couples:
        maker = makers[first]
        numbers[maker] += 1
        pairs.append(Pair(first, second, maker, f"pair{numbers[maker]}"))
    return pairs


def common(shared: Shared, one: str, other: str) -> frozenset[tuple[str, str]]:
    """Return the queue managers that two hosts have in common."""
    return shared.get(one, frozenset()) & shared.get(other, frozenset())


def names_pair(plans: Mapping[str, Mapping[str, Any]], host: str) -> bool:
    """Whether the plans name a partner for a host."""
    return any(host in couple for couple in _named_couples(plans))


def in_turn(pairs: Sequence[Pair], servers: Mapping[str, str]) -> list[list[Pair]]:
    """Return the pairs in lists. The pairs of a list have hosts or file servers in common, so they are tested one after
    the other. ``servers`` holds the file server of each host; empty if it is not known."""
    hosts = dict.fromkeys(itertools.chain(*(pair.hosts for pair in pairs)))
    names = {host: f"server {servers.get(host)}" if servers.get(host) else host for host in hosts}
    ties = [pair.hosts for pair in pairs] + list(names.items())
    groups = joined([*hosts, *names.values()], ties)
    return [found for group in groups if (found := [pair for pair in pairs if pair.first in group])]


def joined(names: Iterable[str], ties: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the names in lists, in their original order. Names that are connected by ties are in the same list."""
    order = list(dict.fromkeys(names))
    group_of = {name: {name} for name in order}
    for one, other in ties:
        union = group_of[one] | group_of[other]
        group_of.update(dict.fromkeys(union, union))
    groups = {id(group): group for group in group_of.values()}
    return [[name for name in order if name in group] for group in groups.values()]


def _named_couples(plans: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the pairs of hosts that share storage according to the inventory."""
    said = {host: plan["lock_test"] for host, plan in plans.items()}
    return [
        (one, other)
        for one, other in itertools.combinations(plans, 2)
        if share_storage(one, said[one], other, said[other])
    ]


def conduct(
    pairs: Sequence[Pair], servers: Mapping[str, str], test: Callable[[Pair], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the results in the order of the pairs. ``servers`` holds the file server of each host (empty if it is not
    known), and ``test`` tests a pair and returns its result."""
    groups = in_turn(pairs, servers)
    if not groups:
        return []
    with ThreadPoolExecutor(len(groups)) as executor:
        tested = executor.map(lambda group: [(pair, test(pair)) for pair in group], groups)
        results = {pair: result for group in tested for pair, result in group}
    return [results[pair] for pair in pairs]
