# SPDX-License-Identifier: GPL-3.0-or-later
"""If the groups of an inventory disagree about a command-wide setting, the command is refused, or the recorded value
applies. The first host's value never applies."""

from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate
from ansible_runs import Controller, Outcome, first_of

SLOW = fabricate.tables(fabricate.sweep_rows(latency_ns=50_000_000))
"""Figures that fail under every profile."""
CONCERNED = (
    "certify",
    "certify_pvc",
    "preflight",
    "observe",
    "report",
    "collect",
    "status",
    "compare",
    "drift",
    "history",
)
"""The playbooks that read or write reports. power_cut.yml is not among them, because it first refuses hosts without
`cut_confirm`."""
ENDING = "stop", "cleanup"


def inventory(directory: Path, of_first: str, of_second: str = "") -> tuple[str, str]:
    """Two hosts that must not be contacted. The first one is in a group that is not tested."""
    path = directory / "hosts.ini"
    path.write_text(
        f"[dev]\na-dev ansible_host=192.0.2.1 {of_first}\n[prod]\nb-prod ansible_host=192.0.2.2 {of_second}\n"
    )
    return "-i", str(path)


def assert_refused(outcome: Outcome, *said: str) -> None:
    assert outcome.status == 2
    for text in said:
        assert text in outcome.words


@pytest.fixture
def failed(controller: Controller) -> Path:
    """A run in which one host of production failed, and the other one left no record."""
    return Path(
        fabricate.run_directory(controller.directory / "reports", {"b-prod": SLOW}, [fabricate.failed("c-prod")]).path
    )


@pytest.mark.thorough
@pytest.mark.parametrize("of_dev", ["gate_report_only=true", "gate_fail_on='[\"missing\"]'", ""])
def test_the_run_decides_when_it_is_reported(controller: Controller, tmp_path: Path, failed: Path, of_dev: str) -> None:
    chosen = inventory(tmp_path, of_dev)
    assert controller.run("report", *chosen, report_runs=str(failed), certify_hosts="prod").status == 2
    through = controller.run("report", *chosen, report_runs=str(failed), gate_report_only=True)
    assert through.status == 0
    assert "gate_report_only: true instead of false" in (failed / "summary.txt").read_text()
    # The options of one report do not affect the next.
    assert controller.run("report", *chosen, report_runs=str(failed)).status == 2


@pytest.mark.thorough
def test_a_merge_decides_whatever_the_inventory_says(controller: Controller, tmp_path: Path, failed: Path) -> None:
    lax = {
        "policy": {"fail_on": ["missing"], "report_only": True, "valid_days": 90},
        "created_at": "2026-11-22T00:00:00Z",
    }
    newer = fabricate.run_directory(controller.directory / "reports", {"a-dev": SLOW}, **lax)
    merged = controller.run(
        "report",
        *inventory(tmp_path, "gate_report_only=true", "gate_report_only=true"),
        report_runs=[str(failed), newer.path],
    )
    assert merged.status == 2


@pytest.mark.thorough
@pytest.mark.parametrize("playbook", CONCERNED)
def test_hosts_that_disagree_on_where_reports_are(controller: Controller, tmp_path: Path, playbook: str) -> None:
    outcome = controller.run(
        playbook, *inventory(tmp_path, "gate_report_dir=/nowhere"), claim_storage_classes="x", claim_image="x"
    )
    assert_refused(outcome, "gate_report_dir differs between hosts: '/nowhere' on a-dev; '' on b-prod.")


@pytest.mark.thorough
@pytest.mark.parametrize("playbook", ENDING)
def test_hosts_that_disagree_on_the_run_that_is_ended(controller: Controller, tmp_path: Path, playbook: str) -> None:
    name = {"stop": "stop_run_id", "cleanup": "cleanup_run_id"}[playbook]
    assert_refused(
        controller.run(playbook, *inventory(tmp_path, f"{name}=R1", f"{name}=R2")),
        f"{name} differs between hosts: 'R1' on a-dev; 'R2' on b-prod.",
    )


@pytest.mark.parametrize("playbook", first_of(["certify", "preflight", "observe", "power_cut"]))
@pytest.mark.parametrize(
    ("variable", "said"),
    [
        (
            "certify_preflight=true",
            "certify_preflight is a variable of a-dev, but it would decide for every host: remove it there",
        ),
        (
            "gate_run_kind=observation",
            "a-dev: only the playbooks of this collection may set gate_run_kind: remove it from the inventory",
        ),
    ],
)
def test_no_host_makes_a_run_another_kind_of_run(
    controller: Controller, tmp_path: Path, playbook: str, variable: str, said: str
) -> None:
    assert_refused(controller.run(playbook, *inventory(tmp_path, variable)), said)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("playbook", "name"),
    [
        ("compare", "compare_before"),
        ("drift", "drift_figure"),
        ("status", "status_today"),
        ("history", "history_import"),
        ("verify", "verify_run"),
    ],
)
def test_hosts_that_disagree_on_what_is_looked_at(
    controller: Controller, tmp_path: Path, playbook: str, name: str
) -> None:
    assert_refused(
        controller.run(playbook, *inventory(tmp_path, f"{name}=x")),
        f"{name} differs between hosts: 'x' on a-dev; '' on b-prod.",
    )


@pytest.mark.thorough
def test_the_controller_of_an_inventory_without_it_has_no_say(controller: Controller, tmp_path: Path) -> None:
    """The hosts have the same value of a variable, which comes from their groups. Playbooks that begin on the
    controller must not use the default of the controller instead."""
    elsewhere = tmp_path / "elsewhere"
    run = fabricate.run_directory(
        elsewhere, {"b-prod": SLOW}, history={"place": str(elsewhere / "history.sqlite"), "required": True}
    )
    both = f"gate_report_dir={elsewhere}"
    assert controller.run("history", *inventory(tmp_path, both, both), history_import=run.path).status == 0
    assert (elsewhere / "history.sqlite").exists()
    assert not (controller.directory / "reports").exists()
