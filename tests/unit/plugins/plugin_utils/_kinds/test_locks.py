# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Two holders of a lock, lost updates and late writes fail and are never excused; times and numbers have limits; a
required step that was not made, or whose outcome is unknown, is inconclusive."""

from __future__ import annotations

import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks import english
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.criteria import LIMITS, METRICS, required_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import ready
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.definitions import DefinitionError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.findings import PREFLIGHT, finding
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import BASICS, BOTH_WAYS, STEPS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord, RecordError
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.lock_pairs import (
    S,
    changed,
    pair,
    record,
    row,
    run_data,
    without,
)

BROKEN = [
    ("second_refused", "granted", {}, "db02 got the lock while db01 held it"),
    ("same_host", "granted", {}, "two processes of db01 held the lock at once"),
    ("under_load", "granted", {}, "db02 got the lock while db01 held it and wrote at full load"),
    (
        "server_failover",
        "lock_lost_at_failover",
        {},
        "db02 got the lock while db01 held it, when the file server failed over",
    ),
    (
        "second_refused",
        "refused_by_error",
        {"errno": "ENOLCK"},
        "db02 asked for the lock that db01 held and got ENOLCK, which is an error and not a refusal (EAGAIN or EACCES)",
    ),
    ("hand_over", "not_released", {"way": "kill"}, "db02 never got the lock after db01 was killed"),
    (
        "concurrent_updates",
        "updates_lost",
        {"updates_kept": 998},
        "2 of 1,000 updates that db01 and db02 made to one record under the lock are lost",
    ),
    (
        "concurrent_updates",
        "torn",
        {"torn": 3},
        "3 of the records that db01 and db02 updated under the lock were torn when they were read",
    ),
    ("under_load", "write_error", {"errno": "EIO"}, "a write of db01 failed with EIO under full load"),
    (
        "server_failover",
        "write_error",
        {"errno": "EIO"},
        "a write of db01 failed with EIO at the failover of the file server",
    ),
    (
        "under_load",
        "verification_error",
        {"errno": "ESTALE"},
        "the verification of its lock failed on db01 with ESTALE",
    ),
    (
        "host_lost",
        "never_taken_over",
        {"takeover_ns": 600 * S},
        "db02 did not get the lock within 10 min after db01 was lost",
    ),
    (
        "cut_off",
        "never_taken_over",
        {"takeover_ns": 600 * S},
        "db02 did not get the lock within 10 min after db01 was cut off from the file server",
    ),
    (
        "cut_off",
        "late_write_landed",
        {"late_writes": 1, "late_sectors": 8, "log": "locked", "when": "later"},
        "1 late write of db01 landed after db02 had taken over",
    ),
    (
        "cut_off",
        "late_write_landed",
        {"late_writes": 4096, "late_sectors": 32_768, "log": "locked", "when": "end"},
        "4,096 late writes of db01 landed long after db02 had taken over",
    ),
    (
        "host_lost",
        "late_write_landed",
        {"late_writes": 2, "late_sectors": 16, "log": "locked", "when": "takeover"},
        "2 late writes of db01 landed between the loss of its lock and the first write of db02",
    ),
    (
        "cut_off",
        "late_write_landed",
        {"unlocked_late_writes": 3, "unlocked_late_sectors": 24, "log": "unlocked", "when": "later"},
        "3 late writes of db01 to a file that it had not locked landed after db02 had taken over",
    ),
    ("cut_off", "late_write_landed", {"log": "x"}, "late writes of db01 landed after db02 had taken over"),
    (
        "same_host",
        "lost_at_close",
        {"way": "close"},
        "db02 got the lock while db01 held it, after another process of db01 opened and closed it",
    ),
    (
        "same_host",
        "lost_at_close",
        {"way": "read"},
        "db02 got the lock while db01 held it, after another process of db01 read and closed it",
    ),
    (
        "server_failover",
        "pause_not_ended",
        {"write_pause_max_ns": 600 * S},
        "the writes of db01 did not continue within 10 min after the failover of the file server",
    ),
    (
        "server_failover",
        "lock_lost_after_failover",
        {"after_ns": 15 * S},
        "db02 got the lock while db01 held it, 15 s after the writes had continued at the failover",
    ),
    (
        "server_failover",
        "acknowledged_lost",
        {"acknowledged": 9000, "acknowledged_lost": 8044},
        "8,044 of the 9,000 writes that the file server had acknowledged to db01 were gone after the failover",
    ),
    (
        "host_lost",
        "acknowledged_lost",
        {"acknowledged": 5000, "acknowledged_lost": 200},
        "200 of the 5,000 writes that the file server had acknowledged to db01 were gone after db02 had taken over",
    ),
    (
        "cut_off",
        "lost_at_return",
        {},
        "db01 got the lock when it was back, although db02 had taken over and held it",
    ),
    (
        "cut_off",
        "not_fenced",
        {"log": "unlocked"},
        "the pending write of db01 to a file that it had not locked ended without an error after db02 had taken over",
    ),
    (
        "cut_off",
        "not_fenced",
        {"log": "locked"},
        "the pending write of db01 ended without an error after db02 had taken over",
    ),
    (
        "settings",
        "setting",
        {"setting_id": "LOCK-001", "title": "NFS version", "host": "db02", "value": "3", "expected": "4 or later"},
        "NFS version (db02): 3, expected: 4 or later",
    ),
    (
        "settings",
        "not_shared",
        {"host": "db02", "path": "/MQHA/a"},
        "db02 does not read in /MQHA/a what db01 has written there, not even 10 s later, so they do not share the "
        "directory",
    ),
    (
        "settings",
        "not_shared",
        {"host": "db01", "path": "/MQHA/a", "other_path": "/MQHA/a"},
        "db01 does not find /MQHA/a, which exists on db02, so they do not share the directory",
    ),
    (
        "settings",
        "not_shared",
        {"host": "db02", "path": "/MQHA/b", "other_path": "/MQHA/a"},
        "db02 does not find /MQHA/b, which exists on db01 as /MQHA/a, so they do not share the directory",
    ),
    (
        "settings",
        "write_lost",
        {"host": "db01"},
        "db01 does not read what it has just written there, although the write succeeded",
    ),
    ("settings", "same_machine", {}, "db01 and db02 are two names of the same machine"),
    (
        "settings",
        "one_kernel",
        {},
        "db01 and db02 share one kernel, which manages their locks itself, so nothing is known about the locks of "
        "other machines",
    ),
    (
        "second_refused",
        "refused_by_error",
        {"host": "db01", "errno": "ENOLCK"},
        "db01 could not take a free lock: it got ENOLCK",
    ),
    (
        "cut_off",
        "of_a_later_version",
        {},
        "host cut off and back (db01 holds the lock, db02 wants it): of_a_later_version",
    ),
]


def test_a_file_server_that_keeps_every_promise_passes():
    made = record(pair())
    assert (made.kind, made.verdict, made.certified, made.reasons, made.notes) == ("locks", "pass", False, [], [])
    (own,) = made.kind_data["pairs"]
    assert (own["verdict"], own["text"]) == (
        "pass",
        "takeover 12 s (limit 15 s), 0 late writes, 1,000 of 1,000 updates kept",
    )
    assert HostRecord.from_dict(made.as_dict()).kind_data == made.kind_data


@pytest.mark.parametrize(("step", "cause", "figures", "sentence"), BROKEN, ids=lambda value: str(value)[:20])
def test_what_is_broken_fails_with_its_sentence(step, cause, figures, sentence):
    made = record(changed(pair(), step, "broken", cause, "db01", **figures))
    assert (made.verdict, made.reasons[0]) == ("fail", sentence)
    assert made.findings[0]["limit_id"] == f"LOCK-{1 + STEPS.index(step):03}"
    assert record(pair(), changed(pair(second="db03"), step, "broken", cause, **figures)).verdict == "fail"


def test_each_cause_has_a_sentence():
    assert {cause for _step, cause, _figures, _sentence in BROKEN} - {"of_a_later_version"} == english._BROKEN.keys()


LATE = [
    (
        "host_lost",
        {"takeover_ns": 31 * S},
        "LOCK-103",
        "db02 had the lock 31 s after db01 was lost (limit 15 s)",
    ),
    (
        "cut_off",
        {"takeover_ns": 16 * S},
        "LOCK-103",
        "db02 had the lock 16 s after db01 was cut off from the file server (limit 15 s)",
    ),
    (
        "under_load",
        {"verification_max_ns": 12 * S},
        "LOCK-102",
        "the longest verification of its lock took db01 12 s (limit 10 s)",
    ),
    (
        "under_load",
        {"write_pause_max_ns": 12 * S},
        "LOCK-107",
        "the longest pause of the writes of db01 under load was 12 s (limit 10 s)",
    ),
    (
        "server_failover",
        {"verification_max_ns": 59 * S},
        "LOCK-106",
        "at the failover of the file server, the longest verification of its lock took db01 59 s (limit 10 s)",
    ),
    (
        "server_failover",
        {"write_pause_max_ns": 240 * S},
        "LOCK-108",
        "at the failover of the file server, the writes of db01 paused for 4 min (limit 10 s)",
    ),
    ("lock_count", {"locks_held": 256, "errno": "ENOLCK"}, "LOCK-104", "db01 got 256 locks, then ENOLCK (limit 512)"),
]


@pytest.mark.parametrize(("step", "figures", "limit_id", "sentence"), LATE, ids=lambda value: str(value)[:20])
def test_a_figure_beyond_its_limit_fails_and_a_waiver_excuses_it(step, figures, limit_id, sentence):
    results = changed(pair(), step, holder="db01", **figures)
    made = record(results)
    assert (made.verdict, made.reasons, made.findings[0]["limit_id"]) == ("fail", [sentence], limit_id)
    for host, until, verdict in (
        ("db02", "2026-11-21", "warn"),
        ("db01", "2026-11-20", "fail"),
        ("db07", "2026-12-31", "fail"),
    ):
        metric = next(limit["metric"] for limit in LIMITS if limit["id"] == limit_id)
        for about in ({"id": limit_id}, {"metric": metric}):
            run = run_data(["db01"])
            waiver = {"host": host, **about, "until": until, "reason": "CHG7"}
            run["profile"] = {**run["profile"], "waivers": [waiver]}
            waived = record(results, run=run)
            assert waived.verdict == verdict
        told = f"{sentence}; waived until {until} (CHG7)" if verdict == "warn" else sentence
        told += "; the waiver CHG7 expired on 2026-11-20" if host == "db01" else ""
        assert waived.reasons == [told]
    exactly = {
        name: value if name == "errno" else 15 * S if "takeover" in name else 10 * S for name, value in figures.items()
    }
    assert (
        record(changed(pair(), step, **{**exactly, **({"locks_held": 512} if "locks_held" in figures else {})})).verdict
        == "pass"
    )


def test_a_slow_hand_over_is_found_whichever_way_the_lock_was_asked_for():
    slow = [
        record(changed(pair(), "hand_over", holder="db01", **figures))
        for figures in ({"wait_ns": 2.1 * S}, {"poll_ns": 4.2 * S, "poll_round_ns": 2.1 * S})
    ]
    assert [(made.verdict, made.findings[0]["limit_id"]) for made in slow] == [("fail", "LOCK-101")] * 2
    assert slow[1].reasons == [
        "db02 had the lock 2.1 s after db01 had released it (limit 2 s); 3 more of its rows did not pass"
    ]


@pytest.mark.parametrize(
    ("wait_s", "poll_s", "turn_s", "call_s", "late"),
    [
        (1.7, 1.5, 2.0, 0.0, "1.7 s"),
        (1.0, 1.5, 2.0, 0.0, ""),
        (1.7, 0.1, 2.0, 0.3, "1.1 s"),
        (8.0, 1.5, 2.0, 0.001, "8 s"),
        # Each request takes 2 s, so a release and a grant take 4 s. That is slow, but nobody is notified late.
        (4.0, 5.5, 4.0, 2.0, ""),
        (4.0, 2.5, 4.0, 2.0, ""),
        (5.5, 5.5, 4.0, 2.0, "1.5 s"),
        # The lock is passed on late by the file server, however it is asked for.
        (10.0, 10.2, 2.0, 0.001, ""),
        (10.0, 11.9, 2.0, 0.001, ""),
    ],
)
def test_a_waiter_that_is_told_late_is_found_but_slow_requests_are_not_late(wait_s, poll_s, turn_s, call_s, late):
    figures = {"wait_ns": wait_s * S, "poll_ns": poll_s * S, "poll_round_ns": turn_s * S, "try_ns": call_s * S}
    made = record(changed(pair(), "hand_over", holder="db02", **figures))
    told = [why for each, why in zip(made.findings, made.reasons, strict=True) if each["limit_id"] == "LOCK-105"]
    said = "later than by polling that the lock was free (limit 1 s); 3 more of its rows did not pass"
    assert told == ([f"db01 was notified {late} {said}"] if late else [])


def test_a_late_hand_over_by_slow_requests_says_so():
    figures = {"wait_ns": 4 * S, "poll_ns": 5.5 * S, "poll_round_ns": 4 * S, "try_ns": 2 * S}
    made = record(changed(pair(), "hand_over", holder="db02", **figures))
    assert made.reasons == [
        "db01 had the lock 4 s after db02 had released it (limit 2 s); one request for a lock takes 2 s there; 3 more "
        "of its rows did not pass"
    ]


UNDECIDED = [
    ("agent_lost", {"said": "Broken pipe"}, "the connection to a tester ended (Broken pipe)"),
    ("agent_lost", {"host": "db02"}, "the connection to the tester on db02 ended"),
    ("deadline", {"host": "db02"}, "the tester on db02 did not answer in time"),
    ("did_not_come_back", {}, "db01 did not come back"),
    ("same_node", {}, "db01 and db02 ran on one node when this step began"),
    ("not_deleted", {}, "the tester in db01 did not end when the pod was deleted"),
    ("not_cut", {"status": 0}, "db01 was not cut (status 0)"),
    ("not_cut", {}, "db01 was not cut"),
    ("queue_managers", {"why": "QM1 runs there"}, "db01 was not cut (QM1 runs there)"),
    ("command_failed", {"status": 1, "output": "no\nroute"}, "the command failed (status 1, no route)"),
    ("still_connected", {}, "db01 still reached the file server"),
    (
        "orderly_end",
        {"status": 0},
        "db01 ended its connection or released its lock itself, so it did not lose its power: use a command that cuts "
        "the power at once (status 0)",
    ),
    ("no_failover_seen", {}, "the writes of db01 never paused, so the file server did not fail over"),
    (
        "no_failover_seen",
        {"write_pause_max_ns": 600_000_000, "earlier_pause_max_ns": 400_000_000},
        "nothing shows that the file server failed over: the longest pause of the writes of db01 was 600 ms, and "
        "400 ms before the command",
    ),
    (
        "seen_again",
        {},
        "db01 was running again before db02 had the lock, so it may have released the lock itself: use a command that "
        "keeps it off until the takeover",
    ),
    (
        "seen_again",
        {"back_before_ns": 9 * S},
        "db01 was running again 9 s before db02 had the lock, so it may have released the lock itself: use a command "
        "that keeps it off until the takeover",
    ),
    (
        "not_permitted",
        {"host": "db02", "user": "1001", "path": "/MQHA/a", "errno": "EACCES"},
        "the user of the tester with the ID 1001 may not open /MQHA/a on db02 (EACCES)",
    ),
    (
        "other_path",
        {"host": "db02", "path": "/MQHA/a", "other_path": "/mnt/a"},
        "the directory is /MQHA/a on db02, but /mnt/a on db01, although both hosts have the same file system: set "
        "workspace_path of both to one directory of it",
    ),
    ("not_concurrent", {}, "db01 and db02 never updated the record at the same time"),
    (
        "nothing_pending",
        {"errno": "ENOSPC"},
        "the writes of db01 ended with ENOSPC before db02 had taken over, so none was pending",
    ),
    ("log_incomplete", {}, "the log does not contain everything that db02 wrote after it had taken over"),
    ("internal_error", {"said": "KeyError: 1"}, "an internal error occurred (KeyError: 1)"),
    ("not_tested", {"host": "db02", "why": "no route"}, "db02 could not be tested (no route)"),
    ("call_failed", {"verb": "scan", "errno": "EIO"}, "scan failed with EIO"),
    ("refused_by_error", {"errno": "ESTALE"}, "a lock ended with ESTALE instead of being refused or granted"),
    ("lock_not_free", {}, "the lock was not free when the step began"),
    (
        "not_healed",
        {"why": "no answer"},
        "it is not known whether db01 reaches the file server again (no answer); the packet filter ends by itself",
    ),
    ("something_else", {}, "something_else"),
    ("", {}, "its outcome is not known"),
]


def test_each_cause_that_decides_nothing_has_a_sentence():
    by_judging = {"not_run", "no_figure", "short_load", "no_pair"}
    assert {cause for cause, _figures, _why in UNDECIDED} - {"something_else", ""} == english._OPEN.keys() - by_judging


@pytest.mark.parametrize(("cause", "figures", "why"), UNDECIDED)
def test_a_step_without_a_result_decides_nothing(cause, figures, why):
    made = record(changed({**pair()}, "cut_off", "undecided", cause, "db01", **{"errno": "", **figures}))
    told = f"host cut off and back (db01 holds the lock, db02 wants it): {why}"
    assert (made.verdict, made.reasons, made.findings[0]["limit_id"]) == ("inconclusive", [told], "LOCK-011")
    assert record(changed(pair(), "server_failover", "undecided", cause)).verdict == "inconclusive"
    assert record(changed(pair(), "cut_off", "nonsense", cause, "db01")).verdict == "inconclusive"


NOT_COVERED = [
    ("host_lost", "no_command", "locks_cut_command is not set for db01"),
    ("server_failover", "no_command", "locks_server_command is not set"),
    ("cut_off", "no_confirm", "locks_confirm of db01 is not the name of that host"),
    ("cut_off", "no_privilege", "packets cannot be filtered on db01 without root"),
    ("cut_off", "no_nft", "db01 has no nft"),
    ("cut_off", "no_server_address", "the address of the file server of db01 is not known"),
    ("host_lost", "is_pod", "certify_pvc.yml does not test this, because it affects nodes and file servers"),
    ("host_lost", "second_granted", "both hosts got the lock in an earlier step, so this step would show nothing new"),
    ("lock_count", "", "no reason is recorded"),
]


def test_each_cause_for_which_a_step_is_not_made_has_a_sentence():
    assert {cause for _step, cause, _why in NOT_COVERED} - {""} == english._NOT_COVERED.keys()


@pytest.mark.parametrize(("step", "cause", "why"), NOT_COVERED)
def test_what_is_not_covered_is_printed_and_is_never_a_pass_if_it_is_required(step, cause, why):
    results = changed(pair(), step, "not_covered", cause, "db01")
    told = f"not covered: {english.TITLES[step]} (db01 holds the lock, db02 wants it): {why}"
    required = {"name": "mine", "extends": f"{fabricate.PROFILES}/mq-locks-gold.yml", "locks": {"steps": [step]}}
    made = record(results, profile=required)
    assert (made.verdict, made.reasons, made.findings[0]["limit_id"]) == ("inconclusive", [told], "LOCK-012")
    optional = record(results, profile={**required, "locks": {"steps": []}})
    assert (optional.verdict, optional.reasons, optional.notes) == ("pass", [], [told])


@pytest.mark.parametrize("step", [*BASICS, "host_lost", "cut_off"])
def test_a_required_step_that_is_missing_decides_nothing(step):
    results = without(pair(), step)
    made = record(results)
    count = 2 if step in (*BOTH_WAYS, "same_host") else 1
    assert (made.verdict, len(made.reasons)) == ("inconclusive", count)
    assert made.reasons[0].startswith(english.TITLES[step]) and made.reasons[0].endswith(": it was not carried out")
    assert record(without(pair(), "lock_count")).verdict == "pass"


@pytest.mark.parametrize("step", [*(step for step in BOTH_WAYS if step != "pod_deleted"), "same_host"])
def test_a_step_in_one_direction_says_nothing_about_the_other(step):
    made = record(without(pair(), step, "db02"))
    assert (made.verdict, [each["at"]["holder"] for each in made.findings]) == ("inconclusive", ["db02"])


def of_pods(**figures):
    results = pair("pod 1 of prod", "pod 2 of prod", made=[*BASICS, "pod_deleted"])
    return changed(results, "pod_deleted", **figures)


@pytest.mark.parametrize(
    ("figures", "verdict", "limit_id", "reason"),
    [
        ({}, "pass", "", ""),
        (
            {"takeover_ns": 31 * S},
            "fail",
            "LOCK-103",
            "pod 2 of prod had the lock 31 s after pod 1 of prod was deleted by force (limit 15 s); 1 more",
        ),
        (
            {"outcome": "broken", "cause": "never_taken_over", "takeover_ns": 40 * S},
            "fail",
            "LOCK-013",
            "pod 2 of prod did not get the lock within 40 s after pod 1 of prod was deleted by force",
        ),
        (
            {"outcome": "broken", "cause": "granted"},
            "fail",
            "LOCK-013",
            "pod 2 of prod got the lock while pod 1 of prod held it, although its tester still ran",
        ),
        (
            {"outcome": "undecided", "cause": "not_deleted"},
            "inconclusive",
            "LOCK-011",
            "the tester in pod 1 of prod did not end when the pod was deleted",
        ),
    ],
)
def test_a_pod_that_was_deleted_is_judged_like_a_lost_host(figures, verdict, limit_id, reason):
    made = record(
        of_pods(**figures), host="prod", profile={"name": "mine", "extends": "mq-locks-gold", "locks": {"steps": []}}
    )
    assert made.verdict == verdict
    assert [each["limit_id"] for each in made.findings[:1]] == ([limit_id] if limit_id else [])
    assert not reason or reason in made.reasons[0]


def test_after_a_refused_setting_nothing_else_is_missing():
    refused = {**pair(), "steps": [row("settings", "db01", "db02", "broken", "same_machine")]}
    assert record(refused).reasons == ["db01 and db02 are two names of the same machine"]


@pytest.mark.parametrize(("load_s", "lasted"), [(598, "9.97 min"), (None, "an unknown time"), (-1, "an unknown time")])
def test_a_load_that_is_too_short_decides_nothing(load_s, lasted):
    made = record(changed(pair(), "under_load", load_s=load_s))
    assert made.verdict == "inconclusive"
    assert f"the load lasted {lasted}" in made.reasons[0] and "the profile requires 10 min" in made.reasons[0]


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("host_lost", "takeover_ns"),
        ("cut_off", "takeover_ns"),
        ("under_load", "verification_max_ns"),
        ("under_load", "write_pause_max_ns"),
        ("server_failover", "verification_max_ns"),
        ("server_failover", "write_pause_max_ns"),
        ("cut_off", "late_writes"),
        ("cut_off", "unlocked_late_writes"),
        ("cut_off", "acknowledged_lost"),
        ("host_lost", "acknowledged_lost"),
        ("server_failover", "acknowledged_lost"),
        ("hand_over", "wait_ns"),
        ("hand_over", "poll_ns"),
        ("hand_over", "poll_round_ns"),
        ("hand_over", "try_ns"),
        ("lock_count", "locks_held"),
    ],
)
@pytest.mark.parametrize("value", [None, -5, float("nan"), 1e300, "11", True])
def test_a_figure_that_is_unknown_or_nonsense_is_no_pass(step, name, value):
    made = record(changed(pair(), step, holder="db01", **{name: value}))
    assert (made.verdict, made.reasons[0].endswith(": its figures are not known")) == ("inconclusive", True)
    assert HostRecord.from_dict(made.as_dict()).verdict == "inconclusive"


def test_a_host_without_another_one_decides_nothing():
    made = record()
    assert (made.verdict, made.reasons) == (
        "inconclusive",
        ["second host refused (db01): there is no other host with the same directory"],
    )


def test_a_fail_outweighs_what_is_open():
    results = changed(pair(), "second_refused", "broken", "granted", "db02")
    made = record(changed(results, "host_lost", "not_covered", "no_command"))
    assert (made.verdict, made.reasons[0]) == ("fail", "db01 got the lock while db02 held it")


@pytest.mark.parametrize(
    ("results", "text"),
    [
        (
            changed(changed(pair(), "host_lost", "not_covered", "no_command"), "cut_off", "not_covered", "no_nft"),
            "1,000 of 1,000 updates kept; not tested: host lost, host cut off and back",
        ),
        (
            without(without(pair(), "host_lost"), "cut_off"),
            "1,000 of 1,000 updates kept; not tested: host lost, host cut off and back",
        ),
        (
            without(changed(pair(), "server_failover", "not_covered", "no_command"), "cut_off", "db02"),
            "takeover 12 s (limit 15 s), 0 late writes, 1,000 of 1,000 updates kept; not tested: host cut off and "
            "back, failover of the file server",
        ),
        (
            changed(pair(), "host_lost", "broken", "never_taken_over", takeover_ns=600 * S),
            "no takeover within 10 min (limit 15 s)",
        ),
        (
            changed(pair(), "cut_off", "broken", "late_write_landed", "db02", late_writes=1, late_sectors=8),
            "1 late write, takeover 12 s (limit 15 s), 1,000 of 1,000 updates kept",
        ),
        (
            changed(pair(), "cut_off", "broken", "late_write_landed", unlocked_late_writes=2, log="unlocked"),
            "4 late writes, takeover 12 s (limit 15 s), ",
        ),
        (
            changed(pair(), "under_load", verification_max_ns=12 * S),
            "the longest verification of its lock took db01 12 s (limit 10 s); takeover 12 s (limit 15 s), 0 late",
        ),
        (
            {**pair(), "steps": [row("settings", "db01", "db02", "broken", "same_machine")]},
            "db01 and db02 are two names of the same machine",
        ),
        (
            {**pair(), "steps": [row("settings", "db01", "db02", "undecided", "not_permitted", host="db02")]},
            "settings (db01 and db02): the user of the tester may not open the directory on db02",
        ),
        (
            changed(pair(), "concurrent_updates", "broken", "updates_lost", updates_kept=998),
            "998 of 1,000 updates kept",
        ),
    ],
)
def test_the_figures_of_a_pair_are_one_line(results, text):
    assert record(results).kind_data["pairs"][0]["text"].startswith(text)


def nfs_of(host, **changes):
    return {"filesystem_type": "nfs4", "mount_options": "rw,vers=4.2,hard", "machine_id": host, **changes}


def test_settings_that_do_not_end_a_test_are_findings_of_its_pair():
    made = record(pair(settings={"db01": nfs_of("db01", lease_s=3), "db02": nfs_of("db02")}))
    (found,) = made.findings
    assert (made.verdict, found["limit_id"], found["step"], found["at"]["first"]) == (
        "warn",
        "SET-009",
        "settings",
        "db01",
    )
    assert made.reasons == ["lease of the file server in seconds (db01): 3, expected: from 10 to 90"]
    assert {each["id"] for each in made.settings} >= {"SET-001", "SET-005", "SET-009"}
    assert made.kind_data["pairs"][0]["verdict"] == "warn"


def test_a_setting_that_ended_a_test_has_the_id_of_the_setting():
    figures = {"setting_id": "SET-002", "title": "t", "host": "db01", "value": "soft", "expected": "hard"}
    ended = {**pair(), "steps": [row("settings", "db01", "db02", "broken", "setting", **figures)]}
    soft = {"db01": nfs_of("db01", mount_options="rw,vers=4.2,soft"), "db02": nfs_of("db02")}
    made = record({**ended, "settings": soft})
    (found,) = made.findings
    assert (made.verdict, found["limit_id"], found["kind"]) == ("fail", "SET-002", "lock_broken")
    waived = {"host": "db01", "id": "SET-002", "until": "2099-01-31", "reason": "a test"}
    made = record(
        {**pair(), "settings": soft}, profile={"name": "own", "extends": "mq-locks-silver", "waivers": [waived]}
    )
    (found,) = made.findings
    assert (made.verdict, found["limit_id"], found["waiver"]) == ("warn", "SET-002", "a test")


def test_a_preflight_has_no_verdict():
    found = finding(PREFLIGHT, None, text="would be tested with db02")
    made = ready({**run_data(["db01"]), "run_id": "r"}, "db01", "log", {}, found)
    assert (made.verdict, made.reasons) == (None, ["would be tested with db02"])


@pytest.mark.parametrize(
    "broken",
    [
        {"pairs": 1},
        {"pairs": [{}]},
        {"pairs": [{**pair(), "verdict": "pass", "text": 5}]},
        {"required": None},
        {"required": {"takeover_s": float("nan"), "load_s": 1, "lock_count": 1, "steps": []}},
    ],
)
def test_a_record_with_other_locks_is_refused(broken):
    good = record(pair()).as_dict()
    with pytest.raises(RecordError, match="has no usable locks"):
        HostRecord.from_dict({**good, "locks": {**good["locks"], **broken}})


# Profiles.


def read(section, *limits, **keys):
    limits = [{"metric": "latency_mean", "max": "1 ms"}, *limits]
    return load_profile({"name": "mine", "limits": limits, "locks": section, **keys}, fabricate.PROFILES)


def values_of(profile):
    return {limit.metric.name: limit.value / (1 if limit.bound == "min" else 1e9) for limit in profile.kind_limits}


DEFAULTS = {
    "lock_hand_over": 2,
    "lock_verification": 10,
    "lock_takeover": 45,
    "lock_count": 512,
    "lock_notification": 1,
    "lock_verification_at_failover": 20,
    "lock_write_pause": 10,
    "lock_write_pause_at_failover": 20,
}


def test_each_metric_has_a_default_limit_with_an_id_of_its_own():
    assert [limit["metric"] for limit in LIMITS] == [metric.name for metric in METRICS]
    assert len({limit["id"] for limit in LIMITS}) == len(LIMITS)


def test_every_step_in_which_a_lock_is_held_has_limits_on_verifications_and_pauses():
    limited = {(step, name) for metric in METRICS for step in metric.steps for name in metric.needed}
    assert limited >= {
        (step, name)
        for step in ("under_load", "server_failover")
        for name in ("verification_max_ns", "write_pause_max_ns")
    }


def test_a_profile_without_limits_on_locks_has_the_defaults_and_does_not_change():
    profile = load_profile("mq-log-silver", fabricate.PROFILES)
    assert values_of(profile) == DEFAULTS
    assert required_of(profile) == {"load_s": 300, "steps": [], "takeover_s": 45, "lock_count": 512}
    assert not any(limit["metric"].startswith("lock_") for limit in profile.as_dict()["limits"])
    assert read({"load_s": 300}).sections == {}


@pytest.mark.parametrize(
    ("name", "own", "load_s", "steps"),
    [
        (
            "gold",
            {"lock_takeover": 15, "lock_verification_at_failover": 10, "lock_write_pause_at_failover": 10},
            600,
            ["host_lost", "cut_off"],
        ),
        ("silver", {"lock_takeover": 45}, 300, ["host_lost"]),
        ("bronze", {"lock_takeover": 120, "lock_count": 128}, 120, ["host_lost"]),
    ],
)
def test_the_shipped_profiles(name, own, load_s, steps):
    profile = load_profile(f"mq-locks-{name}", fabricate.PROFILES)
    assert values_of(profile) == {**DEFAULTS, **own}
    required = required_of(profile)
    assert (required["load_s"], required["steps"]) == (load_s, steps)
    not_shown = [step for step in ("cut_off", "server_failover") if step not in steps]
    words = {"cut_off": "that a host that was cut off", "server_failover": "the locks survive a failover"}
    assert "A pass does not show that" in profile.description
    assert all((words[step] in profile.description) == (step in not_shown) for step in words)
    assert load_profile(profile.as_dict()) == profile
    assert profile.limits == load_profile(f"mq-log-{name}", fabricate.PROFILES).limits


def test_a_profile_changes_single_limits_and_keys_of_the_one_that_it_extends():
    shorter = {"metric": "lock_takeover", "max": "20 s"}
    profile = read({"steps": ["cut_off", "settings"]}, shorter, extends="mq-locks-gold")
    assert required_of(profile) == {"load_s": 600, "steps": ["cut_off"], "takeover_s": 20, "lock_count": 512}
    assert values_of(profile)["lock_write_pause_at_failover"] == 10


def test_a_limit_on_locks_is_like_all_others():
    profile = read({"load_s": 600}, {"metric": "lock_takeover", "max": "10 s", "severity": "warn"})
    made = record(changed(pair(), "host_lost", takeover_ns=11 * S), profile=profile.as_dict())
    assert (made.verdict, made.findings[0]["verdict"], made.findings[0]["step"]) == ("warn", "warn", "host_lost")
    judged = [each for each in made.judgements if each["metric"] == "lock_takeover"]
    assert [(each["value"], each["verdict"], each["method"]) for each in judged] == [
        (seconds * S, "warn", "as it stands") for seconds in (11, 11, 12, 12)
    ]
    assert read({"load_s": 5}, {"metric": "lock_takeover", "max": "10 s", "hard": True}).kind_limits[2].hard


def test_measurements_ignore_limits_on_locks():
    tables = fabricate.tables(fabricate.sweep_rows(block_sizes=(4096,)))
    made = [
        fabricate.judged(fabricate.run_data(["db07"], profile), "db07", tables)
        for profile in ("mq-log-silver", "mq-locks-silver")
    ]
    assert made[0].judgements == made[1].judgements


@pytest.mark.parametrize(
    ("section", "refused"),
    [
        ({}, "locks must contain at least one of load_s, steps"),
        ({"takeover_s": 45}, "locks has the unknown key 'takeover_s'"),
        ({"load_s": 0}, "locks.load_s 0 must be above 0 and at most 86400 seconds"),
        ({"load_s": "15 s"}, "locks.load_s '15 s' must be a number"),
        ({"load_s": 86_401}, "locks.load_s 86401 must be above 0 and at most 86400 seconds"),
        ({"steps": "host_lost"}, "locks.steps must be a list"),
        ({"steps": ["host lost"]}, "locks.steps names 'host lost', which is not one of settings, "),
    ],
)
def test_a_section_that_cannot_be_used_is_refused(section, refused):
    with pytest.raises(DefinitionError, match=re.escape(refused)):
        read(section)


@pytest.mark.parametrize(
    ("limit", "refused"),
    [
        ({"metric": "lock_takeover", "max": "2 h"}, "limits[1].max '2 h' must be at most 60 min"),
        ({"metric": "lock_count", "min": 20_000}, "limits[1].min 20000 must be at most 19,000"),
        ({"metric": "lock_count", "max": 5}, "limits[1] must give exactly one of min for lock_count"),
        ({"metric": "lock_takeover", "max": "1 s", "load_point": 1}, "lock_takeover is not a figure of a step"),
        ({"metric": "latency_p50", "max": "1 s", "id": "LOCK-103"}, "Two limits have the id LOCK-103"),
    ],
)
def test_a_limit_on_locks_that_cannot_be_used_is_refused(limit, refused):
    with pytest.raises(DefinitionError, match=re.escape(refused)):
        read({"load_s": 5}, limit)
