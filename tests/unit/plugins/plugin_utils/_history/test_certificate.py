# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The content and the volume of a certificate, which are the same no matter when it is made."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import (
    Certificate,
    CertificateError,
    certificate_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.effect import ATTEMPT, CERTIFIES, FAILS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import made_up

GOOD = made_up.certificate()
SLOW = fabricate.tables(fabricate.sweep_rows(latency_ns=30_000_000))


def test_a_pass_certifies_from_its_day_on_for_the_days_of_the_policy():
    assert (GOOD.entry.effect, GOOD.entry.verdict) == (CERTIFIES, "pass")
    assert (GOOD.content["valid_from"], GOOD.entry.valid_until) == ("2026-11-21", "2027-02-19")
    short = made_up.certificate(run={**made_up.RUN, "policy": {"valid_days": 7}})
    assert short.entry.valid_until == "2026-11-28"
    with pytest.raises(CertificateError, match="for how many days"):
        made_up.certificate(run={**made_up.RUN, "policy": {}})


@pytest.mark.parametrize(
    "made, effect, verdict",
    [
        (lambda: made_up.certificate(files=SLOW), FAILS, "fail"),
        (
            lambda: made_up.certificate(files=fabricate.tables()),
            ATTEMPT,
            "pass",
        ),  # without confidence: does not certify
        (lambda: made_up.certificate(verdict="warn"), CERTIFIES, "warn"),
        (lambda: made_up.certificate(verdict="inconclusive"), ATTEMPT, "inconclusive"),
        (lambda: certificate_of(made_up.RUN, fabricate.failed("db07"), None), ATTEMPT, "unreachable"),
    ],
)
def test_only_a_qualifying_pass_certifies_and_only_a_fail_ends(made, effect, verdict):
    certificate = made()
    entry = certificate.entry
    assert (entry.effect, entry.verdict) == (effect, verdict)
    assert (certificate.content["valid_from"] is None) == (entry.valid_until is None) == (effect != CERTIFIES)


def test_a_preflight_has_no_certificate():
    record = dataclasses.replace(fabricate.failed("db07"), kind="preflight", verdict=None, error=None)
    assert certificate_of(made_up.RUN, record, None) is None


def test_the_identity_is_the_sha256_of_the_file_and_the_same_each_time():
    assert made_up.certificate().sha256 == GOOD.sha256 == hashlib.sha256(GOOD.text.encode()).hexdigest()
    assert Certificate.parse(GOOD.text.encode()).entry == GOOD.entry
    assert made_up.changed(GOOD, run_id="R2").sha256 != GOOD.sha256


def test_a_row_holds_the_figures_of_all_workers_and_what_each_limit_says_of_them():
    rows = GOOD.content["rows"]
    assert [row["block_size_bytes"] for row in rows] == list(fabricate.BLOCK_SIZES)
    assert (rows[0]["latency_mean_ns"], rows[0]["load_point"], rows[0]["stream"], rows[0]["operation"]) == (
        202048,
        1,
        "log",
        "write",
    )
    p99 = next(limit for limit in rows[0]["limits"] if limit["metric"] == "latency_p99")
    assert p99["verdict"] == "pass" and p99["share"] == 0 and 0 < p99["share_bound"] < 0.01 and p99["limit_value"] > 0


def test_what_makes_figures_comparable_is_named():
    assert GOOD.entry.method_version == 1
    assert GOOD.content["parameters"]["option_files"] == "16"
    assert made_up.certificate(facts={"disk_shared_with_volumes": "log2"}).entry.parameters != GOOD.entry.parameters
    assert made_up.certificate(facts={"disk_shared_with_volumes": ""}).entry.parameters == GOOD.entry.parameters
    commits = made_up.certificate(files=fabricate.tables(**fabricate.COMMIT_RUN))
    remote = made_up.certificate(files=fabricate.tables(**{**fabricate.COMMIT_RUN, "option_remote_delay_us": 500}))
    assert remote.entry.parameters != commits.entry.parameters
    assert made_up.certificate(files=fabricate.tables(method_version="1e3")).entry.method_version is None
    assert made_up.certificate(files=fabricate.tables(method_version=None)).entry.method_version is None


@pytest.mark.parametrize(
    "fact, value",
    [
        ("machine_id", "b" * 32),
        ("mount_point", "/other"),
    ],
)
def test_another_machine_or_mount_point_is_another_volume(fact, value):
    assert made_up.certificate(facts={fact: value}).entry.identity != GOOD.entry.identity


@pytest.mark.parametrize("fact, value", [("device_ids", "naa.2"), ("filesystem_uuid", "u-2")])
def test_another_disk_is_a_replacement_in_the_same_volume(fact, value):
    entry = made_up.certificate(facts={fact: value}).entry
    assert entry.identity == GOOD.entry.identity and entry.disk_id != GOOD.entry.disk_id


