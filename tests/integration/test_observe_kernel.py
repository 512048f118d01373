# SPDX-License-Identifier: GPL-3.0-or-later
"""bpftrace reports the same writes and calls as the programs that make them, no matter how the observation and the
observed program end."""

import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.buckets import upper_ns
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.interval import Observation, Options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.samples import read_samples
from ansible_collections.mqops.logdisk.plugins.plugin_utils._observe.sources import bpftrace
from ansible_runs import PROJECT
from testbed.shell import run, wait_for

HERE = Path(__file__).parent
MS = 1_000_000
AGREE = 0.02
LONG_S = 300
"""How long the observation of a program may take. It ends when the program ends."""

# tracefs is mounted only for the test.
IN_TRACING = 'mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing; exec "$@"'


def lacking() -> str:
    """Why this machine cannot trace; empty if it can."""
    if "tracefs" not in Path("/proc/filesystems").read_text():
        return "the kernel has no tracefs"
    missing = [
        path for path in ("/sys/kernel/btf/vmlinux", "/sys/bus/event_source/devices/uprobe") if not Path(path).exists()
    ]
    return f"the kernel has no {missing[0]}" if missing else ""


pytestmark = pytest.mark.skipif(bool(lacking()), reason=lacking() or "-")


class Observer:
    """A source in a separate process, in a mount namespace with tracefs, and its output so far."""

    def __init__(self, folder: Path, **options: object) -> None:
        self.path = folder / f"samples-{time.monotonic_ns()}"
        self.options = {
            "duration_s": LONG_S,
            "calls": [],
            "log_path": "",
            "command": [],
            "pid": 0,
            "library": "",
            **options,
        }
        command = [
            "unshare",
            "--mount",
            "sh",
            "-c",
            IN_TRACING,
            "sh",
            sys.executable,
            str(HERE / "observe_source.py"),
            json.dumps(self.options),
        ]
        with self.path.open("wb") as output:
            environment = {**os.environ, "PYTHONPATH": str(PROJECT / "collections")}
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, env=environment, start_new_session=True
            )

    def lines(self) -> list[dict]:
        return [json.loads(line) for line in self.path.read_text().splitlines(keepends=True) if line.endswith("\n")]

    def said(self, kind: str) -> bool:
        return any(f'{{"{kind}":' in line.get("text", "") for line in self.lines())

    def wait_for(self, kind: str) -> None:
        wait_for(lambda: self.said(kind) or self.process.poll() is not None, f"bpftrace tells of {kind}")
        assert self.said(kind), self.path.read_text()

    def observation(self) -> Observation:
        """Wait until the observation has ended, and return it."""
        self.process.wait(2 * LONG_S)
        samples = read_samples(self.path.read_bytes())
        assert samples.end == "finished", self.path.read_text()
        return bpftrace.read(samples.samples, Options("QM1", duration_s=self.options["duration_s"]))

    def reason(self) -> str:
        """Wait until the observation has failed, and return the reason."""
        self.process.wait(2 * LONG_S)
        return self.lines()[-1]["reason"]

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@pytest.fixture
def observe(tmp_path: Path) -> Iterator[Callable[..., Observer]]:
    """observe(calls=[...], ...) starts an observer, which ends with the test."""
    observers: list[Observer] = []

    def start(**options: object) -> Observer:
        observers.append(Observer(tmp_path, **options))
        return observers[-1]

    yield start
    for observer in observers:
        observer.end()


@pytest.fixture(scope="module")
def mqi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with libmqm_r.so and an application that calls it."""
    folder = tmp_path_factory.mktemp("mqi")
    compiler = [
        "cc",
        "-std=c11",
        "-D_GNU_SOURCE",
        "-O1",
        "-fno-optimize-sibling-calls",
        "-Wall",
        "-Wextra",
        "-Wno-unused-parameter",
        "-Werror",
    ]
    run(*compiler, "-shared", "-fPIC", "-o", f"{folder}/libmqm_r.so", f"{HERE}/mqi/library.c")
    run(
        *compiler,
        "-pthread",
        "-o",
        f"{folder}/application",
        f"{HERE}/mqi/application.c",
        f"-L{folder}",
        "-lmqm_r",
        f"-Wl,-rpath,{folder}",
    )
    return folder


@pytest.fixture(scope="module")
def log_writer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A logger that writes in the ways that log_writer.c names."""
    program = tmp_path_factory.mktemp("writer") / "log_writer"
    run(
        "cc",
        "-std=c11",
        "-D_GNU_SOURCE",
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-o",
        str(program),
        f"{HERE}/log_writer.c",
    )
    return program


