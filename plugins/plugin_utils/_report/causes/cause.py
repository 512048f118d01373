# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A cause is one reason why hosts do not pass or do not certify. This module contains what all causes have in common,
and finds the reasons for a host's verdict other than limits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....module_utils._units import format_count
from ..._run.findings import LIMIT as OF_LIMIT
from ..._run.findings import OF_HISTORY, SETTING, UNMEASURED, reasons_among, row_of
from ..._run.kinds import opened_for
from ..._run.verdicts import GOOD, PASS
from ..folding import brief, fold_names, shorten
from ..model import Host, Model
from ..series import LimitEntry

LIMIT, BASELINE, QUALIFICATION, LEFTOVERS = "limit", "baseline", "qualification", "leftovers"
"""Kinds of causes. There are other kinds for testers that did not finish and for hosts without a measurement. The views
of kinds of runs define their own."""

LONGEST_FINDING = 200
"""How many characters of what decided the verdict are in the first line of a report."""
LONGEST_TEXT = 400
"""How many characters of a text from a host are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One reason why hosts do not pass or do not certify.

    ``verdict`` is the verdict of the hosts because of this cause. It is pass if they only do not certify, and "not
    measured" in check mode. ``statement`` describes in one sentence what is wrong and which hosts it concerns.
    ``detail`` is the full sentence about the worst host, or empty if it would only repeat the statement.
    ``consequence`` describes what this means for MQ, ``seen`` lists the symptoms in the figures of the hosts, and
    ``next_step`` describes what to do. Each of these is empty if nothing is known. ``hosts`` are the labels of the
    hosts, worst first. ``key`` is used in anchors, and is the same whenever the run is rendered. ``limits`` are the
    limits that are not met, as text. ``limit`` is the strictest of these limits, or None if the cause is not about
    limits. ``limit_id`` is the id of a criterion that is not a limit of the profile, and otherwise empty. ``symptom``
    is the key of the symptom that its hosts have in common (see advice.SYMPTOMS), empty if there is none.
    """

    kind: str
    verdict: str
    statement: str
    detail: str = ""
    consequence: str = ""
    seen: str = ""
    next_step: str = ""
    hosts: tuple[str, ...]
    key: str
    limit: LimitEntry | None = None
    limit_id: str = ""
    limits: tuple[str, ...] = ()
    symptom: str = ""


def instead(model: Model) -> Mapping[str, str]:
    """Return the advice for this kind of run if it differs from the advice for a test."""
    # In check mode, any kind of run is a preflight.
    return opened_for(model.run).view.advice


def who(model: Model, hosts: Sequence[Host]) -> str:
    """Return the number and names of these hosts; empty if the run has only one."""
    if len(model.hosts) == 1:
        return ""
    labels = list(dict.fromkeys(host.label for host in hosts))
    return fold_names(labels) if len(labels) == 1 else f"{count(model, labels)} ({fold_names(labels)})"


def count(model: Model, labels: Sequence[str]) -> str:
    """Return a text that states how many of the run's hosts these are."""
    return f"{format_count(len(labels))} of {model.size}"


def decided_by(text: str, labels: Sequence[str] = ()) -> str:
    """Return what decided the verdict of a run, for the first line of a report. If the text does not name its hosts,
    their ``labels`` precede it."""
    names = " and ".join(map(shorten, labels))
    return f"{names}: {brief(text, LONGEST_FINDING)}" if names else brief(text, LONGEST_FINDING)


def make_cause(
    kind: str, verdict: str, statement: str, hosts: Iterable[Host], limits: Iterable[str] = (), **parts: Any
) -> Cause:
    """Return a cause with the given parts. Its key is derived from what is wrong."""
    key = hashlib.sha256(f"{kind} {verdict} {statement}".encode("utf-8", "surrogatepass")).hexdigest()[:12]
    labels = tuple(dict.fromkeys(host.label for host in hosts))
    return Cause(
        kind=kind,
        verdict=verdict,
        statement=statement,
        hosts=labels,
        key=f"cause-{key}",
        limits=tuple(dict.fromkeys(limits)),
        **parts,
    )


def beside_limits(host: Host, limits: Iterable[LimitEntry]) -> list[dict[str, Any]]:
    """Return the findings that are reasons for a host's verdict, without those about the worst rows of given limits."""
    known = {row_of({**limit, **limit["worst"]}) for limit in limits}
    return [each for each in reasons_among(host.findings) if each["kind"] != OF_LIMIT or row_of(each) not in known]


def is_without_usable_figures(host: Host) -> bool:
    """Return whether something other than a figure decided the verdict of a host that does not pass, such as a write
    that failed. The figures up to that point do not show how close the host comes to its limits."""
    return host.verdict not in GOOD and any(
        each["verdict"] == host.verdict and each["kind"] != SETTING for each in unexplained(host)
    )


def unexplained(host: Host) -> list[dict[str, Any]]:
    """Return the findings of a host that are neither about a limit nor added by the history. If there is no reason at
    all, return one finding without text."""
    found = [
        finding
        for finding in beside_limits(host, (limit for limit in host.limits if limit["verdict"] != PASS))
        if finding["kind"] not in OF_HISTORY
    ]
    return found if found or reasons_among(host.findings) else [{"kind": UNMEASURED, "verdict": host.verdict}]
