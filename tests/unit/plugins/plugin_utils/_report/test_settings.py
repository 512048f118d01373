# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A setting that is wrong is shown in every format with its id, its consequence and the next step."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.causes.groups import causes
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.model import build_model
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._report.runs import content

SOFT = {"filesystem_type": "nfs4", "mount_options": "rw,vers=4.2,soft,wsize=4096"}
NO_BARRIER = {"filesystem_type": "ext4", "mount_options": "rw,nobarrier"}


def of(directory, host, facts):
    """Store the record of a host again, with other facts."""
    record = directory.records.find(host, "log")
    files = directory.records.tables(record)
    changed = replace(record, facts={**record.facts, **facts})
    profile = load_profile(directory.run["profile"])
    judged = judge_record(changed, parse_tables(files), profile, fabricate.TODAY)
    directory.records.write(replace(changed, **judged), files)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    files = {host: fabricate.tables(fabricate.sweep_rows()) for host in ("db01", "db02", "db03", "db04")}
    waiver = {"host": "db03", "id": "SET-012", "until": "2099-01-31", "reason": "a battery", "owner": "storage"}
    profile = {"name": "own", "extends": "mq-log-silver", "waivers": [waiver]}
    directory = fabricate.run_directory(tmp_path_factory.mktemp("settings"), files, gate=False, profile=profile)
    for host, facts in {"db01": SOFT, "db02": NO_BARRIER, "db03": NO_BARRIER}.items():
        of(directory, host, facts)
    judge_run(directory, GATE)
    render(directory)
    return directory


def test_each_setting_is_one_cause_with_its_consequence_and_next_step(rendered):
    found = [cause for cause in causes(build_model(rendered)) if cause.limit_id]
    assert [(cause.verdict, cause.limit_id, cause.hosts) for cause in found] == [
        ("fail", "SET-002", ("db01",)),
        ("warn", "SET-012", ("db02", "db03")),
    ]
    assert found[0].next_step == "Mount with hard instead of soft or softerr. (Talk to: operating system.)"
    assert "gives up a write" in found[0].consequence


def test_the_first_line_names_the_setting_and_the_host_has_figures(rendered):
    page = content(rendered, "index.html")
    assert "db01: NFS mount (hard or soft): soft, expected: hard" in page
    assert "No usable figure" not in page
    assert "The worst uses" in page and "Of the others" not in page
    assert "db01: NFS mount" in content(rendered, "summary.txt")


def test_junit_has_a_case_for_each_setting_with_a_result(rendered):
    root = ET.fromstring(content(rendered, "junit.xml"))
    cases = {case.get("name"): case for case in root.find("testsuite[@name='db01']") if case.tag == "testcase"}
    named = {name: [child.tag for child in case] for name, case in cases.items() if name.startswith("setting")}
    assert named["setting SET-002: NFS mount (hard or soft)"] == ["failure"]
    assert named["setting SET-001: NFS version"] == ["system-out"]
    assert not any("SET-010" in name for name in named)
    assert [child.tag for child in cases["measurement"]] != ["failure"]


def test_evidence_and_data_have_the_results(rendered):
    evidence = content(rendered, "evidence.md")
    assert "| Settings of hosts | 7 checked; fail: SET-002 (1); warn: SET-012 (2); noted: SET-010 (1) |" in evidence
    assert "| db03 | SET-012 | storage | 2099-01-31 | a battery | yes |" in evidence
    assert "Decision: waiver, owner" in evidence
    hosts = {host["host"]: host for host in json.loads(content(rendered, "report.json"))["hosts"]}
    assert [each["waiver"] for each in hosts["db03"]["checked_settings"] if each["id"] == "SET-012"] == ["a battery"]
    assert {host: each["verdict"] for host, each in hosts.items()} == {
        "db01": "fail",
        "db02": "warn",
        "db03": "warn",
        "db04": "pass",
    }
