# SPDX-License-Identifier: GPL-3.0-or-later
"""If a certification ends before its testers start, it leaves nothing behind, or only files that the clean-up can
remove."""

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller
from leftovers import left_on
from testbed import Bed, HostSpec
from testbed.shell import wait_for

Start = Callable[..., Bed]


@pytest.mark.long
def test_one_bad_host_when_any_error_is_fatal(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The other hosts are measured, judged and cleaned up as usual."""
    bed = start("good", "better", HostSpec("bad", variables={"sweep_state_dir": "/var/tmp/open"}))
    bed.ssh(bed["bad"], "mkdir -m 700 /var/tmp/open; chmod 777 /var/tmp/open")  # refused when the tester starts
    outcome = controller.certify(
        bed.inventory(tmp_path / "hosts.yml", variables=QUICK), env={"ANSIBLE_ANY_ERRORS_FATAL": "true"}
    )
    assert outcome.status == 2
    assert {name: record["verdict"] for name, record in outcome.certification.records.items()} == {
        "good": "pass",
        "better": "pass",
        "bad": "error",
    }
    bed.ssh(bed["bad"], "rmdir /var/tmp/open")
    assert {host.name: left_on(host) for host in bed} == {"good": [], "better": [], "bad": []}


def lose_before_the_start(bed: Bed, controller: Controller, directory: Path) -> Path:
    """Kill a certification as soon as its workspace, which root creates in a separate call, exists. Return the
    inventory."""
    slow = "{{ lookup('pipe', 'sleep 2') }}"
    variables = {**QUICK, "workspace_become": "always", "ansible_ssh_extra_args": slow}
    inventory = bed.inventory(directory / "lost.yml", variables=variables)
    lost = controller.start("certify", "-i", str(inventory))
    wait_for(lambda: bed["h1"].files("/fut/logdisk"), "the workspace is there")
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    return inventory


def test_a_controller_that_is_lost_before_the_start(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The clean-up keeps a workspace that may belong to a run that is about to start, and prints how to remove it
    immediately."""
    bed = start("h1")
    inventory = lose_before_the_start(bed, controller, tmp_path)

    kept = controller.run("cleanup", "-i", str(inventory))
    assert kept.status == 0
    assert bed["h1"].files("/fut/logdisk")
    (advice,) = set(re.findall(r"-e cleanup_run_id=([\w-]+)", kept.words))
    assert controller.run("cleanup", "-i", str(inventory), cleanup_run_id=advice).status == 0
    assert left_on(bed["h1"]) == []


@pytest.mark.thorough
def test_the_next_run_removes_what_a_cancelled_one_left(start: Start, controller: Controller, tmp_path: Path) -> None:
    """After AWX has killed a job, its workspace is removed by a later run, after an hour."""
    bed = start("h1")
    lose_before_the_start(bed, controller, tmp_path)
    bed.ssh(bed["h1"], "touch -d '2 hours ago' /fut/logdisk/logdisk-*")
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"))
    assert outcome.status == 0
    assert left_on(bed["h1"]) == []
