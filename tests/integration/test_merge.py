# SPDX-License-Identifier: GPL-3.0-or-later
"""The slices of a job and the node that merges them, as AWX runs them. There is one verdict, no matter what happens to
a slice."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._history import postgresql_server
from ansible_runs import PROJECT, QUICK, Controller, first_of
from certification import Certification
from leftovers import wait_until_measuring
from runner_jobs import Job, Runner, postgresql_driver
from testbed import Bed

OUTER, SLICED = 19, 20
"""The workflow job that the merge node belongs to, and the workflow job of the slices, which is known only to the
slices."""
UNTIL_STOPPED = 600
WORST_FIRST = ("fail", "error", "unreachable", "missing", "inconclusive", "warn", "pass")


@pytest.fixture(scope="module")
def server() -> Iterator[postgresql_server.Server]:
    with postgresql_server.running_server("fsync=off") as server:
        yield server


@pytest.fixture
def history(server: postgresql_server.Server) -> str:
    """The URL of an empty history in PostgreSQL. A merge takes the runs of a workflow from it, and all tests have the
    same workflow ID."""
    return server.new_database()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment that a credential and an execution environment with psycopg provide."""
    return {**postgresql_driver(tmp_path), "JOB_ID": "1"}


@pytest.fixture
def job(controller: Controller, tmp_path: Path) -> Callable[..., Job]:
    """job(id, playbook, inventory, environment, variables) runs a job in its own private data directory, with a limit
    if one is given."""

    def run(
        number: int, playbook: str, inventory: Path, environment: dict[str, str], limit: str = "", **variables: object
    ) -> Job:
        private = tmp_path / f"job{number}"
        (private / "inventory").mkdir(parents=True)
        (private / "project").symlink_to(PROJECT)
        (private / "inventory/hosts.yml").write_text(inventory.read_text())
        runner = Runner(controller, private)
        runner.prepare(
            {"awx_job_id": number, **variables}, {**environment, "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg")}
        )
        return runner.run(str(number), *(("--limit", limit) if limit else ()), playbook=playbook)

    return run


def start_slice(
    controller: Controller, directory: Path, inventory: Path, environment: dict[str, str], **variables: object
) -> int:
    """Start a job that is later killed with all its processes, as if its node had failed. Return its process group."""
    directory.mkdir()
    (directory / "variables.json").write_text(json.dumps({**QUICK, **variables}))
    elsewhere = Controller(controller.tools, directory, {**controller.environment, **environment})
    return elsewhere.start("certify", "-i", str(inventory), "-e", f"@{directory / 'variables.json'}").pid


def check_merged(merged: Job, reports: Path, runs: set[str], expected: dict[str, str]) -> None:
    """There is one report and one verdict. The job shows the hosts that did not pass as failed, so a relaunch on failed
    hosts would repeat them."""
    assert (merged.rc, merged.status) == (2, "failed")
    assert merged.failed_hosts == {host for host, verdict in expected.items() if verdict not in ("pass", "warn")}
    (told,) = merged.artifact_data.values()
    verdict = min(expected.values(), key=WORST_FIRST.index)
    assert (told["verdict"], told["certified"], told["hosts"], told["counts"]["missing"]) == (
        verdict,
        False,
        expected,
        len(expected) // 3,
    )
    certification = Certification(reports / told["run_id"])
    assert certification.verdicts() == dict.fromkeys(certification.verdicts(), expected)
    assert set(certification.run["merged_from"]) == runs
    assert (
        f"Merged 3 runs of workflow job {OUTER}: " in merged.output
        and f"{verdict.upper()}: This run does not certify: of {len(expected)} hosts, " in merged.output
    )


