# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Exchanges lines with a program on a host over a separate connection. A thread reads the program's output, so that a
hung host cannot block the controller."""

from __future__ import annotations

import contextlib
import subprocess
import threading
import time
from collections.abc import Callable, Sequence

from .._run.table_reader import printable

SAID_MAX_BYTES = 16384
SSH_FAILED = 255
"""The exit status of ssh if it lost the host or could not connect to it. Otherwise, ssh ends with the status of the
program."""
LET_END_S = 10.0
"""How long a program may take to end after its input has ended."""


class LineStream:
    """Starts a command. Calls ``take`` with each line of its output and the time at which the line arrived, by the
    monotonic clock, and calls ``ended`` when there is no more output. Both are called in a thread. If ``take`` raises
    ValueError, or a line is too long, the program is ended, and ``ended`` gets the reason; otherwise, it gets an empty
    text."""

    def __init__(
        self,
        command: Sequence[bytes | str],
        take: Callable[[str, int], None],
        ended: Callable[[str], None],
        longest_line: int,
    ) -> None:
        self._take, self._ended, self._longest = take, ended, longest_line
        self._said = b""
        self._problem = ""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def send(self, content: bytes) -> None:
        """Send one or more lines. Errors are ignored, because the end of a program is detected by the end of its
        output."""
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(content)

    def end(self, patience_s: float = LET_END_S) -> int | None:
        """End the input, wait for the program to end, and return its exit status; None if it had to be killed."""
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()
        try:
            return self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None
        finally:
            for thread in self._threads:
                thread.join(LET_END_S)

    def exit_status(self) -> int | None:
        """Return the exit status of a program whose output has ended; None if the program continues to run."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(LET_END_S)
        return None

    def why(self) -> str:
        """Return why the stream ended: what is wrong with a line, or the last error message of the program or of
        ssh."""
        return self._problem or self.last_words()

    def last_words(self) -> str:
        """Return the last error message of the program or of ssh, shortened to 300 characters."""
        self._threads[1].join(1.0)
        lines = [line for line in self._said.decode("utf-8", "replace").splitlines() if line.strip()]
        return printable(lines[-1].strip()[-300:]) if lines else ""

    def _read(self) -> None:
        rest = b""
        try:
            while content := self._process.stdout.read(1 << 16):
                at_ns = time.monotonic_ns()
                *lines, rest = (rest + content).split(b"\n")
                if max(map(len, (*lines, rest))) > self._longest:
                    raise ValueError(f"a line of more than {self._longest} bytes is too long")
                for line in lines:
                    self._take(line.decode("utf-8", "replace").rstrip("\r"), at_ns)
        except ValueError as error:
            self._problem = str(error)
            self._process.kill()
        finally:
            self._ended(self._problem)

    def _read_errors(self) -> None:
        while content := self._process.stderr.read(1 << 16):
            self._said = (self._said + content)[-SAID_MAX_BYTES:]
