# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""States on a given day, chains, clones and replaced disks, derived only from entries."""

from __future__ import annotations

import datetime
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import (
    EXPIRED,
    EXPIRING,
    FAILED,
    NONE,
    REVOKED,
    SUPERSEDED,
    VALID,
    Today,
    entry_states,
    fleet_status,
    volumes,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, FAILS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import cuts_of, entry


def on(day, expiring_days=14):
    return Today(datetime.date.fromisoformat(day), expiring_days)


TODAY = on("2026-06-01")


def status(*entries, revoked=(), today=TODAY):
    return [(line.host, line.profile, line.state) for line in fleet_status(entries, revoked, today)]


@pytest.mark.parametrize(
    "day, expected",
    [
        ("2026-03-17", VALID),
        ("2026-03-18", EXPIRING),
        ("2026-03-31", EXPIRING),
        ("2026-04-01", EXPIRED),
        ("2025-12-01", VALID),
    ],
)
def test_a_certificate_is_valid_up_to_and_including_its_last_day(day, expected):
    certificate = entry("2026-01-01", valid_until="2026-03-31")
    assert entry_states([certificate], (), on(day)) == {certificate.sha256: expected}


def test_nothing_is_expiring_if_no_days_are_asked_for():
    assert status(entry("2026-01-01", valid_until="2026-06-01"), today=on("2026-06-01", 0)) == [
        ("db07", "silver", VALID)
    ]


def test_a_certificate_supersedes_and_a_fail_ends_at_once():
    first, second, fail = entry("2026-05-01"), entry("2026-05-10"), entry("2026-05-20", FAILS)
    assert entry_states([second, first], (), TODAY) == {first.sha256: SUPERSEDED, second.sha256: VALID}
    assert entry_states([second, fail, first], (), TODAY) == {
        first.sha256: SUPERSEDED,
        second.sha256: FAILED,
        fail.sha256: FAILED,
    }
    third = entry("2026-05-30")
    assert entry_states([third, fail], (), TODAY) == {third.sha256: VALID, fail.sha256: SUPERSEDED}


def test_an_attempt_changes_nothing_but_is_shown():
    certificate, attempt = entry("2026-05-01"), entry("2026-05-20", ATTEMPT)
    (line,) = fleet_status([certificate, attempt], (), TODAY)
    assert (line.state, line.entry, line.attempt) == (VALID, certificate, attempt)
    (line,) = fleet_status([attempt, entry("2026-05-21")], (), TODAY)
    assert line.attempt is None
    assert status(attempt) == [("db07", "silver", NONE)]


def test_an_expired_certificate_stays_failed_after_a_fail():
    assert status(entry("2025-01-01"), entry("2025-02-01", FAILS)) == [("db07", "silver", FAILED)]


def test_a_revoked_certificate_does_not_bring_back_the_one_before():
    first, second = entry("2026-05-01"), entry("2026-05-10")
    assert entry_states([first, second], {second.sha256}, TODAY) == {first.sha256: SUPERSEDED, second.sha256: REVOKED}
    assert status(first, second, entry("2026-05-20"), revoked={second.sha256}) == [("db07", "silver", VALID)]


def test_each_profile_has_its_own_chain():
    assert status(
        entry("2026-05-01", profile="gold"),
        entry("2026-05-02", profile="silver"),
        entry("2026-05-03", FAILS, profile="gold"),
    ) == [
        ("db07", "gold", FAILED),
        ("db07", "silver", VALID),
    ]


@pytest.mark.parametrize(
    "others, expected",
    [
        (
            [entry("2026-05-20", FAILS, profile="look"), entry("2026-05-21", ATTEMPT, profile="look")],
            [("silver", VALID)],
        ),
        ([entry("2026-05-20", profile="gold")], [("gold", VALID), ("silver", VALID)]),
    ],
)
def test_a_profile_that_never_certified_does_not_spoil_the_state(others, expected):
    assert sorted(line[1:] for line in status(entry("2026-05-01"), *others)) == expected


def test_a_profile_that_only_failed_is_shown_if_nothing_certifies():
    assert status(entry("2026-05-20", FAILS, profile="look")) == [("db07", "look", FAILED)]
    assert status(entry("2026-05-20", FAILS, profile="look"), entry("2026-05-21", ATTEMPT)) == [
        ("db07", "look", FAILED),
        ("db07", "silver", NONE),
    ]


def asked(*entries, profiles=None, revoked=()):
    """Return the profile and the state of the requested entry, and the other listed profiles."""
    lines = fleet_status(entries, revoked, TODAY, profiles=profiles)
    return [(line.profile, line.state) for line in lines if line.is_asked], sorted(
        line.profile for line in lines if not line.is_asked
    )


BRONZE, GOLD = entry("2026-05-01", profile="bronze"), entry("2026-05-10", FAILS, profile="gold")


@pytest.mark.parametrize(
    "entries, profiles, expected",
    [
        ([BRONZE, GOLD], None, ([("gold", FAILED)], ["bronze"])),
        ([BRONZE, GOLD], {"db07": "bronze"}, ([("bronze", VALID)], [])),
        ([BRONZE], {"db07": "gold"}, ([("gold", NONE)], ["bronze"])),
        ([BRONZE], {"db08": "gold"}, ([("bronze", VALID)], [])),
        ([BRONZE, entry("2026-05-10", ATTEMPT, profile="gold")], None, ([("gold", NONE)], ["bronze"])),
        ([BRONZE, entry("2026-05-10", FAILS, profile="look")], None, ([("bronze", VALID)], [])),
        (
            [entry("2026-05-01", profile="bronze", valid_days=60), entry("2026-05-10", profile="bronze")],
            None,
            ([("bronze", VALID)], []),
        ),
    ],
)
def test_the_profile_that_is_asked_for_is_the_one_that_is_named_or_that_of_the_newest_run_to_certify(
    entries, profiles, expected
):
    assert asked(*(each for each in entries), profiles=profiles) == expected


def test_a_fail_that_was_revoked_asks_for_nothing():
    assert asked(BRONZE, GOLD, revoked={GOLD.sha256}) == ([("bronze", VALID)], [])


SILVER = entry("2026-05-01")


@pytest.mark.parametrize(
    "fact, later, expected",
    [
        ("io_error", [], FAILED),
        ("io_error", [entry("2026-05-20", ATTEMPT)], FAILED),
        ("io_error", [entry("2026-05-20")], VALID),
        ("io_error", [entry("2026-05-20", profile="gold")], VALID),
        ("stall", [entry("2026-05-20")], VALID),
        ("wrong_data", [entry("2026-05-20")], FAILED),
        ("wrong_data", [entry("2026-05-20", verified=1)], VALID),
        ("wrong_data", [entry("2026-05-20", verified=1), entry("2026-05-21")], VALID),
        ("wrong_data", [entry("2026-05-20", FAILS, verified=1), entry("2026-05-21")], FAILED),
        ("io_error wrong_data", [entry("2026-05-20")], FAILED),
        ("io_error", [entry("2026-05-20", disk_id="another")], VALID),
    ],
)
def test_a_fact_about_a_volume_fails_it_under_every_profile_until_a_run_that_can_find_it_passes(fact, later, expected):
    found = entry("2026-05-10", FAILS, profile="look", volume_facts=fact)
    lines = fleet_status([SILVER, found, *later], (), TODAY)
    assert {line.state for line in lines} == {expected}
    assert {line.fact for line in lines} == {found if expected == FAILED else None}


def test_a_fact_that_was_revoked_does_not_count_and_a_pass_that_was_revoked_clears_none():
    found, passed = (
        entry("2026-05-10", FAILS, profile="look", volume_facts="io_error"),
        entry("2026-05-20", profile="gold"),
    )
    assert asked(SILVER, found, revoked={found.sha256}) == ([("silver", VALID)], [])
    assert asked(SILVER, found, passed, revoked={passed.sha256})[0] == [("silver", FAILED)]


def test_another_mount_point_is_another_volume_and_its_failure_stands():
    failed = entry("2026-05-01", FAILS, mount_point="/var/mqm/log", volume_id="v1")
    root = entry("2026-05-10", mount_point="/", volume_id="v2", disk_id="root")
    lines = fleet_status([failed, root], (), TODAY)
    assert [(line.label, line.state, line.replaced) for line in lines] == [
        ("db07 at /var/mqm/log", FAILED, None),
        ("db07 at /", VALID, None),
    ]
    unreachable = entry("2026-05-20", ATTEMPT, volume_id=None)
    assert [line.attempt for line in fleet_status([failed, root, unreachable], (), TODAY)] == [None, unreachable]


def test_another_disk_at_the_same_mount_point_needs_its_own_pass():
    lines = fleet_status([SILVER, entry("2026-05-10", ATTEMPT, disk_id="another")], (), TODAY)
    assert [(line.state, line.replaced.disk_id) for line in lines] == [(NONE, SILVER.disk_id)]


def test_a_volume_that_was_taken_out_is_not_named_any_more_unless_something_was_decided():
    attempt = entry("2026-05-01", ATTEMPT)
    assert fleet_status([attempt], {attempt.sha256}, TODAY) == []
    assert [line.state for line in fleet_status([SILVER, attempt], {SILVER.sha256, attempt.sha256}, TODAY)] == [REVOKED]


def test_lost_writes_fail_a_volume_that_nothing_was_judged_of():
    loss = cuts_of(entry("2026-05-01", volume="data", volume_id="v9", mount_point="/data"), "2026-05-30", "fail", 1)
    lines = fleet_status([SILVER], (), TODAY, [loss])
    assert [(line.volume, line.state, line.loss) for line in lines] == [("data", FAILED, loss), ("log", VALID, None)]


@pytest.mark.parametrize("revoke, day", [(False, "2025-01-01"), (True, "2026-05-01")])
def test_a_volume_moves_on_to_the_profile_of_its_newer_certificate(revoke, day):
    old, new = entry(day, profile="silver"), entry("2026-05-20", profile="gold")
    assert status(old, new, revoked={old.sha256} if revoke else ()) == [("db07", "gold", VALID)]
    assert status(old, revoked={old.sha256} if revoke else ()) == [("db07", "silver", REVOKED if revoke else EXPIRED)]


def test_a_replaced_disk_begins_anew_and_names_the_old_one():
    (line,) = fleet_status(
        [entry("2026-05-01", volume_id="old"), entry("2026-05-20", ATTEMPT, volume_id="new")], (), TODAY
    )
    assert (line.state, line.replaced.volume_id) == (NONE, "old")


def test_a_host_that_cannot_be_looked_at_keeps_its_state():
    unreachable = entry("2026-05-20", ATTEMPT, volume_id=None, boot_id="")
    (line,) = fleet_status([entry("2026-05-01"), unreachable], (), TODAY)
    assert (line.state, line.attempt) == (VALID, unreachable)
    assert status(unreachable) == [("db07", "silver", NONE)]


def test_the_same_identity_under_another_name_is_a_clone_unless_a_boot_is_shared():
    first, clone = entry("2026-05-01", host="a", boot_id="1"), entry("2026-05-20", FAILS, host="b", boot_id="2")
    lines = fleet_status([first, clone], (), TODAY)
    assert [(line.host, line.state, line.clones) for line in lines] == [("b", FAILED, ("a",)), ("a", VALID, ("b",))]
    renamed = entry("2026-05-20", FAILS, host="b", boot_id="1")
    (line,) = fleet_status([first, renamed], (), TODAY)
    assert (line.host, line.state, line.clones) == ("b", FAILED, ())


def test_names_that_share_boots_with_a_third_one_are_one_machine():
    entries = [entry("2026-05-01", host="a", boot_id="1"), entry("2026-05-02", host="c", boot_id="2")]
    bridge = [entry("2026-05-03", host="b", boot_id="1"), entry("2026-05-04", host="b", boot_id="2")]
    assert [len(volume.entries) for volume in volumes(entries)] == [1, 1]
    assert [len(volume.entries) for volume in volumes(entries + bridge)] == [4]


def test_machines_without_a_boot_id_are_not_taken_for_one():
    lines = fleet_status(
        [entry("2026-05-01", host="a", boot_id=""), entry("2026-05-02", host="b", boot_id="")], (), TODAY
    )
    assert [line.clones for line in lines] == [("b",), ("a",)]


def test_the_most_urgent_come_first_and_the_order_of_storing_is_of_no_importance():
    entries = [
        entry("2026-05-01", host="valid", volume_id="1"),
        entry("2026-03-10", host="expiring", volume_id="2"),
        entry("2026-01-01", host="expired", volume_id="3"),
        entry("2026-05-01", FAILS, host="failed", volume_id="4"),
        entry("2026-05-01", ATTEMPT, host="none", volume_id="5"),
        entry("2026-03-11", host="expiring-later", volume_id="6"),
    ]
    expected = ["failed", "expired", "none", "expiring", "expiring-later", "valid"]
    for seed in range(5):
        random.Random(seed).shuffle(entries)
        assert [line.host for line in fleet_status(entries, (), TODAY)] == expected
