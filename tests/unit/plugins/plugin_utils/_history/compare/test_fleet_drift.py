# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""From certificates to the drift of volumes: which certificates count, the results for each volume, and what else
changed when figures moved."""

from __future__ import annotations

import datetime
import json
import math
import random

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_drift import (
    CHANGED,
    CONSPICUOUS,
    DRIFTING,
    SHORT,
    STEADY,
    fleet_drift,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.mqldt.import_files import Origin, import_mqldt
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.table_reader import printable
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

BASE = {**made_up.certificate().content, "method_version": 1}
BASE["rows"] = BASE["rows"][:2]
FIRST = datetime.date(2025, 1, 1)
LATENCY = BASE["rows"][0]["latency_mean_ns"]
MQLDT = (
    "Blocksize,Total writes to files,Total bytes written to files,Max bytes/sec written to files (over 1 sec interval),"
    "Min bytes/sec written to files (over 1 sec interval),Avg bytes/sec written to files,Max latency of write "
    "(ns),Min latency of write (ns),"
    "Avg latency of write (ns)\r\n4096,{writes},{total},9,8,{rate},900,100,200\r\n"
)


def certificate(host, number, factor=1.0, **fields):
    """Return a host's certificate from the run of a week, with the figures of BASE multiplied by a factor. environment
    is added to the environment of BASE."""
    rows = [
        {**row, "latency_mean_ns": row["latency_mean_ns"] * factor, "bytes_per_s": row["bytes_per_s"] / factor}
        for row in BASE["rows"]
    ]
    environment = {**BASE["environment"], **fields.pop("environment", {})}
    day = FIRST + datetime.timedelta(days=7 * number)
    times = {"run_id": f"run-{number:02}", "judged_at": f"{day}T10:00:00Z"}
    volume = {"volume_id": f"volume of {host}"}
    return made_up.changed(
        made_up.Certificate.of_content(BASE),
        **{"host": host, "rows": rows, "environment": environment, **times, **volume, **fields},
    )


def course(host, factors, **fields):
    """Return a certificate for each factor, each with a little noise."""
    rng = random.Random(host)
    return [
        certificate(host, number, factor * math.exp(rng.gauss(0, 0.01)), **fields)
        for number, factor in enumerate(factors)
    ]


@pytest.fixture
def history(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        yield history


@pytest.fixture
def drift(history):
    """Store certificates and return the drift of their hosts."""

    def drift(*certificates, hosts=None, figure="latency_mean_ns", margin=0.1, since=None):
        history.store(certificates)
        hosts = hosts or {each.content["host"] for each in certificates}
        return fleet_drift(history, hosts, figure=figure, margin=margin, since=since)

    return drift


def states(drift):
    return {volume["host"]: volume["state"] for volume in drift["volumes"]}


def only(drift):
    (volume,) = drift["volumes"]
    return volume


def test_a_run_that_was_judged_again_is_not_two_in_a_row(drift):
    last = certificate("db01", 9, 1.5)
    again = made_up.changed(last, judged_at=last.entry.judged_at.replace("T10", "T11"))
    assert states(drift(*course("db01", [1.0] * 9), last, again)) == {"db01": CONSPICUOUS}


def test_each_volume_has_a_state_and_the_worst_come_first(drift):
    fleet = drift(
        *course("a-steady", [1] * 12),
        *course("b-drifting", [1] * 10 + [1.3, 1.3]),
        *course("c-conspicuous", [1] * 11 + [1.3]),
        *course("d-changed", [1.3] * 6 + [1] * 6),
        *course("e-short", [1] * 4),
    )
    assert list(states(fleet).items()) == [
        ("b-drifting", DRIFTING),
        ("c-conspicuous", CONSPICUOUS),
        ("d-changed", CHANGED),
        ("a-steady", STEADY),
        ("e-short", SHORT),
    ]
    assert fleet["states"] == dict.fromkeys((DRIFTING, CONSPICUOUS, CHANGED, STEADY, SHORT), 1)
    json.dumps(fleet)


def test_a_row_has_its_values_and_the_limit_that_the_newest_was_held_against(drift):
    row = only(drift(*course("h", [1] * 10 + [1.3, 1.3])))["series"][0]["rows"][0]
    assert row["block_size_bytes"] == BASE["rows"][0]["block_size_bytes"]
    assert (len(row["values"]), row["judged"], row["conspicuous"], row["gates"]) == (12, 12, [10, 11], True)
    assert row["values"][-1] == pytest.approx(LATENCY * 1.3, rel=0.05)
    assert row["usual"] == pytest.approx(LATENCY, rel=0.02)
    assert row["limit"] / row["usual"] == pytest.approx(1.12, rel=0.01)


def test_when_figures_moved_is_told_with_what_else_changed_then(drift):
    """The first certificate with the new kernel was disturbed: the change is reported with the next one that counts."""
    before = course("h", [1] * 8, environment={"kernel": "6.1"})
    after = course("h", [1] * 8 + [1.3] * 8, environment={"kernel": "6.12"})[9:]
    disturbed = certificate("h", 8, 1.3, environment={"kernel": "6.12"}, disturbances=["steal"])
    volume = only(drift(*before, disturbed, *after))
    (event,) = volume["events"]
    assert (event["place"], event["judged_at"], event["preliminary"]) == (
        9,
        volume["certificates"][9]["judged_at"],
        False,
    )
    assert [row["change"] for row in event["rows"]] == pytest.approx([0.3, 0.3], abs=0.03)
    assert (
        event["changes"]
        == volume["certificates"][8]["changes"]
        == [{"name": "kernel", "before": "6.1", "after": "6.12"}]
    )
    assert volume["series"][0]["left_out"] == [{"place": 8, "reason": "its measurement was disturbed"}]


def test_only_certificates_like_the_newest_count(drift):
    """A volume is not judged by earlier certificates that were measured with another method."""
    old = course("h", [1] * 6, method_version=0)
    new = course("h", [1] * 6 + [1.5] * 6)[6:]
    volume = only(drift(*old, *new))
    assert volume["state"] == STEADY
    assert {each["reason"] for each in volume["series"][0]["left_out"]} == {"its method version is 0, not 1"}
    assert [row["judged"] for row in volume["series"][0]["rows"]] == [6, 6]
    assert {"name": "method_version", "before": 0, "after": 1} in volume["certificates"][6]["changes"]


def test_a_replaced_volume_begins_anew(drift):
    volume = only(drift(*course("h", [1] * 6, volume_id="old"), *course("h", [1] * 6 + [1.5] * 3)[6:]))
    assert (len(volume["certificates"]), volume["state"]) == (3, SHORT)


def test_a_certificate_of_an_unknown_volume_is_not_one_of_the_host(drift):
    assert len(only(drift(*course("h", [1] * 5), certificate("h", 7, volume_id=None)))["certificates"]) == 5


def test_revoked_and_earlier_certificates_are_not_looked_at(drift, history):
    certificates = course("h", [1] * 8 + [1.3] * 8)
    assert only(drift(*certificates))["state"] == DRIFTING
    assert only(drift(since={"h": FIRST + datetime.timedelta(days=7 * 8)}, hosts=["h"]))["state"] == STEADY
    for each in certificates[8:]:
        history.revoke(each.sha256, "wrong disk", "ops")
    assert only(drift(hosts=["h"]))["state"] == STEADY


def test_attempts_without_figures_are_left_out(drift):
    volume = only(
        drift(
            *course("h", [1] * 5),
            certificate("h", 7, rows=[], effect="attempt", verdict="error", valid_from=None, valid_until=None),
        )
    )
    assert len(volume["certificates"]) == 5


def test_the_class_tells_how_much_certificates_differ_but_not_its_past_steps(drift):
    """If steps counted as variation, similar volumes with one step each would increase the limit."""
    stepped = [each for number in range(9) for each in course(f"s{number}", [1.4] * 8 + [1] * 8)]
    fleet = drift(*stepped, *course("h", [1] * 10 + [1.14, 1.14]))
    assert states(fleet)["h"] == DRIFTING
    rng = random.Random("wild")
    wild = [certificate(f"w{host}", number, math.exp(rng.gauss(0, 0.2))) for host in range(9) for number in range(9)]
    assert states(drift(*wild, hosts=["h", *(f"w{host}" for host in range(9))]))["h"] == STEADY


def night(number, factor, slower="", hosts=8):
    """Return the certificates of a class for one night; one of the hosts may be slower than the others."""
    rng = random.Random(number)
    return [
        certificate(f"db{host}", number, factor * (1.3 if f"db{host}" == slower else 1) * math.exp(rng.gauss(0, 0.01)))
        for host in range(hosts)
    ]


def test_a_night_that_is_slow_for_the_whole_class_is_not_the_volumes(drift):
    usual = [each for number in range(8) for each in night(number, 1)]
    fleet = drift(*usual, *night(8, 1.2, slower="db3"), *night(9, 1.25))
    assert states(fleet) == {**{f"db{host}": STEADY for host in range(8)}}
    assert [(each["judged_at"][:10], each["volumes"], each["gates"]) for each in fleet["nights"]] == [
        ("2025-02-26", 8, True),
        ("2025-03-05", 8, True),
    ]
    assert [each["change"] for each in fleet["nights"]] == pytest.approx([0.2, 0.25], abs=0.02)
    json.dumps(fleet)


def test_a_volume_that_is_slower_than_its_class_on_a_slow_night_drifts(drift):
    usual = [each for number in range(8) for each in night(number, 1)]
    fleet = drift(*usual, *night(8, 1.2, slower="db3"), *night(9, 1.2, slower="db3"))
    assert states(fleet) == {"db3": DRIFTING, **{f"db{host}": STEADY for host in range(8) if host != 3}}


def test_parts_of_a_fleet_that_were_measured_on_one_day_are_one_night(drift):
    def slices(number, factor):
        return [
            made_up.changed(each, run_id=f"run-{number}-{place % 2}")
            for place, each in enumerate(night(number, factor))
        ]

    fleet = drift(*(each for number in range(8) for each in slices(number, 1)), *slices(8, 1.2), *slices(9, 1.2))
    assert ([each["volumes"] for each in fleet["nights"]], fleet["states"][DRIFTING]) == ([8, 8], 0)


@pytest.mark.parametrize("hosts", [3, 8])
def test_a_class_that_declines_slowly_is_one_finding(drift, hosts):
    fleet = drift(*(each for number in range(24) for each in night(number, 1.01**number, hosts=hosts)))
    (decline,) = fleet["declines"]
    assert (decline["class"], decline["volumes"]) == (fleet["volumes"][0]["class"], hosts)
    assert decline["change"] == pytest.approx(1.01**18.5 - 1, abs=0.03)
    assert decline["per_month"] == pytest.approx(1.01 ** (30.44 / 7) - 1, abs=0.01)
    assert decline["since"] < "2025-04-01"
    assert fleet["states"][DRIFTING] == 0
    json.dumps(fleet)


def test_an_accepted_level_is_the_new_reference_of_volumes_and_classes(drift):
    before = [each for number in range(12) for each in night(number, 1)]
    after = [each for number in range(13, 24) for each in night(number, 1.3, hosts=8)]
    accepted = [made_up.changed(each, accepted=True) for each in night(12, 1.3)]
    fleet = drift(*before, *accepted, *after)
    assert (fleet["declines"], fleet["states"][DRIFTING], fleet["states"][CONSPICUOUS]) == ([], 0, 0)
    assert [each["accepted"] for each in fleet["volumes"][0]["certificates"]] == [number == 12 for number in range(24)]


def test_unlike_devices_of_a_class_are_named(drift):
    alike = [each for number in range(10) for each in course(f"h{number}", [1] * 2)]
    fleet = drift(*alike, *course("slow", [2] * 2), *course("other", [9] * 2, **{"class": "another"}))
    (part,) = fleet["classes"]
    assert (part["volumes"], [each["host"] for each in part["unlike"]]) == (11, ["slow"])
    assert part["unlike"][0]["deviation"] == pytest.approx(1, abs=0.05)


def imported(history, tmp_path, host, years=range(2019, 2024), rate=20_000_000):
    for year in years:
        path = tmp_path / f"{host}-{year}-05-04.csv"
        path.write_text(MQLDT.format(writes=10_000, total=4096 * 10_000, rate=rate + year), newline="")
        assert import_mqldt(history, [str(path)], Origin("log", hosts=[host]), datetime.date(2026, 1, 1))[1] == []


def test_five_runs_of_mqldt_are_a_course_of_their_throughput(drift, history, tmp_path):
    imported(history, tmp_path, "db07")
    volume = only(drift(hosts=["db07"]))
    assert ([each["judged_at"][:4] for each in volume["certificates"]], volume["state"]) == (
        ["2019", "2020", "2021", "2022", "2023"],
        STEADY,
    )
    (series,) = volume["series"]
    assert (series["figure"], series["left_out"], series["rows"][0]["values"][0]) == (
        "bytes_per_s",
        [],
        pytest.approx(20_002_019),
    )


def test_what_was_measured_follows_what_was_imported(drift, history, tmp_path):
    """Only the throughput forms one series with imported results, because the latencies of mqldt do not count."""
    throughput = BASE["rows"][0]["bytes_per_s"]
    imported(history, tmp_path, "h", rate=int(throughput))
    volume = only(drift(*course("h", [1] * 4 + [1.5] * 2)))
    latency, rate = volume["series"]
    assert [len(each["left_out"]) for each in (latency, rate)] == [5, 0]
    assert [each["rows"][0]["judged"] for each in (latency, rate)] == [6, 11]
    assert rate["rows"][0]["limit"] < rate["rows"][0]["usual"]
    assert (rate["rows"][0]["conspicuous"], volume["state"]) == ([9, 10], DRIFTING)


def test_hosts_are_called_as_their_certificates_call_them(drift):
    name = "h\x1b[31m"
    assert list(states(drift(*course(printable(name), [1]), hosts=[name]))) == [printable(name)]


def test_a_history_without_the_hosts_is_told(drift):
    with pytest.raises(OSError, match="contains no certificate with figures of these hosts"):
        drift(*course("h", [1]), hosts=["other"])


def test_a_single_volume_that_changed_soon_after_it_was_accepted_has_no_limit_yet(drift):
    """Two pairs of successive certificates leave one degree of freedom, and a limit that is not even a number."""
    factors = [1.01, 1.02, 0.97, 0.96, 1.03, 0.98, 1.04, 0.99, 0.91, 0.93, 0.96, 0.9, 2.0, 5.4, 5.7, 5.2, 5.4]
    row = BASE["rows"][0]
    course = [
        certificate("h", number, rows=[{**row, "latency_mean_ns": LATENCY * factor}], accepted=number == 12)
        for number, factor in enumerate(factors)
    ]
    volume = only(drift(*course))
    assert {row["limit"] for row in volume["series"][0]["rows"]} == {None}


def test_an_accepted_volume_is_short_until_it_has_a_limit_again(drift):
    before = course("h", [1.0] * 9)
    accepted = certificate("h", 9, accepted=True)
    assert states(drift(*before, accepted)) == {"h": SHORT}


def test_a_volume_that_becomes_slower_after_it_was_accepted_is_named_although_its_class_declined(drift):
    others = [each for host in ("b", "c", "d") for each in course(host, [1.0] * 12 + [1.4] * 14)]
    again = course("a", [1.0] * 12 + [1.4] * 12 + [1.9] * 2)
    again[13] = made_up.changed(again[13], accepted=True)
    found = drift(*again, *others)
    assert (len(found["declines"]), states(found)["a"], states(found)["b"]) == (1, DRIFTING, CHANGED)
