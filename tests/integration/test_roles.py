# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles without certify.yml. The role `tester` works on its own. The others refuse to run without their
prerequisites, and leave nothing behind."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import PROJECT, QUICK, Controller
from testbed import Bed

Start = Callable[..., Bed]

SWEEP = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: mqops.logdisk.tester}
    - ansible.builtin.include_role: {name: mqops.logdisk.sweep, tasks_from: plan}
      vars:
        sweep_asked: "{{ lookup('mqops.logdisk.option', 'all') | combine({'workspace_path': '/fut/logdisk'}) }}"
        sweep_overrides: {}
    - ansible.builtin.include_role: {name: mqops.logdisk.gate, tasks_from: open}
      vars: {gate_hosts: all}
    - ansible.builtin.include_role: {name: mqops.logdisk.workspace}
      vars:
        workspace_run_id: "{{ gate_run.run_id }}"
        workspace_host_facts: "{{ tester_ready.facts }}"
        workspace_run_path: "{{ gate_run.path }}"
        workspace_plan: "{{ sweep_plan.volumes }}"
        workspace_asked: "{{ sweep_plan.options }}"
    - ansible.builtin.include_role: {name: mqops.logdisk.sweep}
      vars:
        sweep_run_id: "{{ gate_run.run_id }}"
        sweep_run_path: "{{ gate_run.path }}"
        sweep_tester: "{{ tester_ready }}"
        sweep_workspace: "{{ workspace_layout }}"
"""


@pytest.mark.thorough
def test_the_example_of_the_tester(start: Start, controller: Controller, tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", (PROJECT / "roles/tester/README.md").read_text(), re.DOTALL)
    playbook = tmp_path / "example.yml"
    playbook.write_text(example)
    outcome = controller.run(playbook, "-i", str(start("h1").inventory(tmp_path / "hosts.yml")))
    assert outcome.status == 0
    assert re.search(r"logdisk \d+\.\d+", outcome.screen)


@pytest.mark.thorough
def test_the_sweep_ends_what_it_starts(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    playbook = tmp_path / "sweep.yml"
    playbook.write_text(SWEEP)
    outcome = controller.run(playbook, "-i", str(bed.inventory(tmp_path / "hosts.yml")), **QUICK)
    assert outcome.status == 0
    assert outcome.certification.records["h1"]["verdict"] == "pass"
    assert bed["h1"].pids("logdisk") == {}
    assert bed["h1"].files("/fut/logdisk") == []


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("role", "entry", "missing"),
    [
        (
            "workspace",
            "main",
            "workspace_asked, workspace_host_facts, workspace_plan, workspace_run_id, workspace_run_path",
        ),
        ("workspace", "remove", "workspace_made, workspace_run_id, workspace_run_path"),
        ("sweep", "plan", "sweep_asked, sweep_overrides"),
        ("sweep", "main", "sweep_plan, sweep_run_id, sweep_run_path, sweep_tester, sweep_workspace"),
        ("gate", "main", "gate_run"),
    ],
)
def test_what_only_certify_gives_is_demanded_at_once(
    controller: Controller, tmp_path: Path, role: str, entry: str, missing: str
) -> None:
    playbook = tmp_path / "role.yml"
    task = f"ansible.builtin.include_role: {{name: mqops.logdisk.{role}, tasks_from: {entry}}}"
    playbook.write_text(f"- hosts: localhost\n  gather_facts: false\n  tasks:\n    - {task}\n")
    outcome = controller.run(playbook, "-i", "localhost,")
    assert outcome.status == 2
    assert f"missing required arguments: {missing}" in outcome.words