@pytest.mark.thorough
@pytest.mark.parametrize("count", [3, 12])
def test_a_slice_that_is_killed_costs_the_fleet_no_host(
    start: Callable[..., Bed],
    controller: Controller,
    tmp_path: Path,
    background: Callable[..., Future],
    job: Callable[..., Job],
    environment: dict[str, str],
    history: str,
    count: int,
) -> None:
    bed = start(*(f"mq{number:02}" for number in range(1, count + 1)))
    hosts = list(bed)
    slices = [bed.inventory(tmp_path / f"slice{number}.yml", hosts[number::3]) for number in range(3)]
    shared = tmp_path / "shared"
    common = {
        "awx_workflow_job_id": SLICED,
        "gate_report_dir": str(shared),
        "gate_history": history,
        "gate_keep_report": "true",
    }
    killed = start_slice(
        controller,
        tmp_path / "killed",
        slices[2],
        environment,
        **common,
        awx_job_id=23,
        sweep_duration=UNTIL_STOPPED,
        sweep_rate=100,
    )
    running = [background(job, number, "certify", slices[number - 21], environment, **common) for number in (21, 22)]
    wait_until_measuring(hosts[2::3])
    os.killpg(killed, signal.SIGKILL)
    os.waitpid(killed, 0)
    artifacts = {key: value for each in running for key, value in each.result().artifact_data.items()}
    expected = {host: verdict for told in artifacts.values() for host, verdict in told["hosts"].items()}
    assert expected.keys() == {host.name for host in hosts} - {host.name for host in hosts[2::3]}
    expected.update((host.name, "missing") for host in hosts[2::3])

    runs = {path.parent.name for path in shared.glob("2*/run.json")}
    whole = bed.inventory(tmp_path / "whole.yml")
    of_workflow = {"awx_workflow_job_id": OUTER, **artifacts}
    check_merged(
        job(24, "report", whole, environment, **of_workflow, gate_report_dir=str(shared)), shared, runs, expected
    )
    alone = tmp_path / "alone"
    check_merged(
        job(25, "report", whole, environment, **of_workflow, gate_report_dir=str(alone), gate_history=history),
        alone,
        runs,
        expected,
    )
    assert sum(path.is_dir() and not path.is_symlink() for path in alone.iterdir()) == 1


# The limit of a workflow, the slices that were never started, and the outcome of each host.
LIMITS = [
    ("mq04", [], {"mq04": "pass"}),
    ("mq02,mq04", [], {"mq02": "pass", "mq04": "pass"}),
    ("all", [], {"mq01": "pass", "mq02": "pass", "mq03": "pass", "mq04": "pass"}),
    ("all:!mq04", [], {"mq01": "pass", "mq02": "pass", "mq03": "pass"}),
    ("all:!mq04", [1], {"mq01": "pass", "mq02": "missing", "mq03": "pass"}),
]


@pytest.mark.parametrize(("limit", "never_started", "expected"), first_of(LIMITS))
def test_a_limit_of_a_workflow_with_slices(
    start: Callable[..., Bed],
    tmp_path: Path,
    background: Callable[..., Future],
    job: Callable[..., Job],
    limit: str,
    never_started: list[int],
    expected: dict[str, str],
) -> None:
    """AWX gives each slice the limit of the whole workflow, although the slice sees only a part of the inventory.
    A slice that is left without a host fails."""
    bed = start(*(f"mq{number:02}" for number in range(1, 5)))
    parts = [list(bed)[number::3] for number in range(3)]
    common = {"awx_workflow_job_id": SLICED, "gate_report_dir": str(tmp_path / "shared"), "logdisk_sliced": True}
    started = {
        number: background(
            job,
            21 + number,
            "certify",
            bed.inventory(tmp_path / f"slice{number}.yml", hosts),
            {"JOB_ID": "1"},
            limit=limit,
            **common,
        )
        for number, hosts in enumerate(parts)
        if number not in never_started
    }
    ended = {number: each.result() for number, each in started.items()}
    for number, each in ended.items():
        measured = {host.name for host in parts[number]} & expected.keys()
        assert {host for told in each.artifact_data.values() for host in told["hosts"]} == measured
        assert (each.rc == 0) is bool(measured) and ("no hosts to target" in each.output) is not bool(measured)

    artifacts = {key: value for each in ended.values() for key, value in each.artifact_data.items()}
    shared = {"awx_workflow_job_id": OUTER, "gate_report_dir": str(tmp_path / "shared")}
    merged = job(
        24, "report", bed.inventory(tmp_path / "whole.yml"), {"JOB_ID": "1"}, limit=limit, **shared, **artifacts
    )
    (told,) = merged.artifact_data.values()
    missing = {host for host, verdict in expected.items() if verdict == "missing"}
    assert (told["hosts"], told["verdict"], merged.failed_hosts) == (
        expected,
        "missing" if missing else "pass",
        missing,
    )
    assert (merged.rc, merged.status) == ((2, "failed") if missing else (0, "successful"))
    assert {host.name for host in bed if host.files("/root/.mqops-logdisk/bin")} == expected.keys() - missing
