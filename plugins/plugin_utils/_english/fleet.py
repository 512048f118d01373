# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes the sentences about the verdict on a fleet."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from .._run.findings import reasons_among
from .._run.record import host_label
from .._run.verdicts import PASS
from .._run.words import words_of
from .findings import NO_REASON, in_words


def told_fleet(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """Return a verdict on a fleet together with its sentences: why each host does not pass, and other reasons for which
    the gate fails."""
    problems = [in_words(problem, words_of("")) for problem in verdict["problems"]]
    of_hosts = [
        f"{host_label(host['host'], host['volume'])}: {reason}"
        for host in verdict["hosts"]
        for reason in host_reasons(host)
    ]
    return {**verdict, "reasons": of_hosts + problems, "fleet_problems": problems}


def host_reasons(host: Mapping[str, Any]) -> list[str]:
    """Return sentences about why a host's volume does not pass or does not certify; none if it passes and certifies."""
    if host["verdict"] != PASS:
        return [
            f"{verdict}: {reason}"
            for verdict, reason in zip(_verdicts_of_reasons(host), host["reasons"] or [NO_REASON])
        ]
    return [] if host["certified"] or not host["qualification"] else [f"does not certify: {host['qualification']}"]


def _verdicts_of_reasons(host: Mapping[str, Any]) -> Iterable[str]:
    """Return the verdict to which each reason leads. A reason may be undecided, for example because the host was
    disturbed, even if another reason makes the volume fail. If the reasons of an edited record do not match its
    findings, each has the verdict of the volume."""
    own = [each["verdict"] for each in reasons_among(host["findings"])]
    return own if len(own) == len(host["reasons"]) > 0 else itertools.repeat(host["verdict"])
