# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs of ansible-runner as AWX starts them: statuses, artifacts, failed hosts, and output as AWX would show them."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import controllers
import pytest
from ansible_runs import Controller
from certification import summaries
from fake_awx.project import project_files
from leftovers import left_on, wait_until_measuring
from runner_jobs import PROGRESS, Job, Runner, copy_project
from testbed import Bed, HostSpec, processes
from testbed.shell import wait_for

Start = Callable[..., Bed]
CORES = sorted({"2.16", controllers.newest().name})

# An answer to a question of each type that a survey can have.
ANSWERS = {
    "workspace_queue_managers": "QM1, QM2",  # text
    "sweep_block_sizes": "4K\n64K",  # textarea
    "sweep_duration": 1,  # integer
    "sweep_rate": 500.0,  # float
    "gate_report_only": "false",  # multiplechoice
    "gate_fail_on": ["fail", "inconclusive", "error", "missing", "unreachable"],  # multiselect
    "workspace_owner": "",  # text without an answer
}
# Each job of AWX has the same settings. AWX also enables its own callback.
JOB_ENVIRONMENT = {
    "ANSIBLE_CALLBACKS_ENABLED": "indirect_instance_count,mqops.logdisk.report",
    "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
    "JOB_ID": "7",
    "MAX_EVENT_RES": "700000",
    "PROJECT_REVISION": "0123456789abcdef",
}
UNTIL_STOPPED = 600
IDLE_S = 60
MOST_LINES = 220
"""For 20 healthy hosts, including the lines that Ansible prints per host and task. test_screen.py counts the other
lines."""
LARGEST_EVENT = 30_000
MOST_EVENTS_OF_HOST = 15


@pytest.fixture
def runner_of(controller_of: Callable[[str], Controller], tmp_path: Path) -> Callable[..., Runner]:
    """runner_of("2.16") returns jobs of this ansible-core, in a separate private data directory whose project is a copy
    of the checkout."""

    def make(core: str, name: str = "private") -> Runner:
        controller = controller_of(core) if not (tmp_path / "work").exists() else made["controller"]
        made["controller"] = controller
        copy_project(tmp_path / name, project_files())
        return Runner(controller, tmp_path / name)

    made: dict[str, Controller] = {}
    return make


@pytest.mark.thorough
@pytest.mark.parametrize("core", CORES)
def test_a_job_and_its_relaunch_on_failed_hosts(start: Start, runner_of: Callable[..., Runner], core: str) -> None:
    runner = runner_of(core)
    refused = HostSpec("refused", variables={"workspace_expect_mount": "/nowhere"})
    # Nothing listens there, so the connection fails at once.
    dead = HostSpec("dead", variables={"ansible_port": 9})
    bed = start("good1", "good2", refused, dead)
    bed.inventory(runner.private / "inventory/hosts.yml")
    runner.prepare({**ANSWERS, "awx_job_id": 7}, {**JOB_ENVIRONMENT, **runner.install()})

    job = runner.run("7")
    expected = {"good1": "pass", "good2": "pass", "refused": "error", "dead": "unreachable"}
    assert (job.exit_status, job.rc, job.status) == (2, 2, "failed")
    assert {name: record["verdict"] for name, record in job.certification.records.items()} == expected
    assert job.certification.records["good1"]["workspace"]["queue_managers"] == ["QM1", "QM2"]
    assert {row["load_point"] for row in job.certification.table("good1")} == {"2"}
    assert job.failed_hosts == {"refused", "dead"}
    assert list(job.artifact_data) == ["logdisk_7"]
    assert job.artifact_data["logdisk_7"]["hosts"] == expected
    assert job.artifact_data["logdisk_7"]["verdict"] == "error"
    # There is no terminal, so no line is updated in place. The summary comes last on the page.
    assert "\r" not in job.output
    assert [line for line in job.lines if line.startswith(PROGRESS)]
    (headline,) = summaries(job.output)
    assert headline.startswith("ERROR: ")
    assert job.lines.index(headline) > max(
        number for number, line in enumerate(job.lines) if line.startswith("PLAY RECAP")
    )
    assert len(job.lines) - job.lines.index(headline) <= 25
    assert job.largest_event <= LARGEST_EVENT

    again = runner.run("8", "--limit", ",".join(sorted(job.failed_hosts)))
    assert (again.rc, again.status, again.failed_hosts) == (2, "failed", job.failed_hosts)
    assert again.artifact_data["logdisk_7"]["hosts"] == {"refused": "error", "dead": "unreachable"}


