# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The witness: reads the tester's acknowledgements over a separate connection, in a thread, until the connection
breaks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from .._dialogue.line_stream import LineStream
from .protocol import LONGEST_LINE, Reader, Seen

PAUSE_S = 0.05


class Witness:
    """Records what the tester sends that ``command`` starts. ``asked`` holds the options of the tester, as for
    ``Reader``. The caller must stop it. Raises OSError if the command cannot be started.

    ``problem`` says what is wrong with a line, after which nothing more is read; it is empty if nothing is.
    ``lost_ns`` is the time at which the stream ended by itself, by the monotonic clock; 0 if it has not. ``status`` is
    then the exit status of the tester, or of ssh if the connection broke; it is known when the witness has stopped.
    """

    def __init__(self, command: Sequence[bytes | str], asked: Mapping[str, object]) -> None:
        self._reader = Reader(asked)
        self._is_stopped = False
        self.is_over = False
        self.problem = ""
        self.lost_ns = 0
        self.status: int | None = None
        self._stream = LineStream(command, self._take, self._end_of_stream, LONGEST_LINE)

    @property
    def seen(self) -> Seen:
        return self._reader.seen

    def said(self) -> str:
        """Return the last error message of the tester or of ssh."""
        return self._stream.last_words()

    def wait(self, until: Callable[[], object], longest_s: float) -> bool:
        """Wait until the condition is true, the stream has ended, or the time has passed. Returns whether the condition
        is true."""
        end_s = time.monotonic() + longest_s
        while not (found := bool(until())) and not self.is_over and time.monotonic() < end_s:
            time.sleep(PAUSE_S)
        return found

    def stop(self) -> None:
        """End the connection, which ends the tester."""
        self._is_stopped = True
        self.status = self._stream.exit_status() if self.lost_ns else None
        self._stream.end(0)

    def _take(self, line: str, at_ns: int) -> None:
        if not self._is_stopped:  # a tester on the controller itself says that it was ended
            self._reader.read(line, at_ns)

    def _end_of_stream(self, problem: str) -> None:
        self.problem = problem
        if not (self._is_stopped or problem):
            self.lost_ns = time.monotonic_ns()
        self.is_over = True
