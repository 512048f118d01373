# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""AWX accepts playbooks/awx/logdisk.yml, and everything that this file names exists in the collection."""

from __future__ import annotations

import re

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.outcome import Place, make_outcome, workflow_artifact
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.status import status_outcome
from fake_awx import data
from fake_awx.project import ROOT, playbooks, project_files
from fake_awx.rules import render_message

DATA = data.load()
TEMPLATES = {template["name"]: template for template in DATA["controller_templates"]}
WORKFLOWS = {workflow["name"]: workflow for workflow in DATA["controller_workflows"]}
SURVEYS = {name: item["survey_spec"] for name, item in {**TEMPLATES, **WORKFLOWS}.items() if item.get("survey_enabled")}
QUESTIONS = [
    pytest.param(name, question, id=f"{name}-{question['variable']}")
    for name, survey in SURVEYS.items()
    for question in survey["spec"]
]
NODES = {node["identifier"]: node for workflow in WORKFLOWS.values() for node in workflow["workflow_nodes"]}


def options():
    """Return the options of all roles, by name."""
    found = {}
    for specs in sorted(ROOT.glob("roles/*/meta/argument_specs.yml")):
        for entry in yaml.safe_load(specs.read_text())["argument_specs"].values():
            found |= entry.get("options", {})
    return found


def test_every_playbook_is_offered():
    assert {template["playbook"] for template in TEMPLATES.values()} <= playbooks(ROOT, project_files())


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_questions_are_about_options(name, question):
    """Each question is about an option of a role, and its default and choices match the type and choices of this
    option, or it is about a variable of the playbook."""
    variable = question["variable"]
    assert all(isinstance(choice, str) for choice in question.get("choices", []))
    if variable not in options():
        assert re.search(rf"\b{variable}\b", (ROOT / TEMPLATES[name]["playbook"]).read_text())
        return
    spec = {key: value for key, value in options()[variable].items() if key in ("type", "elements", "choices")}
    for value in [*question.get("choices", []), *([question["default"]] if "default" in question else [])]:
        assert ArgumentSpecValidator({variable: spec}).validate({variable: value}).error_messages == []
        assert variable != "gate_profile" or (ROOT / f"roles/gate/files/profiles/{value}.yml").exists()


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_takes_a_limit(name):
    assert TEMPLATES[name]["ask_limit_on_launch"]


@pytest.mark.parametrize("name", ["logdisk collect", "logdisk report", "logdisk recertify"])
def test_templates_that_take_any_variable(name):
    assert TEMPLATES[name]["ask_variables_on_launch"]


def test_the_workflow_ends_with_the_verdict_whatever_happens():
    """A failed node with an edge does not fail a workflow. A "success" edge would stop the workflow at the first
    unreachable host."""
    edges = {name: [to["identifier"] for to in node["related"]["always_nodes"]] for name, node in NODES.items()}
    assert edges == {"preflight": ["certify"], "certify": ["report"], "report": []}
    assert not any(node["related"][kind] for node in NODES.values() for kind in ("success_nodes", "failure_nodes"))
    assert TEMPLATES[NODES["report"]["unified_job_template"]["name"]]["playbook"] == "playbooks/report.yml"


def test_only_the_sliced_template_of_the_workflow_says_that_its_jobs_are_slices():
    """If no merge follows it, a job that has the variable of a slice would succeed although a term of its limit matches
    no host."""
    sliced = {name for name, template in TEMPLATES.items() if template.get("extra_vars", {}).get("logdisk_sliced")}
    assert sliced == {NODES["certify"]["unified_job_template"]["name"]}
    assert not any("logdisk_sliced" in (workflow.get("extra_vars") or {}) for workflow in WORKFLOWS.values())
    (name,) = sliced
    assert TEMPLATES[name]["job_slice_count"] > 1 and not TEMPLATES[name].get("ask_variables_on_launch")


def test_answers_of_the_workflow_reach_its_nodes():
    (workflow,) = WORKFLOWS
    asked = {question["variable"] for question in SURVEYS[workflow]["spec"]}
    assert asked == {question["variable"] for question in SURVEYS["logdisk certify"]["spec"]}
    assert asked == {question["variable"] for question in SURVEYS["logdisk preflight"]["spec"]}
    assert "gate_report_only" in asked & {question["variable"] for question in SURVEYS["logdisk report"]["spec"]}


