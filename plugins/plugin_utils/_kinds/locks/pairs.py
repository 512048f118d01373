# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Collects the pairs of hosts for a report, worst first. Each pair is listed once, although the records of both hosts
contain it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._report.folding import natural
from ..._report.model import Host
from ..._run.findings import LIMIT
from ..._run.lock_steps import Pair, is_about
from ..._run.record import host_label
from ..._run.verdicts import rank
from .criteria import LOCK_BROKEN, LOCK_NOT_COVERED, LOCK_UNDECIDED

_FINDINGS = (LOCK_BROKEN, LIMIT, LOCK_UNDECIDED, LOCK_NOT_COVERED)


@dataclass(frozen=True)
class ShownPair:
    """A pair as recorded by both of its hosts: its results, the volume, the worse of the two verdicts, and the limit
    on its takeovers."""

    results: Mapping[str, Any]
    volume: str
    verdict: str
    takeover_s: float
    hosts: Sequence[Host]

    @property
    def labels(self) -> tuple[str, str]:
        """The names of the two hosts, with the volume if it is not the default one."""
        return host_label(self.results["first"], self.volume), host_label(self.results["second"], self.volume)


def pairs_of(hosts: Iterable[Host]) -> list[ShownPair]:
    """Return the pairs of some hosts, worst first."""
    found: dict[tuple[str, ...], list[tuple[Host, Mapping[str, Any]]]] = {}
    for host in hosts:
        for pair in host.own.get("pairs") or ():
            key = (host.volume, pair["first"], pair["second"], pair["directory"])
            found.setdefault(key, []).append((host, pair))
    pairs = [
        ShownPair(
            both[0][1],
            key[0],
            min((pair["verdict"] for _host, pair in both), key=rank),
            both[0][0].own["required"]["takeover_s"],
            [host for host, _pair in both],
        )
        for key, both in found.items()
    ]
    return sorted(pairs, key=lambda pair: (rank(pair.verdict), *map(natural, pair.labels)))


def gravest_of(pair: ShownPair) -> Mapping[str, Any] | None:
    """Return the finding that gives a pair its verdict: what is broken, before a limit that is not met and before what
    is not known. None if the pair passes."""
    found = [each for host in pair.hosts for each in findings_about(host, pair.results)]
    decides = [each for each in found if each["verdict"] == pair.verdict]
    return min(decides, key=lambda each: _FINDINGS.index(each["kind"]), default=None)


def findings_about(host: Host, pair: Pair) -> list[Mapping[str, Any]]:
    """Return the findings of a host about one of its pairs."""
    return [each for each in host.findings if each["kind"] in _FINDINGS and is_about(each, pair)]
