# SPDX-License-Identifier: GPL-3.0-or-later
"""No failure ends with status 0, and the report contains each host with its own verdict."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_runs import COMPILE, PROFILE, PROJECT, QUICK, Controller, Outcome, first_of
from certification import summary_verdicts
from testbed import Bed, HostSpec

Start = Callable[..., Bed]


def assert_verdicts(outcome: Outcome, expected: dict[str, str]) -> None:
    """Every format has these verdicts, and the summary names the hosts that do not pass."""
    verdicts = outcome.certification.verdicts()
    assert verdicts == dict.fromkeys(verdicts, expected)
    bad = {host: verdict for host, verdict in expected.items() if verdict != "pass"}
    assert summary_verdicts(outcome.screen, bad) == bad


@pytest.mark.long
def test_one_host_each_of_many_troubles(
    start: Start, controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    """The problems of some hosts do not hide those of others. With the oldest ansible-core."""
    controller = controller_of("2.16")
    bed = start(
        "good",
        HostSpec("broken-python", python="broken"),
        HostSpec("no-python", python="none"),
        HostSpec("no-compiler", compiler=False, variables=COMPILE),
        HostSpec("bad-source", variables={**COMPILE, "tester_cflags": "-include /nowhere.h"}),
        HostSpec("no-space", variables={"sweep_file_size": "1G"}),
        HostSpec("no-sudo", user="ops", remove=("usr/bin/sudo",)),
        "dead",
    )
    bed["dead"].link_down()
    # The variables of the inventory define the sweep, and those of the hosts override them.
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=QUICK)
    outcome = controller.run("certify", "-i", str(inventory), gate_profile=PROFILE)
    assert outcome.status == 2
    expected = dict.fromkeys((host.name for host in bed), "error") | {"good": "pass", "dead": "unreachable"}
    # Without Python, the remote command may end before Ansible has sent the module. If ssh then takes more than a
    # millisecond to end, Ansible considers the host unreachable.
    if outcome.certification.records["no-python"]["verdict"] == "unreachable":
        expected["no-python"] = "unreachable"
    assert_verdicts(outcome, expected)
    stages = {
        name: record["error"]["stage"] for name, record in outcome.certification.records.items() if record["error"]
    }
    assert stages["broken-python"] in ("probe", "tester")
    assert stages["no-compiler"] == stages["bad-source"] == "tester"
    assert stages["no-space"] == "workspace"
    for name, record in outcome.certification.records.items():
        assert record["verdict"] == "pass" or all(reason.strip() for reason in record["reasons"]), f"{name} says why"


@pytest.mark.thorough
def test_all_hosts_fail(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start(HostSpec("h1", python="broken"), HostSpec("h2", python="broken"), "h3")
    bed["h3"].link_down()
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"))
    assert outcome.status == 2
    assert_verdicts(outcome, {"h1": "error", "h2": "error", "h3": "unreachable"})


@pytest.mark.thorough
def test_limits(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("good", HostSpec("bad", python="broken"))
    inventory = bed.inventory(tmp_path / "hosts.yml")
    to_bad = controller.certify(inventory, "--limit", "bad")
    assert to_bad.status == 2
    assert_verdicts(to_bad, {"bad": "error"})
    for limit in ("nobody", "localhost"):
        outcome = controller.certify(inventory, "--limit", limit)
        assert outcome.status != 0, limit
    to_good = controller.certify(inventory, "--limit", "good")
    assert to_good.status == 0
    assert list(to_good.certifications[-1].records) == ["good"]


@pytest.mark.thorough
@pytest.mark.parametrize("inventory", ["", "localhost ansible_connection=local\n"])
def test_an_inventory_of_nobody(controller: Controller, tmp_path: Path, inventory: str) -> None:
    path = tmp_path / "hosts.ini"
    path.write_text(inventory)
    outcome = controller.certify(path)
    assert outcome.status != 0
    assert ("To include localhost, which is in the inventory, set certify_hosts=all" in outcome.words) is bool(
        inventory
    )


def test_localhost_is_left_out_with_a_line_and_included_on_request(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    bed = start("h1")
    path = bed.inventory(tmp_path / "hosts.yml")
    local = tmp_path / "local.ini"
    local.write_text("localhost ansible_connection=local\n")
    line = "certify_hosts leaves localhost out. To include localhost, which is in the inventory, set certify_hosts=all."
    without = controller.run("preflight", "-i", str(path), "-i", str(local))
    assert without.status == 0 and line in without.words
    run = without.certifications[-1].path
    assert json.loads((run / "run.json").read_text())["localhost_left_out"] is True
    assert "expected 1 host; certify_hosts left out localhost" in (run / "summary.txt").read_text()
    included = controller.run("preflight", "-i", str(path), "-i", str(local), certify_hosts="all")
    assert line not in included.words
    run = included.certifications[-1].path
    assert json.loads((run / "run.json").read_text())["expected_hosts"] == ["h1", "localhost"]


def test_no_inventory_at_all(controller: Controller, tmp_path: Path) -> None:
    assert controller.certify(tmp_path / "absent.yml").status != 0


@pytest.mark.thorough
def test_a_mistyped_group(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start(HostSpec("h1", groups=("databases",)))
    inventory = bed.inventory(tmp_path / "hosts.yml")
    assert controller.certify(inventory, "--check", certify_hosts="datebases").status != 0
    assert controller.certify(inventory, certify_hosts="datebases").status != 0
    assert controller.certify(inventory, "--check", certify_hosts="databases").status == 0


@pytest.mark.thorough
def test_the_policy_decides(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start(HostSpec("h1", python="broken"), "h2")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    assert controller.certify(inventory, "--limit", "h1", gate_report_only="true").status == 0
    let = controller.certify(inventory, "--limit", "h1", gate_fail_on=["fail"])
    assert let.status == 0
    assert "The gate let 1 error through, because gate_fail_on does not name it." in let.words
    assert controller.certify(inventory, "--limit", "h2", gate_fail_on=["fail", "unqualified"]).status == 2


RESULT = {"failures": {}, "fleet_problems": [], "problems": []}
NO_PYTHON = "h1 ansible_connection=local ansible_python_interpreter=/nowhere/python\n"


@pytest.mark.parametrize(
    ("playbook", "name"),
    first_of(
        [
            ("certify", "gate_judged"),
            ("report", "gate_told"),
            ("status", "gate_told"),
            ("preflight", "gate_checked"),
            ("observe", "gate_refused"),
            ("power_cut", "power_cut_plan"),
            ("locks", "locks_pairs"),
            ("collect", "gate_asked"),
            ("compare", "gate_told"),
            ("drift", "gate_told"),
            ("history", "gate_asked"),
            ("verify", "gate_refused"),
            ("stop", "gate_asked"),
            ("cleanup", "workspace_cleaned"),
            ("certify_pvc", "claim_plan"),
            ("awx_setup", "awx_setup_kind"),
        ]
    ),
)
def test_no_extra_variable_replaces_a_result(controller: Controller, tmp_path: Path, playbook: str, name: str) -> None:
    """Otherwise, anybody who may set variables when a job is launched could let a failing run through. The result of
    the check, and what the role fails by, are overridden as well."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(NO_PYTHON)
    outcome = controller.run(
        playbook, "-i", str(inventory), **{name: RESULT, "gate_checked": RESULT, "gate_refused": RESULT}
    )
    assert outcome.status == 2
    assert f"may set {', '.join(sorted({name, 'gate_checked', 'gate_refused'}))}: leave them out" in outcome.words
    assert "PLAY [Open" not in outcome.screen and not outcome.certifications