def account(path: Path) -> dict[str, list[int]]:
    """Return the durations of the calls as measured by the application itself, in order."""
    found: dict[str, list[int]] = {}
    for line in path.read_text().splitlines():
        call, ns = line.split()
        found.setdefault(call, []).append(int(ns))
    return found


def total(observation: Observation, stream: str) -> tuple[int, float]:
    """Return the operations of a stream, and their mean."""
    seconds = [second for second in observation.seconds if second.stream == stream]
    operations = sum(second.operations for second in seconds)
    return operations, sum(second.latency_sum_ns for second in seconds) / max(1, operations)


def histograms(observer: Observer) -> dict[int, dict[int, int]]:
    """Return the histogram of the log in each second, by upper bound."""
    seconds = [
        json.loads(line["text"])["second"] for line in observer.lines() if line.get("text", "").startswith('{"second"')
    ]
    return {
        second["number"]: {upper_ns(int(bucket)): n for bucket, n in second["streams"]["log"]["buckets"].items()}
        for second in seconds
    }


def percentile(counts: dict[int, int], share: float) -> int:
    seen, wanted = 0, share * sum(counts.values())
    for latency_ns in sorted(counts):
        seen += counts[latency_ns]
        if seen >= wanted:
            return latency_ns
    raise AssertionError("no operations")


def processes_below(pid: int) -> dict[int, str]:
    """Return the names of the processes that a process started, by process ID."""
    found = {}
    for child in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
        found[child] = Path(f"/proc/{child}/comm").read_text().strip()
        found.update(processes_below(child))
    return found


def end_bpftrace(observer: Observer) -> None:
    """End the observation as a request to end would: bpftrace prints the data that it has."""
    (bpftrace_pid,) = [pid for pid, name in processes_below(observer.process.pid).items() if name == "bpftrace"]
    os.kill(bpftrace_pid, signal.SIGTERM)


def code_of(pid: int, library: Path, function: str) -> bytes:
    """Return the first bytes of a function in the memory of a process: a probe replaces them with a breakpoint."""
    offset = int(
        next(line for line in run("nm", "-D", str(library)).splitlines() if line.endswith(f" {function}")).split()[0],
        16,
    )
    first = next(
        line for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if line.endswith(f"/{library.name}")
    )
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        memory.seek(int(first.split("-")[0], 16) + offset)
        return memory.read(8)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.thorough
def test_calls_are_counted_as_the_application_counts_them(observe, mqi, tmp_path):
    groups = ["4:MQPUT:constant:100:2000000", "2:MQCMIT:bursty:100:1000000", "1:MQPUT:constant:5000:0"]
    observer = observe(
        command=[f"{mqi}/application", f"{tmp_path}/account", *groups],
        calls=["MQPUT", "MQCMIT"],
        library=f"{mqi}/libmqm_r.so",
    )
    observation, own = observer.observation(), account(tmp_path / "account")
    assert observation.facts["program"] == "ended with status 0"
    assert not observation.ending
    for call, durations in own.items():
        operations, mean_ns = total(observation, call)
        assert operations == len(durations)
        assert mean_ns == pytest.approx(sum(durations) / len(durations), rel=AGREE)
    assert sum(sum(counts.values()) for counts in observation.histograms.values()) == sum(map(len, own.values()))


