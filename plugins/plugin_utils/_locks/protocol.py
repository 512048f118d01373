# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses the output of a tester that locks files. Its lines come from a host and are untrusted.

The first line of the tester contains the ID of its run and the boot ID of the host. Each further line is the answer of
a locker (a numbered process of the tester) to a command.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .._run.table_reader import printable

LOCKERS = 64
"""The largest number of a locker."""

DONE, HELD, REFUSED, FREE, LOCKED, FAILED, ENDED = "done", "held", "refused", "free", "locked", "failed", "ended"
EACH = "each"
"""The outcome of an answer that reports progress: another answer to the command follows."""
ERROR = "error"
"""The verb of an answer to a command that the tester does not accept."""
OUTCOMES = frozenset((DONE, HELD, REFUSED, FREE, LOCKED, FAILED, ENDED, EACH))

_READY = re.compile(
    r"ready (?P<run_id>[A-Za-z0-9][A-Za-z0-9_.-]{0,99}) (?P<boot_id>[0-9a-f-]{1,64})"
    r" version=(?P<version>[A-Za-z0-9.+~-]{1,64}) uid=(?P<uid>[0-9]{1,10}) gid=(?P<gid>[0-9]{1,10})"
    r" age_ns=(?P<age_ns>[0-9]{1,19})\Z"
)
_USAGE = re.compile(r"([0-9]{1,2}) error usage(?: (.*))?\Z")
_ANSWER = re.compile(r"([1-9][0-9]?) ([a-z]{1,16}) ([a-z]{1,16})((?: [a-z_]{1,32}=[A-Za-z0-9._:-]{1,1100})*)\Z")
_WHOLE = re.compile(r"[0-9]{1,19}\Z")


class ProtocolError(ValueError):
    """Raised for a line that no tester of this collection sends. The message says what is wrong with the line."""


@dataclass(frozen=True)
class Ready:
    """The tester's first line: the ID of its run, the boot ID of its host, its version, the user and the group that it
    runs as, and how long ago the first process of the host started."""

    run_id: str
    boot_id: str
    version: str
    uid: int
    gid: int
    age_ns: int


@dataclass(frozen=True)
class Answer:
    """The answer of a locker to a command. ``at_ns`` is the time at which its line arrived, by the controller's
    monotonic clock."""

    number: int
    verb: str
    outcome: str
    values: Mapping[str, str] = field(default_factory=dict)
    at_ns: int = 0

    def whole(self, name: str) -> int:
        """Return a value that is a whole number. Raises ProtocolError if there is none."""
        text = self.values.get(name, "")
        if not _WHOLE.match(text):
            raise ProtocolError(f"the answer to {self.verb} has no number {name}")
        return int(text)

    def text(self, name: str) -> str:
        """Return a value; empty if there is none."""
        return self.values.get(name, "")


def read_ready(line: str) -> Ready | None:
    """Parse the tester's first line; returns None if the line comes from something else."""
    found = _READY.match(line)
    if not found:
        return None
    uid, gid, age_ns = (int(found[name]) for name in ("uid", "gid", "age_ns"))
    return Ready(found["run_id"], found["boot_id"], found["version"], uid, gid, age_ns)


def read_answer(line: str, at_ns: int) -> Answer:
    """Return the answer in a line. Raises ProtocolError."""
    if usage := _USAGE.match(line):
        return Answer(int(usage[1]), ERROR, FAILED, {"errno": f"usage: {printable(usage[2] or '')[:300]}"}, at_ns)
    found = _ANSWER.match(line)
    if not found or int(found[1]) > LOCKERS or found[3] not in OUTCOMES:
        raise ProtocolError(f"the tester sent a line that is not an answer: {printable(line)[:200]}")
    values = dict(pair.split("=", 1) for pair in found[4].split())
    return Answer(int(found[1]), found[2], found[3], values, at_ns)
