#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interrupts tests of locks in each of their steps, and looks for what they leave behind.

    PYTHONPATH=collections:tests:tests/integration python benchmarks/lock_interrupts.py [--pairs 3] [--after 0.5] \
        [--steps second_refused,lock_count]

Each pair of hosts has a file server and a controller of its own. Each step is interrupted twice: once with Ctrl-C, and
once by killing the controller. Afterwards, no lock, process or packet filter may be left on a host, and after the
clean-up playbook, no file. The benchmark ends with status 1 if anything is left, or if a step was not hit.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.english import TITLES
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import STEPS
from ansible_runs import Controller
from lock_pairs import FILTER, LEASE_S, filters, inventory, left_on, pair
from testbed import Bed, Host, Settings
from testbed.servers import ServerSpec
from testbed.settings import default_prefix
from testbed.shell import TestbedError, wait_for

BEGINS_S, ENDED_S = 400, 90
STEP = re.compile(r"^\S+ and \S+: (.+), with \S+ as the holder$", re.MULTILINE)


@dataclass(frozen=True)
class Case:
    """A step to interrupt, and how: by killing the controller, or with Ctrl-C."""

    step: str
    is_killed: bool


def remains(host: Host) -> Iterator[str]:
    """What runs on a host although its test has ended, after a while."""
    checks = {"process": lambda: not host.pids("logdisk"), "packet filter": lambda: FILTER not in filters(host)}
    for name, is_gone in checks.items():
        try:
            wait_for(is_gone, f"no {name} is left", ENDED_S)
        except TestbedError:
            yield f"{host.name}: {name}"


def interrupted(bed: Bed, hosts: list[Host], directory: Path, case: Case, after_s: float) -> list[str]:
    """Return what an interrupted test left behind, and whether the step was missed."""
    directory.mkdir()
    # Otherwise, Python would write to a file only when its buffer is full.
    unbuffered = {**bed.environment, "PYTHONUNBUFFERED": "1"}
    controller = Controller(Path(sys.executable).parent, directory, unbuffered)
    limit = ":".join(host.name for host in hosts)
    words = ("-i", inventory(bed, directory, locks_seconds=10), "--limit", limit)
    screen = directory / "screen"
    with screen.open("w") as stdout:
        running = controller.start("locks", "-v", *words, stdout=stdout)
    title = TITLES[case.step]
    wait_for(lambda: title in begun(screen) or running.poll() is not None, f"the step {title} begins", BEGINS_S)
    time.sleep(after_s)
    hit = begun(screen)[-1:]
    if case.is_killed:
        running.kill()
        running.wait()
    else:
        controller.interrupt(running)
    for host in hosts:
        wait_for(lambda host=host: answers(bed, host), f"{host.name} answers", ENDED_S)
    left = [found for host in hosts for found in remains(host)]
    status = controller.run("cleanup", *words).status
    if status:
        left.append(f"the clean-up of {limit} ended with status {status}")
    left += [f"{host.name}: {found}" for host in hosts for found in left_on(host)]
    return left if hit == [title] else [*left, f"hit in {', '.join(hit) or 'no step'}"]


def begun(screen: Path) -> list[str]:
    """Return the steps that the screen announces."""
    return STEP.findall(screen.read_text())


def answers(bed: Bed, host: Host) -> bool:
    try:
        bed.ssh(host, "true")
    except TestbedError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=3, help="how many tests run at the same time")
    parser.add_argument(
        "--after", type=float, default=0.5, help="seconds from the beginning of a step to the interrupt"
    )
    parser.add_argument("--steps", default=",".join(STEPS), help="the steps to interrupt (default: all)")
    options = parser.parse_args()
    settings = Settings(prefix=default_prefix("i"))
    names = [(f"i{number}a", f"i{number}b") for number in range(options.pairs)]
    cases = [Case(step, is_killed) for step in options.steps.split(",") for is_killed in (False, True)]
    with tempfile.TemporaryDirectory(prefix="logdisk-interrupts-") as temporary, Bed(settings) as bed:
        bed.up(spec for one, two in names for spec in pair(settings, one, two, ServerSpec(one, lease_s=LEASE_S)))

        def of_pair(number: int) -> dict[Case, list[str]]:
            hosts = [bed[name] for name in names[number]]
            return {
                case: interrupted(bed, hosts, Path(temporary, f"{case.step}-{case.is_killed}"), case, options.after)
                for case in cases[number :: options.pairs]
            }

        with ThreadPoolExecutor(options.pairs) as pool:
            results = {case: left for found in pool.map(of_pair, range(options.pairs)) for case, left in found.items()}
    for case in cases:
        how = "killed" if case.is_killed else "Ctrl-C"
        print(f"{how} in {TITLES[case.step]}: {', '.join(results[case]) or 'nothing is left'}")
    return 1 if any(results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
