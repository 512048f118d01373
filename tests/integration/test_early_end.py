# SPDX-License-Identifier: GPL-3.0-or-later
"""If a disk is slow, freezes now and then, has one long write, or has I/O errors, a run with `sweep_end_early: fail`
fails long before its planned end. A good disk is measured as if the option had not been set. With `decided`, each of
its steps ends when it is certain that all limits are met."""

import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, Outcome
from leftovers import left_on, wait_until_measuring
from testbed import Bed, HostSpec
from testbed.host import Host

pytestmark = pytest.mark.thorough

Start = Callable[..., Bed]

PLANNED_S, STEPS = 600, 3
TROUBLED_S = 300
"""How long a disk freezes repeatedly, unless the tester ends earlier."""
PROFILE = {
    "name": "early",
    "version": 1,
    "limits": [
        {"metric": "latency_p99", "max": "20 ms"},
        {"metric": "latency_time_weighted_p99", "max": "20 ms"},
        {"metric": "latency_max", "max": "5 s"},
        {"metric": "bytes_per_s", "min": "1 kB/s"},
    ],
}
SWEEP = {
    "workspace_path": "/fut/logdisk",
    "gate_profile": PROFILE,
    "sweep_block_sizes": ["4K", "16K", "64K"],
    "sweep_duration": PLANNED_S,
    "sweep_warmup": 0,
    "sweep_file_size": "1M",
    "sweep_files": 4,
    "sweep_poll_interval": 5,
    "sweep_end_early": "fail",
    "tester_method": "binary",
}


DISTURBED = "This is beyond chance with 95 % confidence. The host was disturbed: "


def be_slow(host: Host) -> None:
    host.set_delay_ms(30)


def freeze_now_and_then(host: Host) -> None:
    wait_until_measuring([host])
    end = time.monotonic() + TROUBLED_S
    while time.monotonic() < end and host.pids("logdisk"):
        time.sleep(2)
        host.freeze()
        time.sleep(1)
        host.thaw()


def stall_once(host: Host) -> None:
    wait_until_measuring([host])
    time.sleep(3)
    host.set_pause(True)
    time.sleep(6)
    host.set_pause(False)


def fail(host: Host) -> None:
    wait_until_measuring([host])
    time.sleep(3)
    host.set_eio(True)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (be_slow, "the sweep ended early, because latency_p99 broke its limit (sweep_end_early)"),
        (freeze_now_and_then, "the sweep ended early, because latency_time_weighted_p99 broke its limit"),
        (stall_once, "the sweep ended early, because latency_max broke its limit"),
        (fail, "a write failed with EIO"),
    ],
)
def test_a_disk_that_fails_is_known_soon(
    start: Start,
    controller: Controller,
    tmp_path: Path,
    background: Callable[..., Future],
    trouble: Callable[[Host], None],
    said: str,
) -> None:
    bed = start(HostSpec("h1", disk="slow", alone=True))
    if trouble is be_slow:
        trouble(bed["h1"])
    troubled = None if trouble is be_slow else background(trouble, bed["h1"])
    began = time.monotonic()

    outcome = controller.run("certify", "-i", str(bed.inventory(tmp_path / "hosts.yml")), **SWEEP)

    took_s = time.monotonic() - began
    if troubled:
        assert troubled.result() is None
    assert outcome.status == 2
    check(outcome, said)
    print(f"{trouble.__name__}: {took_s:.0f} s from the command to its end, of {STEPS * PLANNED_S} s planned")
    assert took_s < STEPS * PLANNED_S / 2
    assert left_on(bed["h1"]) == []


def check(outcome: Outcome, said: str) -> None:
    record = outcome.certification.records["h1"]
    # A busy machine disturbs even a host that has priority, so the verdict may be inconclusive although a limit was
    # broken.
    proven = record["verdict"] == "fail" or DISTURBED in " ".join(record["reasons"])
    assert proven, record["reasons"]
    assert any(reason.startswith(said) for reason in record["reasons"]), record["reasons"]
    assert said in outcome.words
    if "ended early" in said:
        (found,) = [each for each in record["findings"] if each["kind"] == "ended_early"]
        first, *others = found["steps"]
        assert first["measured_s"] < PLANNED_S / 2
        assert [step.get("measured_s") for step in others] == [None, None]
        assert "4 KiB for" in outcome.words
        assert "not measured: 16 KiB, 64 KiB" in outcome.words


def test_a_good_disk_is_measured_to_its_end(start: Start, controller: Controller, tmp_path: Path) -> None:
    inventory = start(HostSpec("h1", alone=True)).inventory(tmp_path / "hosts.yml")
    variables = {**SWEEP, "sweep_duration": 22, "sweep_block_sizes": ["4K"]}
    outcome = controller.run("certify", "-i", str(inventory), **variables)
    record = outcome.certification.records["h1"]
    assert "ended_early" not in [each["kind"] for each in record["findings"]]
    run = {row["key"]: row["value"] for row in outcome.certification.table("h1", "run.csv")}
    assert (run["exit_reason"], run["fail_above_1"][:12]) == ("measured", "latency_p99:")


def test_a_good_disk_passes_soon_if_that_is_decided_as_well(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    inventory = start(HostSpec("h1", alone=True)).inventory(tmp_path / "hosts.yml")
    limits = [{"metric": metric, "max": "5 s"} for metric in ("latency_p99", "latency_max")]
    little = {"name": "little", "version": 1, "qualifies": {"min_duration_s": 60}, "limits": limits}
    variables = {**SWEEP, "gate_profile": little, "sweep_end_early": "decided", "sweep_block_sizes": ["4K", "64K"]}
    began = time.monotonic()

    outcome = controller.run("certify", "-i", str(inventory), **variables)

    took_s = time.monotonic() - began
    print(f"{took_s:.0f} s from the command to its end, of {2 * PLANNED_S} s planned")
    record = outcome.certification.records["h1"]
    assert (outcome.status, record["verdict"]) == (0, "pass"), record["reasons"]
    run = {row["key"]: row["value"] for row in outcome.certification.table("h1", "run.csv")}
    assert (run["exit_reason"], run["steps_measured"], run["steps_kept"]) == ("measured", "2", "1 2")
    assert took_s < PLANNED_S
    (note,) = [note for note in record["notes"] if note.startswith("Steps ended when")]
    assert "Measured, of 10 min each: 4 KiB for " in note and ", 64 KiB for " in note, note


def test_volumes_that_are_measured_at_the_same_time_do_not_end_early(
    start: Start, controller: Controller, tmp_path: Path
) -> None:
    inventory = start(HostSpec("h1"), HostSpec("h2")).inventory(tmp_path / "hosts.yml")
    outcome = controller.certify(inventory, **{**QUICK, "sweep_end_early": "fail"})
    assert outcome.status != 0
    assert "sweep_end_early is only for volumes that are measured alone" in outcome.words
