# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/awx_setup.yml sets up AWX with the modules of awx.awx. The API is simulated, and makes the same checks as
AWX."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import PROJECT, Controller, Outcome
from fake_awx import data
from fake_awx.api import Awx, served
from fake_awx.project import playbooks, project_files

FETCHED = PROJECT / "build/galaxy"
SSH = "ssh to the hosts"


def fetch_modules() -> None:
    subprocess.run([sys.executable, str(PROJECT / "tools/fetch-collections"), str(FETCHED), "awx.awx"], check=True)


@pytest.fixture(autouse=True)
def modules() -> None:
    fetch_modules()


def api(prefix: str = "/api/") -> Awx:
    awx = Awx(playbooks(PROJECT, project_files()), prefix)
    awx.create("credentials", {"name": SSH})
    return awx


def set_up(
    controller: Controller,
    awx: Awx,
    *arguments: str,
    playbook: Path | str = "awx_setup",
    own: Path = PROJECT / "collections",
    collections: Path = FETCHED,
    **variables: object,
) -> Outcome:
    with served(awx) as address:
        env = {
            "ANSIBLE_COLLECTIONS_PATH": f"{own}:{collections}",
            "CONTROLLER_HOST": address,
            "CONTROLLER_USERNAME": "admin",
            "CONTROLLER_PASSWORD": "recorded",
            "CONTROLLER_REQUEST_TIMEOUT": "120",
        }
        return controller.run(playbook, *arguments, env=env, timeout_s=1200, **variables)


def changed(outcome: Outcome) -> int:
    return int(re.search(r"changed=(\d+) ", outcome.screen).group(1))


TABLES = {
    "notifications": "notification_templates",
    "templates": "job_templates",
    "workflows": "workflow_job_templates",
}


def assert_all_is_set_up(awx: Awx) -> None:
    content = data.load()
    for name, items in content.items():
        table = name.removeprefix("controller_")
        assert awx.names(TABLES.get(table, table)) == {item["name"] for item in items}, table
    for template in content["controller_templates"]:
        made = awx.named("job_templates", template["name"])
        assert (made["playbook"], made["ask_limit_on_launch"]) == (template["playbook"], True)
        assert awx.surveys.get(("job_templates", made["id"]), {}) == template.get("survey_spec", {})
        assert awx.linked_names("job_templates", template["name"], "credentials") == {SSH}
    assert awx.linked_names("job_templates", "logdisk report", "notification_templates_error") == {"logdisk verdict"}
    assert (
        awx.named("notification_templates", "logdisk verdict")["messages"]
        == content["controller_notifications"][0]["messages"]
    )
    nodes = {node["identifier"]: node for node in awx.tables["workflow_job_template_nodes"].values()}
    assert (
        nodes["certify"]["unified_job_template"]
        == (sliced := awx.named("job_templates", "logdisk certify slices"))["id"]
    )
    assert (sliced["job_slice_count"], json.loads(sliced["extra_vars"])) == (3, {"logdisk_sliced": True})
    assert awx.linked["workflow_job_template_nodes", nodes["certify"]["id"], "always_nodes"] == [nodes["report"]["id"]]


def set_up_an_empty_awx(controller: Controller) -> Awx:
    """The path of an API behind the gateway of the platform can be set."""
    awx = api("/api/controller/")
    first = set_up(controller, awx, awx_setup_api_path="/api/controller/", logdisk_credentials=[SSH])
    assert (first.status, changed(first)) == (0, len(data.load()))
    assert_all_is_set_up(awx)
    return awx


def test_an_empty_awx_is_set_up(controller: Controller) -> None:
    set_up_an_empty_awx(controller)


@pytest.mark.thorough
def test_the_second_run_changes_nothing(controller: Controller, tmp_path: Path) -> None:
    awx = set_up_an_empty_awx(controller)

    # With a limit, no task is skipped, and no host of the inventory is contacted. Credentials that the data does not
    # name are kept.
    awx.requests.clear()
    (tmp_path / "hosts.ini").write_text("mq01 ansible_host=192.0.2.1\n")
    second = set_up(
        controller, awx, "-i", str(tmp_path / "hosts.ini"), "--limit", "mq01", awx_setup_api_path="/api/controller/"
    )
    assert (second.status, changed(second)) == (0, 0)
    assert awx.changes == []
    assert len(awx.requests) > 50
    assert_all_is_set_up(awx)


@pytest.mark.thorough
def test_ansible_controller_with_the_oldest_core(controller_of: Callable[[str], Controller], tmp_path: Path) -> None:
    """The modules of ansible.controller are the same as those of awx.awx, but support the gateway. The oldest
    ansible-core reads the data and the names of modules differently."""
    renamed = tmp_path / "ansible_collections/ansible/controller"
    shutil.copytree(FETCHED / "ansible_collections/awx/awx", renamed)
    kind = renamed / "plugins/module_utils/controller_api.py"
    kind.write_text(kind.read_text().replace('_COLLECTION_TYPE = "awx"', '_COLLECTION_TYPE = "controller"'))
    awx = api("/api/controller/")
    assert (
        set_up(
            controller_of("2.16"),
            awx,
            collections=tmp_path,
            awx_setup_modules="ansible.controller",
            logdisk_credentials=[SSH],
        ).status
        == 0
    )
    assert_all_is_set_up(awx)


@pytest.mark.thorough
def test_a_survey_that_awx_would_refuse_creates_nothing(controller: Controller, tmp_path: Path) -> None:
    """A wrong survey is refused before anything is created. AWX itself would refuse it only after it had created the
    template."""
    awx = api()
    refused = tmp_path / "refused.yml"
    refused.write_text(data.FILE.read_text().replace('choices: ["true", "false"]', "choices: [true, false]"))
    outcome = set_up(controller, awx, awx_setup_data=str(refused))
    assert outcome.status == 2
    assert "AWX would not accept the survey question about gate_report_only." in outcome.words
    assert awx.changes == []
