# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences about the locks of two hosts: what is wrong in a step, and why a step decides nothing or was not
carried out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from ..._english.notes import SETTING_TEXT, Text
from ..._english.phrases import phrase, plural
from ..._run.findings import SETTING
from ..._run.lock_steps import (
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    LATE_WRITES,
    LOCK_COUNT,
    LOCKED,
    LOST,
    POD_DELETED,
    SAME_HOST,
    SECOND_REFUSED,
    SERVER_FAILOVER,
    SETTINGS,
    UNDER_LOAD,
    UNLOCKED,
    figure,
    figure_text,
)
from ..._run.words import Words
from .. import facets
from .criteria import LOCK_BROKEN, LOCK_NOT_COVERED, LOCK_UNDECIDED

TITLES = {
    SETTINGS: "settings",
    SECOND_REFUSED: "second host refused",
    SAME_HOST: "second process refused",
    HAND_OVER: "hand-over",
    CONCURRENT_UPDATES: "concurrent updates",
    UNDER_LOAD: "under full log load",
    HOST_LOST: "host lost",
    CUT_OFF: "host cut off and back",
    SERVER_FAILOVER: "failover of the file server",
    LOCK_COUNT: "number of locks",
    POD_DELETED: "pod deleted by force",
}
"""The displayed names of the steps."""

Finding = Mapping[str, Any]
_Texts = Mapping[str, str | Mapping[str, str]]
"""The templates by the code of a finding. If the step matters, they are by step, and the usual one has no step."""

_GRANTED = "{other} got the lock while {holder} held it"

_GRANTED_TEXTS = {
    "": _GRANTED,
    SAME_HOST: "two processes of {holder} held the lock at once",
    UNDER_LOAD: f"{_GRANTED} and wrote at full load",
    SERVER_FAILOVER: f"{_GRANTED}, when the file server failed over",
    CUT_OFF: f"{_GRANTED}, before that host was cut off",
    HOST_LOST: f"{_GRANTED}, before that host was lost",
    POD_DELETED: f"{_GRANTED}, although its tester still ran",
}

_BROKEN: _Texts = {
    "granted": _GRANTED_TEXTS,
    "lock_lost_at_failover": _GRANTED_TEXTS,
    "refused_by_error": "[{asking_holder} could not take a free lock: it got {error}|{other} asked for the lock that "
    "{holder} held and got {error}, which is an error and not a refusal (EAGAIN or EACCES)]",
    "not_released": "{other} never got the lock after {holder} {released}",
    "updates_lost": "[{updates_lost:count} of {updates_made:count} ]updates that {first} and {second} made to one "
    "record under the lock are lost",
    "torn": "[{torn:count} of the ]records that {first} and {second} updated under the lock were torn when they were "
    "read",
    "write_lost": "{host} does not read what it has just written there, although the write succeeded",
    "write_error": {
        "": "a write of {holder}{to} failed with {error}",
        UNDER_LOAD: "a write of {holder}{to} failed with {error} under full load",
        SERVER_FAILOVER: "a write of {holder}{to} failed with {error} at the failover of the file server",
    },
    "verification_error": "the verification of its lock failed on {holder} with {error}",
    "never_taken_over": "{other} did not get the lock[ within {takeover_ns:duration}] after {holder} was {lost}",
    "late_write_landed": "{late} of {holder}{to} landed {landed}",
    "acknowledged_lost": {
        "": "[{lost_writes:count} of the ][{acknowledged:count} ]writes that the file server had "
        "acknowledged to {holder} were gone after {other} had taken over",
        SERVER_FAILOVER: "[{lost_writes:count} of the ][{acknowledged:count} ]writes that the file "
        "server had acknowledged to {holder} were gone after the failover",
    },
    "pause_not_ended": "the writes of {holder} did not continue[ within {write_pause_max_ns:duration}] after the "
    "failover of the file server",
    "lock_lost_after_failover": "{other} got the lock while {holder} held it, [{after_ns:duration} ]after the writes "
    "had continued at the failover",
    "lost_at_close": "{partner_of_holder} got the lock while {holder} held it, after another process of {holder} "
    "{touched} and closed it",
    "lost_at_return": "{holder} got the lock when it was back, although {other} had taken over and held it",
    "not_fenced": "the pending write of {holder}{to} ended without an error after {other} had taken over",
    SETTING: SETTING_TEXT.replace("{subject}", "{host}"),
    "not_shared": "{reader} [does not find {directory}, which exists on {found_on}|does not read in {directory} what "
    "{partner_of_reader} has written there, not even 10 s later], so they do not share the directory",
    "same_machine": "{first} and {second} are two names of the same machine",
    "one_kernel": "{first} and {second} share one kernel, which manages their locks itself, so nothing is known about "
    "the locks of other machines",
}
"""What is wrong, by the code of the finding."""

