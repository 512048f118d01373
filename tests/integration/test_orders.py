# SPDX-License-Identifier: GPL-3.0-or-later
"""The collected tables match the order, and come from the machine that received it."""

import hashlib
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible_runs import COMPILE, QUICK, Controller
from certification import Certification
from leftovers import left_on, measuring
from testbed import Bed, HostSpec
from testbed.host import Host
from testbed.shell import wait_for

Start = Callable[..., Bed]
LONG = {**QUICK, "sweep_block_sizes": ["4K"], "sweep_duration": 15, "sweep_poll_interval": 3, "sweep_rate": 500}


def inventory_of(bed: Bed, path: Path, **machines: str) -> Path:
    """Write an inventory in which each name has the address of the given host of the bed."""
    bed.inventory(path)
    content = yaml.safe_load(path.read_text())
    known = content["all"]["hosts"]
    content["all"]["hosts"] = {name: known[machine] for name, machine in machines.items()}
    path.write_text(yaml.safe_dump(content))
    return path


def reason_of(certification: Certification, host: str) -> str:
    record = certification.records[host]
    assert (record["verdict"], record["certified"]) == ("error", False)
    return record["reasons"][0]


@pytest.mark.long
def test_swapped_addresses_after_a_lost_controller(start: Start, controller: Controller, tmp_path: Path) -> None:
    """No host gets the tables of the other. With the right addresses, each host gets its own tables."""
    bed = start("h1", "h2")
    inventory = inventory_of(bed, tmp_path / "hosts.yml", h1="h1", h2="h2")
    variables = tmp_path / "variables.json"
    variables.write_text(json.dumps(LONG))
    lost = controller.start("certify", "-i", str(inventory), "-e", f"@{variables}")
    for host in bed:
        wait_for(lambda host=host: measuring(host), f"{host.name} measures")
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    for host in bed:
        wait_for(
            lambda host=host: not host.pids("logdisk") and not host.files("/fut/logdisk"), f"{host.name} ends by itself"
        )
    (run,) = (controller.directory / "reports").glob("2*")

    swapped = inventory_of(bed, tmp_path / "swapped.yml", h1="h2", h2="h1")
    assert (
        controller.run("collect", "-i", str(swapped), collect_run=str(run), workspace_path="/fut/logdisk").status == 2
    )
    assert "hostname of the machine that answers h2 instead of h1" in reason_of(Certification(run), "h1")
    assert "hostname of the machine that answers h1 instead of h2" in reason_of(Certification(run), "h2")

    assert (
        controller.run("collect", "-i", str(inventory), collect_run=str(run), workspace_path="/fut/logdisk").status == 0
    )
    assert {name: record["verdict"] for name, record in Certification(run).records.items()} == {
        "h1": "pass",
        "h2": "pass",
    }
    assert {host.name: left_on(host) for host in bed} == {"h1": [], "h2": []}


@pytest.mark.parametrize("playbook", ["preflight", pytest.param("certify", marks=pytest.mark.thorough)])
def test_two_names_for_one_machine(playbook: str, start: Start, controller: Controller, tmp_path: Path) -> None:
    """Both names are reported before a workspace is created on that machine, and the other hosts are not affected."""
    bed = start("db01", "other")
    inventory = inventory_of(bed, tmp_path / "hosts.yml", **{"db01": "db01", "db01-alias": "db01", "other": "other"})
    # To certify, a missing tester is built by the call that inspects the host.
    places = ("/fut", f"/root/.mqops-logdisk{'' if playbook == 'preflight' else '/runs'}")
    before = bed["db01"].files(*places)
    outcome = controller.run(playbook, "-i", str(inventory), **QUICK)
    assert outcome.status == 2
    for name in ("db01", "db01-alias"):
        assert "db01 and db01-alias are the same machine (hostname db01" in reason_of(outcome.certification, name)
    assert outcome.certification.records["other"]["verdict"] == (None if playbook == "preflight" else "pass")
    assert bed["db01"].files(*places) == before


IMPOSTOR = """#!/bin/sh
for argument; do
  case $argument in
    --version) echo "logdisk 1.0.0 {source_hash}"; exit ;;
    --tables=*) tables=${{argument#--tables=}} ;;
  esac
done
mv {tables}/results.csv "$tables/" && mv {tables}/run.csv "$tables/"
"""


def put_impostor(host: Host, tables: dict[str, bytes], source_hash: str, hidden: bool) -> None:
    """Replace the host's tester with a script that copies tables; if hidden, also the stored hash of the real one."""
    folder = host.root / "root/old"
    folder.mkdir(exist_ok=True)
    for name, content in tables.items():
        (folder / name).write_bytes(content)
    (tester,) = [path for path in host.files("/root/.mqops-logdisk/bin") if path.endswith("/logdisk")]
    path = host.root / tester.lstrip("/")
    path.write_text(IMPOSTOR.format(source_hash=source_hash, tables="/root/old"))
    if hidden:
        path.with_name("logdisk.sha256").write_text(hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.thorough
def test_a_tester_that_was_replaced(start: Start, controller: Controller, tmp_path: Path) -> None:
    """The tester is built again. If the replacement is not detected because the stored hash was replaced as well, the
    old tables that it copies from another host are not accepted."""
    bed = start("h1", HostSpec("h2"))
    inventory = bed.inventory(tmp_path / "hosts.yml")
    first = controller.certify(inventory, **COMPILE).certification
    old = {name: (first.path / "hosts/h2/log" / name).read_bytes() for name in ("run.csv", "results.csv")}
    source_hash = next(row["value"] for row in first.table("h2", "run.csv") if row["key"] == "source_hash")

    put_impostor(bed["h1"], old, source_hash, hidden=False)
    mended = controller.certify(inventory, "--limit", "h1,localhost", **COMPILE)
    assert mended.status == 0
    assert "h1" in {
        row["value"] for row in mended.certifications[-1].table("h1", "run.csv") if row["key"] == "hostname"
    }

    put_impostor(bed["h1"], old, source_hash, hidden=True)
    deceived = controller.certify(
        inventory, "--limit", "h1,localhost", sweep_block_sizes=["4K", "8K", "64K"], sweep_duration=2, **COMPILE
    )
    assert deceived.status == 2
    reason = reason_of(deceived.certifications[-1], "h1")
    for words in (
        "hostname in run.csv h2 instead of h1",
        "block sizes 4096, 65536 instead of 4096, 8192, 65536",
        "duration 1 s instead of 2 s",
    ):
        assert words in reason