@pytest.mark.thorough
@pytest.mark.parametrize("core", CORES)
def test_a_healthy_fleet_worked_on_elsewhere(
    start: Start, runner_of: Callable[..., Runner], tmp_path: Path, core: str
) -> None:
    """The project is transmitted with the links that `make setup` created in the checkout. These are the only way in
    which the job can find the collection."""
    runner = runner_of(core)
    bed = start("h1", "h2", "h3")
    bed.inventory(runner.private / "inventory/hosts.yml")
    make_links(runner)
    runner.prepare({**ANSWERS, "sweep_poll_interval": 30}, {})

    worked, job = runner.elsewhere("9", tmp_path / "worker", tmp_path / "processed")
    assert (worked, job.rc, job.status) == (0, 0, "successful")
    assert job.failed_hosts == set()
    # The report is returned with the output of the job.
    assert job.certification.path.parent == job.artifacts / "logdisk"
    (outcome,) = job.artifact_data.values()
    assert outcome["hosts"] == {"h1": "pass", "h2": "pass", "h3": "pass"}
    assert len(summaries(job.output)) == 1
    # Tasks that run once for all hosts run on the first one.
    print(
        f"{len(job.events)} events of at most {job.largest_event} characters, {job.events_of('h3')} of each host; "
        f"{job.lines_with(20)} lines for 20 hosts"
    )
    assert job.events_of("h3") <= MOST_EVENTS_OF_HOST
    assert job.lines_with(20) <= MOST_LINES
    assert job.largest_event <= LARGEST_EVENT


def make_links(runner: Runner) -> None:
    subprocess.run(["tools/link-collection", "collections"], cwd=runner.private / "project", check=True)


def controllers_of(runner: Runner) -> list[str]:
    """Return the processes on this machine that belong to the jobs of a runner, except those of ssh, which end by
    themselves."""
    lines = [processes.command_line(pid) for pid in processes.all_pids()]
    return [line for line in lines if str(runner.private) in line and "ansible-playbook" in line]


@pytest.mark.thorough
def test_what_a_cancelled_job_and_one_that_runs_out_of_time_leave(
    start: Start, runner_of: Callable[..., Runner], tmp_path: Path
) -> None:
    """A cancelled job has no verdict. Its output names the run that continues, and two further jobs end that run and
    clean up."""
    cancelled = runner_of(controllers.newest().name, "cancelled")
    late = runner_of(controllers.newest().name, "late")
    bed = start("h1", "h2")
    jobs = {}
    for runner, host, settings in ((cancelled, bed["h1"], {}), (late, bed["h2"], {"idle_timeout": IDLE_S})):
        make_links(runner)
        bed.inventory(runner.private / "inventory/hosts.yml", hosts=[host])
        # Without a poll or a line of progress, nothing is printed while hosts measure.
        runner.prepare(
            {"sweep_duration": UNTIL_STOPPED, "sweep_rate": 100, "sweep_poll_interval": UNTIL_STOPPED},
            {"LOGDISK_PROGRESS": "none"},
            **settings,
        )
        jobs[host.name] = runner.start("1")
    wait_until_measuring(bed)
    jobs["h1"].send_signal(signal.SIGTERM)
    assert {name: job.wait(timeout=300) for name, job in jobs.items()} == {"h1": 254, "h2": 254}

    for runner, status in ((cancelled, "canceled"), (late, "timeout")):
        job = Job(runner.private, "1", 254)
        assert (job.status, job.rc, job.stats) == (status, 254, {})
        assert job.certification.run["run_id"] in job.output
        assert summaries(job.output) == []
    assert all(host.pids("logdisk") for host in bed)
    for runner in (cancelled, late):
        wait_for(lambda runner=runner: not controllers_of(runner), "no process of the job is left", timeout_s=60)
    inventory = bed.inventory(tmp_path / "hosts.yml")
    assert cancelled.controller.run("stop", "-i", str(inventory)).status == 0
    assert [host.pids("logdisk") for host in bed] == [{}, {}]
    cleanup = {"cleanup_uncollected_days": 0, "workspace_path": "/fut/logdisk"}
    assert cancelled.controller.run("cleanup", "-i", str(inventory), **cleanup).status == 0
    assert {host.name: left_on(host) for host in bed} == {"h1": [], "h2": []}


@pytest.mark.thorough
@pytest.mark.parametrize("core", CORES)
def test_an_older_runner_prints_no_foreign_line(
    start: Start, runner_of: Callable[..., Runner], tmp_path: Path, core: str
) -> None:
    """Before version 2.4.2, ansible-runner also wraps Ansible's display in worker processes, and writes to their
    standard output for each line that they print."""
    runner = runner_of(core)
    older = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(tmp_path / "older"),
        "ansible-runner==2.4.1",
    ]
    subprocess.run([sys.executable, *older], check=True)
    bed = start("h1")
    bed.inventory(runner.private / "inventory/hosts.yml")
    runner.prepare(ANSWERS, {"JOB_ID": "7", **runner.install()})
    job = runner.run("7", python_path=str(tmp_path / "older"))
    assert (job.rc, job.status) == (0, "successful")
    assert [line for line in job.lines if "WARNING" in line or "errantly" in line] == []
    said = [line for line in job.lines if line.startswith(PROGRESS)]
    assert any("logdisk: run " in line for line in said) and any("done, " in line for line in said)