_OPEN: _Texts = {
    "not_run": "it was not carried out",
    "no_figure": "its figures are not known",
    "short_load": "the load lasted [{load_s:seconds}|an unknown time], but the profile requires {limit_value:seconds}",
    "agent_lost": "the connection to [the tester on {host}|a tester] ended{why}",
    "deadline": "[the tester on {host}|a tester] did not answer in time",
    "did_not_come_back": "{holder} did not come back",
    "not_cut": "{holder} was not cut{why}",
    "same_node": "{first} and {second} ran on one node when this step began",
    "not_deleted": "the tester in {holder} did not end when the pod was deleted",
    "orderly_end": "{holder} ended its connection or released its lock itself, so it did not lose its power: use a "
    "command that cuts the power at once{why}",
    "no_failover_seen": "[nothing shows that the file server failed over: the longest pause of the writes of {holder} "
    "was {write_pause_max_ns:duration}, and {earlier_pause_max_ns:duration} before the command|the writes of {holder} "
    "never paused, so the file server did not fail over]",
    "seen_again": "{holder} was running again [{back_before_ns:duration} ]before {other} had the lock, so it may have "
    "released the lock itself: use a command that keeps it off until the takeover",
    "not_permitted": "the user of the tester[ with the ID {user}] may not open [{path}|the directory] on "
    "[{host}|a host] ({error})",
    "other_path": "the directory is [{path}|unknown] on [{host}|{first}], but [{other_path}|unknown] on "
    "{partner}, although both hosts have the same file system: set workspace_path of both to one directory of it",
    "not_concurrent": "{first} and {second} never updated the record at the same time",
    "nothing_pending": "the writes of {holder} ended with {error} before {other} had taken over, so none was pending",
    "log_incomplete": "the log does not contain everything that {other} wrote after it had taken over",
    "internal_error": "an internal error occurred{why}",
    "still_connected": "{holder} still reached the file server",
    "not_tested": "[{host}|a host] could not be tested{why}",
    "queue_managers": "{holder} was not cut{why}",
    "command_failed": "the command failed{why}",
    "call_failed": "[{verb}|a call] failed with {error}",
    "refused_by_error": "a lock ended with {error} instead of being refused or granted",
    "lock_not_free": "the lock was not free when the step began",
    "not_healed": "it is not known whether {holder} reaches the file server again{why}; the packet filter ends by "
    "itself",
    "no_pair": "there is no other host with the same directory",
}
"""Why a step decides nothing, by the code of the finding."""

_NOT_COVERED: _Texts = {
    "no_command": {
        "": "locks_cut_command is not set for {holder}",
        SERVER_FAILOVER: "locks_server_command is not set",
    },
    "no_confirm": "locks_confirm of {holder} is not the name of that host",
    "no_privilege": "packets cannot be filtered on {holder} without root",
    "no_nft": "{holder} has no nft",
    "no_server_address": "the address of the file server of {holder} is not known",
    "is_pod": "certify_pvc.yml does not test this, because it affects nodes and file servers",
    "second_granted": "both hosts got the lock in an earlier step, so this step would show nothing new",
}
"""Which prerequisite of a step is missing, by the code of the finding."""

_SAID = (
    *("errno", "host", "log", "other_path", "output", "path", "problem", "said"),
    *("expected", "title", "user", "value", "verb", "way", "when", "why"),
)
"""The figures that are texts."""
_RELEASED = {"close": "closed the file", "exit": "ended its process", "kill": "was killed"}
_LANDED = {
    "takeover": "between the loss of its lock and the first write of {other}",
    "later": "after {other} had taken over",
    "end": "long after {other} had taken over",
}


def step_title(step: str) -> str:
    """Return the displayed name of a step, which may come from another version."""
    return TITLES.get(step, step)


