# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet with problems: hosts that die, hang and come back while they measure, and a controller that fails."""

import html
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_runs import PROFILE, QUICK, SLOW_MS, Controller, Outcome
from certification import VERDICTS, Certification, summary_verdicts
from leftovers import left_on, wait_until_measuring
from testbed import Bed, HostSpec
from testbed.bed import answers
from testbed.shell import wait_for

Start = Callable[..., Bed]
# The rate is low, so that parallel tests have enough processor time. Tests that stop a run set its duration to
# UNTIL_STOPPED, which is long enough even on a slow machine.
LONG = {**QUICK, "sweep_block_sizes": ["4K"], "sweep_duration": 15, "sweep_poll_interval": 3, "sweep_rate": 500}
UNTIL_STOPPED = 600
# A limit that every write of a slow disk breaks, and that every healthy disk keeps.
WAIVED_MS = 3
WAIVING = {
    **PROFILE,
    "limits": [*PROFILE["limits"], {"metric": "latency_min", "max": "2 ms"}],
    "waivers": [{"host": "waived", "metric": "latency_min", "until": "2099-12-31", "reason": "CHG7"}],
}


@pytest.mark.long
@pytest.mark.parametrize(("healthy_count", "dead_count"), [(2, 1), pytest.param(10, 3, marks=pytest.mark.acceptance)])
def test_each_trouble_in_a_fleet_has_its_verdict(
    start: Start,
    controller: Controller,
    tmp_path: Path,
    background: Callable[..., Future],
    healthy_count: int,
    dead_count: int,
) -> None:
    healthy = [f"good{number:02}" for number in range(healthy_count)]
    dead = [f"dead{number}" for number in range(dead_count)]
    # At this deadline, a write to the frozen disk has been in flight for more than 10 s, no matter when the freeze
    # began.
    frozen = HostSpec("frozen", variables={"sweep_deadline": LONG["sweep_duration"] + 12})
    # The plan adds the time for which hosts may wait for the common start. They may wait several seconds less.
    brief = HostSpec("brief", variables={"sweep_deadline": 6})
    slow = [HostSpec(name, disk="slow") for name in ("eio1", "eio2", "slow", "waived")]
    bed = start(*healthy, *dead, *slow, frozen, brief, "killed")
    reachable = [host for host in bed if host.name not in dead]
    for name in dead:
        bed[name].link_down()
    bed["slow"].set_delay_ms(SLOW_MS)
    bed["waived"].set_delay_ms(WAIVED_MS)
    running = background(controller.certify, bed.inventory(tmp_path / "hosts.yml"), **{**LONG, "gate_profile": WAIVING})
    wait_until_measuring([host for host in reachable if host.name != "brief"])
    bed["frozen"].freeze()
    bed["eio1"].set_eio(True)
    bed["eio2"].set_eio(True)
    assert bed["killed"].kill("logdisk") == 1
    outcome = running.result()

    expected = {
        **dict.fromkeys(healthy, "pass"),
        **dict.fromkeys(dead, "unreachable"),
        **dict.fromkeys(("eio1", "eio2", "slow", "frozen"), "fail"),
        "killed": "error",
        "brief": "inconclusive",
        "waived": "warn",
    }
    certification = outcome.certification
    assert outcome.status == 2
    verdicts = certification.verdicts()
    # With this policy, a warning passes.
    assert verdicts.pop("junit.xml") == {**expected, "waived": "pass"}
    assert verdicts == dict.fromkeys(verdicts, expected)
    assert all(certification.table(name) for name in healthy)
    assert "signal 9" in certification.records["killed"]["reasons"][0]
    assert certification.records["frozen"]["tester"]["in_flight"]["file"].startswith("/fut/")
    assert certification.records["frozen"]["leftovers"]
    bed["frozen"].thaw()
    wait_for(lambda: not left_on(bed["frozen"]), "the thawed host cleans up by itself")
    # On a disk that fails, removing a file may fail or be lost.
    intact = [host for host in reachable if host.name not in ("eio1", "eio2")]
    assert {host.name: left_on(host) for host in intact} == {host.name: [] for host in intact}
    check_every_cause(controller, certification.path, lost=healthy[-1])


