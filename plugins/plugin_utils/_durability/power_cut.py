# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Cuts the power of a host once: starts the tester, waits while it writes, cuts the power if no queue manager runs on
the host, and waits until the host is back with the same file system. A witness reads the tester's acknowledgements over
a separate connection until the connection breaks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._dialogue.commands import CommandResult
from .._dialogue.guard import guarded
from .._dialogue.line_stream import LineStream
from .cut import Returned, Witnessed, why_other_volume
from .protocol import Reader, Seen

BREAK_S = 120
"""How long the connection may last after the cut command. Some commands return before they take effect."""
UNCHANGED_S = 60
"""How long a host may continue to answer with the same boot ID. The network of a host may be cut before its power."""
MOUNT_S = 120
"""How long a host may take to mount its file systems when it answers again."""
PAUSE_S = 2
BROKE = "the connection to the tester broke before the cut"

Look = Callable[[], tuple[Mapping[str, Any] | None, str]]


@dataclass(frozen=True)
class Host:
    """A host whose power is cut: its boot_id and the facts of its file system ``before`` the cut, the commands that
    start its tester and its guard, the options of the tester (as for ``Reader``), and the command that cuts its power.
    ``problem`` is the reason why the tester cannot be started; empty if it can be. The tester may take ``ready_s``
    seconds to write its files, it writes for ``after_s`` seconds before the cut, and the host may take ``wait_s``
    seconds to come back.

    ``look`` returns the same facts after the cut, or None and the reason if the host does not answer.
    """

    before: Mapping[str, Any]
    cut: Callable[[], CommandResult]
    look: Look
    ready_s: float
    after_s: float
    wait_s: float
    stream: Sequence[bytes | str] = ()
    guard: Sequence[bytes | str] = ()
    asked: Mapping[str, object] = field(default_factory=dict)
    problem: str = ""


class PowerCut:
    """Cuts the power of a host. ``say`` is called with sentences about what is done, and the power is not cut if
    ``is_abandoned`` returns True, because the controller has ended."""

    def __init__(self, host: Host, say: Callable[[str], None], is_abandoned: Callable[[], bool]) -> None:
        self._host, self._say, self._is_abandoned = host, say, is_abandoned

    def run(self) -> tuple[CommandResult, Witnessed, Returned]:
        """Return what became of the command, of the connection and of the host. Never raises because of the host."""
        command, witnessed = self._write_and_cut()
        is_cut = command.done and witnessed.broken
        if is_cut:
            self._say(f"the connection is lost; waiting for the host for up to {self._host.wait_s:g} s")
        return command, witnessed, self._wait_for_return(is_cut)

    def _write_and_cut(self) -> tuple[CommandResult, Witnessed]:
        problem = self._host.problem
        try:
            witness = None if problem else Witness(self._host.stream, self._host.asked)
        except OSError as error:
            problem = f"the connection to the tester cannot be started: {error.strerror or error}"
        if problem:
            return CommandResult(problem=problem, done=False), Witnessed(Seen(), early=True, problem=problem)
        try:
            command = self._cut(witness)
            witness.wait(lambda: False, min(BREAK_S, self._host.wait_s) if command.done else 0)
            is_broken = witness.is_over
        finally:
            witness.stop()
        return command, Witnessed(
            witness.seen,
            broken=is_broken,
            early=not command.done,
            problem=witness.problem,
            said=witness.said(),
            status=witness.status,
            lost_ns=witness.lost_ns,
        )

    def _cut(self, witness: Witness) -> CommandResult:
        """Wait while the tester writes, and cut the power."""
        if not witness.wait(lambda: witness.seen.ready or self._is_abandoned(), self._host.ready_s):
            slow = f"the tester had not written its files after {self._host.ready_s:.0f} s"
            return CommandResult(problem=self._why_over(witness) or slow, done=False)
        witness.wait(self._is_abandoned, self._host.after_s)
        if why := self._why_over(witness):
            return CommandResult(problem=why, done=False)
        with guarded(self._host.guard) as guard:
            # The power is cut immediately after the last of these checks.
            if why := guard.refusal() or self._why_not(witness):
                return CommandResult(problem=why, done=False)
            return self._host.cut()

    def _why_over(self, witness: Witness) -> str:
        if self._is_abandoned():
            return "Ansible ended before the cut"
        return (witness.problem or BROKE) if witness.is_over else ""

    def _why_not(self, witness: Witness) -> str:
        """Return the reason if no tester is seen to write; otherwise empty."""
        why = self._why_over(witness)
        return why or ("" if witness.seen.acknowledged_writes else "no write was acknowledged before the cut")

    def _wait_for_return(self, must_boot: bool) -> Returned:
        """Wait until the host answers; if it ``must_boot``, with another boot ID and the same file system."""
        begin_s, wait_s, before = time.monotonic(), self._host.wait_s, self._host.before
        mount_s, after, problem = 0.0, None, ""
        while True:
            found, why = self._host.look()
            waited_s = time.monotonic() - begin_s
            problem = str(found.get("problem") or "") if found else why
            if found:
                after = found
                if not must_boot:
                    break
                if is_booted(before, after):
                    mount_s = mount_s or min(wait_s, waited_s + MOUNT_S)
                    if waited_s > mount_s or not (problem or why_other_volume(before, after)):
                        break
                elif waited_s > min(wait_s, UNCHANGED_S):
                    break
            if waited_s > wait_s:
                break
            time.sleep(PAUSE_S)
        return Returned(before, after, problem, time.monotonic() - begin_s)


def is_booted(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return bool(after.get("boot_id")) and after["boot_id"] != before.get("boot_id")


WITNESS_PAUSE_S = 0.05


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
        self.lost_ns = 0
        self.status: int | None = None
        self._stream = LineStream(command, self._take)

    @property
    def is_over(self) -> bool:
        return self._stream.is_over

    @property
    def problem(self) -> str:
        return self._stream.problem

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
            time.sleep(WITNESS_PAUSE_S)
        return found

    def stop(self) -> None:
        """End the connection, which ends the tester."""
        if self.is_over and not (self._is_stopped or self.problem):
            self.lost_ns, self.status = self._stream.ended_ns, self._stream.exit_status()
        self._is_stopped = True
        self._stream.end(0)

    def _take(self, line: str, at_ns: int) -> None:
        if not self._is_stopped:  # a tester on the controller itself says that it was ended
            self._reader.read(line, at_ns)
