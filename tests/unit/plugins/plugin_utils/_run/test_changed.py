# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files of a run that were edited after they were written are not believed by anything that reads a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_records
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.render import judged_again
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

PASSED = {"verdict": "pass", "certified": True, "qualification": "", "reasons": [], "findings": [], "judgements": []}
CHANGED = "record.json changed since it was judged"


def edit(path, changes=None, without=()):
    content = {**json.loads(path.read_text()), **(changes or {})}
    path.write_text(json.dumps({key: value for key, value in content.items() if key not in without}, indent=1) + "\n")


def run(base, latency_ns=200_000):
    rows = fabricate.sweep_rows(latency_ns=latency_ns)
    return fabricate.run_directory(base, {"db01": fabricate.tables(rows), "db02": fabricate.tables()})


@pytest.fixture
def failed(tmp_path):
    directory = run(tmp_path, 4_000_000)
    assert [host["verdict"] for host in directory.verdict()["hosts"]] == ["fail", "pass"]
    return directory


@pytest.fixture(params=["edited", "without its hash"])
def edited(request, failed):
    """A run in which the record of db01 was changed from fail to pass."""
    without = ("sha256",) if request.param == "without its hash" else ()
    edit(Path(failed.path) / "hosts/db01/log/record.json", PASSED, without)
    return RunDirectory.open(failed.path)


def test_a_report_says_so_and_does_not_pass(edited):
    verdict, problem = judged_again(edited, {})
    assert (verdict["verdict"], verdict["gate_failed"], problem) == ("error", True, "")
    (host,) = (host for host in verdict["hosts"] if host["host"] == "db01")
    assert (host["verdict"], host["certified"]) == ("error", False) and CHANGED in host["reasons"][0]
    render(edited)
    assert all(CHANGED in (Path(edited.path) / name).read_text() for name in ("report.md", "summary.txt"))


def test_the_gate_of_another_policy_does_not_believe_it(edited):
    assert judged_again(edited, {"fail_on": ["fail", "error"]})[0]["gate_failed"]
    assert judge_run(edited, GATE)["gate_failed"]


def test_a_merged_run_does_not_believe_it(edited, tmp_path):
    merged = merge_runs([edited.path], str(tmp_path / "merged"))
    assert CHANGED in next(record.reasons[0] for record in judged_records(merged) if record.host == "db01")
    assert judge_run(merged, GATE)["gate_failed"]


def test_it_has_no_certificate(edited):
    certificates, problems = certificates_of(edited)
    assert [certificate.entry.host for certificate in certificates] == ["db02"]
    assert len(problems) == 1 and CHANGED in problems[0]


def test_a_note_does_not_make_it_genuine(edited):
    edited.records.note_leftovers("db01", "log", [])
    assert {record.host: record.verdict for record in judged_records(edited)} == {"db01": "error", "db02": "pass"}


def test_a_genuine_run_is_rendered_as_before(failed):
    before = failed.verdict()
    verdict, problem = judged_again(RunDirectory.open(failed.path), {})
    assert problem == "" and verdict["hosts"] == before["hosts"] and verdict["gate_failed"] is True


def test_a_record_that_was_only_formatted_did_not_change(failed):
    edit(Path(failed.path) / "hosts/db01/log/record.json")
    assert [record.verdict for record in judged_records(failed)] == ["fail", "pass"]


@pytest.mark.parametrize("without", [(), ("sha256",)])
def test_an_edited_verdict_is_refused(failed, without):
    edit(Path(failed.path) / "verdict.json", {"gate_failed": False, "hosts": []}, without)
    with pytest.raises(RunDirectoryError, match=r"verdict\.json changed since it was written"):
        judged_again(RunDirectory.open(failed.path), {})


@pytest.mark.parametrize("name", ["comparison.json", "power_cuts.json"])
def test_an_edited_result_of_the_history_counts_as_none(failed, name):
    said = failed.comparisons if name == "comparison.json" else failed.power_cuts
    said.write("hosts/db02/log", {"verdict": "fail", "reason": "slower"})
    assert said.read("hosts/db02/log") == {"verdict": "fail", "reason": "slower"}
    edit(Path(failed.path) / "hosts/db02/log" / name, {"verdict": "pass"})
    assert said.read("hosts/db02/log") == {}


def test_an_edited_list_of_volumes_is_refused(failed):
    failed.volumes.write("db02", [{"name": "log"}, {"name": "audit"}])
    edit(Path(failed.path) / "hosts/db02/volumes.json", {"volumes": [{"name": "log"}]})
    with pytest.raises(RunDirectoryError, match=r"volumes\.json changed since it was written"):
        failed.missing()
