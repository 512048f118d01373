# SPDX-License-Identifier: GPL-3.0-or-later
"""Observations leave nothing behind on their hosts or in the kernel, no matter which process is killed, and a host that
fails does not affect the others."""

import ctypes
import os
import platform
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from ansible_runs import PROJECT, Controller
from mq import install_amqsrua
from testbed import Bed, HostSpec
from testbed.host import Host
from testbed.shell import wait_for

Start = Callable[..., Bed]

AMQSRUA = "/opt/amqsrua"
STATE = "/root/.mqops-logdisk/observations/runs"
LONG_S = 3600
POLLED_OFTEN_S = 280
"""The requested duration, which is longer than any of these tests. With a longer duration, the observation would be
polled less often."""
SHORT_LEASE_S = 15
OPTIONS = {
    "observe_source": "amqsrua",
    "observe_amqsrua": AMQSRUA,
    "observe_queue_manager": "QM1",
    "observe_log_path": "/fut",
}


def give_amqsrua(host: Host) -> None:
    """Install a program on the host that simulates amqsrua: every five seconds, it prints the recording again."""
    program = host.root / AMQSRUA.lstrip("/")
    text = (PROJECT / "tests/fixtures/observe/amqsrua-9.4.txt").read_text()
    install_amqsrua(program, text=text * 300, every_s=5, then="hang")


def watching(host: Host) -> dict[int, str]:
    """Return the processes of the source on a host."""
    return {pid: line for pid, line in host.pids("python3*").items() if f" {AMQSRUA} " in line}


def has_samples(host: Host) -> bool:
    with suppress(FileNotFoundError):
        return any(
            (host.root / path.lstrip("/")).stat().st_size for path in host.files(STATE) if path.endswith("/samples")
        )
    return False


def is_observed(host: Host) -> bool:
    return bool(watching(host)) and has_samples(host)


def left_on(host: Host) -> list[str]:
    observers = [line for line in host.pids("python3*").values() if "observe" in line]
    return [*watching(host).values(), *observers, *host.files(STATE)]


# The number of the system call bpf, and the command that opens a loaded BPF program by its ID.
BPF_CALL = {"x86_64": 321, "aarch64": 280}
BPF_PROG_GET_FD_BY_ID = 13
WRITER = """
import os
os.makedirs("/fut/log/active")
log = os.open("/fut/log/active/S0000000.LOG", os.O_WRONLY | os.O_CREAT | os.O_DSYNC)
while True:
    os.pwrite(log, bytes(4096), 0)
"""


def kernel_programs(pid: int) -> set[int]:
    """Return the IDs of the BPF programs that a process has loaded into the kernel."""
    found = set()
    for path in Path(f"/proc/{pid}/fdinfo").iterdir():
        found |= {int(line.split()[1]) for line in path.read_text().splitlines() if line.startswith("prog_id:")}
    return found


def is_in_kernel(program: int) -> bool:
    attributes = (ctypes.c_uint32 * 4)(program)
    descriptor = ctypes.CDLL(None, use_errno=True).syscall(
        BPF_CALL[platform.machine()], BPF_PROG_GET_FD_BY_ID, attributes, ctypes.sizeof(attributes)
    )
    if descriptor < 0:
        return False
    os.close(descriptor)
    return True


def bpftraces(host: Host) -> list[int]:
    """Return the bpftrace processes on a host. The host uses the bpftrace of this machine."""
    return [pid for pid, line in host.pids().items() if " /machine/usr/bin/bpftrace " in line]


def tracing(host: Host) -> dict[int, set[int]]:
    """Return the processes that have loaded BPF programs, with the IDs of these programs."""
    found = {}
    for pid in bpftraces(host):
        with suppress(OSError):
            found[pid] = kernel_programs(pid)
    return {pid: programs for pid, programs in found.items() if programs}


@pytest.mark.thorough
def test_nothing_is_left_in_the_kernel(
    start: Start, controller: Controller, background: Callable, tmp_path: Path
) -> None:
    """If bpftrace or its controller is killed, no probe is left behind."""
    bed = start(HostSpec("h1", tracing=True))
    (bed["h1"].root / "srv/writer.py").write_text(WRITER)
    bed.ssh(bed["h1"], "setsid python3 /srv/writer.py > /dev/null 2>&1 < /dev/null &")
    variables = {
        **OPTIONS,
        "observe_source": "bpftrace",
        "observe_log_path": "/fut/log",
        "observe_duration": POLLED_OFTEN_S,
    }
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=variables)

    killed = controller.start("observe", "-i", str(inventory), "-e", f"observe_lease={SHORT_LEASE_S}")
    programs = programs_that_see(bed["h1"])
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_for(
        lambda: not (bpftraces(bed["h1"]) or any(map(is_in_kernel, programs)) or left_on(bed["h1"])), "nothing is left"
    )

    run = background(controller.run, "observe", "-i", str(inventory))
    programs = programs_that_see(bed["h1"])
    for pid in tracing(bed["h1"]):
        os.kill(pid, signal.SIGKILL)
    outcome = run.result()
    assert outcome.status == 2 and "bpftrace was killed by signal 9" in outcome.words
    assert not (bpftraces(bed["h1"]) or any(map(is_in_kernel, programs)) or left_on(bed["h1"]))


