# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which runs report.yml renders and merges, and when it fails."""

from __future__ import annotations

import json
import os
import shutil
import types
from pathlib import Path

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.history import JUDGED, OPENED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.kept import keep
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, REPORT, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import render
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

PROFILE = {"name": "mine", "limits": [{"metric": "latency_mean", "max": "1 ms"}]}
GOOD = fabricate.tables(fabricate.sweep_rows(block_sizes=(4096,)))
SLOW = fabricate.tables(fabricate.sweep_rows(block_sizes=(4096,), latency_ns=1_400_000))
HOSTS = [f"h{number}" for number in range(1, 7)]
OUTER, SLICED = "15", "16"


class Reporting:
    """A directory with reports in which report.yml is run. said is the output on the screen."""

    def __init__(self, base):
        self.report_dir = str(base)
        self.said = []

    def run(self, job_id, hosts, measured=None, workflow=SLICED, judged=True, **keys):
        """Make the run of a job, with the tables of its hosts."""
        number = int(job_id)
        run = fabricate.run_data(
            hosts, run_id=f"R{number}", created_at=f"2026-11-22T02:00:{number:02}Z", profile=PROFILE, **keys
        )
        run["controller"]["job"] = {"id": job_id, "workflow_job_id": workflow}
        directory = RunDirectory.create(self.report_dir, run)
        for host, files in (measured or {}).items():
            directory.records.write(fabricate.judged(directory.run, host, files), files)
        if judged:
            judge_run(directory, GATE)
        return directory

    def report(self, inventory=HOSTS, limit=None, play_hosts=None, variables=None, **given):
        plugin = render.Step.__new__(render.Step)
        plugin._loader = DataLoader()
        plugin._display = types.SimpleNamespace(
            display=lambda text, color: self.said.append(text), warning=self.said.append
        )
        plugin._task = types.SimpleNamespace(check_mode=False)
        known = {
            **dict.fromkeys(("runs", "run", "workflow")),
            "expected_count": 0,
            "keep_report": False,
            "upload_url": "",
            "policy": {},
        }
        known.update(
            hosts="all:!localhost",
            history="",
            report_dir=self.report_dir,
            sign_key="",
            play_hosts=play_hosts or [*inventory, "localhost"],
        )
        task_vars = {
            "groups": {"all": list(inventory), "ungrouped": list(inventory)},
            "ansible_limit": limit,
            **(variables or {}),
        }
        result = plugin.answer({**known, **given}, task_vars)
        (told,) = result["artifacts"].values()
        return {"outcome": told, "hosts": told.get("hosts"), **result}


@pytest.fixture
def reporting(tmp_path):
    return Reporting(tmp_path / "reports")


def sliced(reporting):
    """Six hosts in three slices: one slice passed, one has a slow disk, and one was killed while it measured."""
    reporting.run("1", ["h1", "h4"], {"h1": GOOD, "h4": GOOD})
    reporting.run("2", ["h2", "h5"], {"h2": GOOD, "h5": SLOW})
    reporting.run("3", ["h3", "h6"], judged=False)
    return {
        "awx_workflow_job_id": OUTER,
        **{f"logdisk_{number}": {"run_id": f"R{number}", "verdict": "x"} for number in (1, 2)},
    }


VERDICTS = {"h1": "pass", "h2": "pass", "h3": "missing", "h4": "pass", "h5": "fail", "h6": "missing"}


def test_the_runs_of_a_workflow_are_one_verdict(reporting):
    variables = sliced(reporting)
    reporting.run("4", HOSTS, check_mode=True)
    reporting.run("5", HOSTS, dict.fromkeys(HOSTS, SLOW), workflow="another")
    (result, again) = (reporting.report(variables=variables) for dummy in range(2))
    merged = RunDirectory.open(result["path"])
    assert merged.run["merged_from"] == ["R1", "R2", "R3"] and merged.verdict()["asked_by"] == GATE
    assert result["hosts"] == again["hosts"] == VERDICTS
    assert result["outcome"]["verdict"] == "fail" and not result["outcome"]["certified"]
    assert sorted(result["failures"]) == ["h3", "h5", "h6"]
    told, _, page = result["failures"]["h5"].partition("; see ")
    assert told == "h5: fail" and os.path.abspath(page) == f"{result['path']}/index.html"
    assert any(reason.startswith("h5: fail: latency_mean 1.4 ms > 1 ms") for reason in merged.verdict()["reasons"])
    assert reporting.said[0].startswith(
        "Merged 3 runs of workflow job 15: R1 (job 1, 2 hosts), R2 (job 2, 2 hosts), R3 (job 3, 2 hosts)."
    )
    assert "Left out, because preflights measure nothing: R4." in reporting.said[0]
    assert json.loads(Path(reporting.report_dir, "outcome.json").read_text(encoding="utf-8"))["verdict"] == "fail"
    assert os.path.exists(os.path.join(merged.path, "summary.txt"))


