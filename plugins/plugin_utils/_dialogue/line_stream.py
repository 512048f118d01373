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

LONGEST_LINE = 4096
MOST_FOREIGN_LINES = 1000
"""The largest number of lines that do not come from a tester. A login may print text before the tester's lines."""
SAID_MAX_BYTES = 16384
SSH_FAILED = 255
"""The exit status of ssh if it lost the host or could not connect to it. Otherwise, ssh ends with the status of the
program."""
LET_END_S = 10.0
"""How long a program may take to end after its input has ended."""


class LineStream:
    """Starts a command. Calls ``take`` in a thread with each line of its output and the time at which the line arrived,
    by the monotonic clock. If ``take`` raises ValueError, or a line is too long, the program is ended, and ``problem``
    is the reason (otherwise empty). When there is no more output, ``is_over`` is true, and ``ended_ns`` is the time of
    its end."""

    def __init__(self, command: Sequence[bytes | str], take: Callable[[str, int], None]) -> None:
        self._take = take
        self._changed = threading.Condition()
        self.is_over, self.ended_ns, self.problem = False, 0, ""
        self._said = b""
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def wait_for(self, is_so: Callable[[], object], patience_s: float) -> None:
        """Wait until ``is_so()`` is true because of a line, the output has ended, or the time has passed."""
        with self._changed:
            self._changed.wait_for(lambda: is_so() or self.is_over, patience_s)

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
        return self.problem or self.last_words()

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
                if max(map(len, (*lines, rest))) > LONGEST_LINE:
                    raise ValueError(f"a line of more than {LONGEST_LINE} bytes is too long")
                with self._changed:
                    for line in lines:
                        self._take(line.decode("utf-8", "replace").rstrip("\r"), at_ns)
                    self._changed.notify_all()
        except ValueError as error:
            self.problem = str(error)
            self._process.kill()
        finally:
            with self._changed:
                self.is_over, self.ended_ns = True, time.monotonic_ns()
                self._changed.notify_all()

    def _read_errors(self) -> None:
        while content := self._process.stderr.read(1 << 16):
            self._said = (self._said + content)[-SAID_MAX_BYTES:]
