# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The sentences about the locks of two hosts: what is wrong in a step, and why a step decides nothing or was not
carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils import _units
from .._judge.lock_limits import (
    CALL,
    COUNT_LIMIT,
    FAILOVER_PAUSE_LIMIT,
    FAILOVER_VERIFICATION_LIMIT,
    HAND_OVER_LIMIT,
    PAUSE_LIMIT,
    TAKEOVER_LIMIT,
    VERIFICATION_LIMIT,
)
from .._run.lock_steps import (
    CONCURRENT_UPDATES,
    CUT_OFF,
    HAND_OVER,
    HOST_LOST,
    LATE_WRITES,
    LOCK_COUNT,
    LOCKED,
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
from .._run.words import Words

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

_DURING = {
    SECOND_REFUSED: "",
    SAME_HOST: "",
    UNDER_LOAD: " and wrote at full load",
    SERVER_FAILOVER: ", when the file server failed over",
    CUT_OFF: ", before that host was cut off",
    HOST_LOST: ", before that host was lost",
    POD_DELETED: ", although its tester still ran",
}

_SLOW_CALL = 0.25
"""The share of a late hand-over from which on the duration of one request explains it."""

Finding = Mapping[str, Any]


def step_title(step: str) -> str:
    """Return the displayed name of a step, which may come from another version."""
    return TITLES.get(step, step)


def broken_text(finding: Finding, words: Words) -> str:
    """Return what is wrong with the locks."""
    write = _BROKEN.get(finding["code"])
    return write(finding) if write else f"{_case(finding)}: {finding['code'] or 'it did not pass'}"


def limit_text(finding: Finding, words: Words) -> str:
    """Return which figure is beyond its limit."""
    at, key = finding["at"], finding["limit"]
    value, bound = finding["value"], finding["limit_value"]
    if key == COUNT_LIMIT.key:
        errno = f", then {errno}" if (errno := figure_text(finding, "errno")) else ""
        said = f"{at['holder']} got {_units.format_count(value)} locks{errno} (limit {_units.format_count(bound)})"
    else:
        said = f"{_LATE[key](finding)} {_seconds(value)} (limit {_seconds(bound)})"
    if key == HAND_OVER_LIMIT.key and (call := figure(finding, CALL)) and call >= value * _SLOW_CALL * 1e9:
        said += f"; one request for a lock takes {_units.format_duration(call)} there"
    more = f", and {finding['others']} more times" if finding.get("others") else ""
    waiver = finding.get("waiver")
    return f"{said}{more}{_waived(waiver) if waiver else ''}"


def _waived(waiver: Mapping[str, str]) -> str:
    return f"; waived until {waiver['until']}: {waiver['text']}"


def undecided_text(finding: Finding, words: Words) -> str:
    """Return a sentence that states that a step decides nothing, and why."""
    return f"{_case(finding)}: {why_open(finding)}"


def not_covered_text(finding: Finding, words: Words) -> str:
    """Return a sentence that states that a step was not carried out, and why."""
    return f"not covered: {_case(finding)}: {why_not_covered(finding)}"


def why_open(finding: Finding) -> str:
    """Return why a step decides nothing."""
    why = _OPEN.get(finding["code"])
    return why(finding) if why else finding["code"] or "its outcome is not known"


def why_not_covered(finding: Finding) -> str:
    """Return which prerequisite of a step is missing."""
    why = _NOT_COVERED.get(finding["code"])
    return why(finding) if why else finding["code"] or "no reason is recorded"


def short_lease_text(finding: Finding, words: Words) -> str:
    """Return a warning about a short lease."""
    return (
        f"The lease of the file server is {_units.format_number(finding['lease_s'])} s. Below 10 s, an ordinary delay "
        "of the network can end the locks of a working host"
    )


def _seconds(value: float) -> str:
    return _units.format_duration(value * 1e9)


def _case(finding: Finding) -> str:
    """Return the title of the step with the hosts that took part in it."""
    at, title = finding["at"], step_title(finding["step"])
    if at["holder"] == at["other"] or not at["other"]:
        return f"{title} ({at['holder']})"
    if finding["step"] in (SETTINGS, CONCURRENT_UPDATES):
        return f"{title} ({at['holder']} and {at['other']})"
    return f"{title} ({at['holder']} holds the lock, {at['other']} wants it)"


def _errno(finding: Finding) -> str:
    return figure_text(finding, "errno") or "an unknown error"


def _granted(finding: Finding) -> str:
    at, step = finding["at"], finding["step"]
    if step == SAME_HOST:
        return f"two processes of {at['holder']} held the lock at once"
    return f"{at['other']} got the lock while {at['holder']} held it{_DURING.get(step, '')}"


def _by_error(finding: Finding) -> str:
    at, errno = finding["at"], _errno(finding)
    if figure_text(finding, "host") == at["holder"]:
        return f"{at['holder']} could not take a free lock: it got {errno}"
    return (
        f"{at['other']} asked for the lock that {at['holder']} held and got {errno}, which is an error and not a "
        "refusal (EAGAIN or EACCES)"
    )


def _not_released(finding: Finding) -> str:
    at, way = finding["at"], figure_text(finding, "way")
    ways = {"unlock": "released it", "close": "closed the file", "exit": "ended its process", "kill": "was killed"}
    return f"{at['other']} never got the lock after {at['holder']} {ways.get(way, 'released it')}"


def _updates_lost(finding: Finding) -> str:
    at = finding["at"]
    made, kept = figure(finding, "updates_made"), figure(finding, "updates_kept")
    which = (
        "updates that"
        if made is None or kept is None
        else (f"{_units.format_count(int(max(0, made - kept)))} of {_units.format_count(int(made))} updates that")
    )
    return f"{which} {at['first']} and {at['second']} made to one record under the lock are lost"


def _torn(finding: Finding) -> str:
    at, torn = finding["at"], figure(finding, "torn")
    count = "records" if torn is None else f"{_units.format_count(int(torn))} of the records"
    return f"{count} that {at['first']} and {at['second']} updated under the lock were torn when they were read"


def _write_error(finding: Finding) -> str:
    during = {UNDER_LOAD: " under full load", SERVER_FAILOVER: " at the failover of the file server"}
    written = f"a write of {finding['at']['holder']}{_to(finding)}"
    return f"{written} failed with {_errno(finding)}{during.get(finding['step'], '')}"


def _never(finding: Finding) -> str:
    at, waited = finding["at"], figure(finding, "takeover_ns")
    within = "" if waited is None else f" within {_units.format_duration(waited)}"
    return f"{at['other']} did not get the lock{within} after {at['holder']} was {_lost(finding)}"


def _lost(finding: Finding) -> str:
    return {CUT_OFF: "cut off from the file server", POD_DELETED: "deleted by force"}.get(finding["step"], "lost")


def _to(finding: Finding) -> str:
    """Return to which of the two logs a write went, if that is unexpected."""
    return " to a file that it had not locked" if figure_text(finding, "log") == UNLOCKED else ""


def _late_write(finding: Finding) -> str:
    at, log = finding["at"], figure_text(finding, "log") or LOCKED
    late = figure(finding, LATE_WRITES.get(log, ""))
    count = "late writes" if not late else f"{_units.format_count(int(late))} late {'write' if late == 1 else 'writes'}"
    when = {
        "takeover": f"between the loss of its lock and the first write of {at['other']}",
        "later": f"after {at['other']} had taken over",
        "end": f"long after {at['other']} had taken over",
    }
    return f"{count} of {at['holder']}{_to(finding)} landed {when.get(figure_text(finding, 'when'), when['later'])}"


def _acknowledged_lost(finding: Finding) -> str:
    at = finding["at"]
    lost, made = (figure(finding, name) for name in ("acknowledged_lost", "acknowledged"))
    of = "writes" if made is None else f"{_units.format_count(int(made))} writes"
    count = of if not lost else f"{_units.format_count(int(lost))} of the {of}"
    after = "the failover" if finding["step"] == SERVER_FAILOVER else f"{at['other']} had taken over"
    return f"{count} that the file server had acknowledged to {at['holder']} were gone after {after}"


def _pause_not_ended(finding: Finding) -> str:
    pause = figure(finding, "write_pause_max_ns")
    within = "" if pause is None else f" within {_units.format_duration(pause)}"
    return f"the writes of {finding['at']['holder']} did not continue{within} after the failover of the file server"


def _lost_after_failover(finding: Finding) -> str:
    at, after = finding["at"], figure(finding, "after_ns")
    later = "after" if after is None else f"{_units.format_duration(after)} after"
    return f"{at['other']} got the lock while {at['holder']} held it, {later} the writes had continued at the failover"


def _lost_at_close(finding: Finding) -> str:
    holder = finding["at"]["holder"]
    did = "read and closed" if figure_text(finding, "way") == "read" else "opened and closed"
    return (
        f"{_partner(finding, holder)} got the lock while {holder} held it, after another process of {holder} {did} it"
    )


def _lost_at_return(finding: Finding) -> str:
    at = finding["at"]
    return f"{at['holder']} got the lock when it was back, although {at['other']} had taken over and held it"


def _not_shared(finding: Finding) -> str:
    """Return why the directory is not shared. The path on the other host is known if the directory itself is
    missing."""
    host, path, other_path = (figure_text(finding, name) for name in ("host", "path", "other_path"))
    host, path = host or finding["at"]["second"], path or "the directory"
    partner = _partner(finding, host)
    if other_path:
        elsewhere = "" if other_path == path else f" as {other_path}"
        saw = f"{host} does not find {path}, which exists on {partner}{elsewhere}"
    else:
        saw = f"{host} does not read in {path} what {partner} has written there, not even 10 s later"
    return f"{saw}, so they do not share the directory"


def _partner(finding: Finding, host: str) -> str:
    """Return the other host of the pair."""
    at = finding["at"]
    return str(at["second"] if host == at["first"] else at["first"])


def _not_fenced(finding: Finding) -> str:
    at = finding["at"]
    return (
        f"the pending write of {at['holder']}{_to(finding)} ended without an error after {at['other']} had taken over"
    )


def _setting(finding: Finding) -> str:
    host, name, value, wanted = (figure_text(finding, key) for key in ("host", "setting", "value", "wanted"))
    what = "the kernel parameter" if finding["code"] == "kernel_parameter" else "the mount option"
    is_set = "is not set" if not value else "is set" if value == name else f"is {value}"
    return f"{host or finding['at']['first']}: {what} {name} {is_set}{f', it must be {wanted}' if wanted else ''}"


def _identity(finding: Finding) -> str:
    name, value, at = figure_text(finding, "setting"), figure_text(finding, "value"), finding["at"]
    told = f" ({value})" if value else ""
    return f"the tester has a different {name or 'user'} on {at['first']} than on {at['second']}{told}"


def _client_identity(finding: Finding) -> str:
    name, value, at = figure_text(finding, "setting"), figure_text(finding, "value"), finding["at"]
    told = f" ({value})" if value else ""
    return (
        f"{at['first']} and {at['second']} have the same {name or 'identity'}{told}, so the file server may mistake "
        "them for one client"
    )


def _both(text: str) -> Callable[[Finding], str]:
    return lambda finding: f"{finding['at']['first']} and {finding['at']['second']} {text}"


_BROKEN: Mapping[str, Callable[[Finding], str]] = {
    "granted": _granted,
    "lock_lost_at_failover": _granted,
    "refused_by_error": _by_error,
    "not_released": _not_released,
    "updates_lost": _updates_lost,
    "torn": _torn,
    "write_lost": lambda finding: (
        f"{figure_text(finding, 'host')} does not read what it has just written there, although the write succeeded"
    ),
    "write_error": _write_error,
    "verification_error": lambda finding: (
        f"the verification of its lock failed on {finding['at']['holder']} with {_errno(finding)}"
    ),
    "never_taken_over": _never,
    "late_write_landed": _late_write,
    "acknowledged_lost": _acknowledged_lost,
    "pause_not_ended": _pause_not_ended,
    "lock_lost_after_failover": _lost_after_failover,
    "lost_at_close": _lost_at_close,
    "lost_at_return": _lost_at_return,
    "not_fenced": _not_fenced,
    "mount_option": _setting,
    "kernel_parameter": _setting,
    "other_identity": _identity,
    "client_identity": _client_identity,
    "not_shared": _not_shared,
    "same_machine": _both("are two names of the same machine"),
    "one_kernel": _both(
        "share one kernel, which manages their locks itself, so nothing is known about the locks of other machines"
    ),
}
"""What is wrong, by the code of the finding."""

_LATE: Mapping[str, Callable[[Finding], str]] = {
    HAND_OVER_LIMIT.key: lambda finding: (
        f"{finding['at']['other']} got the lock late after {finding['at']['holder']} had released it:"
    ),
    "notification_s": lambda finding: (
        f"{finding['at']['other']} was notified too late that the lock was free, compared with polling:"
    ),
    VERIFICATION_LIMIT.key: lambda finding: f"the longest verification of its lock took {finding['at']['holder']}",
    FAILOVER_VERIFICATION_LIMIT.key: lambda finding: (
        f"at the failover of the file server, the longest verification of its lock took {finding['at']['holder']}"
    ),
    PAUSE_LIMIT.key: lambda finding: f"the longest pause of the writes of {finding['at']['holder']} under load was",
    FAILOVER_PAUSE_LIMIT.key: lambda finding: (
        f"at the failover of the file server, the writes of {finding['at']['holder']} paused for"
    ),
    TAKEOVER_LIMIT.key: lambda finding: (
        f"{finding['at']['other']} took over too late after {finding['at']['holder']} was {_lost(finding)}:"
    ),
}


def _short_load(finding: Finding) -> str:
    load_s, wanted_s = figure(finding, "load_s"), finding["limit_value"]
    lasted = "an unknown time" if load_s is None else _seconds(load_s)
    return f"the load lasted {lasted}, but the profile requires {_seconds(wanted_s)}"


def _no_failover(finding: Finding) -> str:
    holder, pause = finding["at"]["holder"], figure(finding, "write_pause_max_ns")
    before = figure(finding, "earlier_pause_max_ns")
    if pause is None or before is None:
        return f"the writes of {holder} never paused, so the file server did not fail over"
    return (
        f"nothing shows that the file server failed over: the longest pause of the writes of {holder} was "
        f"{_units.format_duration(pause)}, and {_units.format_duration(before)} before the command"
    )


def _seen_again(finding: Finding) -> str:
    at, before = finding["at"], figure(finding, "back_before_ns")
    when = "before" if before is None else f"{_units.format_duration(before)} before"
    return (
        f"{at['holder']} was running again {when} {at['other']} had the lock, so it may have released the lock itself: "
        "use a command that keeps it off until the takeover"
    )


def _not_permitted(finding: Finding) -> str:
    host, path, user = (figure_text(finding, name) for name in ("host", "path", "user"))
    uid = f" with the ID {user}" if user else ""
    return (
        f"the user of the tester{uid} may not open {path or 'the directory'} on {host or 'a host'} ({_errno(finding)})"
    )


def _other_path(finding: Finding) -> str:
    host, path, other_path = (figure_text(finding, name) for name in ("host", "path", "other_path"))
    host = host or finding["at"]["first"]
    return (
        f"the directory is {path or 'unknown'} on {host}, but {other_path or 'unknown'} on {_partner(finding, host)}, "
        "although both hosts have the same file system: set workspace_path of both to one directory of it"
    )


_OPEN: Mapping[str, Callable[[Finding], str]] = {
    "not_run": lambda finding: "it was not carried out",
    "no_figure": lambda finding: "its figures are not known",
    "short_load": _short_load,
    "agent_lost": lambda finding: f"the connection to {_of_host(finding)} ended{_why(finding)}",
    "deadline": lambda finding: f"{_of_host(finding)} did not answer in time",
    "did_not_come_back": lambda finding: f"{finding['at']['holder']} did not come back",
    "not_cut": lambda finding: f"{finding['at']['holder']} was not cut{_why(finding)}",
    "same_node": _both("ran on one node when this step began"),
    "not_deleted": lambda finding: f"the tester in {finding['at']['holder']} did not end when the pod was deleted",
    "orderly_end": lambda finding: (
        f"{finding['at']['holder']} ended its connection or released its lock itself, so it did not lose its power: "
        f"use a command that cuts the power at once{_why(finding)}"
    ),
    "no_failover_seen": _no_failover,
    "seen_again": _seen_again,
    "not_permitted": _not_permitted,
    "other_path": _other_path,
    "not_concurrent": lambda finding: (
        f"{finding['at']['first']} and {finding['at']['second']} never updated the record at the same time"
    ),
    "nothing_pending": lambda finding: (
        f"the writes of {finding['at']['holder']} ended with {_errno(finding)} before {finding['at']['other']} had "
        "taken over, so none was pending"
    ),
    "log_incomplete": lambda finding: (
        f"the log does not contain everything that {finding['at']['other']} wrote after it had taken over"
    ),
    "internal_error": lambda finding: f"an internal error occurred{_why(finding)}",
    "still_connected": lambda finding: f"{finding['at']['holder']} still reached the file server",
    "not_tested": lambda finding: f"{figure_text(finding, 'host') or 'a host'} could not be tested{_why(finding)}",
    "queue_managers": lambda finding: f"{finding['at']['holder']} was not cut{_why(finding)}",
    "command_failed": lambda finding: f"the command failed{_why(finding)}",
    "call_failed": lambda finding: f"{figure_text(finding, 'verb') or 'a call'} failed with {_errno(finding)}",
    "refused_by_error": lambda finding: f"a lock ended with {_errno(finding)} instead of being refused or granted",
    "lock_not_free": lambda finding: "the lock was not free when the step began",
    "not_healed": lambda finding: (
        f"it is not known whether {finding['at']['holder']} reaches the file server again{_why(finding)}; the packet "
        "filter ends by itself"
    ),
    "no_pair": lambda finding: "there is no other host with the same directory",
}
"""Why a step decides nothing, by the code of the finding."""


def _of_host(finding: Finding) -> str:
    host = figure_text(finding, "host")
    return f"the tester on {host}" if host else "a tester"


def _why(finding: Finding) -> str:
    """Return the status and the message of a host or a command, in parentheses; empty if there are none."""
    said = next(filter(None, (figure_text(finding, name) for name in ("why", "problem", "output", "said"))), "")
    status = figure(finding, "status")
    told = [f"status {status:.0f}"] if status is not None else []
    told += [" ".join(said.split())] if said else []
    return f" ({', '.join(told)})" if told else ""


_NOT_COVERED: Mapping[str, Callable[[Finding], str]] = {
    "no_command": lambda finding: (
        "locks_server_command is not set"
        if finding["step"] == SERVER_FAILOVER
        else f"locks_cut_command is not set for {finding['at']['holder']}"
    ),
    "no_confirm": lambda finding: f"locks_confirm of {finding['at']['holder']} is not the name of that host",
    "no_privilege": lambda finding: f"packets cannot be filtered on {finding['at']['holder']} without root",
    "no_nft": lambda finding: f"{finding['at']['holder']} has no nft",
    "no_server_address": lambda finding: f"the address of the file server of {finding['at']['holder']} is not known",
    "is_pod": lambda finding: "certify_pvc.yml does not test this, because it affects nodes and file servers",
    "second_granted": lambda finding: "both hosts got the lock in an earlier step, so this step would show nothing new",
}
"""Which prerequisite of a step is missing, by the code of the finding."""
