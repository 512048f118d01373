# SPDX-License-Identifier: GPL-3.0-or-later
"""The servers of the file systems that hosts share: their specification, and how they are started and fail over."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from testbed import processes
from testbed.settings import Settings
from testbed.shared.characters import CHARACTERS
from testbed.shell import TestbedError, wait_for

PORT = 2049
PROGRAM = "testbed.shared.server"
LISTENS = "listens at"  # in its log
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
PRIORITY = ("chrt", "--rr", "1")  # a lease must not expire because this machine is busy


@dataclass(frozen=True)
class ServerSpec:
    """The properties of a shared file system. Hosts with equal specifications share one. ``character``: see
    shared/characters.py, which also explains the figures of some characters; ``fail_over_s``: how long the server does
    not answer during a fail-over; ``grace_s``: the grace period after it, or a negative number for one lease;
    ``write_s``: how long each write takes; ``locks_max``: how many locks may exist at a time, or 0 for any number;
    ``size``: the size of all files together, which are in memory."""

    name: str = "qmgrs"
    character: str = "honest"
    lease_s: float = 3.0
    fail_over_s: float = 6.0
    grace_s: float = -1.0
    late_s: float = 8.0
    crowded_s: float = 60.0
    lost_every: int = 500
    late_write_s: float = 0.6
    lands_later_s: float = 10.0
    undone: int = 200
    forget_after_s: float = 15.0
    call_s: float = 2.0
    visible_s: float = 0.3
    write_s: float = 0.0
    locks_max: int = 0
    size: str = "1G"

    def __post_init__(self) -> None:
        if self.character not in CHARACTERS:
            raise TestbedError(f"{self.name}: character {self.character!r} is not one of {', '.join(CHARACTERS)}")
        if not self.name.isalnum():
            raise TestbedError(f"{self.name!r}: a server's name has only letters and digits")
        size_bytes(self.size)


def size_bytes(size: str) -> int:
    if size[-1:] not in UNITS or not size[:-1].isdigit():
        raise TestbedError(f"size {size!r} is not a number with K, M or G")
    return int(size[:-1]) * UNITS[size[-1]]


def directory_of(settings: Settings, name: str) -> Path:
    return settings.state / "servers" / name


class Server:
    def __init__(self, spec: ServerSpec, address: str, settings: Settings) -> None:
        self.spec = spec
        self.address = address
        self.settings = settings
        self.directory = directory_of(settings, spec.name)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def source(self) -> str:
        """The source of the mounts, as hosts show it."""
        return f"{self.address}:/{self.spec.name}"

    def start(self) -> None:
        """Start the server, and return when it listens."""
        self.directory.mkdir(parents=True)
        (self.directory / "spec.json").write_text(json.dumps(asdict(self.spec)))
        (self.directory / "address").write_text(self.address)
        with (self.directory / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [*PRIORITY, sys.executable, "-m", PROGRAM, str(self.directory)],
                cwd=Path(__file__).resolve().parents[1],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_for(self._is_ready, f"the server {self.spec.name} listens")

    def _is_ready(self) -> bool:
        if self._process and self._process.poll() is not None:
            raise TestbedError(f"the server {self.spec.name} did not start: {self.log()}")
        return (self.directory / "ready").exists()

    def log(self) -> str:
        """Return what happened to clients and locks: one event per line, after the monotonic time in seconds."""
        return (self.directory / "log").read_text(errors="replace")

    def fail_over(self) -> None:
        fail_over(self.settings, self.spec.name)

    def wait_until_ended(self) -> None:
        if self._process:
            wait_for(lambda: self._process.poll() is not None, f"the server {self.spec.name} ends")


def fail_over(settings: Settings, name: str, *, wait: bool = True) -> None:
    """End all connections of a server at once, and return when it listens again after fail_over_s, or immediately."""
    found = pids(settings, name)
    if not found:
        raise TestbedError(f"there is no server {name} in {settings.state}")
    log = directory_of(settings, name) / "log"
    before = log.read_text().count(LISTENS)
    processes.kill(found[0], signal.SIGHUP)
    if wait:
        wait_for(lambda: log.read_text().count(LISTENS) > before, f"the server {name} listens again")


def pids(settings: Settings, name: str = "") -> list[int]:
    """Return the processes of one server of a bed, or of all its servers."""
    arguments = f" -m {PROGRAM} {directory_of(settings, name)}"
    lines = {pid: processes.command_line(pid) for pid in processes.all_pids() if pid != os.getpid()}
    return [pid for pid, line in lines.items() if arguments in line and (not name or line.endswith(arguments))]