def programs_that_see(host: Host) -> set[int]:
    """Return the BPF programs in the kernel, as soon as bpftrace sees the writes."""
    wait_for(lambda: tracing(host) and has_samples(host), "bpftrace sees the writes")
    programs = set().union(*tracing(host).values())
    assert programs and all(map(is_in_kernel, programs))
    return programs


@pytest.mark.thorough
def test_a_lost_controller_leaves_nothing_on_the_host(start: Start, controller: Controller, tmp_path: Path) -> None:
    """If the controller is killed, its observation ends because it is no longer polled. If the controller is
    interrupted, it prints how to end the observation immediately."""
    bed = start("h1")
    give_amqsrua(bed["h1"])
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**OPTIONS, "observe_duration": LONG_S})
    killed = controller.start("observe", "-i", str(inventory), "-e", f"observe_lease={SHORT_LEASE_S}")
    wait_for(lambda: is_observed(bed["h1"]), "the host is observed")
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    wait_for(lambda: not left_on(bed["h1"]), "nothing is left")

    with (tmp_path / "screen").open("w") as screen:
        interrupted = controller.start("observe", "-i", str(inventory), stdout=screen)
    wait_for(lambda: is_observed(bed["h1"]), "the host is observed again")
    assert controller.interrupt(interrupted) != 0
    (advice,) = [line for line in (tmp_path / "screen").read_text().splitlines() if "playbooks/cleanup.yml" in line]
    assert "end on their hosts by themselves" in (tmp_path / "screen").read_text()
    assert watching(bed["h1"])
    assert controller.run("cleanup", "-i", str(inventory), "-e", advice.split()[-1]).status == 0
    wait_for(lambda: not left_on(bed["h1"]), "nothing is left")


@pytest.mark.thorough
def test_each_host_has_its_own_end(start: Start, controller: Controller, background: Callable, tmp_path: Path) -> None:
    """On one host, the connections are killed, the observation continues, and it is stopped later. On another host, the
    source is killed, and its samples are kept. A third host never answers."""
    bed = start("cut", "killed", "dead")
    for name in ("cut", "killed"):
        give_amqsrua(bed[name])
    bed["dead"].link_down()
    inventory = bed.inventory(tmp_path / "hosts.yml", variables={**OPTIONS, "observe_duration": POLLED_OFTEN_S})
    run = background(controller.run, "observe", "-i", str(inventory))
    for name in ("cut", "killed"):
        wait_for(lambda name=name: is_observed(bed[name]), f"{name} is observed")
    wait_for(lambda: len(kept(controller, "killed").splitlines()) > 2, "samples have come home")
    for pid in watching(bed["killed"]):
        os.kill(pid, signal.SIGKILL)
    for pid, line in bed["cut"].pids("sshd*").items():
        if "@" in line or "[priv]" in line:
            os.kill(pid, signal.SIGKILL)
    before = len(kept(controller, "cut").splitlines())
    wait_for(
        lambda: len(kept(controller, "cut").splitlines()) > before or not watching(bed["cut"]),
        "the host is polled over a new connection",
    )
    assert watching(bed["cut"])
    stopper = Controller(controller.tools, tmp_path, controller.environment)
    stopped = stopper.run("stop", "-i", str(inventory), "--limit", "cut")
    assert stopped.status == 0 and "ended " in stopped.words
    outcome = run.result()

    records = outcome.certification.records
    assert {name: record["kind"] for name, record in records.items()} == {
        "cut": "observation",
        "killed": "observation",
        "dead": "error",
    }
    assert records["dead"]["verdict"] == "unreachable" and outcome.status == 2
    assert records["cut"]["tester"]["exit_message"] == "it was ended by request"
    assert "was killed by signal 9" in records["killed"]["tester"]["exit_message"]
    assert records["cut"]["facts"]["filesystem_type"] == "ext4" and abs(records["cut"]["facts"]["clock_offset_s"]) < 600
    assert "cut: " in outcome.words and "New maximum" in outcome.words
    assert {name: left_on(bed[name]) for name in ("cut", "killed")} == {"cut": [], "killed": []}


def kept(controller: Controller, host: str) -> str:
    """Return the samples of a host that have arrived on the controller."""
    found = sorted((controller.directory / "reports/latest/hosts").glob(f"{host}/log/samples.jsonl"))
    return found[0].read_text() if found else ""
