# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The status of the fleet: which states are problems, and its output for people, programs and monitoring."""

from __future__ import annotations

import datetime
import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import status_json
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.problems import host_states, problems_by_host
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import (
    MOST_URGENT_FIRST,
    Today,
    day_of,
    fleet_status,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.status_txt import status_prom, status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, FAILS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history.made_up import entry
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.metrics import samples_of

TODAY = Today(datetime.date(2026, 6, 1), 14)
VALID = entry("2026-05-01", host="valid", volume_id="1")
EXPIRING = entry("2026-03-05", host="expiring", volume_id="2")
EXPIRED = entry("2026-01-01", host="expired", volume_id="3")
FAILED = entry("2026-05-01", FAILS, host="failed", volume_id="4")
ATTEMPTED = entry("2026-05-01", ATTEMPT, host="attempted", volume_id="5")
HOSTS = ["attempted", "expired", "expiring", "failed", "unknown", "valid"]


CHANGED = {
    ("valid", "log", "/var/mqm/log", "silver"): {
        "certificate": EXPIRED.sha256,
        "judged_at": EXPIRED.judged_at,
        "changes": [
            {"name": "kernel", "before": "6.1\x1b", "after": "x" * 99},
            *({"name": f"fact{number}", "before": number, "after": 0} for number in range(1, 7)),
        ],
    }
}


def plan(host, **volumes):
    """Return the plan of a host: its volumes and their mount points."""
    return {host: [made_up.planned(host, volume, mount_point) for volume, mount_point in volumes.items()]}


def problems_of(*arguments):
    return [problem.text for problems in problems_by_host(*arguments).values() for problem in problems]


def lines(*entries, revoked=()):
    return fleet_status(entries, revoked, TODAY)


FLEET = lines(VALID, EXPIRING, EXPIRED, FAILED, ATTEMPTED)


def test_what_failed_expired_or_was_never_certified_is_a_problem():
    assert problems_of(FLEET, HOSTS, {}) == [
        "attempted: it has not been certified against silver yet; inconclusive on 2026-05-01",
        "expired: silver until 2026-04-01 (run run-2026-01-01)",
        "failed: failed silver on 2026-05-01 (run run-2026-05-01)",
        "unknown: never measured: the history does not contain it",
    ]


def test_each_host_has_its_own_problems_and_state():
    problems = problems_by_host(FLEET, HOSTS, {})
    assert {host: len(own) for host, own in problems.items()} == {
        "attempted": 1,
        "expired": 1,
        "failed": 1,
        "unknown": 1,
    }
    states = {
        "attempted": "none",
        "expired": "expired",
        "expiring": "expiring",
        "failed": "failed",
        "unknown": "unmeasured",
        "valid": "valid",
    }
    assert host_states(FLEET, HOSTS, problems) == states
    # A volume of the plan that was never certified.
    assert host_states(FLEET, ["valid"], problems_by_host(FLEET, ["valid"], plan("valid", data=""))) == {
        "valid": "unmeasured"
    }


def test_the_screen_says_what_was_read_and_what_to_do_next():
    text = status_text(
        status_json(FLEET, HOSTS, problems_by_host(FLEET, HOSTS, {}), TODAY, {}, {}), "/h/history.sqlite"
    ).splitlines()
    command = "ansible-playbook playbooks/certify.yml --limit attempted,expired,failed,unknown"
    assert text[-2:] == [
        "Read from the history /h/history.sqlite.",
        f"Next: after correcting what failed, certify again: {command}",
    ]
    many = status_text(
        status_json(
            [], HOSTS, {f"h{number}": problems_by_host([], ["h"], {})["h"] for number in range(11)}, TODAY, {}, {}
        )
    ).splitlines()
    assert many[-1].endswith(
        "certify again for the 11 hosts that status.json names under problems: ansible-playbook playbooks/certify.yml"
    )
    assert "Next" not in status_text(status_json(FLEET, ["valid"], {}, TODAY, {}, {}), "/h")


def test_only_expected_hosts_are_problems():
    assert problems_of(FLEET, ["valid", "expiring"], {}) == problems_of(FLEET, [], {}) == []


def test_a_volume_that_is_expected_and_was_never_certified_is_a_problem():
    data, tried = (
        entry("2026-05-01", host="valid", volume="data", volume_id="6"),
        entry("2026-05-01", ATTEMPT, host="valid", volume="tried", volume_id="7"),
    )
    fleet = lines(VALID, data, tried, EXPIRED)
    both = plan("valid", log="", data="")
    assert (
        problems_of(fleet, ["valid"], {})
        == problems_of(fleet, ["valid"], both)
        == problems_of(fleet, ["valid"], {}, {"valid": ["log", "data"]})
        == []
    )
    expected = [
        "expired: silver until 2026-04-01 (run run-2026-01-01)",
        "valid/data at /elsewhere: never measured: the history does not contain it",
        "valid/tried: it has not been certified against silver yet; inconclusive on 2026-05-01",
        "valid/new: never measured: the history does not contain it",
    ]
    planned = plan("valid", data="/elsewhere", tried="/var/mqm/log", new="")
    assert problems_of(fleet, ["expired", "valid"], {**planned, **plan("expired", log="")}) == expected
    named = {"valid": ["data", "tried", "new"], "expired": ["log"]}
    assert problems_of(fleet, ["expired", "valid"], {}, named) == [expected[0], *expected[2:]]


def test_every_volume_of_a_host_counts():
    data = entry("2026-05-01", FAILS, host="valid", volume="data", volume_id="6")
    assert problems_of(lines(VALID, data), ["valid"], {}) == [
        "valid/data: failed silver on 2026-05-01 (run run-2026-05-01)"
    ]
    # A volume that is no longer in use is revoked manually, with a reason.
    assert problems_of(lines(VALID, data, revoked={data.sha256}), ["valid"], {}) == []


def test_a_revoked_certificate_certifies_nothing():
    assert problems_of(lines(VALID, revoked={VALID.sha256}), ["valid"], {}) == [
        "valid: silver of 2026-05-01 was revoked"
    ]


@pytest.mark.parametrize("entry", [VALID, EXPIRED, FAILED, ATTEMPTED])
def test_a_loss_in_a_power_cut_is_told_whatever_was_certified(entry):
    loss = made_up.cuts_of(entry, "2026-05-30", "fail", 1, run_id="run-cut")
    fleet = fleet_status([entry, EXPIRING], (), TODAY, [loss])
    problems = problems_of(fleet, [entry.host, "expiring"], {})
    assert [problem.split("; ")[0] for problem in problems] == [
        f"{entry.host}: lost acknowledged writes in a power cut on 2026-05-30 (run run-cut)"
    ]
    volumes = {volume["host"]: volume for volume in status_json(fleet, [], {}, TODAY, {}, {})["volumes"]}
    assert volumes[entry.host]["power_cut_loss"] == {
        "run_id": "run-cut",
        "judged_at": "2026-05-30T00:00:00Z",
        "reason": "cut 1: why",
        "age_days": 2,
    }
    assert volumes["expiring"]["power_cut_loss"] is None
    (revoked,) = fleet_status([entry], {entry.sha256}, TODAY, [loss])
    assert revoked.state == ("failed" if entry is ATTEMPTED else "revoked")


UNKNOWN = entry("2026-05-20", ATTEMPT, host="valid", volume_id=None)


def cuts_of(day, verdict="pass", cuts=10, of=VALID):
    return made_up.cuts_of(of, day, verdict, cuts)


@pytest.mark.parametrize(
    ("results", "told", "known"),
    [
        (
            [cuts_of("2026-05-12")],
            (
                "10 power cuts kept 20 days ago: a chance of a loss of at most 26 % per cut, until "
                "2026-06-11 (run run-2026-05-12)"
            ),
            {"run_id": "run-2026-05-12", "cuts": 10, "age_days": 20, "valid_until": "2026-06-11", "is_expired": False},
        ),
        ([cuts_of("2026-05-12"), cuts_of("2026-05-31", cuts=1)], "10 power cuts kept 20 days ago", {"cuts": 10}),
        (
            [cuts_of("2026-01-01"), cuts_of("2026-05-31", cuts=1)],
            "1 power cut kept 1 day ago: a chance of a loss of at most 95 %",
            {"cuts": 1},
        ),
        (
            [cuts_of("2026-05-01")],
            "10 power cuts kept 31 days ago, expired on 2026-05-31 (run run-2026-05-01)",
            {"is_expired": True},
        ),
        ([cuts_of("2026-05-12", "fail"), cuts_of("2026-05-13", cuts=1)], "", None),
        ([cuts_of("2026-05-12", of=EXPIRED)], "", None),
    ],
)
def test_kept_power_cuts_are_told_with_their_bound_and_their_age(results, told, known):
    today = Today(TODAY.date, 14, valid_days=30)
    (line,) = (line for line in fleet_status([VALID], (), today, results) if line.host == "valid")
    text = status_text(status_json([line], ["valid"], {}, today, {}, {})).splitlines()[1]
    assert told in text and ("power cuts kept" in text) == ("cuts kept" in told)
    (volume,) = status_json([line], [], {}, today, {}, {})["volumes"]
    found = volume["power_cuts_kept"]
    assert (found and {key: found[key] for key in known}) == known
    assert not known or known.get("cuts") != 10 or 0.258 < found["loss_chance_bound"] < 0.259


def test_a_volume_that_was_only_cut_is_told_and_is_not_certified():
    fleet = fleet_status([], (), TODAY, [cuts_of("2026-05-12")])
    assert [(line.state, line.kept.data["cuts"]) for line in fleet] == [("none", 10)]
    assert problems_of(fleet, ["valid"], {}) == ["valid: it has not been certified yet"]


def test_a_volume_that_only_a_quick_look_measured_is_not_said_to_lack_its_certificate():
    looked = entry("2026-05-20", ATTEMPT, host="valid", volume_id="1", profile="look", verdict="pass")
    assert problems_of(lines(looked), ["valid"], {}) == [
        "valid: it has not been certified yet, and look never certifies; pass on 2026-05-20"
    ]


def test_a_loss_of_a_volume_that_nobody_came_to_know_is_a_failure():
    fleet = fleet_status([UNKNOWN], (), TODAY, [cuts_of("2026-05-30", "fail", of=UNKNOWN)])
    assert [line.state for line in fleet] == ["failed"]
    (problem,) = problems_of(fleet, ["valid"], plan("valid", log=""))
    assert problem == (
        "valid: lost acknowledged writes in a power cut on 2026-05-30 (run run-2026-05-30); inconclusive on 2026-05-20"
    )


def test_a_fact_about_a_volume_is_told_with_its_run_and_is_in_what_programs_get():
    found = entry("2026-05-20", FAILS, host="valid", volume_id="1", profile="look", volume_facts="io_error stall")
    (problem,) = problems_of(lines(VALID, found), ["valid"], {})
    assert problem == "valid: had an I/O error and stalled beyond the limit on 2026-05-20 (run run-2026-05-20)"
    (volume,) = status_json(lines(VALID, found), [], {}, TODAY, {}, {})["volumes"]
    assert volume["volume_facts"] == {
        "facts": ["io_error", "stall"],
        "run_id": "run-2026-05-20",
        "judged_at": "2026-05-20T10:00:00Z",
    }


def test_what_another_profile_says_is_listed_as_such_and_is_no_problem():
    fleet = lines(
        VALID,
        entry("2026-04-20", profile="gold", host="valid", volume_id="1"),
        entry("2026-04-21", FAILS, profile="gold", host="valid", volume_id="1"),
    )
    assert problems_of(fleet, ["valid"], {}) == []
    assert "failed gold on 2026-04-21 (run run-2026-04-21); a profile other than the requested one" in status_text(
        status_json(fleet, ["valid"], {}, TODAY, {}, {})
    )
    assert {
        volume["profile"]: volume["is_asked_for"] for volume in status_json(fleet, [], {}, TODAY, {}, {})["volumes"]
    } == {"silver": True, "gold": False}
    assert "gold" not in status_prom(status_json(fleet, [], {}, TODAY, {}, {})).decode()


def test_volumes_of_one_name_are_told_apart_by_their_mount_points():
    root = entry("2026-05-10", host="failed", volume_id="root", mount_point="/")
    fleet = lines(FAILED, root)
    assert problems_of(fleet, ["failed"], plan("failed", log="/")) == [
        "failed at /var/mqm/log: failed silver on 2026-05-01 (run run-2026-05-01)"
    ]
    found = samples_of(status_prom(status_json(fleet, [], {}, TODAY, {}, {})).decode())["logdisk_certificate_state"]
    assert {dict(labels)["mount_point"] for labels in found} == {"/", "/var/mqm/log"}


def test_a_replaced_disk_is_not_certified_and_says_why():
    problems = problems_of(lines(VALID, entry("2026-05-20", ATTEMPT, host="valid", volume_id="new")), ["valid"], {})
    assert problems == [
        "valid: it has not been certified against silver yet; inconclusive on 2026-05-20; its disk or "
        "file system has been replaced"
    ]


def test_clones_are_told():
    clone = entry("2026-05-01", host="clone", volume_id="1", boot_id="other")
    assert "clone of valid" in status_text(status_json(lines(VALID, clone), ["valid", "clone"], {}, TODAY, {}, {}))


def test_the_screen_has_the_most_urgent_first():
    text = status_text(status_json(FLEET, HOSTS, problems_by_host(FLEET, HOSTS, {}), TODAY, {}, {})).splitlines()[:-1]
    assert text[0] == (
        "NOT CERTIFIED on 2026-06-01: 1 failed, 1 expired, 1 never certified, 1 expiring, 1 valid; hosts expected: 6."
    )
    assert [[line[2:17].rstrip(), line[17:].split()[0]] for line in text[1:]] == [
        [state, host]
        for state, host in zip(
            ("failed", "expired", "never certified", "expiring", "valid"),
            ("failed", "expired", "attempted", "expiring", "valid"),
            strict=True,
        )
    ]
    assert status_text(status_json([], [], {}, TODAY, {}, {})).startswith("CERTIFIED")


def test_the_screen_is_bounded():
    text = status_text(
        status_json(
            lines(*(entry("2026-05-01", host=f"h{number}", volume_id=str(number)) for number in range(130))),
            [],
            {},
            TODAY,
            {},
            {},
        )
    )
    assert len(text.splitlines()) == 102 and text.endswith("and 30 more, see status.json")


def test_the_screen_says_what_changed():
    text = status_text(status_json(FLEET, HOSTS, {}, TODAY, {}, CHANGED)).splitlines()
    assert text[-1] == (
        f"            changed since 2026-01-01: kernel 6.1\\x1b -> {'x' * 57}..., fact1 1 -> 0, fact2 2 -> 0, fact3 3 "
        "-> 0, fact4 4 -> 0, and 2 more"
    )
    assert "valid" in text[-2] and "changed" not in status_text(
        status_json(FLEET, HOSTS, {}, TODAY, {}, {key: {**since, "changes": []} for key, since in CHANGED.items()})
    )


def test_programs_get_every_volume():
    revocation = {"at": "2026-05-02T00:00:00Z", "by": "ops", "reason": "recalled"}
    content = json.loads(
        json.dumps(
            status_json(
                lines(VALID, EXPIRED, revoked={VALID.sha256}),
                ["valid"],
                problems_by_host([], ["valid"], {}),
                TODAY,
                {VALID.sha256: revocation},
                CHANGED,
            )
        )
    )
    assert (content["schema"], content["date"], content["expected_hosts"], content["problems"]) == (
        1,
        "2026-06-01",
        ["valid"],
        ["valid: never measured: the history does not contain it"],
    )
    states = {volume["host"]: volume for volume in content["volumes"]}
    assert (
        states["valid"]["state"] == "revoked"
        and states["valid"]["revoked"]["reason"] == "recalled"
        and states["valid"]["certificate"] == VALID.sha256
    )
    assert (
        states["valid"]["changed_since"]["certificate"] == EXPIRED.sha256 and states["expired"]["changed_since"] is None
    )
    assert states["valid"]["changed_since"]["changes"][1] == {"name": "fact1", "before": 1, "after": 0}
    assert (states["expired"]["state"], states["expired"]["valid_until"]) == ("expired", "2026-04-01")


def test_monitoring_gets_one_state_for_each_volume_and_the_end_of_the_last_day():
    name = 'a"\\b\n'
    found = samples_of(
        status_prom(
            status_json(
                lines(entry("2026-05-01", host=name, valid_until="2026-07-01")),
                ["x"],
                problems_by_host([], ["x"], {}),
                TODAY,
                {},
                {},
            )
        ).decode()
    )
    own = (("host", name), ("profile", "silver"), ("volume", "log"))
    assert {labels: value for labels, value in found["logdisk_certificate_state"].items() if value} == {
        (*own[:2], ("state", "valid"), own[2]): 1
    }
    assert len(found["logdisk_certificate_state"]) == len(MOST_URGENT_FIRST)
    end = int(datetime.datetime(2026, 7, 2, tzinfo=datetime.timezone.utc).timestamp())
    assert found["logdisk_certificate_end_timestamp_seconds"] == {own: end}
    assert (found["logdisk_certificate_problems"], found["logdisk_expected_hosts"]) == ({(): 1}, {(): 1})


def test_a_day_is_given_or_today():
    assert day_of("2026-06-01") == TODAY.date
    assert day_of("") == datetime.datetime.now(datetime.timezone.utc).date()
    with pytest.raises(ValueError, match="not a day such as"):
        day_of("yesterday")