@pytest.mark.parametrize("variable", first_of(["gate_judged={}", "sweep_schedule={}", "inventory_hostname=h2"]))
def test_no_variable_of_a_host_replaces_a_result(controller: Controller, tmp_path: Path, variable: str) -> None:
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(NO_PYTHON)
    (tmp_path / "host_vars").mkdir()
    (tmp_path / "host_vars/h1.yml").write_text(variable.replace("=", ": ") + "\n")
    outcome = controller.run("certify", "-i", str(inventory))
    assert outcome.status == 2
    assert f"may set {variable.partition('=')[0]}: remove it from the inventory" in outcome.words


@pytest.mark.parametrize("earlier", ["result", "fact"])
def test_a_result_of_an_earlier_playbook_decides_nothing(controller: Controller, tmp_path: Path, earlier: str) -> None:
    """The first playbook of a command registers that no host failed. The second one must fail nevertheless."""
    inventory = tmp_path / "hosts.ini"
    inventory.write_text("h1 ansible_connection=local\n")
    slow = fabricate.tables(fabricate.sweep_rows(latency_ns=50_000_000))
    failed = fabricate.run_directory(controller.directory / "reports", {"h1": slow}).path
    assert controller.run("report", "-i", str(inventory), report_runs=failed).status == 2
    fact = {"hosts": "localhost:all", "gather_facts": False, "tasks": [{"set_fact": {"gate_judged": RESULT}}]}
    of_earlier = [fact] if earlier == "fact" else [{"import_playbook": str(PROJECT / "playbooks/preflight.yml")}]
    wrapper = tmp_path / "wrapper.yml"
    for last in ("report", "status"):
        wrapper.write_text(json.dumps([*of_earlier, {"import_playbook": str(PROJECT / f"playbooks/{last}.yml")}]))
        options = {"report_runs": failed, "sweep_file_size": "1M", "workspace_path": str(tmp_path)}
        outcome = controller.run(wrapper, "-i", str(inventory), gate_report_only=last == "status", **options)
        assert outcome.status == 2, last


def test_a_fact_of_an_earlier_play_that_would_override_what_is_passed_on_is_refused(
    controller: Controller, tmp_path: Path
) -> None:
    inventory, wrapper = tmp_path / "hosts.ini", tmp_path / "wrapper.yml"
    inventory.write_text(NO_PYTHON)
    fact = {"hosts": "localhost:all", "gather_facts": False, "tasks": [{"set_fact": {"gate_decided": RESULT}}]}
    wrapper.write_text(json.dumps([fact, {"import_playbook": str(PROJECT / "playbooks/status.yml")}]))
    outcome = controller.run(wrapper, "-i", str(inventory))
    assert outcome.status == 2
    assert "may set gate_decided: remove the task that sets it earlier in this command" in outcome.words


def test_a_time_limit_for_tasks_does_not_end_the_clean_up(controller: Controller, tmp_path: Path) -> None:
    python = tmp_path / "slow-python"
    python.write_text(f'#!/bin/sh\nsleep 8\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    inventory = tmp_path / "hosts.ini"
    inventory.write_text(
        f"h1 ansible_connection=local ansible_python_interpreter={python} sweep_state_dir={tmp_path}/runs "
        f"observe_state_dir={tmp_path}/observations\n"
    )
    for playbook in ("cleanup", "stop"):
        outcome = controller.run(playbook, "-i", str(inventory), env={"ANSIBLE_TASK_TIMEOUT": "6"})
        assert outcome.status == 0, playbook


@pytest.mark.thorough
def test_a_time_limit_for_tasks_does_not_end_a_measurement(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    assert controller.certify(inventory, "--check").status == 0, "the tester is installed"
    outcome = controller.certify(inventory, env={"ANSIBLE_TASK_TIMEOUT": "10"}, sweep_duration=6)
    assert outcome.status == 0
    assert bed["h1"].files("/fut/logdisk") == []