def test_hosts_of_a_slice_that_left_nothing_are_missing(reporting):
    variables = sliced(reporting)
    shutil.rmtree(os.path.join(reporting.report_dir, "R3"))
    variables["logdisk_9"] = {"outcome": "usage", "message": "there is no profile x"}
    variables["logdisk_7"] = {"run_id": "R7", "verdict": "pass"}
    result = reporting.report(variables=variables)
    assert result["hosts"] == VERDICTS and sorted(result["failures"]) == ["h3", "h5", "h6", "localhost"]
    assert result["failures"]["h3"].startswith("h3: missing; see ")
    reasons = RunDirectory.open(result["path"]).verdict()["reasons"]
    assert any(reason.startswith("h3: missing: it is in none of the runs that were merged") for reason in reasons)
    said = reporting.said[0].splitlines()
    assert said[1] == "Job 9 made no run: there is no profile x"
    summary = Path(result["path"], "summary.txt").read_text(encoding="utf-8")
    assert "\n  Merged from 2 runs; 2 of the hosts are in none of them. The gate fails this run: " in summary
    assert (
        said[2].startswith("The run R7 of job 7 is not in ")
        and said[-1] == "In none of these runs, and therefore missing: h3, h6."
    )


def test_the_limit_of_slices_is_held_against_the_whole_inventory(reporting):
    """Two of three slices have a host that matches the limit. AWX could not start the third slice, or one of these
    two."""
    reporting.run("1", ["h1"], {"h1": GOOD}, unmatched_limit_terms=["h2", "!h4"])
    reporting.run("2", ["h2"], {"h2": GOOD}, unmatched_limit_terms=["h1"])
    variables = {"awx_workflow_job_id": SLICED}
    two = reporting.report(limit="h1,h2,!h4", variables=variables)
    assert (two["hosts"], two["failures"]) == ({"h1": "pass", "h2": "pass"}, {})
    assert "unmatched_limit_terms" not in RunDirectory.open(two["path"]).run
    three = reporting.report(limit="h1,h2,h3", variables=variables)
    assert three["hosts"] == {"h1": "pass", "h2": "pass", "h3": "missing"} and list(three["failures"]) == ["h3"]
    reporting.run("3", ["h3"], {"h3": GOOD}, unmatched_limit_terms=["h1", "typo"])
    wrong = reporting.report(limit="h1,h2,h3", variables=variables)
    assert (wrong["outcome"]["outcome"], wrong["hosts"]) == ("usage", None)
    assert "--limit of a slice names 'typo', which matches no host of the inventory" in wrong["failures"]["localhost"]


def test_a_run_that_cannot_be_found_may_contradict_those_that_are_merged(reporting):
    reporting.run("1", ["h1"], {"h1": GOOD})
    variables = {"awx_workflow_job_id": SLICED, "logdisk_7": {"run_id": "R7", "verdict": "fail"}}
    result = reporting.report(inventory=["h1"], variables=variables)
    assert (
        list(result["failures"]) == ["localhost"]
        and "The run R7 of job 7 is not in " in result["failures"]["localhost"]
    )
    assert (result["outcome"]["outcome"], result["outcome"]["verdict"]) == ("internal", "pass")
    # The result of an earlier merge may be missing, because the runs that it merged are found.
    variables["logdisk_7"]["merged"] = True
    assert reporting.report(inventory=["h1"], variables=variables)["failures"] == {}
    assert reporting.report(inventory=["h1"], variables=variables)["outcome"]["merged"] is True


@pytest.mark.parametrize("keep_report, failing", [(False, []), (True, ["localhost"])])
def test_a_history_that_cannot_be_opened_matters_if_the_runs_are_kept_there(reporting, tmp_path, keep_report, failing):
    reporting.run("1", ["h1"], {"h1": GOOD}, history={"place": "p", "keep_report": keep_report})
    (tmp_path / "history").mkdir()
    result = reporting.report(inventory=["h1"], workflow=SLICED, history=str(tmp_path / "history"))
    assert list(result["failures"]) == failing and "the history " in reporting.said[0]


