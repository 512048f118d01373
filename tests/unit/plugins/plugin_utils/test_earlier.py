# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Runs, a history and certificates of an earlier version (see tests/fixtures/earlier/README.md) have the same results
as in that version."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from ansible_collections.mqops.logdisk.plugins.action.gate import failing_hosts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import Place
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.certificate import Certificate, CertificateError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.fleet_comparison import compare_fleet
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare.selection import select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.filing import certificates_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.open import open_history
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.store.upkeep import import_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.judged_records import judged_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.merged_run import merge_runs
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import REPORT, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import RENDERERS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.run_files import RunDirectoryError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.run_signature import verify_run
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

EARLIER = fabricate.PROJECT / "tests/fixtures/earlier"
SAID = json.loads((EARLIER / "said.json").read_text())
FIRST, SECOND = "20261121T100000Z-1f0c2a", "20261122T123000Z-2f0c2a"
TODAY = Today(datetime.date(2026, 11, 23), 14)


@pytest.fixture
def earlier(tmp_path):
    """A function that returns a copy of an earlier run."""
    return lambda run_id: RunDirectory.open(shutil.copytree(EARLIER / "runs" / run_id, tmp_path / run_id))


@pytest.fixture
def history(tmp_path):
    """A copy of the earlier history."""
    place = str(tmp_path / "history.sqlite")
    with closing(sqlite3.connect(place)) as file:
        file.executescript((EARLIER / "history.sql").read_text())
    with open_history(place) as history:
        yield history


def verdict_said(directory):
    """Judge a run again and return the verdict on each volume with its reasons,
    and the failures of hosts and of the fleet, which determine the exit status."""
    verdict = judge_run(directory, REPORT)
    hosts = {
        f"{host['host']}/{host['volume']}": [
            host["verdict"],
            host["certified"],
            host["qualification"],
            *host["reasons"],
        ]
        for host in verdict["hosts"]
    }
    gate = {
        "gate_failed": verdict["gate_failed"],
        "fleet_problems": verdict["fleet_problems"],
        "failures": sorted(failing_hosts(verdict, Place(directory.path))),
    }
    return {"verdict": verdict["verdict"], **gate, "hosts": hosts}


def causes_said(directory):
    """Render a run again and return its causes: their kinds, volumes, and next steps."""
    assert sorted(render(directory)) == sorted(RENDERERS)
    with open(os.path.join(directory.path, "report.json"), encoding="utf-8") as file:
        return [
            [cause["kind"], cause["verdict"], cause["hosts"], cause["next_step"]] for cause in json.load(file)["causes"]
        ]


def certificates_said(directory):
    """Return the hash and effect of each of a run's certificates, by volume. None of them may contradict the run."""
    certificates, problems = certificates_of(directory)
    assert problems == []
    return {
        certificate.entry.label: [certificate.entry.sha256, certificate.entry.effect] for certificate in certificates
    }


def states_said(history):
    lines = fleet_status(history.newest(), history.revocations(), TODAY, history.power_cuts())
    return {
        f"{line.host}/{line.volume} {line.profile}": [line.state, bool(line.loss), bool(line.fact)] for line in lines
    }


def comparison_said(history):
    sides = (select(history, [run]) for run in (FIRST, SECOND))
    comparison = compare_fleet(history, *sides, ["db01", "db02", "db03", "db04"], figure="latency_mean", margin=0.1)
    return {
        "outcome": comparison["outcome"],
        "hosts": [[host["host"], host["outcome"], host["change"], host["reason"]] for host in comparison["hosts"]],
    }


def merged_said(base, runs):
    return verdict_said(merge_runs([run.path for run in runs], str(base)))["hosts"]


@pytest.mark.parametrize("run_id", SAID["runs"])
def test_an_earlier_run_is_judged_again_as_before(earlier, run_id):
    judged = SAID["runs"][run_id]["judged"]
    assert verdict_said(earlier(run_id)) == {**judged, "failures": sorted(judged["failures"])}


@pytest.mark.parametrize("run_id", SAID["runs"])
def test_an_earlier_run_is_rendered_again_as_before(earlier, run_id):
    assert causes_said(earlier(run_id)) == SAID["runs"][run_id]["causes"]


@pytest.mark.parametrize("run_id", SAID["runs"])
def test_earlier_certificates_belong_to_their_runs(earlier, run_id):
    assert certificates_said(earlier(run_id)) == SAID["runs"][run_id]["certificates"]


def test_earlier_runs_are_merged_as_before(earlier, tmp_path):
    """Since then, an inconclusive run no longer hides that a volume failed: its state in the history is failed as
    well."""
    failed = {"db03/log": SAID["runs"][FIRST]["judged"]["hosts"]["db03/log"]}
    assert merged_said(tmp_path / "merged", [earlier(FIRST), earlier(SECOND)]) == {**SAID["merged"], **failed}


def test_an_earlier_history_says_the_same_states(history):
    assert states_said(history) == SAID["states"]


def test_earlier_runs_make_the_same_history_again(tmp_path):
    with open_history(str(tmp_path / "history.sqlite"), create=True) as history:
        total, added, problems = import_runs(history, [str(EARLIER / "runs")])
        assert (total, problems) == (added, [])
        assert states_said(history) == SAID["states"]


def test_earlier_certificates_are_compared_as_before(history):
    assert comparison_said(history) == SAID["comparison"]


def test_an_earlier_signature_holds():
    run, problems = verify_run(str(EARLIER / "runs" / SECOND), str(EARLIER / "signers"))
    assert (problems, run.files) == ([], SAID["signed_files"])


def test_a_later_version_is_refused_in_a_sentence(earlier):
    directory = earlier(FIRST)
    folder = "hosts/db02/audit"
    for name in ("run.json", f"{folder}/record.json", f"{folder}/certificate.json"):
        path = os.path.join(directory.path, name)
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**content, "schema": 2}, file, indent=1, sort_keys=True)
    with pytest.raises(CertificateError, match="is not a certificate of schema 1"):
        Certificate.parse(directory.certificates.read(folder))
    assert judged_record(directory, folder).reasons == [
        f"its record cannot be read: {folder}/record.json is not a record of schema 1."
    ]
    with pytest.raises(RunDirectoryError, match="is not a run directory of schema 1"):
        RunDirectory.open(directory.path)
