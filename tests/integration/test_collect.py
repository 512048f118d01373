# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects results that hosts finished without their controller, regardless of how the run is named, and even if there
is not enough space for the results at first."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller
from certification import Certification, summaries
from leftovers import left_on, measuring
from testbed import Bed
from testbed.shell import wait_for

Start = Callable[..., Bed]
SWEEP = {**QUICK, "sweep_block_sizes": ["4K"], "sweep_duration": 15, "sweep_rate": 500}


def begin(controller: Controller, inventory: Path, directory: Path, **variables: object) -> subprocess.Popen[bytes]:
    answers = directory / "answers.json"
    answers.write_text(json.dumps({**SWEEP, **variables}))
    return controller.start("certify", "-i", str(inventory), "-e", f"@{answers}")


@pytest.mark.thorough
def test_the_run_is_named_as_a_user_would(start: Start, controller: Controller, tmp_path: Path) -> None:
    """Collects a run named by a relative path, by the link to the newest run, and by default; a host that lost
    everything does not affect the other."""
    bed = start("h1", "lost")
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=SWEEP)
    lost = begin(controller, inventory, tmp_path)
    wait_for(lambda: measuring(bed["h1"]) and measuring(bed["lost"]), "both measure")
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    for host in bed:
        wait_for(
            lambda host=host: not host.pids("logdisk") and not host.files("/fut/logdisk"), f"{host.name} ends by itself"
        )
    bed.ssh(bed["lost"], "rm -r .mqops-logdisk/runs")

    (run,) = (controller.directory / "reports").glob("2*")
    elsewhere = replace(controller, directory=tmp_path / "elsewhere")
    elsewhere.directory.mkdir()
    always = {"ANSIBLE_ANY_ERRORS_FATAL": "true"}
    for where, named in (
        (elsewhere, {"collect_run": f"../work/reports/{run.name}"}),
        (controller, {"collect_run": "reports/latest"}),
        (controller, {}),
    ):
        outcome = where.run("collect", "-i", str(inventory), env=always, **named)
        assert outcome.status == 2
        assert len(summaries(outcome.screen)) == 1
        assert f"{run}/index.html" in outcome.words
    assert {name: record["verdict"] for name, record in Certification(run).records.items()} == {
        "h1": "pass",
        "lost": "error",
    }
    assert left_on(bed["h1"]) == []


@pytest.mark.thorough
def test_a_run_that_is_not_there(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("h1")
    outcome = controller.run("collect", "-i", str(bed.inventory(tmp_path / "hosts.yml")), collect_run="reports/typo")
    assert outcome.status != 0
    assert f"{controller.directory}/reports/typo" in outcome.words
    assert "collect_run" in outcome.words


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A directory on a file system that fills up quickly."""
    path = tmp_path / "small"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", str(path)], check=True)
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_of_the_controller(start: Start, controller: Controller, tmp_path: Path, small_disk: Path) -> None:
    """Results that cannot be stored are kept on the host, and are collected when there is space."""
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=SWEEP)
    log = tmp_path / "log"
    running = begin(
        replace(controller, environment={**controller.environment, "ANSIBLE_LOG_PATH": str(log)}),
        inventory,
        tmp_path,
        gate_report_dir=str(small_disk),
    )
    wait_for(lambda: measuring(bed["h1"]), "h1 measures")
    ballast = small_disk / "ballast"
    with ballast.open("wb") as file, pytest.raises(OSError, match="No space"):
        while True:
            os.write(file.fileno(), bytes(4096))
    assert running.wait(timeout=300) != 0
    (run,) = small_disk.glob("2*")
    assert "No space left on device" in log.read_text()
    assert f"playbooks/collect.yml -e collect_run={run}" in " ".join(log.read_text().replace("\\\n", " ").split())
    assert bed["h1"].files("/fut/logdisk") == []

    ballast.unlink()
    outcome = controller.run("collect", "-i", str(inventory), collect_run=str(run))
    assert outcome.status == 0
    assert Certification(run).records["h1"]["verdict"] == "pass"
    assert left_on(bed["h1"]) == []


def has_orders(history: Path) -> bool:
    """Return whether the history contains the run and the orders of its started hosts."""
    with contextlib.closing(sqlite3.connect(history)) as connection:
        return connection.execute("SELECT max(stage) FROM logdisk_kept_runs").fetchone()[0] == 1


@pytest.mark.thorough
def test_a_run_whose_directory_is_gone(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The state after a cancelled job of AWX: the history has the orders, the load can be ended, and the results can be
    collected with only the run ID."""
    bed = start("h1")
    kept = {"gate_history": str(tmp_path / "history.sqlite"), "gate_keep_report": True}
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**SWEEP, **kept, "sweep_duration": 900})
    lost = begin(controller, inventory, tmp_path, sweep_duration=900)
    wait_for(
        lambda: measuring(bed["h1"]) and has_orders(tmp_path / "history.sqlite"),
        "h1 measures, and its order is kept",
        timeout_s=180,
    )
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    (run,) = (controller.directory / "reports").glob("2*")
    shutil.rmtree(controller.directory / "reports")

    early = controller.run("collect", "-i", str(inventory), collect_run=run.name)
    assert early.status == 2
    assert re.search(
        r"error collect: still measuring, [0-9]+ s left: collect again when it has ended, or end it "
        r"first with \S*playbooks/stop.yml",
        early.words,
    )
    assert f"ended {run.name}" in controller.run("stop", "-i", str(inventory)).screen
    assert "No run was measuring or observing." in controller.run("stop", "-i", str(inventory)).screen

    elsewhere = replace(controller, directory=tmp_path / "elsewhere")
    elsewhere.directory.mkdir()
    late = elsewhere.run("collect", "-i", str(inventory), collect_run=run.name)
    record = Certification(elsewhere.directory / "reports" / run.name).records["h1"]
    assert (record["kind"], record["tester"]["exit_reason"]) == ("measurement", "interrupted")
    assert f"/playbooks/report.yml -e report_run={run.name} brings the report back" in late.words
    shutil.rmtree(elsewhere.directory / "reports")
    again = elsewhere.run("report", "-i", str(inventory), report_run=run.name)
    assert again.status == late.status
    assert (elsewhere.directory / "reports" / run.name / "index.html").exists()
    assert left_on(bed["h1"]) == []
