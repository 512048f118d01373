# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""States on a given day, chains, clones and replaced disks, from entries alone."""

from __future__ import annotations

import datetime
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import ATTEMPT, FAILS
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
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import entry


def on(day, expiring_days=14):
    return Today(datetime.date.fromisoformat(day), expiring_days)


TODAY = on("2026-06-01")


def status(*entries, revoked=(), today=TODAY):
    return [(line.host, line.profile, line.state) for line in fleet_status(entries, revoked, today)]


@pytest.mark.parametrize(
    "day, expected",
    [("2026-03-17", VALID), ("2026-03-18", EXPIRING), ("2026-03-31", EXPIRING), ("2026-04-01", EXPIRED), ("2025-12-01", VALID)],
)
def test_a_certificate_is_valid_up_to_and_including_its_last_day(day, expected):
    certificate = entry("2026-01-01", valid_until="2026-03-31")
    assert entry_states([certificate], (), on(day)) == {certificate.sha256: expected}


def test_nothing_is_expiring_if_no_days_are_asked_for():
    assert status(entry("2026-01-01", valid_until="2026-06-01"), today=on("2026-06-01", 0)) == [("db07", "silver", VALID)]


def test_a_certificate_supersedes_and_a_fail_ends_at_once():
    first, second, fail = entry("2026-05-01"), entry("2026-05-10"), entry("2026-05-20", FAILS)
    assert entry_states([second, first], (), TODAY) == {first.sha256: SUPERSEDED, second.sha256: VALID}
    assert entry_states([second, fail, first], (), TODAY) == {first.sha256: SUPERSEDED, second.sha256: FAILED, fail.sha256: FAILED}
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
    assert status(entry("2026-05-01", profile="gold"), entry("2026-05-02", profile="silver"), entry("2026-05-03", FAILS, profile="gold")) == [
        ("db07", "gold", FAILED),
        ("db07", "silver", VALID),
    ]


@pytest.mark.parametrize(
    "others, expected",
    [
        ([entry("2026-05-20", FAILS, profile="look"), entry("2026-05-21", ATTEMPT, profile="look")], [("silver", VALID)]),
        ([entry("2026-05-20", profile="gold")], [("gold", VALID), ("silver", VALID)]),
    ],
)
def test_a_profile_that_never_certified_does_not_spoil_the_state(others, expected):
    assert sorted(line[1:] for line in status(entry("2026-05-01"), *others)) == expected


def test_a_profile_that_only_failed_is_shown_if_nothing_certifies():
    assert status(entry("2026-05-20", FAILS, profile="look"), entry("2026-05-21", ATTEMPT)) == [("db07", "look", FAILED)]


@pytest.mark.parametrize("revoke, day", [(False, "2025-01-01"), (True, "2026-05-01")])
def test_a_volume_moves_on_to_the_profile_of_its_newer_certificate(revoke, day):
    old, new = entry(day, profile="silver"), entry("2026-05-20", profile="gold")
    assert status(old, new, revoked={old.sha256} if revoke else ()) == [("db07", "gold", VALID)]
    assert status(old, revoked={old.sha256} if revoke else ()) == [("db07", "silver", REVOKED if revoke else EXPIRED)]


def test_a_replaced_disk_begins_anew_and_names_the_old_one():
    (line,) = fleet_status([entry("2026-05-01", volume_id="old"), entry("2026-05-20", ATTEMPT, volume_id="new")], (), TODAY)
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
    lines = fleet_status([entry("2026-05-01", host="a", boot_id=""), entry("2026-05-02", host="b", boot_id="")], (), TODAY)
    assert [line.clones for line in lines] == [("b",), ("a",)]


def test_volumes_of_one_host_have_their_own_states():
    lines = fleet_status([entry("2026-05-01"), entry("2026-05-01", FAILS, volume="data", volume_id="v2")], (), TODAY)
    assert [(line.volume, line.state) for line in lines] == [("data", FAILED), ("log", VALID)]


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
