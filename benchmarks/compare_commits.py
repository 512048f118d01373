#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures this checkout and another commit alternately, and prints ratios, which show how the changes between them
affect performance.

    make bench-compare AGAINST=COMMIT [ARGS="--hosts 20 --forks 5 --rounds 5"]

For the tester, these are the writes per second on tmpfs, compared with each other and with the bare loop of the same
call, the user-mode instructions per write (callgrind), and the resident memory with 1 and 1,000 queue managers. For the
fleet, they are the processor time of the controller per host, the remote calls per host, the time that is not spent
measuring, and the figures of the first certification, which installs the tester on the hosts. Both commits are measured
with the benchmarks and the ansible-core of this checkout. Each round measures both, in alternating order, so that other
load on the machine affects both equally. The figures are medians, and the ratios are medians of the ratios of all
rounds. This is not a test: the exit status is 0 regardless of the ratios.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import scale
import tester
from testbed import Bed, HostSpec, Settings
from testbed.settings import default_prefix

PROJECT = Path(__file__).resolve().parents[1]
# Options that every commit accepts. Old commits require the option `version`.
PROFILE = {"name": "scale", "version": 1, "limits": [{"metric": "latency_mean", "max": "1 s"}]}
HERE, THERE = "this checkout", "the other commit"


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """Provide a directory with the files of a commit, in which Ansible finds the collection."""
    with tempfile.TemporaryDirectory(prefix="logdisk-compare-", dir="/var/tmp") as temporary:
        archive, tree = Path(temporary, "tree.tar"), Path(temporary, "tree")
        subprocess.run(["git", "archive", f"--output={archive}", commit], cwd=PROJECT, check=True)
        with tarfile.open(archive) as content:
            content.extractall(tree, filter="data")
        subprocess.run([str(tree / "tools/link-collection"), "collections"], cwd=tree, check=True)
        yield tree


def program(tree: Path) -> str:
    return str(tree / "src/build/logdisk")


def row(title: str, mine: list[float], other: list[float], digits: int = 0) -> None:
    ratios = [one / two for one, two in zip(mine, other, strict=True)]
    spread = f" ({min(ratios):.3f} to {max(ratios):.3f})" if len(ratios) > 1 else ""
    print(
        f"| {title} | {statistics.median(mine):,.{digits}f} | {statistics.median(other):,.{digits}f} | "
        f"{statistics.median(ratios):.3f}{spread} |",
        flush=True,
    )


def compare_testers(trees: dict[str, Path], rounds: int) -> None:
    work = tempfile.mkdtemp(prefix="logdisk-benchmark-", dir="/dev/shm")
    try:
        for tree in trees.values():
            tester.build(work, str(tree / "src"))
        direct = tester.takes_direct(work)
        candidates = {"bare loop": lambda: tester.bare(work, work, 4096, direct)}
        for name, tree in trees.items():
            candidates[name] = lambda tree=tree: tester.logdisk(work, work, 4096, direct, program=program(tree))
        results = tester.rounds(candidates, rounds)
        speeds = {name: [result["writes_per_s"] for result in results[name]] for name in results}
        row("writes per second, 4 KiB on tmpfs", speeds[HERE], speeds[THERE])
        for name in trees:
            row(f"the same: {name} against the bare loop", speeds[name], speeds["bare loop"])
        used = {name: [result["processor_ns"] for result in results[name]] for name in trees}
        row("processor time per write, ns", used[HERE], used[THERE])
        counted = {name: [tester.instructions_per_write(work, program(tree))] for name, tree in trees.items()}
        row("user-mode instructions per 4 KiB write", counted[HERE], counted[THERE], 1)
        for count in (1, 1000):
            peaks = {name: [float(tester.memory_kib(work, program(tree), count))] for name, tree in trees.items()}
            row(f"resident memory, {count:,} queue manager{'s' if count > 1 else ''}, KiB", peaks[HERE], peaks[THERE])
    finally:
        shutil.rmtree(work, ignore_errors=True)


def compare_fleets(trees: dict[str, Path], hosts: int, forks: int, rounds: int, duration_s: float) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="logdisk-scale-") as temporary,
        Bed(Settings(prefix=default_prefix("s"))) as bed,
    ):
        directories = {name: Path(temporary, str(number)) for number, name in enumerate(trees)}
        bed.up(HostSpec(f"h{number:04}", disk="tmpfs", size="64M", compiler=False) for number in range(1, hosts + 1))
        for directory in directories.values():
            directory.mkdir()
            bed.inventory(directory / "hosts.yml")

        def certify(name: str) -> scale.Run:
            shutil.rmtree(directories[name] / "reports", ignore_errors=True)
            run = scale.certify(bed, directories[name], forks, duration_s, trees[name], PROFILE)
            if len(run.rows) != hosts:
                print("\n".join(line for _, line in run.screen[-40:]))
                raise SystemExit(f"{name}: {len(run.rows)} of {hosts} hosts were measured")
            return run

        first = {name: certify(name) for name in trees}
        runs: dict[str, list[scale.Run]] = {name: [] for name in trees}
        for number in range(rounds):
            for name in list(trees)[:: -1 if number % 2 else 1]:
                runs[name].append(certify(name))
        fleet = f"{hosts} hosts, {forks} forks"
        row(
            f"{fleet}: processor time per host, s",
            *([run.processor_s / hosts for run in runs[name]] for name in trees),
            digits=2,
        )
        row(f"{fleet}: time beyond measuring, s", *([run.beyond_s for run in runs[name]] for name in trees), digits=1)
        addresses = [host.address for host in bed]
        row(
            f"{fleet}: remote calls per host, not counting polls",
            *([float(max(run.calls_a_host(addresses)[0])) for run in runs[name]] for name in trees),
        )
        row(
            f"{fleet}: processor time per host of a first certification, s",
            *([first[name].processor_s / hosts] for name in trees),
            digits=2,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", help="the commit to compare this checkout with")
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--forks", type=int, default=5)
    parser.add_argument(
        "--rounds",
        type=int,
        default=5,
        help="rounds of the tester; the fleet is certified in half as many (default: %(default)s)",
    )
    parser.add_argument(
        "--duration", type=float, default=5, help="seconds for each of two block sizes (default: %(default)s)"
    )
    parser.add_argument("--only", choices=("tester", "fleet"))
    options = parser.parse_args()
    with checked_out(options.commit) as other:
        trees = {HERE: PROJECT, THERE: other}
        print(f"this checkout against {options.commit}; load average {os.getloadavg()[0]:.1f}\n")
        print(f"| figure | {HERE} | {options.commit} | ratio |\n| --- | --- | --- | --- |")
        if options.only != "fleet":
            compare_testers(trees, options.rounds)
        if options.only != "tester":
            compare_fleets(trees, options.hosts, options.forks, (options.rounds + 1) // 2, options.duration)
        print(f"\nload average at the end {os.getloadavg()[0]:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
