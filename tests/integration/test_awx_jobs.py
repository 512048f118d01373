# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs each job template of playbooks/awx/logdisk.yml in the same way as the first job in AWX: in a project that was
just cloned, without reports, certificates or a home directory."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import postgresql_server
from ansible_runs import Controller, first_of
from fake_awx import data
from fake_awx.project import project_files
from runner_jobs import Runner, copy_project, postgresql_driver
from testbed import Bed

TEMPLATES = {template["name"]: template for template in data.load()["controller_templates"]}


class End(NamedTuple):
    """How the job of a template ends if nothing was measured before."""

    failed_hosts: set[str]
    said: str
    answers: Mapping[str, str] = MappingProxyType({})


CHANGE = {"compare_before": "2026-10-01", "compare_after": "2026-11-01"}
ENDS = {
    "logdisk status": End({"h1"}, "h1: never measured: the history does not contain it"),
    "logdisk preflight": End(set(), "ready: 2 steps"),
    "logdisk certify": End(set(), "PASS, but this run does not certify: "),
    "logdisk certify slices": End(set(), "PASS, but this run does not certify: "),
    "logdisk recertify": End(set(), "PASS, but this run does not certify: "),
    "logdisk report": End({"localhost"}, "No run is named, and there is none in "),
    "logdisk observe": End({"h1"}, "observe: no source can observe this queue manager"),
    "logdisk locks": End({"h1"}, "no host under test shares a directory with h1"),
    "logdisk compare": End({"localhost"}, "2026-10-01", CHANGE),
    "logdisk stop": End(set(), "No run was measuring or observing."),
    "logdisk cleanup": End(set(), "PLAY RECAP"),
    "logdisk collect": End({"localhost"}, "collect_run"),
}


@pytest.fixture(scope="module")
def history() -> Iterator[str]:
    """The URL of a history in PostgreSQL, because a file beside the reports would be deleted with the container of each
    job."""
    with postgresql_server.running_server("fsync=off") as server:
        yield server.new_database()


def variables(template: dict, answers: Mapping[str, str]) -> dict[str, object]:
    """Return the variables that AWX passes to a job: those of the template, then the defaults of its survey, then the
    answers."""
    questions = template["survey_spec"]["spec"] if template.get("survey_enabled") else []
    assert {question["variable"] for question in questions if question["required"]} == answers.keys()
    defaults = {question["variable"]: question["default"] for question in questions if "default" in question}
    return {**template.get("extra_vars", {}), **defaults, **answers, "awx_job_id": 7, "tower_job_id": 7}


@pytest.mark.parametrize("name", first_of(ENDS))
def test_the_first_job_of_each_template(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path, history: str, name: str
) -> None:
    assert ENDS.keys() == TEMPLATES.keys()
    bed, template, expected = start("h1"), TEMPLATES[name], ENDS[name]
    runner = Runner(controller, tmp_path / "private")
    copy_project(runner.private, project_files())
    bed.inventory(runner.private / "inventory/hosts.yml", variables={"gate_history": history})
    environment = {"HOME": str(tmp_path / "home"), "JOB_ID": "7", **postgresql_driver(tmp_path), **runner.install()}
    runner.prepare(variables(template, expected.answers), environment)

    job = runner.run("7", playbook=Path(template["playbook"]).stem)
    assert (job.failed_hosts, job.rc) == (expected.failed_hosts, 2 if expected.failed_hosts else 0)
    assert expected.said in " ".join(job.output.split())
    for crash in ("Traceback", "No such file or directory", "directory does not exist", "unexpected"):
        assert crash not in job.output
