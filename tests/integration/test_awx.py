# SPDX-License-Identifier: GPL-3.0-or-later
"""The repository as an AWX project: what AWX lists as playbooks, and a job as its runner starts it."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import PROJECT, QUICK, Controller
from certification import Certification, summaries
from testbed import Bed

# AWX takes a YAML file for a playbook when one of its lines matches this, wherever it lies ...
PLAYBOOK = re.compile(r"^\s*?-?\s*?(?:hosts|(?:ansible\.builtin\.)?include|(?:ansible\.builtin\.)?import_playbook):\s*?.*?$")
# ... unless a part of its path is one of these or begins with a dot.
SKIPPED = {"roles", "tasks", "group_vars", "host_vars"}

RUNNER = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}


def project_files() -> list[Path]:
    """What is, or would be, committed."""
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.splitlines() if (PROJECT / (path := Path(name))).is_file()]


def playbooks(root: Path, files: list[Path]) -> set[str]:
    return {str(path) for path in files if path.suffix in (".yml", ".yaml") and not _skipped(path) and _matches((root / path).read_text())}


def _skipped(path: Path) -> bool:
    return any(part in SKIPPED or part.startswith(".") for part in path.parts)


def _matches(text: str) -> bool:
    return any(PLAYBOOK.match(line) for line in text.splitlines()) or text.startswith("$ANSIBLE_VAULT")


def test_awx_lists_the_playbooks_and_nothing_else() -> None:
    assert playbooks(PROJECT, project_files()) == {str(path.relative_to(PROJECT)) for path in (PROJECT / "playbooks").glob("*.yml")}


@pytest.mark.parametrize(
    ("path", "content", "listed"),
    [
        ("tests/site.yml", "- name: x\n  hosts: all\n", True),
        ("inventories/lab.yml", "all:\n  hosts: {}\n", True),
        ("site.yaml", "- import_playbook: x.yml\n", True),
        ("roles/x/tasks/main.yml", "hosts: all\n", False),
        ("molecule/.default/converge.yml", "hosts: all\n", False),
        ("vars/hosts.yml", "my_hosts: all\n", False),
    ],
)
def test_the_rule_itself(tmp_path: Path, path: str, content: str, listed: bool) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content)
    assert (playbooks(tmp_path, [Path(path)]) == {path}) is listed


@pytest.fixture
def project(controller: Controller, tmp_path: Path) -> Path:
    """A runner's private data directory, with the checkout as its project and what requirements.yml names installed beside it."""
    private = tmp_path / "private"
    for name in project_files():
        target = private / "project" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, target)
    install = ["collection", "install", "--offline", "-r", "collections/requirements.yml", "-p", str(private / "requirements_collections")]
    # As AWX does, without the environment of whoever runs the tests.
    subprocess.run([str(controller.tools / "ansible-galaxy"), *install], cwd=private / "project", env=RUNNER, check=True, capture_output=True)
    for folder in ("inventory", "env"):
        (private / folder).mkdir()
    return private


def test_a_job(start: Callable[..., Bed], controller: Controller, project: Path) -> None:
    bed = start("good", "dead")
    bed["dead"].link_down()
    bed.inventory(project / "inventory/hosts.yml")
    # A survey's answers are strings, and AWX enables callbacks of its own.
    of_the_survey = {"workspace_queue_managers": "QM1, QM2", "sweep_block_sizes": "4K,64K", "sweep_duration": "1", "sweep_files": "4"}
    answers = {**QUICK, **of_the_survey, "gate_report_only": "false", "awx_job_id": 7}
    (project / "env/extravars").write_text(json.dumps(answers))
    collections = f"{project}/requirements_collections:~/.ansible/collections:/usr/share/ansible/collections"
    environment = {
        "ANSIBLE_CALLBACKS_ENABLED": "mqops.logdisk.report",
        "ANSIBLE_COLLECTIONS_PATH": collections,
        "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
        "ANSIBLE_SSH_CONTROL_PATH_DIR": str(bed.settings.state / "cp"),
        "JOB_ID": "7",
        "MAX_EVENT_RES": "700000",
    }
    (project / "env/envvars").write_text(json.dumps(environment))

    command = [str(controller.tools / "ansible-runner"), "run", str(project), "-p", "playbooks/certify.yml", "--ident", "7"]
    env = {**RUNNER, "PATH": f"{controller.tools}:{RUNNER['PATH']}"}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)

    assert done.returncode == 2
    certification = Certification((project / "project/reports/latest").resolve())
    assert {name: record["verdict"] for name, record in certification.records.items()} == {"good": "pass", "dead": "unreachable"}
    assert {row["load_point"] for row in certification.table("good")} == {"2"}
    assert certification.records["good"]["workspace"]["queue_managers"] == ["QM1", "QM2"]
    stdout = (project / "artifacts/7/stdout").read_text()
    assert len(summaries(re.sub(r"\x1b\[[0-9;]*m", "", stdout).replace("\r", ""))) == 1
    events = [json.loads(path.read_text()) for path in (project / "artifacts/7/job_events").glob("*.json")]
    (stats,) = [event for event in events if event["event"] == "playbook_on_stats"]
    (summary,) = [value for key, value in stats["event_data"]["artifact_data"].items() if key == "logdisk_7"]
    assert summary["verdict"] == "unreachable"