(NOTIFICATION,) = DATA["controller_notifications"]
HOSTS = [
    {
        "host": "mq03",
        "verdict": "fail",
        "certified": False,
        "qualification": "sweep_duration was 60, the profile asks for 600",
    }
]
VERDICT = {
    "certified": False,
    "counts": {"pass": 18, "fail": 1, "unreachable": 1, "missing": 0},
    "reasons": ["mq03: too slow", "mq04: unreachable"],
    "hosts": HOSTS,
}
RUN = {"run_id": "20261121T104935Z-1f0c2a", "verdict": "fail", "certified": False}
FAILED = workflow_artifact(
    make_outcome("verdict", "mq03: too slow", **RUN),
    VERDICT,
    Place("/reports/x", "https://reports.example/x.tar.gz", kept=True),
)


def sent(kind, event="error", **job):
    return render_message(
        NOTIFICATION["messages"][event][kind], {"id": 17, "name": "logdisk report", "job_explanation": "", **job}
    )


def test_the_notification_carries_the_verdict():
    job = {"status": "failed", "artifacts": {"logdisk_17": FAILED}}
    assert (
        sent("message", **job)
        == "logdisk: fail (18 pass, 1 fail, 1 unreachable), not certified, logdisk report 17 failed"
    )
    body = sent("body", **job)
    for text in (
        "Verdict: fail",
        "Certified: no",
        "fail: 1",
        "* mq03: too slow",
        "Report: https://reports.example/",
        "Job: https://awx.example/",
    ):
        assert text in body
    assert "\n\n" not in body.strip()


def test_the_notification_says_what_failed_a_job_in_spite_of_its_verdict():
    outcome = make_outcome(
        "internal",
        "the report was not uploaded: " + "x " * 150 + "end",
        **{**RUN, "verdict": "pass", "certified": True},
    )
    told = workflow_artifact(
        outcome, {"certified": True, "counts": {"pass": 1}, "reasons": [], "hosts": []}, Place("/reports/x")
    )
    job = {"status": "failed", "artifacts": {"logdisk_17": told}}
    assert sent("message", **job).startswith("logdisk: pass (1 pass), certified, but the report was not uploaded: x x")
    assert len(sent("message", **job)) < 320 and outcome["message"] in sent("body", **job)


@pytest.mark.parametrize(
    ("kind", "because"), [("internal", "There is no run to merge."), ("usage", "--limit names 'typo'")]
)
def test_the_notification_of_a_job_that_has_no_verdict_says_its_message(kind, because):
    job = {"status": "failed", "artifacts": {"logdisk_17": make_outcome(kind, because)}}
    assert sent("message", **job) == f"logdisk: no verdict, because {because}, logdisk report 17 failed"
    assert f"Verdict: none, because {because}\n" in sent("body", **job) and "cancelled" not in sent("body", **job)


def test_the_notification_of_a_status_names_hosts_and_states():
    status = {
        "date": "2026-06-01",
        "certified": False,
        "problems": ["db02: silver until 2026-04-01", "db03: failed silver"],
        "host_states": {"db01": "valid", "db02": "expired", "db03": "failed"},
    }
    told = status_outcome(status)
    job = {"name": "logdisk status", "status": "failed", "artifacts": {"logdisk_status_17": told}}
    assert (
        sent("message", **job)
        == "logdisk: not certified (1 valid, 1 expired, 1 failed): db02 expired, db03 failed, logdisk status 17 failed"
    )
    body = sent("body", **job)
    for text in (
        "Certified on 2026-06-01: no\n",
        "expired: 1\n",
        "* db02: expired\n* db03: failed\n",
        "db02: silver until 2026-04-01 | db03: failed silver\n",
    ):
        assert text in body
    many = status_outcome(
        {**status, "problems": ["x"], "host_states": {f"db{number}": "failed" for number in range(300)}}
    )
    job["artifacts"] = {"logdisk_status_17": many}
    assert (
        sent("message", **job).count(" failed") == 12
        and sent("body", **job).count(": failed\n") == 100
        and "and more" in sent("message", **job)
    )


def test_the_notification_of_a_job_without_a_verdict():
    job = {"status": "failed", "artifacts": {}, "job_explanation": "Job terminated due to timeout"}
    assert sent("message", **job) == "logdisk: no verdict, logdisk report 17 failed"
    assert "cancelled, timed out, or refused" in sent("body", **job)
    assert "Job terminated due to timeout" in sent("body", **job)
