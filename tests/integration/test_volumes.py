# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts with several volumes: each has its own record and verdict, and what is wrong with one costs the others nothing."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from ansible_runs import Controller
from certification import read_csv
from leftovers import left_on
from testbed import Bed, HostSpec
from testbed.host import Host
from testbed.shell import wait_for

Start = Callable[..., Bed]

COUNTING = """#!/bin/sh
# What asks ssh's own master is no call to the host.
case " $* " in *" -O "*) ;; *) echo call >> {calls} ;; esac
exec ssh "$@"
"""
REMOTE_CALLS = 6
"""The calls to a host of a certification that builds the tester there, polls aside, however many volumes the host has."""

VOLUMES = [
    {"name": "good", "path": "/log1/logdisk", "queue_managers": ["QM1", "QM2"], "load_points": [1, 2], "block_sizes": ["4K"]},
    {"name": "freezing", "path": "/log2/logdisk", "queue_managers": ["QM3"], "file_size": "2M", "block_sizes": ["4K", "64K"]},
    {"name": "frozen", "path": "/log3/logdisk", "queue_managers": ["QM4"]},
]
SWEEP = {"sweep_duration": 8, "sweep_poll_interval": 3, "sweep_rate": 500, "sweep_deadline": 22}


def records_of(run: Path) -> dict[str, dict]:
    return {record["volume"]: record for record in (json.loads(path.read_text()) for path in run.glob("hosts/*/*/record.json"))}


def measuring(host: Host, volume: str) -> bool:
    progress = [path for path in host.files("/root/.mqops-logdisk/runs") if path.endswith(f"-{volume}/progress")]
    return any("state=measuring" in (host.root / path.lstrip("/")).read_text() for path in progress)


def test_a_frozen_volume_costs_its_neighbours_nothing(start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]) -> None:
    """One freezes while it is measured, and one before its directories are created."""
    bed = start(HostSpec("h1", more=("/log1", "/log2", "/log3"), variables={"workspace_volumes": VOLUMES}))
    host = bed["h1"]
    host.freeze("/log3")
    counting, calls = tmp_path / "ssh", tmp_path / "calls"
    counting.write_text(COUNTING.format(calls=calls))
    counting.chmod(0o755)
    running = background(controller.certify, bed.inventory(tmp_path / "hosts.yml"), env={"ANSIBLE_SSH_EXECUTABLE": str(counting)}, **SWEEP)
    wait_for(lambda: measuring(host, "freezing"), "the volumes are measured", timeout_s=120)
    host.freeze("/log2")
    outcome = running.result()

    assert outcome.status == 2
    run = outcome.certification.path
    records = records_of(run)
    assert {volume: record["verdict"] for volume, record in records.items()} == {"good": "pass", "freezing": "fail", "frozen": "error"}
    assert records["freezing"]["tester"]["in_flight"]["file"].startswith("/log2/")
    assert "the file system of /log3/logdisk did not answer" in records["frozen"]["reasons"][0]
    assert {volume: bool(record["leftovers"]) for volume, record in records.items()} == {"good": False, "freezing": True, "frozen": False}
    rows = {volume: read_csv(run / "hosts/h1" / volume / "results.csv") for volume in ("good", "freezing")}
    assert {(row["block_size_bytes"], row["load_point"]) for row in rows["good"]} == {("4096", "1"), ("4096", "2")}
    assert json.loads((run / "hosts/h1/volumes.json").read_text())["volumes"][0]["queue_managers"] == ["QM1", "QM2"]
    for text in ("h1/good", "h1/freezing", "h1/frozen"):
        assert text in (run / "report.md").read_text()
    polls = outcome.screen.count("Poll the host]")
    assert polls > 0
    assert len(calls.read_text().splitlines()) - polls == REMOTE_CALLS
    assert host.files("/log1") == ["/log1/lost+found"]

    host.thaw("/log2")
    host.thaw("/log3")
    wait_for(lambda: host.files("/log2", "/log3") == ["/log2/lost+found", "/log3/lost+found"], "what answers again is cleaned up", timeout_s=30)
    wait_for(lambda: not left_on(host), "nothing is left", timeout_s=30)
