# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a comparison or the drift of a fleet found, what follows from it for queue managers, and what to do next. Each
fact is named once, with the volumes that it concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..._english.phrases import plural
from ..causes.advice import STORAGE, SYSTEM, talk_to
from ..changes import change_text, percent
from ..folding import fold_names

Item = Mapping[str, Any]

_SLOWER = "Whatever waits for these writes takes longer as well: of a recovery log, each persistent commit."
_UNPROVEN = "Nothing is proven: these volumes may or may not have become slower."
_ALL_SHARE = "look for something that all of them share: the array, its links, the hypervisor, or another load"
_ACCEPT = (
    "If the new level is intended, certify once with gate_baseline_accept: true, or set drift_since to the day of the "
    "change."
)
_WHO = talk_to(STORAGE, SYSTEM)
_SHOWN_CHANGES = 3


class Why(NamedTuple):
    """What was found: its word, which has a badge; the sentence, the consequence (empty if there is none), and the next
    step."""

    word: str
    statement: str
    consequence: str
    next_step: str


def why_compared(comparison: Item, sentence: Callable[[Item], str]) -> Iterator[Why]:
    """Yield what a comparison found, worst first. ``sentence`` is the function that returns why a host is
    inconclusive."""
    worse = [host for host in comparison["hosts"] if host["outcome"] == "worse"]
    if worse:
        most = max(worse, key=lambda host: host["change"])
        of = f"{most['host']} {percent(most['change'])}"
        yield Why("worse", f"{_names(worse)} became slower, the most: {of}", _SLOWER, _look_at(worse))
    together = [part for part in comparison["classes"] if part["worse_together"]]
    if together:
        names = fold_names(part["class"] for part in together)
        runs = "Run before, after, before, after, ... in turn, to tell the change from the night."
        yield Why("inconclusive", f"All volumes of {names} became slower together", _SLOWER, runs)
    reasons: dict[str, list[Item]] = {}
    for host in comparison["hosts"]:
        if host["outcome"] == "inconclusive":
            reasons.setdefault(sentence(host), []).append(host)
    for reason, hosts in sorted(reasons.items(), key=lambda each: -len(each[1])):
        yield Why("inconclusive", f"{_names(hosts)}: {reason}", _UNPROVEN, _decide(hosts))


def why_drifting(
    drift: Item, beyond: Callable[[Item], str], nights: Sequence[str], declines: Sequence[str]
) -> Iterator[Why]:
    """Yield what the drift of a fleet found, worst first. ``beyond`` is the function that describes how far a volume is
    beyond its limit; ``nights`` and ``declines`` are the sentences about what fails the playbook for whole classes."""
    by_state: dict[str, list[Item]] = {}
    for volume in drift["volumes"]:
        by_state.setdefault(volume["state"], []).append(volume)
    for volume in by_state.get("drifting", [])[:_SHOWN_CHANGES]:
        events = volume["events"][-1:]
        told = _look_at(events or volume["certificates"][-1:])
        yield Why("drifting", beyond(volume), _SLOWER, f"{told} {_ACCEPT}")
    left = by_state.get("drifting", [])[_SHOWN_CHANGES:]
    if left:
        yield Why("drifting", f"{_names(left)} drifted as well", "", "Look at their charts.")
    for text in declines:
        yield Why("drifting", text, _SLOWER, f"First, {_ALL_SHARE}. {_ACCEPT}")
    for text in nights:
        yield Why("drifting", text, _SLOWER, f"No single volume is to blame: {_ALL_SHARE}.")
    if found := by_state.get("conspicuous", []):
        once = "One certificate beyond the limit can be chance, so it does not fail the playbook."
        yield Why("conspicuous", f"{_names(found)}: only the newest certificate is slow", once, "Certify again.")
    if found := by_state.get("short", []):
        few = "Certify more often, for example every night: five certificates that can be compared are enough."
        yield Why("short", f"{_names(found)}: there are too few certificates", "Their drift is not known.", few)


def _names(volumes: Sequence[Item]) -> str:
    """Return the number and the names of volumes."""
    return f"{plural(len(volumes), 'volume')} ({fold_names(str(each['host']) for each in volumes)})"


def _look_at(found: Iterable[Item]) -> str:
    """Return the next step for volumes or change points: to examine what else changed, if that is known."""
    changes = dict.fromkeys(change_text(change, "\u2192") for each in found for change in each["changes"])
    if not changes:
        unknown = "No recorded fact changed, so ask what was changed at the storage, its links or its load in between."
        return f"{unknown} {_WHO}"
    shown = ", ".join([*changes][:_SHOWN_CHANGES])
    return f"Undo what changed at the same time on one volume, and certify it again: {shown}. {_WHO}"


def _decide(hosts: Sequence[Item]) -> str:
    """Return what would decide the comparison of volumes."""
    needed = max((host["runs_needed"] or 0 for host in hosts), default=0)
    if needed:
        return f"Make {plural(needed, 'run')} on either side, in turn: before, after, before, after."
    if any(host["upper_bound"] is None for host in hosts):
        return "Make several runs on either side, in turn: before, after, before, after."
    return "Decide whether a change of this size matters, and set the margin accordingly."
