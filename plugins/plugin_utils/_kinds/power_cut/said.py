# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences about power cuts that several formats contain. They are made after the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ....module_utils._units import format_count
from ..._durability.cut import OUTCOMES
from ..._report.folding import more_hosts, shorten
from ..._report.model import Host, Model
from ..._run.verdicts import FAIL

SHOWN = 5
"""The maximum number of hosts with separate lines, worst first."""

_UNDECIDED = "Nothing is proven: this storage may keep what it acknowledged or lose it."
_CUT_AGAIN = "Correct the named problem, and run playbooks/power_cut.yml."

_LOST_BEFORE = {
    "consequence": (
        "Persistent messages whose commit was confirmed can be lost when the power fails, however fast this storage is."
    ),
    "next_step": "Correct the problem that the report of that run names, and run playbooks/power_cut.yml again.",
}
"""The consequence of a loss that is recorded in the history."""


def durability_lines(model: Model) -> list[str]:
    """Return the results of the cuts of each host, what they prove, and, without duplicates, what the cut commands
    test."""
    cut = model.hosts_with_own
    lines = []
    for host in cut[:SHOWN]:
        lines.append(f"{shorten(host.label)}: {counts_text(host)}")
        lines += [f"{shorten(host.label)}: {host.own['claim']}"] if host.own["claim"] else []
    lines += [f"and {more_hosts(len(cut) - SHOWN)}"] if len(cut) > SHOWN else []
    return [*lines, *dict.fromkeys(host.own["tests"] for host in cut[:SHOWN] if host.own["tests"])]


def counts_text(host: Host) -> str:
    """Describe how many power cuts there were, and their outcomes."""
    cuts = host.own["cuts"]
    told = [(outcome, sum(cut["outcome"] == outcome for cut in cuts)) for outcome in OUTCOMES]
    made = f"{format_count(len(cuts))} of {format_count(host.own['cut_count'])} cuts"
    return ", ".join([made, *(f"{format_count(count)} {outcome}" for outcome, count in told if count)])


def advice_on_cuts(found: Iterable[tuple[Host, Mapping[str, Any]]], verdict: str) -> tuple[str, str]:
    """Return the consequence and the next step for a finding on some hosts, with its verdict.
    If none of these hosts had its power cut, the loss is recorded in the history."""
    if verdict != FAIL:
        return _UNDECIDED, _CUT_AGAIN
    told = [
        loss for host, finding in found for loss in host.own.get("losses", []) if loss["cause"] == finding.get("cause")
    ]
    losses = told or [_LOST_BEFORE]
    texts = [" ".join(dict.fromkeys(loss[key] for loss in losses)) for key in ("consequence", "next_step")]
    return texts[0], texts[1]
