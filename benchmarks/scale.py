#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certifies many SSH hosts of the test bed and reports how the time is spent.

    PYTHONPATH=tests:tests/integration python benchmarks/scale.py --hosts 100 --forks 20 [--duration 5] [--repeat 3]

Every host runs real SSH and Python, but all hosts share this machine with the controller. So the figures are upper
bounds for a controller with separate hosts. A first certification, which is not measured, installs the tester. The
sweep writes two block sizes to tmpfs at a limited rate, so that the hosts do not take processor time away from the
controller.

Wrappers of ssh, sftp and scp count the remote calls: they record each call, and then make it. Calls between the start
of the tester and the collection of its tables count as polls. The benchmark fails unless every host is in every format
of the report with a verdict, nothing is left on any host, no host was called more than 4 times (not counting polls),
and the controller needed at most 250 MiB of memory plus 1 MiB per host.
"""

import argparse
import itertools
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from certification import Certification
from leftovers import left_on
from testbed import Bed, HostSpec, Settings
from testbed.settings import default_prefix
from testbed.shell import TestbedError, wait_for

PROJECT = Path(__file__).resolve().parents[1]
CALLS_MAX = 4
MIB = 1 << 20
MEMORY_MAX, MEMORY_PER_HOST_MAX = 250 * MIB, MIB
STEPS = ("4K", "64K")
PROFILE = {"name": "scale", "qualifies": {"confidence": "none"}, "limits": [{"metric": "latency_mean", "max": "1 s"}]}
START_TASK = "Wait on the controller"
COLLECT_TASKS = ("Collect the tables", "Look at the host, and collect its tables if it has ended")
"""The names that the task that begins the collection of the tables has in different commits. The first name that a
commit contains is used."""
# The wrapper starts no program except the wrapped one, so it reads /proc/uptime instead of calling `date`. With -O,
# ssh only talks to its own master process.
COUNTING = """#!/bin/sh
read -r now _ < /proc/uptime
for word; do
    case $word in
        -O) break ;;
        10.*.*.* | "["10.*.*.*) echo "$now $word" >> "$CALLS"; break ;;
    esac
