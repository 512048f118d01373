# SPDX-License-Identifier: GPL-3.0-or-later
"""The repository as an AWX project: a job as its runner starts it."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import PROJECT, QUICK, Controller
from certification import Certification, summaries
from fake_awx.project import project_files
from testbed import Bed

RUNNER = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}


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
    assert (summary["verdict"], summary["counts"]["pass"], "run_directory" in summary) == ("unreachable", 1, False)
    assert str(certification.path) not in stdout[stdout.rindex("PLAY RECAP") :]
    assert "report   deleted with this job: keep it with gate_keep_report, " in stdout
