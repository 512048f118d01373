# SPDX-License-Identifier: GPL-3.0-or-later
"""Observations leave nothing on their hosts or in the kernel, whatever is killed, and a host that fails does not take others with it."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

from ansible_runs import PROJECT, Controller
from testbed import Bed
from testbed.host import Host
from testbed.shell import wait_for

Start = Callable[..., Bed]

AMQSRUA = "/opt/amqsrua"
STATE = "/root/.mqops-logdisk/observations/runs"
LONG_S = 3600
POLLED_OFTEN_S = 280
"""Longer than any of these tests observes. A longer observation is polled less often."""
SHORT_LEASE_S = 15
OPTIONS = {"observe_source": "amqsrua", "observe_amqsrua": AMQSRUA, "observe_queue_manager": "QM1", "observe_log_path": "/fut"}


def give_amqsrua(host: Host) -> None:
    """Give the host a program that publishes every second what was recorded, again and again."""
    program = host.root / AMQSRUA.lstrip("/")
    program.write_bytes((PROJECT / "tests/mq/amqsrua.py").read_bytes())
    program.chmod(0o755)
    text = (PROJECT / "tests/fixtures/observe/amqsrua-9.4.txt").read_text()
    program.with_name("amqsrua.json").write_text(json.dumps({"text": text * 300, "every_s": 1, "then": "hang"}))


def watching(host: Host) -> dict[int, str]:
    """The processes of the source on a host."""
    return {pid: line for pid, line in host.pids("python3*").items() if f" {AMQSRUA} " in line}


def is_observed(host: Host) -> bool:
    samples = [host.root / path.lstrip("/") for path in host.files(STATE) if path.endswith("/samples")]
    return bool(watching(host) and samples and samples[0].stat().st_size)


def left_on(host: Host) -> list[str]:
    observers = [line for line in host.pids("python3*").values() if "observe" in line]
    return [*watching(host).values(), *observers, *host.files(STATE)]


def test_a_lost_controller_leaves_nothing_on_the_host(start: Start, controller: Controller, tmp_path: Path) -> None:
    """Killed, its observation ends without polls. Interrupted, it says how to remove at once what would end only later."""
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
    interrupted.send_signal(signal.SIGINT)
    interrupted.wait()
    (advice,) = [line for line in (tmp_path / "screen").read_text().splitlines() if "mqops.logdisk.cleanup" in line]
    assert "end on their hosts by themselves" in (tmp_path / "screen").read_text()
    assert watching(bed["h1"])
    assert controller.run("cleanup", "-i", str(inventory), "-e", advice.split()[-1]).status == 0
    wait_for(lambda: not left_on(bed["h1"]), "nothing is left")


def test_each_host_has_its_own_end(start: Start, controller: Controller, background: Callable, tmp_path: Path) -> None:
    """One whose connections are killed is observed on, one whose source is killed keeps what it had, one never answers, one was stopped for everybody."""
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
    wait_for(lambda: len(kept(controller, "cut").splitlines()) > before or not watching(bed["cut"]), "the host is polled over a new connection")
    assert watching(bed["cut"])
    stopper = Controller(controller.tools, tmp_path, controller.environment)
    stopped = stopper.run("stop", "-i", str(inventory), "--limit", "cut")
    assert stopped.status == 0 and "ended " in stopped.screen
    outcome = run.result()

    records = outcome.certification.records
    assert {name: record["kind"] for name, record in records.items()} == {"cut": "observation", "killed": "observation", "dead": "error"}
    assert records["dead"]["verdict"] == "unreachable" and outcome.status == 2
    assert records["cut"]["tester"]["exit_message"] == "it was ended by request"
    assert "was killed by signal 9" in records["killed"]["tester"]["exit_message"]
    assert records["cut"]["facts"]["filesystem_type"] == "ext4" and abs(records["cut"]["facts"]["clock_offset_s"]) < 600
    assert "cut: " in outcome.screen and "New maximum" in outcome.screen
    assert {name: left_on(bed[name]) for name in ("cut", "killed")} == {"cut": [], "killed": []}


def kept(controller: Controller, host: str) -> str:
    """The samples of a host that are on the controller."""
    (path,) = [*(controller.directory / "reports").glob(f"2*/hosts/{host}/log/samples.jsonl")] or [Path(os.devnull)]
    return path.read_text()