done
exec {program} "$@"
"""


@dataclass
class Run:
    """One certification. Times are seconds since the machine was started."""

    start: float
    end: float
    processor_s: float
    kernel_s: float  # the part of it that was spent in the kernel, for example to fork workers
    machine_s: float  # processor time of everything on this machine: the controller, the hosts and all else
    memory_bytes: int  # of the largest process, which is ansible-playbook
    status: int
    screen: list[tuple[float, str]]
    calls: list[tuple[float, str]]
    certification: Certification

    @property
    def wall_s(self) -> float:
        return self.end - self.start

    @cached_property
    def rows(self) -> dict[str, list[dict[str, str]]]:
        """The results of each measured host, which outlive the run directory."""
        return {
            name: self.certification.table(name)
            for name, record in self.certification.records.items()
            if record["kind"] == "measurement"
        }

    @property
    def measuring_s(self) -> float:
        """The time from the first write of the first host to the last write of the last host."""
        rows = [row for table in self.rows.values() for row in table]
        return max(started(row) + int(row["elapsed_ns"]) / 1e9 for row in rows) - min(started(row) for row in rows)

    @property
    def beyond_s(self) -> float:
        return self.wall_s - self.measuring_s

    @property
    def skew_s(self) -> float:
        """The largest difference between the actual start of a step on any host and its planned start, which is the
        same for all hosts."""
        return (
            max(abs(int(row["start_skew_ns"])) for table in self.rows.values() for row in table if row["start_skew_ns"])
            / 1e9
        )

    def banners(self) -> list[tuple[float, str]]:
        found = [(when, re.match(r"TASK \[(?:[\w.]+ : )?(.*?)\] \*", line)) for when, line in self.screen]
        return [(when, match[1]) for when, match in found if match]

    def calls_a_host(self, addresses: list[str]) -> tuple[list[int], list[int]]:
        """For every host, the number of calls that were not polls, and the number of polls."""
        first = {name: when for when, name in reversed(self.banners())}
        start = first.get(START_TASK, self.end)
        collect = next((first[name] for name in COLLECT_TASKS if name in first), self.end)
        steady, polls = dict.fromkeys(addresses, 0), dict.fromkeys(addresses, 0)
        for when, address in self.calls:
            (polls if start <= when < collect else steady)[address] += 1
        return list(steady.values()), list(polls.values())

    def phases(self) -> list[tuple[float, str]]:
        """The seconds that the tasks of each name took together, longest first."""
        marks = [*self.banners(), (self.end, "")]
        total: dict[str, float] = defaultdict(float)
        total["(before the first task)"] = marks[0][0] - self.start
        for (when, name), (after, _) in itertools.pairwise(marks):
            total[name] += after - when
        return sorted(((seconds, name) for name, seconds in total.items()), reverse=True)


def started(row: dict[str, str]) -> float:
    return float(row["start_time_epoch_s"])


def now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def playbook_command(playbook: Path, options: list[str], runner_directory: Path | None) -> list[str]:
    tools = Path(sys.executable).parent
    if not runner_directory:
        return [str(tools / "ansible-playbook"), *options, str(playbook)]
    private = tempfile.mkdtemp(prefix="runner-", dir=runner_directory)
    words = ["run", private, "--project-dir", str(runner_directory), "-p", str(playbook)]
    return [str(tools / "ansible-runner"), *words, f"--cmdline={shlex.join(options)}"]


def machine_processor_s() -> float:
    """The time for which the processors of this machine have not been idle since it was started."""
    user, nice, system, _idle, _wait, *interrupts = Path("/proc/stat").read_text().split("\n")[0].split()[1:8]
    return sum(map(int, (user, nice, system, *interrupts))) / os.sysconf("SC_CLK_TCK")


def certify(
    bed: Bed,
    directory: Path,
    forks: int,
    duration_s: float,
    tree: Path = PROJECT,
    profile: dict[str, Any] = PROFILE,
    by_runner: bool = False,
) -> Run:
    """Certify all hosts with the collection of a checkout, by default this one; ``by_runner``: with ansible-runner, as
    AWX does it."""
    calls = directory / "calls"
    calls.write_text("")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(Path.home()),
        "NO_COLOR": "1",
        "CALLS": str(calls),
        "ANSIBLE_CONFIG": str(tree / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(tree / "collections"),
        **bed.environment,
        # Otherwise, connections of an earlier run would still be open.
        "ANSIBLE_SSH_CONTROL_PATH_DIR": tempfile.mkdtemp(prefix="connections-", dir=directory),
        **counting_programs(directory),
    }
    variables = [
        "workspace_path=/fut/logdisk",
        f"sweep_duration={duration_s:g}",
        "sweep_warmup=0",
        "sweep_file_size=1M",
        "sweep_files=4",
        "sweep_rate=100",
        "tester_method=binary",
        f"gate_report_dir={directory}/reports",
    ]
    structured = json.dumps({"sweep_block_sizes": list(STEPS), "gate_profile": profile})
    extra = [word for variable in (*variables, structured) for word in ("-e", variable)]
    options = ["-i", str(directory / "hosts.yml"), "--forks", str(forks), *extra]
    command = playbook_command(tree / "playbooks/certify.yml", options, directory if by_runner else None)
    start, machine_s = now(), machine_processor_s()
    process = subprocess.Popen(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    screen = [(now(), line.rstrip("\n")) for line in process.stdout]
    _, status, used = os.wait4(process.pid, 0)
    end = now()
    process.returncode = os.waitstatus_to_exitcode(status)
    (directory / "screen").write_text("\n".join(f"{when - start:8.2f} {line}" for when, line in screen))
    if not (directory / "reports/latest").exists():
        raise SystemExit("\n".join(line for _, line in screen[-40:]))
    certification = Certification((directory / "reports/latest").resolve())
    return Run(
        start,
        end,
        processor_s=used.ru_utime + used.ru_stime,
        kernel_s=used.ru_stime,
        machine_s=machine_processor_s() - machine_s,
        memory_bytes=used.ru_maxrss << 10,
        status=process.returncode,
        screen=screen,
        calls=read_calls(calls),
        certification=certification,
    )


def counting_programs(directory: Path) -> dict[str, str]:
    """Make wrappers of the programs that ansible calls, and return their paths by the variables that name these
    programs."""
    for name in ("ssh", "sftp", "scp"):
        stand_in = directory / name
        stand_in.write_text(COUNTING.format(program=shutil.which(name)))
        stand_in.chmod(0o755)
    return {f"ANSIBLE_{name.upper()}_EXECUTABLE": str(directory / name) for name in ("ssh", "sftp", "scp")}


def read_calls(path: Path) -> list[tuple[float, str]]:
    """Return the time and the address of each call."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return [(float(when), re.sub(r"[^\d.].*", "", target.lstrip("["))) for when, target in lines]


def named(names: set[str], text: str) -> set[str]:
    """Return the names in the text of a page, in which nothing separates the cells of a table."""
    return {name for name in names if re.search(rf"\b{name}(?![0-9])", text)}


def complaints(run: Run, bed: Bed) -> list[str]:
    """Return the conditions that the certification does not meet."""
    names = {host.name for host in bed}
    # report.md names the hosts that did not pass, and the page of a large fleet has no details of the last hosts.
    complete = {
        form: verdicts
        for form, verdicts in run.certification.verdicts().items()
        if form not in ("report.md", "index.html")
    }
    missing = {form: sorted(names - set(verdicts)) for form, verdicts in complete.items()}
    missing["index.html"] = sorted(names - named(names, run.certification.html.text))
    found = [f"{form}: {len(hosts)} hosts without a verdict" for form, hosts in missing.items() if hosts]
    others = {
        name: record["verdict"] for name, record in run.certification.records.items() if record["verdict"] != "pass"
    }
    if others or run.status:
        found.append(f"status {run.status}, not passed: {others}")
    try:
        wait_for(lambda: not any(left_on(host) for host in bed), "nothing is left on the hosts", timeout_s=10)
    except TestbedError:
        found.append(f"left behind: { {host.name: left for host in bed if (left := left_on(host))} }")
    return found


def describe(run: Run, bed: Bed, load: float) -> list[str]:
    steady, polls = run.calls_a_host([host.address for host in bed])
    print(
        f"wall {run.wall_s:.1f} s, measuring {run.measuring_s:.1f} s, beyond measuring {run.beyond_s:.1f} s; "
        f"load average before {load:.1f}"
    )
    hosts = len(steady)
    print(
        f"processor time of ansible-playbook and its ssh clients: {run.processor_s:.1f} s, "
        f"{run.processor_s / hosts:.2f} s per host, {run.kernel_s / hosts:.2f} s of it in the kernel; "
        f"memory of its largest process: {run.memory_bytes / MIB:.0f} MiB"
    )
    print(
        f"processor time of the whole machine: {run.machine_s:.1f} s, on {os.cpu_count()} processors at least "
        f"{run.machine_s / os.cpu_count():.1f} s"
    )
    print(
        f"remote calls per host: {max(steady)} at most ({statistics.mean(steady):.1f} in the mean), "
        f"and {max(polls)} polls at most"
    )
    print(f"start skew: {run.skew_s * 1e3:.1f} ms at most from the planned instant of a step")
    print("most time under: " + ", ".join(f"{name} {seconds:.1f} s" for seconds, name in run.phases()[:9]))
    most = MEMORY_MAX + MEMORY_PER_HOST_MAX * hosts
    wrong = {
        f"{max(steady)} remote calls to one host, not counting polls": max(steady) > CALLS_MAX,
        f"{run.memory_bytes / MIB:.0f} MiB of memory": run.memory_bytes > most,
    }
    return [complaint for complaint, is_wrong in wrong.items() if is_wrong]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--forks", type=int, default=20)
    parser.add_argument(
        "--duration", type=float, default=5, help="seconds for each of two block sizes (default: %(default)s)"
    )
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--keep-screen", type=Path, help="the file for the output of the last run, with times")
    parser.add_argument("--runner", action="store_true", help="alternate with runs of ansible-runner, and compare them")
    options = parser.parse_args()
    wrong, runs = [], []
    with (
        tempfile.TemporaryDirectory(prefix="logdisk-scale-") as temporary,
        Bed(Settings(prefix=default_prefix("s"))) as bed,
    ):
        directory = Path(temporary)
        bed.up(
            HostSpec(f"h{number:04}", disk="tmpfs", size="64M", compiler=False)
            for number in range(1, options.hosts + 1)
        )
        bed.inventory(directory / "hosts.yml")
        first = certify(bed, directory, options.forks, 1)
        print(f"{options.hosts} hosts, forks {options.forks}, two block sizes of {options.duration:g} s each")
        print(
            f"the first run, which installs the tester: {first.wall_s:.1f} s, "
            f"{first.processor_s / options.hosts:.2f} s of processor time per host"
        )
        for _ in range(options.repeat):
            load = os.getloadavg()[0]
            run = certify(bed, directory, options.forks, options.duration)
            if options.keep_screen:
                shutil.copy(directory / "screen", options.keep_screen)
            if not run.rows:
                raise SystemExit("\n".join(line for _, line in run.screen[-40:]))
            wrong += [*describe(run, bed, load), *complaints(run, bed)]
            runs.append(run)
            if options.runner:
                other = certify(bed, directory, options.forks, options.duration, by_runner=True)
                wrong += complaints(other, bed)
                print(
                    f"processor time per host with ansible-runner: {other.processor_s / options.hosts:.2f} s, "
                    f"{other.processor_s / run.processor_s:.2f} times as much"
                )
        if options.repeat > 1:
            print(
                f"median of {options.repeat}: wall {statistics.median(run.wall_s for run in runs):.1f} s, "
                f"beyond measuring {statistics.median(run.beyond_s for run in runs):.1f} s"
            )
    print(
        "\n".join(f"FAILED: {complaint}" for complaint in wrong)
        or "every host is in the report, and nothing is left on any"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
