# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a program and reads its lines while it runs. The program always ends when its reader ends, even if the reader is
killed.

Private to this collection; it may change at any time.
"""

import ctypes
import os
import select
import signal
import subprocess
import time

from .. import _process
from . import SourceError

LINE_MAX_BYTES = 1 << 20
LAST_WORDS_BYTES = 2000
PATIENCE_S = 2.0
"""How long a program may take to end by itself before it is killed."""

LOOK_S = 0.1
"""How often a silent program is checked."""

_PR_SET_PDEATHSIG = 1


def lines_of(command, end_monotonic, tick_s, environment=None, terminal=False):
    """Start ``command`` (a list) and yield its lines as text without line ends, and None at each tick.

    ``environment`` (a dict) is added to the environment of this process. With ``terminal``, the command writes its
    lines to a terminal, for programs that buffer several KiB of output if they write to a pipe. Ends when the program
    has ended, or at ``end_monotonic``. The whole process group is ended at that point, or earlier if the generator is
    closed. Raises SourceError if the program cannot be started, fails or writes a line that is too long.
    """
    process = start(command, environment, terminal)
    try:
        output = _Output(process)
        next_tick = time.monotonic() + tick_s
        while not output.ended():
            now = time.monotonic()
            if now >= end_monotonic:
                return
            if now >= next_tick:
                next_tick = now + tick_s
                yield None
            yield from output.lines(min(next_tick, end_monotonic) - time.monotonic())
        yield from output.rest()
        status = status_of(process)
        if status:
            raise SourceError(_why_failed(command[0], status, output.last_words()))
    finally:
        end(process)


def start(command, environment=None, terminal=False):
    """Start a program in its own process group, which ends with this process. Raises SourceError."""
    libc = ctypes.CDLL(None, use_errno=True)
    parent = os.getpid()

    def prepare():
        os.setpgid(0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # The parent may have ended before prctl took effect.
        if os.getppid() != parent:
            os._exit(127)

    ours, theirs = None, subprocess.PIPE
    try:
        if terminal:
            ours, theirs = os.openpty()
        # A module's run_command() cannot be used, because it returns only when the program has ended.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            command,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            preexec_fn=prepare,
            env=dict(os.environ, **(environment or {})),
            cwd="/",
        )
    except (OSError, subprocess.SubprocessError) as error:
        if ours is not None:
            os.close(ours)
        raise SourceError("cannot start %s: %s" % (command[0], getattr(error, "strerror", None) or error))
    finally:
        if ours is not None:
            os.close(theirs)
    if ours is not None:
        process.stdout = os.fdopen(ours, "rb", 0)
    return process


class _Output:
    """The output of a process: its lines, and its latest error messages."""

    def __init__(self, process):
        self._process = process
        self._stdout, self._stderr = process.stdout.fileno(), process.stderr.fileno()
        self._open = [self._stdout, self._stderr]
        self._line, self._messages, self._last_line = b"", b"", ""

    def lines(self, wait_s):
        """Wait up to ``wait_s`` seconds for output. Returns the lines that were completed. Raises SourceError."""
        # If the process ends while another process has its output open, there is no event.
        wait_s = max(0, min(wait_s, LOOK_S))
        ready = select.select(self._open, [], [], wait_s)[0]
        return [line for descriptor in ready for line in self._read(descriptor)]

    def rest(self):
        """Return the remaining output when the process has ended. The last line may lack a line end."""
        found = self.lines(0)
        return found + ([self._text(self._line)] if self._line else [])

    def ended(self):
        """True if the process has ended and all of its output was read. A process that it left behind may keep the
        output open."""
        return has_ended(self._process) and not (self._open and select.select(self._open, [], [], 0)[0])

    def last_words(self):
        """Return the end of the program's error messages or, if there are none, its last line of output, because some
        programs report problems there."""
        return " ".join(self._messages.decode("utf-8", "replace").split()) or self._last_line.strip()[:LAST_WORDS_BYTES]

    def _read(self, descriptor):
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""  # a terminal reports this error if no process has it open
        if not part:
            self._open.remove(descriptor)
        if descriptor == self._stderr:
            self._messages = (self._messages + part)[-LAST_WORDS_BYTES:]
            return []
        found = (self._line + part).split(b"\n")
        self._line = found.pop()
        if max(map(len, found + [self._line])) > LINE_MAX_BYTES:
            raise SourceError(
                "%s wrote a line of more than %d MiB: it is not the expected program"
                % (self._process.args[0], LINE_MAX_BYTES >> 20)
            )
        return [self._text(line) for line in found]

    def _text(self, line):
        text = line.decode("utf-8", "replace").rstrip("\r")
        self._last_line = text if text.strip() else self._last_line
        return text


def has_ended(process):
    """True if a process has ended. The process is not reaped, so that its number cannot be reused for another group."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def status_of(process):
    """Return the exit status of a process that has ended, without reaping it; it is negative if a signal killed the
    process."""
    result = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    return result.si_status if result.si_code == os.CLD_EXITED else -result.si_status


def _why_failed(name, status, last_words):
    if -status in (signal.SIGKILL, signal.SIGTERM):
        return "%s was killed by signal %d" % (name, -status)
    how = "was killed by signal %d" % -status if status < 0 else "ended with status %d" % status
    return "%s %s: %s" % (name, how, last_words or "it wrote no message")


def end(process):
    """End the process and its group: SIGTERM, then SIGKILL."""
    try:
        if not has_ended(process):
            os.killpg(process.pid, signal.SIGTERM)
        _process.wait_until(lambda: has_ended(process), PATIENCE_S, 0.02)
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass  # the group has no process left
    for stream in (process.stdout, process.stderr):
        stream.close()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        pass  # the process hangs in a system call, and ends when the call returns