def check_every_cause(controller: Controller, run: Path, lost: str) -> None:
    """After the record of one host is removed, the run contains every verdict. Each cause is reported once, with its
    hosts, in a few lines."""
    shutil.rmtree(run / "hosts" / lost)
    (run / "verdict.json").unlink()
    assert controller.run("report", "-i", "localhost,", report_runs=[str(run)]).status == 2
    certification = Certification(run)
    hosts = {host["host"]: host for host in certification.report["hosts"]}
    assert {host["verdict"] for host in hosts.values()} == set(VERDICTS)
    causes = certification.report["causes"]
    print(json.dumps(causes, indent=1))
    print((run / "report.md").read_text())
    for key in ("statement", "key"):
        assert len({cause[key] for cause in causes}) == len(causes)
    named = {label for cause in causes for label in cause["hosts"]}
    assert named >= {name for name, host in hosts.items() if host["verdict"] != "pass" or not host["certified"]}
    dead = tuple(sorted(name for name in hosts if name.startswith("dead")))
    for names, verdict, words in (
        (dead, "unreachable", "timed out"),
        (("eio1", "eio2"), "fail", "EIO"),
        (("slow",), "fail", "slow is slow throughout: mean "),
        (("killed",), "error", "signal 9"),
        (("brief",), "inconclusive", "ended before it had measured everything"),
        (("waived",), "warn", "waived (CHG7)"),
        ((lost,), "missing", "never reported"),
    ):
        found = [cause for cause in causes if tuple(sorted(cause["hosts"])) == names and words in cause["statement"]]
        assert [cause["verdict"] for cause in found] == [verdict], (names, words)
        assert found[0]["consequence"] and found[0]["next_step"]
    assert len((run / "report.md").read_text().splitlines()) <= 60
    summary = (run / "summary.txt").read_text().splitlines()
    assert len(summary) <= 25
    assert set(summary_verdicts("\n".join(summary), hosts).values()) >= set(VERDICTS) - {"pass"}


