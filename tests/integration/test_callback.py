# SPDX-License-Identifier: GPL-3.0-or-later
"""The summary appears once, regardless of how the callback was loaded, and the report does not depend on it."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.formats import RENDERERS
from ansible_runs import PROJECT, QUICK, Controller
from certification import summaries
from testbed import Bed

Start = Callable[..., Bed]
FORMATS = set(RENDERERS)


def configuration(path: Path, *lines: str) -> dict[str, str]:
    """Return an environment whose configuration enables callbacks other than those that the project enables."""
    path.write_text(
        "\n".join(
            [
                "[defaults]",
                f"collections_path = {PROJECT / 'collections'}",
                *lines,
                "[ssh_connection]",
                "pipelining = True",
                "",
            ]
        )
    )
    return {"ANSIBLE_CONFIG": str(path)}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("enabled", "shim", "wrapped", "expected"),
    [
        (True, True, False, 1),
        (True, False, False, 1),
        (False, True, False, 1),
        (False, False, False, 0),
        (False, True, True, 1),
    ],
    ids=["both", "configuration", "shim", "neither", "shim, imported"],
)
def test_one_summary(
    start: Start, controller: Controller, tmp_path: Path, enabled: bool, shim: bool, wrapped: bool, expected: int
) -> None:
    bed = start("h1")
    env = configuration(tmp_path / "ansible.cfg", *(["callbacks_enabled = mqops.logdisk.report"] if enabled else []))
    playbooks = PROJECT / "playbooks"
    if not shim:
        playbooks = shutil.copytree(
            playbooks, tmp_path / "playbooks", ignore=shutil.ignore_patterns("callback_plugins")
        )
    playbook = playbooks / "certify.yml"
    if wrapped:
        playbook = tmp_path / "site.yml"
        playbook.write_text("- ansible.builtin.import_playbook: mqops.logdisk.certify\n")
    # A preflight is enough, because it ends with a report and a summary like every run.
    outcome = controller.run(playbook, "-i", str(bed.inventory(tmp_path / "hosts.yml")), "--check", env=env, **QUICK)

    assert outcome.status == 0
    assert len(summaries(outcome.screen)) == expected
    assert {path.name for path in outcome.certification.path.iterdir()} >= FORMATS


@pytest.mark.thorough
def test_two_runs_on_one_command_line(start: Start, controller: Controller, tmp_path: Path) -> None:
    """If two playbooks run in one process, each has its own run directory and summary."""
    bed = start("h1")
    outcome = controller.certify(
        bed.inventory(tmp_path / "hosts.yml"), "--check", str(PROJECT / "playbooks/certify.yml")
    )
    assert outcome.status == 0
    assert len(outcome.certifications) == len(summaries(outcome.screen)) == 2


PRINTS_JSON = """
from ansible.plugins.callback import CallbackBase

class CallbackModule(CallbackBase):
    CALLBACK_VERSION, CALLBACK_TYPE, CALLBACK_NAME = 2.0, "stdout", "json"

    def v2_playbook_on_stats(self, stats):
        self._display.display('{"hosts": %d}' % len(stats.processed))
"""


@pytest.mark.thorough
def test_a_stdout_callback_that_prints_json_prints_it_alone(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    """Neither progress nor summary is mixed with the machine-readable output; the report is written as always."""
    bed = start("h1")
    (tmp_path / "callbacks").mkdir()
    (tmp_path / "callbacks/json.py").write_text(PRINTS_JSON)
    (tmp_path / "variables.json").write_text(json.dumps(QUICK))
    extra = ["-i", str(bed.inventory(tmp_path / "hosts.yml")), "-e", f"@{tmp_path}/variables.json"]
    env = controller._environment(
        {"ANSIBLE_STDOUT_CALLBACK": "json", "ANSIBLE_CALLBACK_PLUGINS": str(tmp_path / "callbacks")}
    )
    command = [str(controller.tools / "ansible-playbook"), *extra, str(PROJECT / "playbooks/certify.yml")]
    done = subprocess.run(
        command,
        cwd=controller.directory,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert json.loads(done.stdout)["hosts"] >= 1
    (run,) = (controller.directory / "reports").glob("2*")
    assert {path.name for path in run.iterdir()} >= FORMATS