def broken_text(finding: Finding, words: Words) -> str:
    """Return what is wrong with the locks."""
    return _of_code(_BROKEN, finding) or f"{_case(finding)}: {finding['code'] or 'it did not pass'}"


def undecided_text(finding: Finding, words: Words) -> str:
    """Return a sentence that states that a step decides nothing, and why."""
    return f"{_case(finding)}: {why_open(finding)}"


def not_covered_text(finding: Finding, words: Words) -> str:
    """Return a sentence that states that a step was not carried out, and why."""
    return f"not covered: {_case(finding)}: {why_not_covered(finding)}"


def why_open(finding: Finding) -> str:
    """Return why a step decides nothing."""
    return _of_code(_OPEN, finding) or finding["code"] or "its outcome is not known"


def why_not_covered(finding: Finding) -> str:
    """Return which prerequisite of a step is missing."""
    return _of_code(_NOT_COVERED, finding) or finding["code"] or "no reason is recorded"


def _of_code(texts: _Texts, finding: Finding) -> str:
    """Return the text for the code of a finding; empty if the code is not known."""
    template = texts.get(finding["code"], "")
    if isinstance(template, Mapping):
        template = template.get(finding.get("step", "")) or template[""]
    return phrase(template, _values(finding)) if template else ""


def _case(finding: Finding) -> str:
    """Return the title of the step with the hosts that took part in it."""
    at, title = finding["at"], step_title(finding["step"])
    if at["holder"] == at["other"] or not at["other"]:
        return f"{title} ({at['holder']})"
    if finding["step"] in (SETTINGS, CONCURRENT_UPDATES):
        return f"{title} ({at['holder']} and {at['other']})"
    return f"{title} ({at['holder']} holds the lock, {at['other']} wants it)"


def _values(finding: Finding) -> Mapping[str, Any]:
    """Return the values for the templates: the figures of the step, its hosts, and what follows from them. An unknown
    text is empty."""
    names, at = finding.get("figures") or {}, finding["at"]
    known = defaultdict(str, {name: (figure_text if name in _SAID else figure)(finding, name) for name in names})
    host, path = figure_text(finding, "host"), figure_text(finding, "path") or "the directory"
    made, kept = figure(finding, "updates_made"), figure(finding, "updates_kept")
    late, reader = figure(finding, LATE_WRITES.get(known["log"] or LOCKED, "")), host or at.get("second", "")
    elsewhere = known["other_path"]
    known.update(
        at,
        limit_value=finding.get("limit_value"),
        error=known["errno"] or "an unknown error",
        asking_holder=host if host == at["holder"] else "",
        released=_RELEASED.get(known["way"], "released it"),
        updates_lost=None if made is None or kept is None else max(0, made - kept),
        to=" to a file that it had not locked" if known["log"] == UNLOCKED else "",
        lost=LOST.get(finding.get("step"), "lost"),
        late=plural(int(late), "late write") if late else "late writes",
        landed=phrase(_LANDED.get(known["when"], _LANDED["later"]), at),
        lost_writes=known["acknowledged_lost"] or None,
        touched="read" if known["way"] == "read" else "opened",
        partner=_partner(at, host or at.get("first", "")),
        partner_of_holder=_partner(at, at["holder"]),
        partner_of_reader=_partner(at, reader),
        reader=reader,
        directory=path,
        # The path on the other host is known if the directory itself is missing.
        found_on=_partner(at, reader) + (f" as {elsewhere}" if elsewhere != path else "") if elsewhere else "",
        why=_why(finding),
    )
    return known


def _partner(at: Mapping[str, str], host: str) -> str:
    """Return the other host of the pair."""
    return str(at.get("second" if host == at.get("first") else "first"))


def _why(finding: Finding) -> str:
    """Return the status and the message of a host or a command, in parentheses; empty if there are none."""
    said = next(filter(None, (figure_text(finding, name) for name in ("why", "problem", "output", "said"))), "")
    status = figure(finding, "status")
    parts = [f"status {status:.0f}"] if status is not None else []
    parts += [" ".join(said.split())] if said else []
    return f" ({', '.join(parts)})" if parts else ""


class English(facets.English):
    """The sentences about steps that are broken, undecided or not covered."""

    texts: Mapping[str, Text] = {
        LOCK_BROKEN: broken_text,
        LOCK_UNDECIDED: undecided_text,
        LOCK_NOT_COVERED: not_covered_text,
    }