def test_a_file_system_that_has_grown_is_the_same():
    entry = made_up.certificate(facts={"filesystem_size_bytes": 2 * 10**12}).entry
    assert (entry.identity, entry.disk_id) == (GOOD.entry.identity, GOOD.entry.disk_id)


EIO = {"exit_status": 3, "exit_reason": "I/O error", "error_call": "pwritev2", "error_errno_name": "EIO"}


@pytest.mark.parametrize(
    "keys, rows, facts",
    [
        (EIO, {}, "io_error"),
        ({**EIO, "error_call": "", "error_errno_name": "SHORT_WRITE"}, {}, "io_error"),
        ({**EIO, "error_call": "pread", "error_errno_name": "CORRUPT"}, {}, "wrong_data"),
        ({"exit_status": 4, "exit_reason": "deadline", "in_flight_age_ns": 11 * 10**9}, {}, "stall"),
        ({}, {"latency_max_ns": 11 * 10**9}, "stall"),
        ({}, {"latency_max_ns": 9 * 10**9}, ""),
        ({"exit_status": 4, "exit_reason": "interrupted"}, {}, ""),
        ({}, {}, ""),
    ],
)
def test_facts_about_the_volume_are_in_its_certificate(keys, rows, facts):
    certificate = made_up.certificate(files=fabricate.tables(fabricate.sweep_rows((4096,), **rows), over=[], **keys))
    assert certificate.entry.volume_facts == facts and certificate.entry.can_certify == 1


@pytest.mark.parametrize("profile, expected", [("mq-log-silver", 1), ("look", 0)])
def test_a_quick_look_is_told_from_a_run_to_certify(profile, expected):
    run = {**fabricate.run_data(["db07"], profile), "run_id": "R1"}
    assert made_up.certificate(run).entry.can_certify == expected


@pytest.mark.parametrize("fact", ["kernel", "device_firmware", "device_driver", "mount_options", "boot_id", "hostname"])
def test_what_can_change_is_recorded_but_makes_no_other_volume(fact):
    other = made_up.certificate(facts={fact: "other"})
    assert other.entry.identity == GOOD.entry.identity
    assert (other.content["environment"] | other.content["machine"])[fact] == "other"


def test_the_inventory_name_counts_only_without_a_machine_id():
    assert made_up.certificate(host="db08").entry.identity == GOOD.entry.identity
    first, second = (
        made_up.certificate(host=host, facts={"machine_id": ""}).entry.identity for host in ("db07", "db08")
    )
    assert first != second


def test_a_size_as_text_is_the_same_size_and_that_of_zfs_says_nothing():
    """The tester's table overwrites the module's number with text."""
    assert made_up.certificate(facts={"filesystem_size_bytes": str(10**12)}).entry.identity == GOOD.entry.identity
    sizes = [made_up.certificate(facts={"filesystem_type": "zfs", "filesystem_size_bytes": size}) for size in (1, 2)]
    assert sizes[0].entry.identity == sizes[1].entry.identity


def test_a_host_of_which_nothing_is_known_names_no_volume():
    entry = certificate_of(made_up.RUN, fabricate.failed("db07"), None).entry
    assert entry.identity is None and (entry.host, entry.volume) == ("db07", "log")


def test_hostile_text_is_escaped():
    certificate = made_up.certificate(host="db\x0007", facts={"mount_point": "/a\x1b[2J", "kernel": ["x"]})
    assert certificate.entry.host == "db\\x0007"
    assert (
        certificate.content["identity"]["mount_point"] == "/a\\x1b[2J"
        and certificate.content["environment"]["kernel"] is None
    )


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda text: text[:-2], "not JSON"),
        (lambda text: text.replace(": ", ":"), "canonical form"),
        (
            lambda text: text.replace('"schema": 1', '"schema": 2'),
            "the certificate has schema 2, but this version of the collection reads schema 1",
        ),
        (lambda text: text.replace('"effect": "certifies"', '"effect": "other"'), "lacks a field"),
        (lambda text: text.replace('"judged_at": "2026', '"judged_at": "x026'), "malformed time"),
        (lambda text: text.replace("2027-02-19", "2027-02-30"), "malformed time"),
        (lambda text: text.replace("2027-02-19", "20270219"), "malformed time"),
        (lambda text: text.replace('"judged_at": "2026-11-21T1', '"judged_at": "2026-11-21T'), "malformed time"),
        (lambda text: "[" * 100_000, "not JSON"),
    ],
)
def test_a_damaged_certificate_is_refused(damage, message):
    with pytest.raises(CertificateError, match=message):
        Certificate.parse(damage(GOOD.text).encode())


NEEDED = ("run_id", "host", "volume", "volume_id", "profile", "method_version", "effect", "verdict", "judged_at")
NEEDED += ("valid_from", "valid_until", "parameters", "limits_verdict", "can_certify", "volume_facts")