@pytest.mark.thorough
def test_no_write_is_lost_at_a_high_rate(observe):
    """The maps are read while the kernel counts in them. If bpftrace is asked to end, it prints the data that it
    has."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        observer = observe(log_path=memory)
        observer.wait_for("base")
        run("dd", "if=/dev/zero", f"of={memory}/file", "bs=1", "count=3000000", "oflag=dsync")
        end_bpftrace(observer)
        observation = observer.observation()
    assert total(observation, "log")[0] == sum(second.bytes for second in observation.seconds) == 3_000_000
    assert observation.ending == "bpftrace ended early"


@pytest.mark.thorough
def test_each_new_maximum_is_told_once(observe, mqi, tmp_path):
    command = [
        f"{mqi}/application",
        f"{tmp_path}/account",
        "1:MQCMIT:growing:12:10000000",
        "1:MQCMIT:constant:20:1000000",
    ]
    observation = observe(command=command, calls=["MQCMIT"], library=f"{mqi}/libmqm_r.so").observation()
    durations = account(tmp_path / "account")["MQCMIT"]
    own = [ns for index, ns in enumerate(durations) if ns > max(durations[:index], default=0)]
    # Single calls may differ, because other processes may run between the probe and the application's own clock.
    assert [maximum.new_ns for maximum in observation.maxima] == pytest.approx(own, abs=5 * MS)
    assert observation.maxima[0].previous_ns is None
    assert all(after.previous_ns == before.new_ns for before, after in pairwise(observation.maxima))
    assert observation.maxima[-1].new_ns == max(second.latency_max_ns or 0 for second in observation.seconds)
    assert [stall.latency_ns for stall in observation.stalls][:1] == [observation.maxima[-1].new_ns]


@pytest.mark.thorough
def test_calls_within_calls_and_calls_that_never_return(observe, mqi, tmp_path):
    groups = [
        "2:MQPUT:left:50:1000000",
        "2:MQPUT:deep:20:2000000",
        "1:MQPUT:stuck:1:1000000",
        "1:MQPUT:constant:100:2000000",
    ]
    stopped = ["sh", "-c", 'kill -STOP $$; exec "$@"', "sh"]
    application = subprocess.Popen([*stopped, f"{mqi}/application", f"{tmp_path}/account", *groups, "wait"])
    observer = observe(pid=application.pid, calls=["MQPUT"], library=f"{mqi}/libmqm_r.so")
    try:
        observer.wait_for("base")
        application.send_signal(signal.SIGCONT)
        wait_for((tmp_path / "account").exists, "the application has made its calls")
    finally:
        application.kill()
        application.wait()
    observation = observer.observation()
    assert observation.ending == f"process {application.pid} ended"
    assert total(observation, "MQPUT")[0] == 2 * 20 * 4 + 100
    # Each call is counted under its own name.
    assert min(second.latency_min_ns for second in observation.seconds if second.operations) >= 2 * MS
    assert max(second.latency_max_ns for second in observation.seconds if second.operations) <= (1 + AGREE) * max(
        account(tmp_path / "account")["MQPUT"]
    )


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("words", "facts", "ending"),
    [
        (["kill"], "was killed by signal 9", "the program was killed by signal 9"),
        (["exit=3"], "ended with status 3", "the program ended with status 3"),
    ],
)
def test_how_a_program_ended_is_told(observe, mqi, tmp_path, words, facts, ending):
    command = [f"{mqi}/application", f"{tmp_path}/account", "1:MQPUT:constant:10:1000000", *words]
    observation = observe(command=command, calls=["MQPUT"], library=f"{mqi}/libmqm_r.so").observation()
    assert (observation.facts["program"], observation.ending) == (facts, ending)
    assert total(observation, "MQPUT")[0] == 10


@pytest.mark.thorough
def test_a_program_that_never_starts(observe, mqi, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/nonexistent\n")
    broken.chmod(0o755)
    reasons = {
        name: observe(command=[name], calls=["MQPUT"], library=f"{mqi}/libmqm_r.so").reason()
        for name in ("/nonexistent", str(broken))
    }
    assert reasons == {
        "/nonexistent": "observe_command: there is no program /nonexistent",
        str(broken): f"observe_command: {broken} could not be started (status 127 of the shell)",
    }


@pytest.mark.thorough
def test_what_cannot_be_watched_is_refused_by_name(observe, mqi):
    assert (
        "has no function MQFOO: correct observe_calls"
        in observe(calls=["MQFOO"], library=f"{mqi}/libmqm_r.so").reason()
    )
    assert "there is no library /nonexistent.so" in observe(calls=["MQPUT"], library="/nonexistent.so").reason()
    assert "observe_pid: there is no process" in observe(calls=["MQPUT"], pid=2**30).reason()


@pytest.mark.thorough
def test_log_writes_are_those_of_the_tester(observe, tmp_path, tester):
    """The tester is observed instead of a logger, on this machine's disk. The observation reports exactly its writes
    and their distribution."""
    log, tables = tmp_path / "log/active", tmp_path / "tables"
    log.mkdir(parents=True)
    observer = observe(log_path=str(log.parent), duration_s=30)
    observer.wait_for("base")
    start = int(time.time()) + 10
    # 2 % of the duration of a 1 MiB write is longer than a probe takes.
    sizes = ["--bsize=1M", "--fileSize=8M", "--numFiles=4", "--reserve=0", "--shareDevice"]
    options = [f"--dir={log}", f"--tables={tables}", "--duration=8", f"--startAt={start}", *sizes]
    subprocess.run([tester, *options], check=True, stdout=subprocess.DEVNULL)
    observation = observer.observation()
    seen = histograms(observer)
    # The tester formats its files first, and then writes nothing until its planned start.
    idle = max(
        second.number
        for second in observation.seconds
        if not second.operations and observation.start_epoch_s + second.number < start
    )
    measured = [second for second in observation.seconds if second.number > idle]
    row = next(csv.DictReader((tables / "results.csv").open()))
    assert sum(second.operations for second in measured) == int(row["operations"])
    assert sum(second.bytes for second in measured) == int(row["bytes"])
    counts = Counter()
    for second in measured:
        counts.update(seen[second.number])
    for column, share in (("latency_p50_ns", 0.5), ("latency_p99_ns", 0.99)):
        assert percentile(counts, share) == pytest.approx(int(row[column]), rel=AGREE), column


@pytest.mark.thorough
@pytest.mark.parametrize(("way", "writes"), [("flushed", 1), ("grouped", 3), ("flagged", 1)])
def test_a_log_write_ends_when_its_data_are_on_the_disk(observe, log_writer, tmp_path, way, writes):
    """A write that only reaches the page cache is part of a log write that ends with the next flush."""
    log, own = tmp_path / "log", tmp_path / "account"
    log.mkdir()
    observer = observe(log_path=str(log))
    observer.wait_for("base")
    run(str(log_writer), str(log / "file"), str(own), way, "200")
    end_bpftrace(observer)
    observation, durations = observer.observation(), account(own)["log"]
    operations, mean_ns = total(observation, "log")
    assert (operations, sum(second.bytes for second in observation.seconds)) == (200, 200 * writes * 4096)
    # The figures may differ, because other processes may run between two calls of the logger. Without its flush, a
    # write would take a hundredth of this time.
    own_ns = sum(durations) / len(durations)
    assert own_ns / 2 < mean_ns <= own_ns
    assert not [problem for problem in observation.problems if "files" in problem]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("way", "sentence"),
    [
        ("aio", " were not made by a write call but in another way, such as io_uring or asynchronous I/O (AIO)"),
        ("uring", " were not made by a write call but in another way, such as io_uring or asynchronous I/O (AIO)"),
        ("unflushed", "500 writes to log files were neither synchronous (O_DSYNC) nor flushed"),
    ],
)
def test_writes_that_cannot_be_timed_are_named(observe, log_writer, tmp_path, way, sentence):
    """Writes that bpftrace cannot time are reported, and no figure is computed from the other writes alone."""
    log = tmp_path / "log"
    log.mkdir()
    observer = observe(log_path=str(log))
    observer.wait_for("base")
    run(str(log_writer), str(log / "file"), str(tmp_path / "account"), "dsync", "20" if way != "unflushed" else "0")
    run(str(log_writer), str(log / "file"), str(tmp_path / "account"), way, "500")
    end_bpftrace(observer)
    observation = observer.observation()
    assert sentence in observation.problems[0]
    assert not any(second.operations for second in observation.seconds)
    assert observation.intervals and not any(each.operations for each in observation.intervals)


@pytest.mark.thorough
def test_nothing_is_left_of_a_bpftrace_that_is_killed(observe, mqi, tmp_path):
    """The observer reports why it ends, and the kernel removes its probes from the code of the application, which
    continues to run."""
    application = subprocess.Popen([f"{mqi}/application", f"{tmp_path}/account", "wait"])
    try:
        wait_for((tmp_path / "account").exists, "the application runs")
        before = code_of(application.pid, mqi / "libmqm_r.so", "MQPUT")
        observer = observe(pid=application.pid, calls=["MQPUT"])
        observer.wait_for("base")
        assert code_of(application.pid, mqi / "libmqm_r.so", "MQPUT") != before
        children = processes_below(observer.process.pid)
        (bpftrace_pid,) = [pid for pid, name in children.items() if name == "bpftrace"]
        os.kill(bpftrace_pid, signal.SIGKILL)
        assert "was killed by signal 9" in observer.reason()
        wait_for(lambda: code_of(application.pid, mqi / "libmqm_r.so", "MQPUT") == before, "the probes are gone")
        assert not any(map(alive, children))
    finally:
        application.kill()
        application.wait()


@pytest.mark.thorough
def test_nothing_is_left_of_an_observer_that_is_killed(observe, mqi, tmp_path):
    observer = observe(
        calls=["MQPUT"], command=[f"{mqi}/application", f"{tmp_path}/account", "wait"], library=f"{mqi}/libmqm_r.so"
    )
    observer.wait_for("base")
    children = processes_below(observer.process.pid)
    assert {"bpftrace", "application"} <= set(children.values())
    observer.process.kill()
    observer.process.wait()
    wait_for(lambda: not any(map(alive, children)), "all that it started has ended")
