#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the overhead of acknowledging writes for a power cut, and the delay of acknowledgements. The commands are:

    benchmarks/acknowledge.py loop      through a pipe, with ext4 on a loop device over memory; needs root
    benchmarks/acknowledge.py disk      through a pipe, in DIR=/var/tmp on the machine's disk
    benchmarks/acknowledge.py ssh       over SSH, from a host of the test bed with ext4 on a loop device over memory;
                                        needs root and PYTHONPATH=tests

Each round runs the tester without and with --acknowledge, one immediately after the other, in alternating order. The
output contains medians, and the median and range of the ratios of all rounds. This process reads the acknowledgements,
as a witness does. The delay of an acknowledgement is the time from when the tester read its counts (its line `tick`) to
when this process received them. Both times are from the same clock, because the hosts of the test bed use the clock of
this machine. A loss cannot be detected if all of its writes were made within the last 1 ms plus such a delay. The
benchmark prints this bound at the end.
"""

import csv
import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tester

TICK_NS = 1_000_000
OPTIONS = [
    "--bsize=4K",
    "--fileSize=16M",
    "--numFiles=4",
    "--reserve=0",
    "--shareDevice",
    f"--duration={tester.SECONDS}",
]


class Place:
    """The place where the tester runs. `shell` is a command prefix to which a command for sh is appended as one
    word."""

    def __init__(self, directory, program=tester.LOGDISK, shell=("sh", "-c"), remote=False):
        self.directory, self.program, self.shell, self.remote = directory, program, list(shell), remote

    def start(self, *words, also=""):
        return subprocess.Popen(
            [*self.shell, shlex.join(words) + also],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def output(self, *words):
        process = self.start(*words)
        out, messages = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"failed: {shlex.join(words)}\n{messages.decode()}")
        return out.decode()


def arrived(stream):
    """Yields each complete line, and the time at which this process received it."""
    begun = b""
    while part := os.read(stream.fileno(), 65536):
        now_ns = time.monotonic_ns()
        *lines, begun = (begun + part).split(b"\n")
        yield from ((now_ns, line) for line in lines)


def listen(stream):
    """Returns the greatest count, and the delays of the acknowledgements."""
    count, delays = 0, []
    for now_ns, line in arrived(stream):
        kind, *words = line.split() or [b""]  # a run without --acknowledge prints other lines
        if kind == b"ack":
            count = max(count, int(words[1]))
        elif kind == b"tick":
            delays.append(now_ns - int(words[0]))
    return count, delays[1:]  # without the first delay, which includes a new connection


def minutes_s(text):
    minutes, seconds = text.rstrip("s").split("m")
    return 60 * int(minutes) + float(seconds)


def measure(place, *more):
    tables = f"{place.directory}/tables"
    before = resource.getrusage(resource.RUSAGE_SELF)
    # The last line of `times` is the processor time of the shell's children, which is that of the tester.
    process = place.start(
        place.program,
        f"--dir={place.directory}",
        f"--tables={tables}",
        *OPTIONS,
        *more,
        also="; status=$?; times >&2; exit $status",
    )
    count, delays = listen(process.stdout)
    _, status, used = os.wait4(process.pid, 0)
    after = resource.getrusage(resource.RUSAGE_SELF)
    messages = process.stderr.read().decode()
    if status != 0:
        raise SystemExit(f"the tester failed:\n{messages}")
    row = [
        row
        for row in csv.DictReader(place.output("cat", f"{tables}/results.csv").splitlines())
        if row["worker"] == "all"
    ][-1]
    writes = int(row["operations"])
    if "--acknowledge" in more:
        if count != writes:
            raise SystemExit(f"{writes} writes returned, {count} were acknowledged")
        place.output(place.program, "--removeAcknowledged", f"--dir={place.directory}")
    place.output("rm", "-r", tables)
    own_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ssh_s = used.ru_utime + used.ru_stime if place.remote else 0
    return {
        "writes_per_s": float(row["operations_per_s"]),
        "writer_us": sum(map(minutes_s, messages.split()[-2:])) * 1e6 / writes,
        "reader_us": (own_s + ssh_s) * 1e6 / writes,
        "reader_share": (own_s + ssh_s) / tester.SECONDS,
        "p50_ns": int(row["latency_p50_ns"]),
        "delays": delays,
    }


def percentile(values, percent):
    return sorted(values)[-(-len(values) * percent // 100) - 1]


def compare(title, place):
    results = tester.rounds(
        {"without": lambda: measure(place), "--acknowledge": lambda: measure(place, "--acknowledge")}
    )
    title = f"{title}, 4 KiB, {tester.ROUNDS} rounds of {tester.SECONDS} s; load average {os.getloadavg()[0]:.0f}"
    tester.table(title, results, ["writes_per_s", "p50_ns"], "without")
    for figure in ("writer_us", "reader_us", "reader_share"):
        print(
            f"{figure}, median: "
            + ", ".join(
                f"{name} {statistics.median(row[figure] for row in rows):.3f}" for name, rows in results.items()
            )
        )
    rows = results["--acknowledge"]
    delays = [delay for row in rows for delay in row["delays"]]
    p50_ns, p99_ns = percentile(delays, 50), percentile(delays, 99)
    print(
        f"delay of {len(delays)} acknowledgements: p50 {p50_ns / 1e6:.2f} ms, p99 {p99_ns / 1e6:.2f} ms, "
        f"longest {max(delays) / 1e6:.2f} ms"
    )
    bound_ns = TICK_NS + p99_ns
    rate = statistics.median(row["writes_per_s"] for row in rows)
    print(
        f"losses of less than {bound_ns / 1e6:.1f} ms or {bound_ns * rate / 1e9:.0f} writes could not be detected",
        flush=True,
    )


def over_ssh():
    from testbed import Bed, HostSpec

    with Bed() as bed:
        bed.up([HostSpec("writer", disk="ram", alone=True)])
        known = bed.host_variables(bed["writer"])
        shell = [
            "ssh",
            "-i",
            known["ansible_ssh_private_key_file"],
            *shlex.split(known["ansible_ssh_common_args"]),
            f"{known['ansible_user']}@{known['ansible_host']}",
        ]
        place = Place("/fut", "/root/logdisk", shell, remote=True)
        shutil.copy(tester.LOGDISK, bed["writer"].root / "root")
        compare("ext4 on a loop device over memory, over SSH", place)


def main():
    place = sys.argv[1] if len(sys.argv) == 2 else ""
    subprocess.check_call(["make", "-s", "-C", tester.SRC, "build/logdisk"], stdout=subprocess.DEVNULL)
    if place == "loop":
        with tempfile.TemporaryDirectory(dir="/dev/shm") as work, tester.loop(work, "ext4") as point:
            compare("ext4 on a loop device over memory, through a pipe", Place(point))
    elif place == "disk":
        with tempfile.TemporaryDirectory(dir=os.environ.get("DIR", "/var/tmp")) as directory:
            compare(f"{Path(directory).parent}, through a pipe", Place(directory))
    elif place == "ssh":
        over_ssh()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
