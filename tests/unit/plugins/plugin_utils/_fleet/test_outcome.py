# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Artifacts contain what a notification needs, and remain small for any fleet."""

from __future__ import annotations

import json

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import outcome
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import (
    MOST_REASON_BYTES,
    Place,
    artifacts,
    make_outcome,
    workflow_artifact,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import CHECK_MODE, DEFAULT


def host(number, verdict="pass", certified=True, qualification=""):
    return {
        "host": f"db{number:04}",
        "volume": "log",
        "verdict": verdict,
        "certified": certified,
        "qualification": qualification,
    }


def told(hosts, reasons, place=None, message="a message"):
    verdict = {
        "certified": all(each["certified"] for each in hosts),
        "counts": {"pass": len(hosts)},
        "reasons": reasons,
        "hosts": hosts,
    }
    content = make_outcome(
        "verdict",
        message,
        run_id="run1",
        path="/reports/run1",
        verdict="fail",
        certified=verdict["certified"],
        gate_failed=True,
    )
    return workflow_artifact(content, verdict, place or Place("/reports/run1", "https://h/run1.tar.gz", True))


def test_what_a_notification_needs_is_there(monkeypatch):
    hosts = [host(1, "fail", False), host(2, "pass", False, "too short"), host(3, "pass", False, "too short"), host(4)]
    content = told(hosts, ["db0001: fail: slow"])
    assert content["verdict"] == "fail" and content["gate_failed"] and content["counts"] == {"pass": 4}
    assert (content["certified"], content["not_certified_because"], content["reasons"]) == (
        False,
        ["too short"],
        ["db0001: fail: slow"],
    )
    assert content["hosts"] == {"db0001": "fail", "db0002": "pass", "db0003": "pass", "db0004": "pass"}
    assert (content["report_url"], content["report_kept"], content["run_directory"]) == (
        "https://h/run1.tar.gz",
        True,
        "/reports/run1",
    )
    monkeypatch.setattr(outcome, "vanishes", lambda path: path == "/reports/run1")
    assert not {"path", "run_directory"} & set(told([host(1)], []))


@pytest.mark.parametrize("text", ["x" * 5000, "short", "\u4711\x1b" * 3000])
def test_sentences_are_bounded_and_what_is_left_out_is_counted(text):
    hosts = [host(number, "pass", False, f"{number} {text}") for number in range(1000)]
    content = told(hosts, [f"{number} {text}" for number in range(1000)], message=text * 20)
    sentences = {key: content[key] for key in ("message", "not_certified_because", "reasons")}
    assert len(json.dumps(sentences)) <= MOST_REASON_BYTES
    shown = content["reasons"][:-1]
    assert content["reasons"][-1] == f"and {1000 - len(shown)} more" and len(shown) >= 9
    assert shown[0][:20] == f"0 {text}"[:20]


def test_each_job_has_its_key_and_a_preflight_another():
    assert artifacts({"awx_job_id": 17}, DEFAULT.name, {"a": 1}) == {"logdisk_17": {"a": 1}}
    assert list(artifacts({"awx_job_id": "17"}, CHECK_MODE.name, {})) == ["logdisk_preflight_17"]
    assert list(artifacts({}, DEFAULT.name, {})) == ["logdisk_local"]


def test_the_message_of_a_refusal_is_bounded_as_well():
    (refused,) = artifacts({}, False, make_outcome("usage", "h1: no such profile; " * 5000)).values()
    assert refused["message"].startswith("h1: no such") and len(json.dumps(refused)) <= MOST_REASON_BYTES
