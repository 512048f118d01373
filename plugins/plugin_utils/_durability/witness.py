# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The witness: a separate process on the controller. It reads the tester's acknowledgements until the connection
breaks.

It runs beside the tasks that cut the power, so it outlives the task that starts it. It ends when its stream ends, on
request, or when Ansible has ended. Its results are in the run directory. It writes there when the tester is ready, when
the first write is acknowledged, and when the stream has ended. It never writes while it measures the delay of
acknowledgements.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils import _process
from .._run.files import read_file, write_file
from .._run.table_reader import printable
from .protocol import ProtocolError, Reader, Ready, Seen, acknowledged_text

STARTED, READY, WRITING, OVER, GONE = "started", "ready", "writing", "over", "gone"
"""The progress of a witness. It is GONE if the witness was killed or could not write its file."""

LOOK_S = 1.0
"""How often the witness checks whether Ansible is still running."""
LET_END_S = 5.0
SAID_MAX_BYTES = 16384
STATE_MAX_BYTES = 64 << 20
FAILURE_BYTES = 512
"""Space for the description of a failure is reserved at the start, because a full disk may be the cause."""


class WitnessError(Exception):
    """A witness cannot be started. The message says why."""


@dataclass(frozen=True)
class Files:
    """The files of a witness, in the folder of a host's volume."""

    folder: str
    number: int

    @property
    def lock(self) -> str:
        return os.path.join(self.folder, f"witness-{self.number}.lock")

    @property
    def state(self) -> str:
        return os.path.join(self.folder, f"witness-{self.number}.json")

    @property
    def acknowledged(self) -> str:
        return os.path.join(self.folder, f"acknowledged-{self.number}.txt")

    def remove(self) -> None:
        """Remove the files that only the witness needs. The acknowledgements are kept."""
        for path in (self.lock, self.state):
            with contextlib.suppress(OSError):
                os.unlink(path)


@dataclass(frozen=True)
class State:
    """What a witness has seen so far. ``problem`` says why the witness ended although its stream had not. ``said`` is
    the end of the output of tester and ssh. ``status`` is the exit status of their command, if it ended by itself.
    ``lost_ns`` is the time at which the stream ended, by the monotonic clock, or 0 while it continues."""

    name: str
    pid: int = 0
    seen: Seen = dataclasses.field(default_factory=Seen)
    problem: str = ""
    said: str = ""
    status: int | None = None
    lost_ns: int = 0

    @property
    def is_over(self) -> bool:
        return self.name in (OVER, GONE)


