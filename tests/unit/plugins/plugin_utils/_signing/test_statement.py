# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The statement about a run for supply-chain tools. Only hosts that pass may appear to have passed."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.verdicts import WORST_FIRST
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.statement import statement

GOLD, OWN = (
    {"name": name, "version": version, "sha256": digit * 64}
    for name, version, digit in (("gold", "3", "a"), ("own", "1", "b"))
)
HASHES = {"run.json": "11" * 32, "hosts/db01/log/certificate.json": "22" * 32}


def host(name, verdict="pass", certified=True, volume="log", profile=GOLD):
    return {"host": name, "volume": volume, "verdict": verdict, "certified": certified, "profile": profile}


def stated(*hosts, gate_failed=False):
    """Return the predicate of a run with these hosts."""
    return json.loads(statement({"hosts": hosts, "gate_failed": gate_failed}, HASHES))["predicate"]


def test_a_statement_names_what_it_is_about():
    hosts = [
        host("db01"),
        host("db02", profile=OWN),
        host("db03", "fail", profile=OWN),
        host("db04", "missing", profile=None),
    ]
    content = json.loads(statement({"hosts": hosts, "gate_failed": False}, HASHES))
    assert (content["_type"], content["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://in-toto.io/attestation/test-result/v0.1",
    )
    assert content["subject"] == [
        {"name": "hosts/db01/log/certificate.json", "digest": {"sha256": "22" * 32}},
        {"name": "run.json", "digest": {"sha256": "11" * 32}},
    ]
    run, *profiles = content["predicate"]["configuration"]
    assert run == {"name": "run.json", "digest": {"sha256": "11" * 32}}
    assert profiles == [
        {"name": "gold", "digest": {"sha256": "a" * 64}, "annotations": {"version": "3", "hosts": ["db01"]}},
        {"name": "own", "digest": {"sha256": "b" * 64}, "annotations": {"version": "1", "hosts": ["db02", "db03"]}},
    ]


@pytest.mark.parametrize("verdict", WORST_FIRST)
@pytest.mark.parametrize("certified", [True, False])
def test_only_a_pass_that_certifies_is_passed(verdict, certified):
    expected = {
        ("pass", True): "PASSED",
        ("pass", False): "WARNED",
        ("warn", True): "WARNED",
        ("warn", False): "WARNED",
    }.get((verdict, certified), "FAILED")
    predicate = stated(host("db01", verdict, certified))
    tests = {"PASSED": predicate["passedTests"], "WARNED": predicate["warnedTests"], "FAILED": predicate["failedTests"]}
    assert predicate["result"] == expected
    assert tests == {"PASSED": [], "WARNED": [], "FAILED": [], expected: ["db01"]}


@pytest.mark.parametrize(
    "hosts, gate_failed, result",
    [
        ([host("a"), host("b")], False, "PASSED"),
        ([host("a"), host("b", "warn")], False, "WARNED"),
        ([host("a"), host("b", "warn"), host("c", "missing", False)], False, "FAILED"),
        ([host("a")], True, "FAILED"),
        ([], False, "FAILED"),
    ],
)
def test_the_worst_host_and_the_gate_decide(hosts, gate_failed, result):
    assert stated(*hosts, gate_failed=gate_failed)["result"] == result


def test_each_volume_is_a_test_with_a_printable_name():
    assert stated(host("db01"), host("db01", volume="log2"), host("x\n\u202e"))["passedTests"] == [
        "db01",
        "db01/log2",
        "x\\x0a\\u202e",
    ]