def test_an_earlier_workflow_with_the_same_number_is_left_out(reporting):
    old = reporting.run("1", ["h1", "h2"], {"h1": GOOD, "h2": GOOD}).run
    Path(reporting.report_dir, "R1/run.json").write_text(
        json.dumps({**old, "created_at": "2026-11-14T02:00:00Z"}), encoding="utf-8"
    )
    reporting.run("2", ["h1"], {"h1": GOOD})
    result = reporting.report(inventory=["h1", "h2"], workflow=SLICED)
    assert result["hosts"] == {"h1": "pass", "h2": "missing"}
    assert "Left out, because it is more than 7 days older than the newest run: R1." in reporting.said[0]


def test_without_a_shared_directory_the_history_has_the_runs(reporting, tmp_path):
    variables = sliced(reporting)
    place = str(tmp_path / "history.sqlite")
    with open_history(place, create=True) as history:
        for run_id, stage in (("R1", JUDGED), ("R2", JUDGED), ("R3", OPENED)):
            keep(history, RunDirectory.open(os.path.join(reporting.report_dir, run_id)), stage)
    elsewhere = Reporting(tmp_path / "elsewhere")
    result = elsewhere.report(variables=variables, history=place)
    assert result["hosts"] == VERDICTS and sorted(result["failures"]) == ["h3", "h5", "h6"]
    assert sorted(os.listdir(elsewhere.report_dir)) == sorted([result["outcome"]["run_id"], "latest", "outcome.json"])
    one = elsewhere.report(run="R2", history=place)
    assert one["path"] == os.path.join(elsewhere.report_dir, "R2") and sorted(one["failures"]) == ["h5"]


@pytest.mark.parametrize(
    "given, words",
    [
        ({"variables": {"awx_workflow_job_id": OUTER}}, "There is no run of workflow job 15 to merge in "),
        ({"variables": {"logdisk_9": {"message": "refused"}}}, "Job 9 made no run: refused"),
        ({"workflow": SLICED, "inventory": []}, "the inventory contains no hosts"),
        ({"workflow": SLICED, "limit": "h1,h99"}, "--limit names 'h99', which matches no host of the inventory"),
        ({"workflow": SLICED, "expected_count": 7}, "gate_expected_count is 7, but there are 6 hosts to certify"),
        ({"runs": ["R1"], "expected_count": 1}, "gate_expected_count is 1, but there are 2 hosts to certify"),
        ({"workflow": SLICED, "policy": {"gate_fail_on": ["fial"]}}, "fail_on names 'fial'"),
        ({"run": "R99"}, "The run R99 is neither in "),
        ({"runs": ["/nowhere"]}, "/nowhere/run.json cannot be read"),
    ],
)
def test_what_cannot_be_reported_fails_the_controller(reporting, given, words):
    sliced(reporting)
    result = reporting.report(**given)
    assert list(result["failures"]) == ["localhost"] and words in result["failures"]["localhost"]
    assert result["outcome"]["outcome"] in ("usage", "internal") and "path" not in result


@pytest.mark.parametrize(
    "given, failing",
    [
        ({}, ["h3", "h5", "h6"]),
        ({"policy": {"gate_fail_on": ["fail", "error"]}}, ["h5"]),
        ({"policy": {"gate_fail_on": ["missing"]}}, ["h3", "h6"]),
        ({"policy": {"gate_report_only": True}}, []),
        ({"expected_count": 6}, ["h3", "h5", "h6"]),
        # A host that is not part of the play fails the controller, or else the first host of the play.
        ({"play_hosts": ["h1", "h5", "localhost"]}, ["h5", "localhost"]),
        ({"play_hosts": ["h1", "h5"]}, ["h1", "h5"]),
    ],
)
def test_a_merged_run_decides_by_the_policy_that_is_given(reporting, given, failing):
    sliced(reporting)
    assert (
        sorted(
            set(reporting.report(workflow=SLICED, **given)["failures"])
            & set(given.get("play_hosts", [*HOSTS, "localhost"]))
        )
        == failing
    )


def test_a_merged_run_stops_at_all_that_one_of_its_runs_stops_at(reporting):
    """The policy of the newest run alone would accept the failed host."""
    reporting.run("1", ["h1"], {"h1": SLOW}, policy={"fail_on": ["fail"], "report_only": False, "valid_days": 90})
    reporting.run(
        "2", ["h2"], {"h2": GOOD}, policy={"fail_on": ["unqualified", "error"], "report_only": True, "valid_days": 30}
    )
    result = reporting.report(inventory=["h1", "h2"], workflow=SLICED)
    assert sorted(result["failures"]) == ["h1", "h2"]
    assert RunDirectory.open(result["path"]).run["policy"] == {
        "fail_on": ["fail", "error", "unqualified"],
        "report_only": False,
        "valid_days": 30,
    }
    through = reporting.report(inventory=["h1", "h2"], workflow=SLICED, policy={"gate_report_only": True})
    assert through["failures"] == {}
    summary = Path(through["path"], "summary.txt").read_text(encoding="utf-8")
    assert "This report was given gate_report_only: true instead of false, which the run recorded." in summary


