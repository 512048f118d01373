# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Why hosts and volumes are not certified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._run.findings import VOLUME_FACTS, WRONG_DATA
from .._run.kinds import DEFAULT, POWER_CUT
from .._run.record import host_label
from .._run.table_reader import printable
from .result import Result
from .standing import standing_facts_text
from .states import CURRENT, EXPIRED, FAILED, MOST_URGENT_FIRST, NONE, REVOKED, UNMEASURED, Status

_URGENCY = (FAILED, EXPIRED, UNMEASURED, NONE, REVOKED)


@dataclass(frozen=True)
class Problem:
    """The reason why a volume or host is not certified: the displayed name, its state, a sentence with dates and runs,
    the plain reason (by which problems are grouped), what to do, and the playbook that can clear the problem."""

    label: str
    state: str
    sentence: str
    reason: str
    next_step: str
    playbook: str = DEFAULT.playbook

    @property
    def text(self) -> str:
        """Return the problem in sentences for people and programs."""
        return f"{self.label}: {self.sentence}"


def problems_by_host(
    lines: Sequence[Status],
    expected: Iterable[str],
    plans: Mapping[str, Sequence[Result]],
    named: Mapping[str, Sequence[str]] | None = None,
    others: Iterable[tuple[str, Problem]] = (),
) -> dict[str, list[Problem]]:
    """Return, by host, why hosts are not certified under the requested profiles: one problem for each failed or expired
    volume of an expected host, for each volume that must be certified but is not, and for each host without a certified
    volume.

    The volumes that must be certified are those in the newest plan of a host (``plans``, by its printable name) and
    those that the inventory requires (``named``). ``others`` holds further problems, each with its host.
    """
    further: dict[str, list[Problem]] = {}
    for name, problem in others:
        further.setdefault(name, []).append(problem)
    by_host: dict[str, list[Status]] = {}
    for line in lines:
        if line.is_asked:
            by_host.setdefault(line.host, []).append(line)
    found: dict[str, list[Problem]] = {}
    for host in expected:
        own = by_host.get(printable(host), [])
        bad = [line for line in own if line.state in (FAILED, EXPIRED)]
        problems: list[Problem | None] = [_problem(line.label, line.state, line) for line in bad]
        wanted = _wanted(plans.get(printable(host), ()), (named or {}).get(host, ()))
        for volume, mount_point in wanted:
            of_name = [line for line in own if line.volume == volume]
            at_mount_point = [line for line in of_name if not mount_point or line.mount_point in ("", mount_point)]
            label = host_label(host, volume)
            problems.append(
                _missing(label if len(at_mount_point) == len(of_name) else f"{label} at {mount_point}", at_mount_point)
            )
        if not wanted and not bad:
            problems.append(_missing(host, own))
        problems += further.get(printable(host), [])
        found[host] = list(filter(None, problems))
    return {host: problems for host, problems in found.items() if problems}


def host_states(
    lines: Sequence[Status], expected: Iterable[str], problems: Mapping[str, Sequence[Problem]]
) -> dict[str, str]:
    """Return the state of each expected host: the most urgent one of its problems or, if it is certified, of its
    volumes under the requested profile. ``problems`` holds those of each host that is not certified."""
    by_host: dict[str, list[str]] = {}
    for line in lines:
        if line.is_asked:
            by_host.setdefault(line.host, []).append(line.state)
    found = {}
    for host in expected:
        states = by_host.get(printable(host), [])
        found[host] = (
            min((problem.state for problem in problems[host]), key=_URGENCY.index)
            if host in problems
            else min(states, key=MOST_URGENT_FIRST.index, default=NONE)
        )
    return found


