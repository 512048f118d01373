#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Interrupts tests of locks after different times, so that every step is hit, and looks for what they leave behind.

    PYTHONPATH=tests:tests/integration python benchmarks/lock_interrupts.py [--pairs 6] [--every 4] [--until 100]

Each pair of hosts has a file server and a controller of its own. A controller is interrupted with Ctrl-C, or every
second time killed. Afterwards, no lock, process or packet filter may be left on a host, and after the clean-up
playbook, no file. The benchmark ends with status 1 if anything is left.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ansible_runs import Controller
from lock_pairs import FILTER, LEASE_S, filters, inventory, left_on, pair
from testbed import Bed, Host, Settings
from testbed.servers import ServerSpec
from testbed.settings import default_prefix
from testbed.shell import TestbedError, wait_for

ENDED_S = 90


def remains(host: Host) -> Iterator[str]:
    """What runs on a host although its test has ended, after a while."""
    checks = {"process": lambda: not host.pids("logdisk"), "packet filter": lambda: FILTER not in filters(host)}
    for name, is_gone in checks.items():
        try:
            wait_for(is_gone, f"no {name} is left", ENDED_S)
        except TestbedError:
            yield f"{host.name}: {name}"


def interrupted(bed: Bed, hosts: list[Host], directory: Path, after_s: float, kills: bool) -> tuple[bool, list[str]]:
    """Whether the test was still running after that time, and what it left behind."""
    directory.mkdir()
    controller = Controller(Path(sys.executable).parent, directory, bed.environment)
    limit = ":".join(host.name for host in hosts)
    words = ("-i", inventory(bed, directory, locks_seconds=10), "--limit", limit)
    running = controller.start("locks", *words)
    end = time.monotonic() + after_s
    while time.monotonic() < end and running.poll() is None:
        time.sleep(0.2)
    was_running = running.poll() is None
    if was_running and kills:
        running.kill()
        running.wait()
    elif was_running:
        controller.interrupt(running)
    for host in hosts:
        wait_for(lambda host=host: answers(bed, host), f"{host.name} answers", ENDED_S)
    left = [found for host in hosts for found in remains(host)]
    status = controller.run("cleanup", *words).status
    if status:
        left.append(f"the clean-up of {limit} ended with status {status}")
    return was_running, [*left, *(f"{host.name}: {found}" for host in hosts for found in left_on(host))]


def answers(bed: Bed, host: Host) -> bool:
    try:
        bed.ssh(host, "true")
    except TestbedError:
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--every", type=float, default=4, help="seconds between two interrupts (default: %(default)s)")
    parser.add_argument("--until", type=float, default=100)
    options = parser.parse_args()
    settings = Settings(prefix=default_prefix("i"))
    names = [(f"i{number}a", f"i{number}b") for number in range(options.pairs)]
    times = [options.every * number for number in range(1, int(options.until / options.every) + 1)]
    with tempfile.TemporaryDirectory(prefix="logdisk-interrupts-") as temporary, Bed(settings) as bed:
        bed.up(spec for one, two in names for spec in pair(settings, one, two, ServerSpec(one, lease_s=LEASE_S)))

        def of_pair(number: int) -> Iterator[tuple[float, bool, bool, list[str]]]:
            hosts = [bed[name] for name in names[number]]
            for turn in range(number, len(times), options.pairs):
                kills = bool(turn % 2)
                was_running, left = interrupted(bed, hosts, Path(temporary, str(turn)), times[turn], kills)
                yield times[turn], kills, was_running, left

        with ThreadPoolExecutor(options.pairs) as pool:
            results = sorted(
                result
                for found in pool.map(lambda number: list(of_pair(number)), range(options.pairs))
                for result in found
            )
    for after_s, kills, was_running, left in results:
        how = ("killed" if kills else "Ctrl-C") if was_running else "had already ended"
        print(f"after {after_s:g} s: {how}: {', '.join(left) or 'nothing is left'}")
    return 1 if any(left for *_, left in results) else 0


if __name__ == "__main__":
    sys.exit(main())
