#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeatedly tests the locks of the test bed's honest and lying file servers, and counts the verdicts.

    PYTHONPATH=tests:tests/integration python benchmarks/locks.py [--runs 10] [--honest 5] [--liars none] [--load 12]

Each run tests all pairs at the same time over SSH, and each pair has a file server of its own. Pairs with an
honest server carry out every step. Pairs with a lying server leave out the loss of a host if its lie can be detected
without it. Each lying server must be detected each time in the step that is meant to detect its lie, and an honest
one must always pass. The benchmark ends with status 1 if this is not the case, or if anything is left on a host.
"""

import argparse
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from ansible_runs import Controller, Outcome
from lock_pairs import HONEST as SLOW
from lock_pairs import (
    LEASE_S,
    LIES,
    end_fail_overs,
    host_names,
    inventory,
    is_seen,
    left_on,
    liar,
    not_kept,
    pair,
    steps_of,
)
from scale import counting_programs, read_calls
from testbed import Bed, Settings
from testbed.servers import ServerSpec
from testbed.settings import default_prefix

HONEST = "honest"
REMOVAL_S = 120.0
"""How long the removal of files may take on a host whose file system hung."""


@dataclass
class Count:
    """The results of all pairs whose servers have the same character (honest, or one kind of lie)."""

    pairs: int = 0
    verdicts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    right: int = 0
    sentences: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    wrong: list[object] = field(default_factory=list)

    def add(self, character: str, record: dict, steps: list[dict]) -> None:
        self.pairs += 1
        self.verdicts[record["verdict"]] += 1
        honest = character not in LIES
        expected = "pass" if honest else LIES[character].verdict
        if record["verdict"] == expected and (honest or is_seen(character, steps)):
            self.right += 1
        else:
            self.wrong.append((record["verdict"], not_kept(steps), record["reasons"]))
            print(f"{character}: {self.wrong[-1]}", file=sys.stderr, flush=True)
        if not honest and record["reasons"]:
            self.sentences[re.sub(r"\d+(\.\d+)?", "n", record["reasons"][0])] += 1


def honest_names(count: int) -> list[tuple[str, str]]:
    return [(f"honest{number}a", f"honest{number}b") for number in range(1, count + 1)]


def left_on_hosts(bed: Bed) -> list[str]:
    """Return what is left on all hosts. Where a file system hung, the files are removed after it answers again."""
    end = time.monotonic() + REMOVAL_S
    while (left := [remains for host in bed for remains in left_on(host)]) and time.monotonic() < end:
        time.sleep(1)
    return left


def takeovers(outcome: Outcome, hosts: list[str]) -> list[float]:
    return [
        step["figures"]["takeover_ns"] / 1e9
        for host in hosts
        for step in steps_of(outcome, host)
        if "takeover_ns" in step["figures"]
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--honest", type=int, default=5, help="pairs of honest servers (default: %(default)s)")
    parser.add_argument(
        "--liars",
        default=",".join([*LIES, *SLOW]),
        help="the servers of lock_pairs.py that lie or are slow, or none (default: %(default)s)",
    )
    parser.add_argument("--each", type=int, default=1, help="pairs of each other server (default: %(default)s)")
    parser.add_argument("--load", type=float, default=12, help="seconds under load (default: %(default)s)")
    parser.add_argument("--write-ms", type=float, default=0, help="how long a write takes, to run many servers at once")
    parser.add_argument("--lease", type=float, default=LEASE_S, help="of honest servers, in s (default: %(default)s)")
    parser.add_argument("--forks", type=int, default=20)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the playbook and the test bed end with it
    liars = [name for name in options.liars.split(",") if name != "none"]
    counts: dict[str, Count] = {name: Count() for name in [HONEST, *liars]}
    left, calls, walls, times = [], [], [], []
    settings = Settings(prefix=default_prefix("k"))
    with tempfile.TemporaryDirectory(prefix="logdisk-locks-") as temporary, Bed(settings) as bed:
        several = [(character, number) for character in liars for number in range(1, options.each + 1)]
        specs = [spec for one in several for spec in liar(settings, *one, options.write_ms / 1000)]
        for one, two in honest_names(options.honest):
            specs += pair(settings, one, two, ServerSpec(one, lease_s=options.lease, write_s=options.write_ms / 1000))
        bed.up(specs)
        for run in range(1, options.runs + 1):
            directory = Path(temporary, str(run))
            directory.mkdir()
            (directory / "calls").write_text("")
            controller = Controller(Path(sys.executable).parent, directory, bed.environment)
            hosts = inventory(bed, directory, locks_seconds=options.load)
            start = time.monotonic()
            outcome = controller.run(
                "locks",
                "-i",
                hosts,
                "--forks",
                str(options.forks),
                env={
                    "CALLS": str(directory / "calls"),
                    "ANSIBLE_SSH_CONTROL_PATH_DIR": tempfile.mkdtemp(prefix="c-", dir=temporary),
                    **counting_programs(directory),
                },
                timeout_s=3600,
            )
            walls.append(time.monotonic() - start)
            for character, number in several:
                host = host_names(character, number)[0]
                record = outcome.certification.records[host]
                counts[character].add(character, record, steps_of(outcome, host))
            for host, _ in honest_names(options.honest):
                counts[HONEST].add(HONEST, outcome.certification.records[host], steps_of(outcome, host))
            times += takeovers(outcome, [host for host, _ in honest_names(options.honest)])
            by_address: dict[str, int] = defaultdict(int)
            for _, address in read_calls(directory / "calls"):
                by_address[address] += 1
            calls += by_address.values()
            end_fail_overs(bed)
            left += left_on_hosts(bed)
            print(
                f"run {run}: {walls[-1]:.0f} s, load average {os.getloadavg()[0]:.1f}, "
                f"{sum(count.right for count in counts.values())} of {sum(count.pairs for count in counts.values())} "
                f"pairs as expected so far",
                file=sys.stderr,
                flush=True,
            )
    print_table(counts)
    print(
        f"\n{len(walls)} runs of {len(several) + options.honest} pairs, {options.load:g} s under load, leases of "
        f"{options.lease:g} s: median {statistics.median(walls):.0f} s, longest {max(walls):.0f} s. Calls per host: "
        f"{max(calls)} at most."
    )
    if times:
        print(f"Takeovers of honest servers: median {statistics.median(times):.1f} s, longest {max(times):.1f} s.")
    for remains in left:
        print(f"FAILED: left behind: {remains}")
    return 1 if left or any(count.wrong for count in counts.values()) else 0


def print_table(counts: dict[str, Count]) -> None:
    print("| server | pairs | verdicts | as expected | first reason |\n| --- | --- | --- | --- | --- |")
    for name, count in counts.items():
        verdicts = ", ".join(f"{verdict} {number}" for verdict, number in count.verdicts.items())
        sentences = "; ".join(f"{sentence} ({number})" for sentence, number in count.sentences.items())
        print(f"| {name} | {count.pairs} | {verdicts} | {count.right} | {sentences} |")
    for name, count in counts.items():
        for wrong in count.wrong:
            print(f"FAILED: {name}: {wrong}")


if __name__ == "__main__":
    sys.exit(main())