def start(
    command: Sequence[bytes | str], asked: Mapping[str, Any], files: Files, longest_s: float, parent_pid: int
) -> None:
    """Start a witness for the output of a command, in its own session. The witness ends when the process ``parent_pid``
    ends. Raises WitnessError."""
    try:
        os.makedirs(files.folder, exist_ok=True)
        descriptor = os.open(files.lock, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        if os.write(descriptor, b" " * FAILURE_BYTES) < FAILURE_BYTES:
            raise OSError("the disk is full")
        os.fsync(descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise WitnessError(f"the witness cannot write to {files.folder}: {error.strerror or error}") from error

    def watch() -> None:
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end of the process
        _Witness(command, asked, files, longest_s, parent_pid, descriptor).run()

    # The intermediate process ends at once, so that the witness is not a child of Ansible's process.
    between = _process.detached(lambda: _process.detached(watch, (descriptor,)), (descriptor,))
    os.close(descriptor)
    os.waitpid(between, 0)


class _Witness:
    """The witness process, which holds the lock until it ends."""

    def __init__(
        self,
        command: Sequence[bytes | str],
        asked: Mapping[str, Any],
        files: Files,
        longest_s: float,
        parent_pid: int,
        descriptor: int,
    ) -> None:
        self._command, self._files, self._parent_pid, self._descriptor = command, files, parent_pid, descriptor
        self._end_s = time.monotonic() + longest_s
        self._reader = Reader(asked)
        self._said = b""
        self._problem = ""
        self._told_to_end = False
        self._written = ""
        self._status: int | None = None
        self._lost_ns = 0

    def run(self) -> None:
        signal.signal(signal.SIGTERM, self._tell_to_end)
        try:
            self._write(STARTED)
            with subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as process:
                try:
                    if self._read(process):
                        self._lost_ns = time.monotonic_ns()
                        self._status = process.wait(LET_END_S)
                except subprocess.TimeoutExpired:
                    pass  # the command closed its output but continues, so there is nothing more to read
                finally:
                    end(process)
            self._write(OVER)
        except OSError as error:
            self._fail(
                f"the witness cannot continue: {error.strerror or error}"
                f"{f' ({error.filename})' if error.filename else ''}"
            )

    def _tell_to_end(self, *dummy: Any) -> None:
        self._told_to_end = True

    def _read(self, process: subprocess.Popen[bytes]) -> bool:
        """Read until the streams have ended or there is a reason to stop. Returns whether they have ended."""
        with selectors.DefaultSelector() as selector:
            for stream in filter(None, (process.stdout, process.stderr)):
                selector.register(stream, selectors.EVENT_READ)
            while selector.get_map() and not self._why_no_more():
                for key, dummy in selector.select(LOOK_S):
                    content = os.read(key.fd, 1 << 16)
                    if not content:
                        selector.unregister(key.fileobj)
                    elif key.fileobj is process.stderr:
                        self._said = (self._said + content)[-SAID_MAX_BYTES:]
                    elif not self._took_in(content):
                        return False
            return not selector.get_map()

    def _took_in(self, content: bytes) -> bool:
        try:
            self._reader.feed(content, time.monotonic_ns())
        except ProtocolError as error:
            self._problem = str(error)
            return False
        seen = self._reader.seen
        if seen.ready and self._written == STARTED:
            self._write(READY)
        if seen.acknowledged_writes and self._written == READY:
            self._write(WRITING)
        return True

    def _why_no_more(self) -> bool:
        if time.monotonic() > self._end_s:
            self._problem = "the tester wrote for longer than allowed"
        return bool(self._told_to_end or self._problem or not is_alive(self._parent_pid))

    def _write(self, name: str) -> None:
        seen = self._reader.seen
        state = State(
            name, os.getpid(), seen, self._problem, last_words(self._said), status=self._status, lost_ns=self._lost_ns
        )
        if name == OVER and seen.ready:
            write_file(self._files.acknowledged, acknowledged_text(seen).encode("ascii"))
        write_file(self._files.state, json.dumps(dataclasses.asdict(state)).encode("ascii"))
        self._written = name

    def _fail(self, reason: str) -> None:
        with contextlib.suppress(OSError):
            os.pwrite(self._descriptor, reason.encode("ascii", "replace")[:FAILURE_BYTES].ljust(FAILURE_BYTES), 0)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process, but first give it a moment to end by itself."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(LET_END_S)
        except subprocess.TimeoutExpired:
            process.kill()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it belongs to another user
    return True


def last_words(said: bytes) -> str:
    """Return the last line that is not empty, shortened to 300 characters."""
    lines = [line for line in said.decode("utf-8", "replace").splitlines() if line.strip()]
    return printable(lines[-1].strip()[-300:]) if lines else ""


def look(files: Files) -> State:
    """Return the progress of a witness, and its data."""
    alive = _process.is_locked(files.lock)
    try:
        data = json.loads(read_file(files.state, STATE_MAX_BYTES))
        state = State(**{**data, "seen": _seen(data["seen"])})
    except (OSError, ValueError, KeyError, TypeError):
        state = State(STARTED)
    if alive or state.name == OVER:
        return state
    failure = ""
    with contextlib.suppress(OSError):
        failure = read_file(files.lock, FAILURE_BYTES).decode("ascii", "replace").strip()
    return dataclasses.replace(state, name=GONE, problem=failure or "the witness on the controller was killed")


def _seen(data: Mapping[str, Any]) -> Seen:
    ready = Ready(**data["ready"]) if data["ready"] else None
    counts = {int(number): count for number, count in data["counts"].items()}
    return Seen(**{**data, "ready": ready, "counts": counts, "ticks": tuple(data["ticks"]) if data["ticks"] else None})


def stop(files: Files) -> State:
    """Tell a witness to end, and return its data."""
    state = look(files)
    if not state.is_over and state.pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(state.pid, signal.SIGTERM)
    return wait(files, lambda found: found.is_over, LOOK_S + 2 * LET_END_S)


def wait(files: Files, until: Any, longest_s: float, pause_s: float = 0.05) -> State:
    """Wait until the condition is true or the time has passed. Returns the state of the witness."""
    end_s = time.monotonic() + longest_s
    while True:
        state = look(files)
        if until(state) or time.monotonic() > end_s:
            return state
        time.sleep(pause_s)
