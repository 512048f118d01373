# SPDX-License-Identifier: GPL-3.0-or-later
"""Power cuts of virtual machines (guests of QEMU, without KVM). README.md describes the commands:

guests.py replay    1,000 states that an honest disk may be in after a cut: the check must convict none of them
guests.py cut       guests whose disk and QEMU are killed: virtio must keep everything, and NVMe what was flushed
"""

from __future__ import annotations

import contextlib
import csv
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kernel import PROJECT, image, kernel, run
from write_log import SECTOR, Entry, entries

HERE = Path(__file__).resolve().parent
TESTER = PROJECT / "src/build/static/logdisk"
DISK_PLUGIN = PROJECT / "tests/testbed/cutdisk.py"
FILE_SYSTEMS = ("ext4", "xfs")
DEVICES = {
    "virtio": ("virtio-blk-pci", "vda", "vdb"),
    "nvme": ("nvme", "nvme0n1", "vda"),
}  # of QEMU; the disk; the disk with the log
SIZES = {"ext4": 64 << 20, "xfs": 320 << 20}  # mkfs.xfs refuses less than 300 MB
LOG_BYTES = 4 << 30  # sparse
VIRTIO = ("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "virtio_blk")
MODULES = (*VIRTIO, "libcrc32c", "xfs", "dm-mod", "dm-log-writes")  # in the order of their dependencies
STATES = int(os.environ.get("STATES", "1000"))
LIES = 10  # for each recording
SECONDS = int(os.environ.get("SECONDS", "3"))
CUTS = int(os.environ.get("CUTS", "1"))
KEPT, LOST = 0, 5
LONGEST_S = 600


# The parts of a guest


def initramfs(path: Path) -> None:
    root = path.parent / "root"
    for folder in ("bin", "dev", "proc", "sys", "mnt", "modules", "sbin"):
        (root / folder).mkdir(parents=True)
    shutil.copy(HERE / "guest-init", root / "init")
    shutil.copy("/bin/busybox", root / "bin")
    shutil.copy(TESTER, root / "bin")
    program = shutil.which("dmsetup")
    shutil.copy(program, root / "bin")
    for library in re.findall(r"(/\S+)", run("ldd", program)):
        (root / library.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library.lstrip("/"))
    for module in MODULES:
        shutil.copy(next(kernel().rglob(f"{module}.ko")), root / "modules")
    (root / "modules/order").write_text("\n".join(MODULES) + "\n")
    subprocess.run(f"find . | cpio --quiet --create --format=newc | gzip -1 > {path}", shell=True, cwd=root, check=True)


@dataclass
class Workshop:
    """A directory in memory."""

    path: Path

    @property
    def medium(self) -> Path:
        return self.path / "medium"

    @property
    def log(self) -> Path:
        return self.path / "log"

    @property
    def acknowledged(self) -> Path:
        return self.path / "acknowledged"

    def make_medium(self, file_system: str) -> None:
        self.medium.unlink(missing_ok=True)
        with self.medium.open("wb") as file:
            file.truncate(SIZES[file_system])
        run(f"mkfs.{file_system}", "-q", *(["-F", "-b", "4096"] if file_system == "ext4" else ["-f"]), self.medium)

    @contextlib.contextmanager
    def guest(
        self, device: str, file_system: str, disk: str, recorded: bool, seconds: int
    ) -> Iterator[subprocess.Popen]:
        model, name, log = DEVICES[device]
        words = f"disk={name} file_system={file_system} seconds={seconds} seed={random.randrange(1, 2**32)}" + (
            f" log={log}" if recorded else ""
        )
        # Without no_timer_check, the kernel's test of the timer may fail on a busy machine.
        line = f"console=ttyS0 quiet mitigations=off panic=-1 no_timer_check {words}"
        command = [
            "qemu-system-x86_64",
            "-accel",
            "tcg",
            "-M",
            "q35",
            "-cpu",
            "max",
            "-smp",
            "1",
            "-m",
            "256",
            "-nodefaults",
            "-no-reboot",
            "-display",
            "none",
        ]
        command += ["-serial", f"file:{self.path}/console", "-serial", f"file:{self.acknowledged}"]
        command += [
            "-drive",
            f"{disk},format=raw,if=none,id=disk,cache=writeback",
            "-device",
            f"{model},drive=disk,serial=1",
        ]
        if recorded:
            self.log.unlink(missing_ok=True)
            with self.log.open("wb") as file:
                file.truncate(LOG_BYTES)
            command += ["-drive", f"file={self.log},format=raw,if=none,id=log", "-device", "virtio-blk-pci,drive=log"]
        command += [
            "-kernel",
            str(image()),
            "-initrd",
            f"{self.path}/initrd",
            "-append",
            line,
        ]
        self.acknowledged.unlink(missing_ok=True)
        with (self.path / "messages").open("wb") as messages:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=messages, stderr=messages)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @property
    def console(self) -> str:
        """Adds the output of QEMU."""
        return "".join(
            (self.path / name).read_text(errors="replace")
            for name in ("messages", "console")
            if (self.path / name).exists()
        )

    @property
    def facts(self) -> str:
        return (re.findall(r"(device .*)", self.console) or [self.console])[-1].strip()


