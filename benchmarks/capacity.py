#!/usr/bin/env python3
# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures the capacity of a disk that completes a known number of operations per second, for mailbox-2010 and
spc1-like, each with a list of loads and with a search.

    benchmarks/capacity.py [SECONDS]        SECONDS per load point, 30 by default

The disk is limited_disk.py below a loop device and ext4: one operation takes 5 ms for mailbox-2010 and 20 ms for
spc1-like, so the disk completes 200 or 50 operations per second. The workloads are those of the collection, reduced for
this disk. A BSU has 0.625 operations per second. Operations are not flushed, because a flush is more than one operation
for the disk. Maintenance reads 64 KiB at a time, and the log of the mailboxes is on a separate disk in memory. The code
of the collection judges the results and selects the next load.

A simulated queue with one server predicts the capacity and the response times: for spc1-like with the arrivals of the
tester's own trace, for mailbox-2010 with the same number of threads. The benchmark fails if a capacity differs by more
than 5 % from the expected one, or if a response time at a load up to the capacity differs by more than 10 % from the
simulated one. It needs root and the packages nbdkit, nbdkit-plugin-python, libnbd-bin and util-linux. The tester and
the disk run with real-time priority, but the kernel's workers between them do not, so a busy machine still slows the
disk down.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import heapq
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "collections"))

from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.capacity import Capacity, next_load  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.joined_tables import join_tables  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import Tables, parse_tables  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tester_options import command_line  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.reader import load_workload  # noqa: E402
from ansible_collections.mqops.logdisk.plugins.plugin_utils._workload.workload import Workload  # noqa: E402

ALONE = "LOGDISK_BENCHMARK_MOUNTS"
TESTER = PROJECT / "src/build/logdisk"
WORKLOADS = PROJECT / "roles/sweep/files/workloads"
OFF_CAPACITY, OFF_RESPONSE = 0.05, 0.10
FIFO = ("chrt", "--fifo")

MAILBOX, SPC = "mailbox-2010", "spc1-like"
SERVICE_S = {MAILBOX: 0.005, SPC: 0.020}
"""The time that the disk takes for an operation."""
PREPARATION_S = 12
"""How long before its planned start the tester is launched, so that it can write its files."""
LIMITS = {
    MAILBOX: {"metric": "latency_mean", "stream": "database", "operation": "read", "below": "200 ms"},
    SPC: {"metric": "response_mean", "stream": "all", "below": "240 ms"},
}
LISTS = {MAILBOX: (10, 20, 30, 34, 35, 36, 38, 42), SPC: (40, 60, 70, 74, 76, 78, 80)}
"""Load points around the expected capacity, close enough to find it within 5 %."""
FIRST = {MAILBOX: 8, SPC: 20}

Response = Callable[[int, Path], float]
"""Returns the simulated mean response time in seconds for a load. The directory contains the trace of that load."""


def small(name: str) -> Workload:
    """Return a workload of the collection that fits the disk."""
    data = yaml.safe_load((WORKLOADS / f"{name}.yml").read_text(encoding="utf-8"))
    for stream in data["streams"]:
        if name == SPC:
            stream.update(rate=f"{float(str(stream['rate']).removesuffix('*load')) / 80:g}*load", workers=64)
            stream.update({} if stream.get("read") == "100%" else {"sync": "none"})
        elif stream["name"] == "maintenance":
            stream.update(size="64K")
    for place in data["places"]:
        if place["name"] == "log":
            place["direct"] = False
    return load_workload({**data, "name": f"small-{name}"}, str(WORKLOADS))


def simulated(service: float, threads: int, arrivals: Iterable[float], seconds: float) -> tuple[float, float]:
    """Return the mean response times of a server that processes operations in order, for threads without pauses and for
    a list of arrivals."""
    free, events, sums = 0.0, [(0.0, thread, True) for thread in range(threads)], {True: [0.0, 0], False: [0.0, 0]}
    events += [(due, threads + number, False) for number, due in enumerate(arrivals)]
    heapq.heapify(events)
    while events:
        began, number, is_thread = heapq.heappop(events)
        if began >= seconds:
            break
        free = max(free, began) + service
        if not is_thread or free <= seconds:
            sums[is_thread][0] += free - began
            sums[is_thread][1] += 1
        if is_thread:
            heapq.heappush(events, (free, number, True))
    closed, opened = (total / count if count else 0.0 for total, count in (sums[True], sums[False]))
    return closed, opened