def test_a_merged_run_names_the_profile_that_judged_each_host(reporting):
    other = {"name": "other", "version": 4, "limits": [{"metric": "latency_mean", "max": "5 ms"}]}
    reporting.run("1", ["h1", "h2"], {"h1": GOOD, "h2": GOOD})
    newer = fabricate.run_data(["h3"], run_id="R2", created_at="2026-11-22T02:00:02Z", profile=other)
    newer["controller"]["job"] = {"id": "2", "workflow_job_id": SLICED}
    directory = RunDirectory.create(reporting.report_dir, newer)
    directory.records.write(fabricate.judged(newer, "h3", GOOD), GOOD)
    judge_run(directory, GATE)
    merged = RunDirectory.open(reporting.report(inventory=["h1", "h2", "h3"], workflow=SLICED)["path"])
    hosts = merged.verdict()["hosts"]
    assert {host["host"]: (host["profile"]["name"], host["profile"]["version"]) for host in hosts} == {
        "h1": ("mine", "1"),
        "h2": ("mine", "1"),
        "h3": ("other", "4"),
    }
    assert len({host["profile"]["sha256"] for host in hosts}) == 2
    summary = Path(merged.path, "summary.txt").read_text(encoding="utf-8")
    assert "profile mine 1 (2 of 3 hosts) and other 4 (1 of 3 hosts)" in summary
    report = json.loads(Path(merged.path, "report.json").read_text(encoding="utf-8"))
    assert {host["host"]: host["profile"] for host in report["hosts"]} == {
        "h1": "mine 1",
        "h2": "mine 1",
        "h3": "other 4",
    }
    assert {(limit["profile"], limit["limit"]) for limit in report["limits"]} >= {
        ("mine 1", "latency_mean <= 1 ms"),
        ("other 4", "latency_mean <= 5 ms"),
    }


def test_runs_that_are_named_are_merged_with_the_inventory_if_there_is_one(reporting):
    sliced(reporting)
    paths = ["R1", os.path.join(reporting.report_dir, "R2")]
    assert sorted(reporting.report(runs=paths)["hosts"]) == HOSTS
    assert sorted(reporting.report(runs=paths, inventory=["localhost"])["hosts"]) == ["h1", "h2", "h4", "h5"]
    # In a workflow, the other runs may be missing, so even a single run is merged.
    assert sorted(reporting.report(runs=["R1"], variables={"awx_workflow_job_id": OUTER})["hosts"]) == HOSTS


def test_without_any_run_it_says_how_to_name_one(reporting):
    (problem,) = reporting.report()["failures"].values()
    assert (
        problem.startswith(f"No run is named, and there is none in {reporting.report_dir}: ")
        and "report_run: <run ID>" in problem
    )


def test_a_single_run_is_rendered_again_with_its_own_verdict(reporting):
    directory = reporting.run("1", ["h1", "h4"], {"h1": GOOD, "h4": SLOW})
    before = directory.verdict()
    result = reporting.report(runs=["R1"])
    assert result["path"] == directory.path and sorted(result["failures"]) == ["h4"] and directory.verdict() == before
    assert reporting.report(runs=["R1"], policy={"gate_report_only": True})["failures"] == {}
    assert (directory.verdict()["asked_by"], directory.verdict()["policy"]["report_only"]) == (GATE, True)
    # The options of one report do not affect the next one.
    assert (
        sorted(reporting.report(runs=["R1"])["failures"]) == ["h4"]
        and directory.verdict()["policy"] == before["policy"]
    )
    assert reporting.report()["path"] == directory.path


def test_a_run_that_ended_before_its_gate_does_not_pass(reporting):
    directory = reporting.run("1", ["h1"], {"h1": GOOD}, judged=False)
    result = reporting.report(runs=["R1"])
    assert (
        list(result["failures"]) == ["localhost"] and "the run ended before its gate" in result["failures"]["localhost"]
    )
    assert directory.verdict()["asked_by"] == REPORT and result["outcome"]["outcome"] == "internal"