@pytest.mark.parametrize("missing", NEEDED)
def test_a_certificate_without_what_the_history_needs_is_refused(missing):
    content = {key: value for key, value in GOOD.content.items() if key != missing}
    with pytest.raises(CertificateError, match="lacks a field"):
        Certificate.parse(Certificate.of_content(content).text.encode())


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"host": "db07\x1b[2J"}, "cannot be printed"),
        ({"run_id": "\ud800"}, "cannot be printed"),
        ({"limits_verdict": "pass\u202e"}, "cannot be printed"),
        ({"method_version": 1 << 31}, "wrong type"),
        ({"rows": None}, "cannot be compared"),
        ({"rows": [{**GOOD.content["rows"][0], "latency_mean_ns": "1"}]}, "cannot be compared"),
        ({"rows": [{**GOOD.content["rows"][0], "latency_mean_ns": -1}]}, "cannot be compared"),
        ({"rows": [{**GOOD.content["rows"][0], "stream": []}]}, "cannot be compared"),
        ({"environment": ["xfs"]}, "cannot be compared"),
        ({"identity": {"device_ids": ["naa.1"]}}, "cannot be compared"),
        ({"environment": {"kernel": "6\x1b[2J"}}, "cannot be compared"),
        ({"parameters": {"\x1b[2J": "1"}}, "cannot be compared"),
        ({"class": "a\nb"}, "cannot be compared"),
    ],
)
def test_what_would_end_a_later_run_or_reach_a_terminal_is_refused(fields, message):
    content = {**GOOD.content, **fields}
    with pytest.raises(CertificateError, match=message):
        Certificate.parse((json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
    with pytest.raises(CertificateError, match=message):
        Certificate.of_content(content)


def test_a_record_without_a_time_is_refused():
    with pytest.raises(CertificateError, match="time of judgement"):
        made_up.certificate(created_at="yesterday")


def test_a_table_that_says_too_much_changes_nothing():
    """A tester can send any key in run.csv; only the named ones are in the certificate."""
    files = fabricate.tables(over=[], option_unheard_of="1")
    assert parse_tables(files).run["option_unheard_of"] == "1"
    assert "option_unheard_of" not in made_up.certificate(files=files).text


CAPACITY = {"load_unit": "BSU", "highest_passed": 80, "lowest_not_passed": 84}


def test_a_certificate_holds_the_capacity():
    found = made_up.certificate(capacity={**CAPACITY, "reason": "too slow", "next_load": None, "points": []})
    assert found.content["capacity"] == CAPACITY
    assert GOOD.content["capacity"] is None


@pytest.mark.parametrize("change", [{"highest_passed": "80"}, {"load_unit": None}, {"load_unit": "\x1b[2J"}])
def test_another_capacity_is_refused(change):
    with pytest.raises(CertificateError, match="cannot be compared"):
        made_up.changed(GOOD, capacity={**CAPACITY, **change})


def test_a_certificate_holds_the_figure_that_comes_closest_to_its_limit():
    closest = GOOD.content["closest_limit"]
    means = [row["latency_mean_ns"] for row in GOOD.content["rows"] if row["block_size_bytes"] == 65536]
    assert (closest["metric"], closest["block_size_bytes"], [closest["value"]]) == ("latency_mean", 65536, means)
    assert closest["share"] == means[0] / closest["limit_value"]
    assert GOOD.entry.closest_limit == closest
    assert made_up.changed(GOOD, closest_limit=None).entry.closest_limit is None


@pytest.mark.parametrize("change", [{"share": "1"}, {"share": 1e300}, {"metric": "\x1b[2J"}, {"rows": []}])
def test_another_closest_limit_is_refused(change):
    with pytest.raises(CertificateError, match="closest_limit"):
        made_up.changed(GOOD, closest_limit={**GOOD.content["closest_limit"], **change})


def test_how_streams_were_measured_is_kept_without_the_directories_of_the_run():
    files = fabricate.tables(
        over=[], place_1="name=data,dir=/data/logdisk-R1/data+/more,share=90%", stream_1="name=db,place=data,size=8K"
    )
    parameters = made_up.certificate(files=files).content["parameters"]
    assert (parameters["place_1"], parameters["stream_1"]) == ("name=data,share=90%", "name=db,place=data,size=8K")


def test_the_load_points_of_a_search_do_not_keep_it_from_being_compared():
    files = fabricate.tables(over=[], option_load_points="1 2 3")
    searched = made_up.certificate(files=files, facts={"load_search": "auto"}).content["parameters"]
    assert (
        searched["option_load_points"],
        made_up.certificate(files=files).content["parameters"]["option_load_points"],
    ) == ("", "1 2 3")


def test_every_field_is_documented():
    text = (fabricate.PROJECT / "docs/files.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`([a-z0-9_]+)`", text))

    def names(content):
        if isinstance(content, dict):
            for key, value in content.items():
                yield key
                yield from names(value)
        for item in content if isinstance(content, list) else []:
            yield from names(item)

    content = {**GOOD.content, "tables": {}}
    assert not set(names(content)) - documented
    assert json.loads(GOOD.text) == GOOD.content