def _wanted(plan: Iterable[Result], named: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names of the volumes that must be certified, each with its mount point (empty if any mount point is
    accepted)."""
    planned = [(each.volume, each.path) for each in plan]
    known = {volume for volume, dummy in planned}
    return [*planned, *((printable(volume), "") for volume in named if printable(volume) not in known)]


def _missing(label: str, lines: Sequence[Status]) -> Problem | None:
    """Return a problem if no volume among these lines is certified; None if one is, or if another problem gives the
    reason."""
    if any(line.state in (*CURRENT, FAILED, EXPIRED) for line in lines):
        return None
    if lines:
        return _problem(label, lines[0].state, lines[0])
    unknown = "the history does not contain it"
    return Problem(label, UNMEASURED, f"never measured: {unknown}", unknown, "measure it for the first time")


def _problem(label: str, state: str, line: Status) -> Problem:
    """Return the problem of a volume that is not certified."""
    return Problem(label, state, sentence_of(line), *_reason(line))


def _reason(line: Status) -> tuple[str, ...]:
    """Return why a volume is not certified (without dates and runs), what to do about it, and the playbook to use if it
    is not the one that certifies."""
    certify = "certify again"
    if line.loss:
        return (
            "lost acknowledged writes in a power cut",
            "correct the cache that lost them, and repeat at least as many power cuts: "
            "only a run that loses nothing clears this",
            POWER_CUT.playbook,
        )
    if line.fact:
        facts = line.fact.volume_facts.split()
        verify = " with sweep_verify" if WRONG_DATA in facts else ""
        return (
            " and ".join(VOLUME_FACTS[fact] for fact in facts),
            f"find the cause in the storage, and {certify}{verify}: only a run that passes clears this",
        )
    if line.state == FAILED:
        return f"failed {line.profile}", f"correct what the report of the run names as the cause, and {certify}"
    if line.state == EXPIRED:
        tried = f", and the last attempt ended with {line.attempt.verdict}" if line.attempt else ""
        return f"the certificate for {line.profile} expired{tried}", certify
    if line.state == NONE and line.replaced:
        return "its disk or file system has been replaced", certify
    if line.state == NONE:
        tried = f", and the last attempt ended with {line.attempt.verdict}" if line.attempt else ""
        return f"{_not_yet(line)}{tried}", certify if line.attempt and line.attempt.can_certify else "certify it"
    return f"the certificate for {line.profile} was {line.state}", certify


def _not_yet(line: Status) -> str:
    """State that a volume was never certified. The text does not suggest certifying the volume against a profile that
    can never certify."""
    if line.attempt and line.attempt.misdated:
        return f"it is not certified against {line.profile}, because its certificate is {line.attempt.date_text()}"
    if line.attempt and not line.attempt.can_certify:
        return f"it has not been certified yet, and {line.profile} never certifies"
    return f"it has not been certified against {line.profile} yet" if line.profile else "it has not been certified yet"


def grouped(problems: Iterable[tuple[str, Problem]]) -> list[dict[str, Any]]:
    """Return the reasons without duplicates, the most frequent of each state first, each with the hosts and volumes
    that it concerns. The items are pairs of a host and one of its problems."""
    found: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for host, problem in problems:
        key = (problem.state, problem.reason, problem.next_step, problem.playbook)
        found.setdefault(key, []).append((host, problem.label))
    ordered = sorted(found.items(), key=lambda each: (_URGENCY.index(each[0][0]), -len(each[1]), each[0][1]))
    return [
        {
            "state": state,
            "reason": reason,
            "next_step": next_step,
            "playbook": playbook,
            "hosts": list(dict.fromkeys(host for host, dummy in own)),
            "volumes": [label for dummy, label in own],
        }
        for (state, reason, next_step, playbook), own in ordered
    ]


def sentence_of(line: Status) -> str:
    """Return a line's state with its dates, and other important information."""
    parts = []
    if line.fact:
        parts.append(standing_facts_text(line.fact))
    if line.loss:
        parts.append(f"lost acknowledged writes in a power cut on {line.loss.judged_at[:10]} (run {line.loss.run_id})")
    if line.fact or line.loss:
        pass
    elif line.entry is None:
        parts.append(_not_yet(line))
    elif line.state == FAILED:
        parts.append(f"failed {line.profile} on {line.entry.judged_at[:10]} (run {line.entry.run_id})")
    elif line.state in (EXPIRED, *CURRENT):
        parts.append(f"{line.profile} until {line.entry.valid_until} (run {line.entry.run_id})")
    else:
        parts.append(f"{line.profile} of {line.entry.judged_at[:10]} was {line.state}")
    if line.attempt:
        parts.append(f"{line.attempt.verdict} on {line.attempt.judged_at[:10]}")
    if line.replaced and line.state == NONE:
        parts.append("its disk or file system has been replaced")
    if not line.is_asked:
        parts.append("a profile other than the requested one")
    if line.clones:
        parts.append(f"clone of {', '.join(line.clones)}")
    return "; ".join(parts)