def wait_for(condition, what: str, workshop: Workshop) -> None:
    deadline = time.monotonic() + LONGEST_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {LONGEST_S} s: {what}\n{workshop.console}")
        time.sleep(0.02)


@contextlib.contextmanager
def mounted(image: Path) -> Iterator[Path]:
    point = image.parent / "mnt"
    point.mkdir(exist_ok=True)
    run("mount", "-o", "loop", image, point)
    try:
        yield point
    finally:
        run("umount", point)


def check(image: Path, acknowledged: str) -> tuple[int, dict[str, str], str]:
    """Return the exit status, the row for all queue managers together, and the tester's output."""
    tables = image.parent / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    (image.parent / "witness").write_text(acknowledged)
    with mounted(image) as point:
        command = [TESTER, f"--checkAcknowledged={image.parent}/witness", f"--dir={point}/log", f"--tables={tables}"]
        done = subprocess.run(
            [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
    rows = {}
    if (tables / "durability.csv").exists():
        with (tables / "durability.csv").open() as file:
            rows = {row["worker"]: row for row in csv.DictReader(file)}
    return done.returncode, rows.get("all", {}), done.stdout


# The states of an honest disk


@dataclass
class State:
    """A state with all entries before `end`, and some sectors of later entries that had not been flushed yet. If the
    disk ignores flushes, one entry is left out."""

    end: int
    acknowledged: str
    seed: int
    without: int = -1


def states(log: list[Entry], ready: str, count: int) -> list[State]:
    """Randomly selects states after the first moment at which a loss can be proven."""
    begin = next(number for number, entry in enumerate(log) if entry.mark == "ready")
    boundaries = [number + 1 for number in range(begin, len(log)) if log[number].is_boundary]
    chosen = sorted(
        random.choices(boundaries, k=count) if len(boundaries) < count else random.sample(boundaries, count)
    )
    found, counts, at = [], {}, 0
    for end in chosen:
        for entry in log[at:end]:
            if ":" in entry.mark:
                writer, _, number = entry.mark.partition(":")
                counts[writer] = number
        at = end
        acknowledged = ready + "".join(f"ack {writer} {number}\n" for writer, number in counts.items())
        found.append(State(end, acknowledged, random.randrange(2**32)))
    return found


def unsettled(log: list[Entry], state: State) -> Iterator[tuple[int, bytes]]:
    """Randomly selects the data that had reached an honest disk before it was flushed: any sectors of the writes up to
    the next boundary, or, in half of the states, nothing."""
    chance = random.Random(state.seed)
    if chance.random() < 0.5:
        return
    for entry in log[state.end :]:
        for at in range(0, 0 if entry.flags & ~3 else len(entry.data), SECTOR):
            if chance.random() < 0.5:
                yield entry.offset + at, entry.data[at : at + SECTOR]
        if entry.is_boundary:
            return


def apply(image, log: list[Entry]) -> None:
    for entry in log:
        if entry.data and not entry.mark:
            image.seek(entry.offset)
            image.write(entry.data)


def replay(
    workshop: Workshop, log: list[Entry], found: list[State]
) -> Iterator[tuple[State, tuple[int, dict[str, str], str]]]:
    """Yield each state with the result of the check. The medium must be in the same state as before the recording. It
    is updated from one state to the next."""
    at, scratch = 0, workshop.path / "scratch"
    with workshop.medium.open("r+b") as medium:
        for state in found:
            apply(medium, log[at : state.end])
            at = state.end
            medium.flush()
            run("cp", "--sparse=always", workshop.medium, scratch)
            with scratch.open("r+b") as image:
                for offset, data in unsettled(log, state):
                    image.seek(offset)
                    image.write(data)
            yield state, check(scratch, state.acknowledged)


def without_one(log: list[Entry], state: State) -> list[Entry]:
    """Return the log of a disk that dropped one write, which was not the last of its queue manager."""
    writes = [number for number in range(state.end) if log[number].writer]
    last = {log[number].writer: number for number in writes}
    dropped = random.choice([number for number in writes[-100:] if number not in last.values()])
    return log[:dropped] + [Entry(0, log[dropped].flags, b"")] + log[dropped + 1 :]


def record(workshop: Workshop, device: str, file_system: str) -> tuple[list[Entry], str]:
    workshop.make_medium(file_system)
    before = workshop.path / "before"
    run("cp", "--sparse=always", workshop.medium, before)
    with workshop.guest(device, file_system, f"file={workshop.medium}", True, SECONDS) as guest:
        wait_for(lambda: guest.poll() is not None, "the guest powers off", workshop)
    before.rename(workshop.medium)
    text = workshop.acknowledged.read_text().replace("\r\n", "\n") if workshop.acknowledged.exists() else ""
    if "end time" not in text:
        raise SystemExit(f"the guest did not write to the end:\n{workshop.console}")
    return list(entries(workshop.log)), text.splitlines(keepends=True)[0]


def replay_all(workshop: Workshop) -> list[str]:
    complaints: list[str] = []
    combinations = [(device, file_system) for device in DEVICES for file_system in FILE_SYSTEMS]
    for device, file_system in combinations:
        log, ready = record(workshop, device, file_system)
        flags = Counter("FUA" if entry.flags & 2 else "flush" for entry in log if entry.is_boundary)
        marks = sum(":" in entry.mark for entry in log)
        contents = f"{len(log)} entries, {flags['flush']} flushes, {flags['FUA']} FUA, {marks} acknowledgements"
        print(f"{device}, {file_system}: {workshop.facts}; {contents}", flush=True)
        pristine = workshop.path / "pristine"
        run("cp", "--sparse=always", workshop.medium, pristine)
        found = states(log, ready, STATES // len(combinations))
        in_flight: Counter[str] = Counter()
        for state, (status, row, text) in replay(workshop, log, found):
            in_flight[row.get("in_flight", "")] += 1
            if status != KEPT:
                complaints.append(f"{device}, {file_system}: status {status} at entry {state.end}\n{text}")
        print(f"  {len(found)} states, {len(complaints)} convicted so far; in flight: {dict(in_flight)}", flush=True)
        convicted = 0
        for state in random.choices(found[len(found) // 2 :], k=LIES):
            run("cp", "--sparse=always", pristine, workshop.medium)
            convicted += sum(answer[0] == LOST for _state, answer in replay(workshop, without_one(log, state), [state]))
        print(f"  one write left out: {convicted} of {LIES} convicted", flush=True)
        if convicted < LIES:
            complaints.append(
                f"{device}, {file_system}: a write was left out, and that was seen in {convicted} of {LIES} states only"
            )
    return complaints


# The cut


@contextlib.contextmanager
def disk(workshop: Workshop) -> Iterator[subprocess.Popen]:
    """An honest disk whose cache is lost with its process. Its log contains the requests of QEMU."""
    socket = workshop.path / "socket"
    socket.unlink(missing_ok=True)
    words = [f"medium={workshop.medium}", "character=honest", f"logfile={workshop.path}/requests"]
    process = subprocess.Popen(["nbdkit", "-f", "-U", str(socket), "--filter=log", "python", str(DISK_PLUGIN), *words])
    try:
        wait_for(socket.exists, "nbdkit answers", workshop)
        yield process
    finally:
        process.kill()
        process.wait()


def cut_one(workshop: Workshop, device: str, file_system: str) -> list[str]:
    workshop.make_medium(file_system)
    with (
        disk(workshop) as server,
        workshop.guest(device, file_system, f"file=nbd:unix:{workshop.path}/socket", False, LONGEST_S) as guest,
    ):

        def is_writing() -> bool:
            if guest.poll() is not None:
                raise SystemExit(f"the guest ended\n{workshop.console}")
            return workshop.acknowledged.exists() and "\nack" in workshop.acknowledged.read_text()

        wait_for(is_writing, "the guest writes", workshop)
        time.sleep(SECONDS)
        server.send_signal(signal.SIGKILL)  # first, so that no acknowledgement is lost before the disk ends
        guest.kill()
    text = workshop.acknowledged.read_text().replace("\r\n", "\n")
    status, row, said = check(workshop.medium, text)
    requests = (workshop.path / "requests").read_text()
    # For each request, the log shows when it arrived and, after dots, when it was answered.
    flushes = len(re.findall(r"(?<!\.)\b(?:Flush id=|Write id=.* fua=1)", requests))
    writes = int(row.get("acknowledged_writes") or 0)
    # A flush may cover the writes of both writers.
    expected = KEPT if flushes >= writes / 4 else LOST
    outcome = {KEPT: "kept", LOST: "lost"}.get(status, f"status {status}: {said}")
    print(
        f"{device}, {file_system}: {workshop.facts}; {writes} writes acknowledged, {flushes} flushes "
        f"and FUA at the disk: {outcome}",
        flush=True,
    )
    if status == LOST:
        print(
            f"  lost tail {row['lost_tail_writes']}, out of order {row['lost_out_of_order_writes']}, "
            f"metadata {row['metadata_lost']}",
            flush=True,
        )
    if status != expected or (device == "virtio" and status != KEPT):
        return [f"{device}, {file_system}: {outcome}, expected status {expected}\n{said}"]
    return []


def cut_all(workshop: Workshop) -> list[str]:
    combinations = [
        (device, file_system) for device in DEVICES for file_system in FILE_SYSTEMS for _number in range(CUTS)
    ]
    return [complaint for combination in combinations for complaint in cut_one(workshop, *combination)]


def main() -> None:
    commands = {"replay": replay_all, "cut": cut_all}
    if sys.argv[1:] not in [[name] for name in commands]:
        raise SystemExit(__doc__)
    if "GUESTS_INSIDE" not in os.environ:  # mounts are removed with the process
        os.environ["GUESTS_INSIDE"] = "1"
        os.execvp("unshare", ["unshare", "--mount", sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_signal: sys.exit("stopped"))  # so that guests, mounts and files are removed
    subprocess.check_call(["make", "-s", "-C", PROJECT / "src", "static"], stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        workshop = Workshop(Path(folder))
        print(run("qemu-system-x86_64", "--version").splitlines()[0], flush=True)
        initramfs(workshop.path / "initrd")
        complaints = commands[sys.argv[1]](workshop)
    raise SystemExit("\n".join(complaints) or 0)


if __name__ == "__main__":
    main()