def of_mailbox(seconds: float) -> Response:
    """Return the simulated response of threads without pauses, with maintenance at equal intervals. The log has a
    separate disk."""
    return lambda load, dummy: simulated(
        SERVICE_S[MAILBOX], load, [each / 20 for each in range(int(20 * seconds))], seconds
    )[0]


def of_spc(seconds: float) -> Response:
    def response(load: int, work: Path) -> float:
        with (work / f"trace-{load}.csv").open(newline="") as file:
            arrivals = [int(row["due_offset_ns"]) / 1e9 for row in csv.DictReader(file)]
        return simulated(SERVICE_S[SPC], 0, arrivals, seconds)[1]

    return response


def expected_capacity(name: str) -> float:
    """Return the load at which the mean reaches its limit, according to Little's law, or according to the
    Pollaczek-Khinchine formula for random arrivals and constant service times."""
    service = SERVICE_S[name]
    if name == MAILBOX:
        return 0.200 * (1 / service - 20)
    limit = 0.240
    busy = 2 * (limit - service) / (2 * (limit - service) + service)
    return busy / service / 0.625


class Disk:
    """The place under test on the limited disk, and a separate place in memory for the log."""

    def __init__(self, work: Path, point: Path, seconds: int) -> None:
        self.work = work
        self.point = point
        self.seconds = seconds

    def measure(self, workload: Workload, loads: Iterable[int]) -> dict[str, bytes]:
        """Return the tables of a run of the tester."""
        folder = Path(tempfile.mkdtemp(dir=self.work))
        directories = []
        for place in workload.places:
            directory = (self.point if place.direct else folder) / place.name
            directory.mkdir(exist_ok=True)
            directories.append(str(directory))
        loads = list(loads)
        traced = ["--traceOperations=100000", f"--trace={folder}/trace.csv"]
        sizes = ["--fileSize=8M", "--numFiles=8", "--reserve=0", "--shareDevice"]
        command = [
            *command_line(workload.told),
            f"--load={','.join(map(str, loads))}",
            f"--dir={','.join(directories)}",
            *sizes,
            *traced,
        ]
        command += [f"--duration={self.seconds}", f"--tables={folder}/tables"]
        start_s = int(time.time()) + PREPARATION_S
        command.append(f"--startAt={start_s}")
        tester = subprocess.Popen(
            [*FIFO, "1", str(TESTER), *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        # Otherwise, the metadata of the new files would be written to the disk during the run.
        time.sleep(start_s - 2 - time.time())
        subprocess.check_call(["sync", "--file-system", str(self.point)])
        if tester.wait():
            raise SystemExit(f"{' '.join(command)}\n{tester.stderr.read()}")
        self._keep_traces(folder / "trace.csv")
        return {path.name: path.read_bytes() for path in (folder / "tables").iterdir()}

    def _keep_traces(self, path: Path) -> None:
        """Keep the trace of each load point in a separate file."""
        writers: dict[str, csv.DictWriter] = {}
        with contextlib.ExitStack() as files, path.open(newline="") as file:
            for row in csv.DictReader(file):
                load = row["load_point"]
                if load not in writers:
                    writers[load] = csv.DictWriter(
                        files.enter_context((self.work / f"trace-{load}.csv").open("w", newline="")), list(row)
                    )
                    writers[load].writeheader()
                writers[load].writerow(row)


def judged(name: str, tables: Tables, search: bool) -> Capacity:
    profile = load_profile({"name": "benchmark", "qualifies": {"confidence": "none"}, "limits": [LIMITS[name]]})
    found = judge_record(
        HostRecord("here", facts={"load_search": "each"} if search else {}), tables, profile, datetime.date.today()
    )
    return Capacity.from_dict(found["capacity"])


def by_list(name: str, disk: Disk) -> tuple[Capacity, Tables]:
    tables = parse_tables(disk.measure(small(name), LISTS[name]))
    return judged(name, tables, False), tables


def by_search(name: str, disk: Disk) -> tuple[Capacity, Tables]:
    rounds, load = [], FIRST[name]
    while load is not None:
        rounds.append(disk.measure(small(name), [load]))
        tables = parse_tables(join_tables(rounds))
        capacity = judged(name, tables, True)
        load = next_load(capacity.highest_passed, capacity.lowest_not_passed)
    return capacity, tables


def responses(name: str, tables: Tables) -> dict[int, float]:
    """Return the measured mean in seconds by load point."""
    limit = LIMITS[name]
    wanted = (limit["stream"], limit.get("operation", "all"), "all")
    column = f"{limit['metric']}_ns"
    return {
        row["load_point"]: row[column] / 1e9
        for row in tables.results
        if (row["stream"], row["operation"], row["worker"]) == wanted and row[column]
    }


def report(
    name: str, how: str, capacity: Capacity, tables: Tables, expected: float, response: Response, work: Path
) -> bool:
    """Print the measured values beside the expected ones, and return whether they agree."""
    found = capacity.highest_passed or 0
    off = found / expected - 1
    good = abs(off) <= OFF_CAPACITY
    print(
        f"{name} by {how}: {capacity.text(found)} found, {expected:.1f} expected, {100 * off:+.1f} "
        f"%{'' if good else ': TOO FAR OFF'}"
    )
    print(f"  above it, {capacity.as_dict()['reason']}")
    for load, measured in sorted(responses(name, tables).items()):
        simulated_s = response(load, work)
        difference = measured / simulated_s - 1
        wrong = load <= found and abs(difference) > OFF_RESPONSE
        good = good and not wrong
        print(
            f"  {load:5} {1e3 * measured:8.2f} ms, simulated {1e3 * simulated_s:8.2f} ms, {100 * difference:+6.1f} "
            f"%{': TOO FAR OFF' if wrong else ''}"
        )
    return good


@contextlib.contextmanager
def limited_disk(work: Path, service_s: float) -> Iterator[Path]:
    """Provide a file system on the limited disk, in our own mount namespace, which other processes do not inherit."""
    disk, point = work / "disk", work / "mount"
    work.mkdir()
    disk.touch()
    point.mkdir()
    plugin = [
        "python",
        str(PROJECT / "benchmarks/limited_disk.py"),
        "size=200M",
        "servers=1",
        f"service_us={1e6 * service_s:.0f}",
    ]
    socket = work / "socket"
    nbdkit = ["nbdkit", "--foreground", f"--unix={socket}", "--threads=4", *plugin]
    with contextlib.ExitStack() as undo:
        server = subprocess.Popen([*FIFO, "2", *nbdkit])
        undo.callback(server.wait)
        undo.callback(server.terminate)
        while not socket.exists():
            time.sleep(0.1)
        # Use many connections, because a request waits for the reply to the previous request on its connection. Without
        # a URI, there would be only one connection.
        fuse = subprocess.Popen([*FIFO, "2", "nbdfuse", "--connections=32", str(disk), f"nbd+unix:///?socket={socket}"])
        undo.callback(fuse.wait)
        undo.callback(subprocess.call, ["fusermount3", "-u", str(disk)])
        while disk.stat().st_size == 0:
            time.sleep(0.1)
        # Without direct I/O, the loop device would send one operation after the other.
        loop = subprocess.check_output(["losetup", "-f", "--show", "--direct-io=on", str(disk)], text=True).strip()
        undo.callback(subprocess.check_call, ["losetup", "-d", loop])
        subprocess.check_call(
            ["mkfs.ext4", "-q", "-F", "-b", "4096", "-O", "^has_journal", "-E", "lazy_itable_init=0", loop]
        )
        subprocess.check_call(["mount", "-o", "noatime,lazytime", loop, str(point)])
        undo.callback(subprocess.check_call, ["umount", str(point)])
        yield point


def main() -> None:
    if len(sys.argv) > 2 or not all(each.isdigit() for each in sys.argv[1:]):
        raise SystemExit(__doc__)
    if ALONE not in os.environ:
        os.execvp("unshare", ["unshare", "--mount", "env", f"{ALONE}=1", sys.executable, *sys.argv])
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    subprocess.check_call(["make", "-s", "-C", str(PROJECT / "src"), "build/logdisk"], stdout=subprocess.DEVNULL)
    work = Path(tempfile.mkdtemp(prefix="logdisk-benchmark-", dir="/dev/shm"))
    good = True
    try:
        for name, response in ((MAILBOX, of_mailbox(seconds)), (SPC, of_spc(seconds))):
            with limited_disk(work / name, SERVICE_S[name]) as point:
                disk = Disk(work / name, point, seconds)
                for how, find in (("list", by_list), ("search", by_search)):
                    began = time.monotonic()
                    found = find(name, disk)
                    good = report(name, how, *found, expected_capacity(name), response, work / name) and good
                    print(f"  in {time.monotonic() - began:.0f} s", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