@pytest.mark.long
def test_a_connection_that_breaks_in_mid_run_costs_nothing(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    bed = start("away", "rebooted", "good")
    running = background(
        controller.certify,
        bed.inventory(tmp_path / "hosts.yml"),
        **LONG,
        env={"ANSIBLE_SSH_ARGS": "-o ControlMaster=no"},
    )
    wait_until_measuring(bed)
    bed["away"].link_down()
    bed["rebooted"].reboot()
    wait_for(lambda: not bed["away"].pids("logdisk"), "the tester on the disconnected host ends")
    bed["away"].link_up()
    outcome = running.result()
    assert outcome.status == 2
    assert summary_verdicts(outcome.screen, ("rebooted",)) == {"rebooted": "error"}
    assert {name: record["verdict"] for name, record in outcome.certification.records.items()} == {
        "away": "pass",
        "good": "pass",
        "rebooted": "error",
    }
    # If the restart killed a module of Ansible, the temporary files of that module are left behind.
    left = {host.name: [path for path in left_on(host) if not path.startswith("/tmp/ansible_")] for host in bed}
    assert left == {"away": [], "rebooted": [], "good": []}


@pytest.mark.long
def test_a_lost_controller(start: Start, controller: Controller, tmp_path: Path) -> None:
    """If the controller fails, the hosts finish and clean up by themselves, and their results can be collected
    afterwards."""
    bed = start("h1", "h2", "dead", "other")
    bed["dead"].link_down()
    inventory = bed.inventory(tmp_path / "hosts.yml")
    variables = tmp_path / "variables.json"
    variables.write_text(json.dumps(LONG))
    lost = controller.start("certify", "-i", str(inventory), "-e", f"@{variables}", "--limit", "h1:h2:dead")
    wait_until_measuring((bed["h1"], bed["h2"]))
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    for host in (bed["h1"], bed["h2"]):
        wait_for(
            lambda host=host: not host.pids("logdisk") and not host.files("/fut/logdisk"), f"{host.name} ends by itself"
        )

    (run,) = (controller.directory / "reports").glob("2*")
    rendered = controller.run("report", "-i", "localhost,", report_runs=[str(run)])
    assert rendered.status == 2
    assert {entry["host"]: entry["verdict"] for entry in Certification(run).report["hosts"]} == {
        "h1": "missing",
        "h2": "missing",
        "dead": "missing",
    }

    # Cleaning up everything keeps results that have not been collected. Repeating the clean-up changes nothing.
    assert (
        controller.run("cleanup", "-i", str(inventory), "--limit", "h1:h2", workspace_path="/fut/logdisk").status == 0
    )
    assert (
        controller.run(
            "collect", "-i", str(inventory), "--check", collect_run=str(run), workspace_path="/fut/logdisk"
        ).status
        == 0
    )
    assert Certification(run).records == {}

    collected = controller.run("collect", "-i", str(inventory), collect_run=str(run), workspace_path="/fut/logdisk")
    assert collected.status == 2
    certification = Certification(run)
    expected = {"h1": "pass", "h2": "pass", "dead": "unreachable"}
    assert certification.verdicts() == dict.fromkeys(certification.verdicts(), expected)
    assert {name: left_on(bed[name]) for name in ("h1", "h2")} == {"h1": [], "h2": []}
    again = controller.run("collect", "-i", str(inventory), collect_run=str(run), workspace_path="/fut/logdisk")
    assert again.status == 2
    assert certification.verdicts() == dict.fromkeys(certification.verdicts(), expected)


def test_an_interrupt_says_how_to_go_on(start: Start, controller: Controller, tmp_path: Path) -> None:
    """Ctrl-C ends only the controller. The commands that it prints end the testers and collect their results."""
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    variables = tmp_path / "variables.json"
    variables.write_text(json.dumps({**LONG, "sweep_duration": UNTIL_STOPPED}))
    with (tmp_path / "screen").open("w+") as screen:
        running = controller.start("certify", "-i", str(inventory), "-e", f"@{variables}", stdout=screen)
        wait_until_measuring(bed)
        assert controller.interrupt(running) not in (0, 2)
        screen.seek(0)
        # Long commands continue on the next line.
        said = screen.read().replace("\\\n", "")
    print(said)
    at_start, at_interrupt = said.split("User interrupted execution")
    stop, collect = re.findall(r"^ +(ansible-playbook .*)$", at_interrupt, re.MULTILINE)
    assert [stop, collect] == re.findall(r"^ +(ansible-playbook .*)$", at_start, re.MULTILINE)
    page = controller.directory / "reports" / "latest" / "index.html"
    interrupted = page.read_text()
    assert "<strong>interrupted</strong>" in interrupted and html.escape(stop) in interrupted
    assert bed["h1"].pids("logdisk")
    assert controller.command(stop).status == 0
    collected = controller.command(collect, "-e", "workspace_path=/fut/logdisk")
    assert collected.status == 2
    assert collected.certification.records["h1"]["verdict"] == "inconclusive"
    assert "interrupted</strong>" not in page.read_text()
    assert left_on(bed["h1"]) == []


@pytest.mark.long
def test_two_certifications_at_once(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    first = background(controller.certify, inventory, **{**LONG, "sweep_duration": UNTIL_STOPPED})
    wait_until_measuring(bed)
    elsewhere = Controller(controller.tools, tmp_path / "second", controller.environment)
    elsewhere.directory.mkdir()
    second = elsewhere.certify(inventory)
    assert second.status == 2
    (reason,) = second.certification.records["h1"]["reasons"]
    assert elsewhere.run("stop", "-i", str(inventory)).status == 0
    assert first.result().certification.records["h1"]["verdict"] == "inconclusive"
    assert first.result().certification.run["run_id"] in reason
    assert left_on(bed["h1"]) == []


@pytest.mark.thorough
def test_two_users_at_one_disk(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    """The two users have different state directories, so the tester of the second user can detect that of the first
    user only through the disk."""
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    first = background(controller.certify, inventory, **{**LONG, "sweep_duration": UNTIL_STOPPED})
    wait_until_measuring(bed)
    elsewhere = Controller(controller.tools, tmp_path / "second", controller.environment)
    elsewhere.directory.mkdir()
    other = {
        "workspace_owner": "nobody",
        "workspace_path": "/fut/other",
        "tester_dir": "/var/tmp/tester",
        "sweep_state_dir": "/var/tmp/state",
    }
    refused = elsewhere.certify(inventory, **other)
    record = refused.certification.records["h1"]
    assert (refused.status, record["verdict"]) == (2, "error")
    beside = elsewhere.certify(inventory, workspace_allow=["device_in_use"], **other)
    assert controller.run("stop", "-i", str(inventory)).status == 0
    run_id = first.result().certification.run["run_id"]
    (reason,) = record["reasons"]
    assert f"another tester is using the disk under --dir: run {run_id}, pid " in reason
    assert "workspace_allow: [device_in_use]" in reason
    allowed = [one for one in beside.certifications if one.run["run_id"] != refused.certifications[0].run["run_id"]]
    (run_table,) = [one.table("h1", "run.csv") for one in allowed]
    assert {row["key"]: row["value"] for row in run_table}["device_shared_with"].startswith(f"run {run_id}, pid ")


def test_the_stop_switch(
    start: Start, controller: Controller, tmp_path: Path, background: Callable[..., Future]
) -> None:
    """The measurements so far are kept, and judged as incomplete."""
    bed = start("h1", "h2")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    running = background(controller.certify, inventory, **{**LONG, "sweep_duration": UNTIL_STOPPED})
    wait_until_measuring(bed)
    elsewhere = Controller(controller.tools, tmp_path / "second", controller.environment)
    elsewhere.directory.mkdir()
    assert elsewhere.run("stop", "-i", str(inventory)).status == 0
    assert [host.pids("logdisk") for host in bed] == [{}, {}]
    outcome: Outcome = running.result()
    assert outcome.status == 2
    assert {name: record["verdict"] for name, record in outcome.certification.records.items()} == {
        "h1": "inconclusive",
        "h2": "inconclusive",
    }
    assert all(int(row["operations"]) > 0 for row in outcome.certification.table("h1"))
    assert {host.name: left_on(host) for host in bed} == {"h1": [], "h2": []}


def test_cleanup_removes_what_a_restart_left_and_nothing_else(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    bed = start("h1")
    inventory = bed.inventory(tmp_path / "hosts.yml")
    variables = tmp_path / "variables.json"
    variables.write_text(json.dumps(LONG))
    lost = controller.start("certify", "-i", str(inventory), "-e", f"@{variables}")
    wait_until_measuring(bed)
    os.killpg(lost.pid, signal.SIGKILL)
    lost.wait()
    bed["h1"].reboot()
    wait_for(lambda: answers(bed["h1"]), "the host is back")
    assert left_on(bed["h1"])
    precious = bed["h1"].root / "fut/logdisk/precious"
    precious.write_text("theirs")
    assert controller.run("cleanup", "-i", str(inventory), "--check", workspace_path="/fut/logdisk").status == 0
    assert left_on(bed["h1"])
    cleaned = controller.run("cleanup", "-i", str(inventory), workspace_path="/fut/logdisk")
    assert cleaned.status == 0 and "h1: removed /fut/logdisk/logdisk-" in cleaned.words
    assert [path for path in left_on(bed["h1"]) if not path.endswith(".json")] == [
        "/fut/logdisk",
        "/fut/logdisk/precious",
    ]
    precious.unlink()
    assert controller.run("cleanup", "-i", str(inventory), workspace_path="/fut/logdisk").status == 0
    assert left_on(bed["h1"]) == []
