# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses what the testers of a host say about a power cut, which is untrusted: while one writes, the lines that
acknowledge writes that have returned, and after the cut, what another one found in the files.

Only complete lines are used, and only the largest count of each queue manager. If a line is lost, fewer writes are
claimed, never more.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._dialogue.line_stream import MOST_FOREIGN_LINES
from .._run.files import unpack
from .._run.shapes import as_dict
from .._run.table_reader import printable

MOST_DELAYS = 100_000
TICK_NS = 1_000_000
"""How often the tester checks which writes have returned."""
LARGEST_COUNT = 1 << 48
"""The largest number of writes of a queue manager that the stamps can distinguish."""

END_OF_TIME, SIGNAL, DEADLINE = "time", "signal", "deadline"
"""The ways in which the tester ends if no write failed. Otherwise, it sends the name of the error."""

_READY = re.compile(
    r"ready (?P<run_id>[A-Za-z0-9][A-Za-z0-9_.-]{0,99}) (?P<boot_id>[0-9a-f-]{1,64}) seed=(?P<seed>[0-9]{1,20}) "
    r"bsize=(?P<bsize>[0-9]{1,15})"
    r" file_size=(?P<file_size>[0-9]{1,15}) files=(?P<files>[0-9]{1,6}) qm=(?P<qm>[0-9]{1,6}) "
    r"prefix=(?P<prefix>[A-Za-z0-9._-]{1,64})"
    r"(?: layout=[0-9]{1,3})?\Z"
)
_ACK = re.compile(r"ack ([1-9][0-9]{0,5}) ([0-9]{1,15})\Z")
_TICK = re.compile(r"tick ([0-9]{1,19})\Z")
_END = re.compile(r"end ([A-Za-z0-9]{1,20})\Z")
_NUMBERS = ("seed", "bsize", "file_size", "files", "qm")


class ProtocolError(ValueError):
    """Raised for a line that does not come from a tester of this collection. The message says what is wrong."""


@dataclass(frozen=True)
class Ready:
    """The line that the tester sends when its files are complete on the disk. Writes can be acknowledged only after
    this line. Sizes are in bytes."""

    line: str
    run_id: str
    boot_id: str
    prefix: str
    seed: int
    bsize: int
    file_size: int
    files: int
    qm: int


@dataclass
class Seen:
    """The output of the tester that the witness has seen so far. Times are in nanoseconds by the monotonic clock of the
    witness. ``ticks`` are the first and the last time that the tester sent, by its own clock.
    """

    ready: Ready | None = None
    ready_ns: int = 0
    counts: dict[int, int] = field(default_factory=dict)
    end: str = ""
    last_ns: int = 0
    ticks: tuple[int, int] | None = None
    gap_max_ns: int = 0
    delays_ns: list[int] = field(default_factory=list)

    @property
    def acknowledged_writes(self) -> int:
        """The number of writes of all queue managers that were seen to have returned."""
        return sum(self.counts.values())

    @property
    def writing_s(self) -> float:
        """The length of the time during which acknowledgements arrived."""
        return (self.last_ns - self.ready_ns) / 1e9 if self.ready else 0.0

    @property
    def rate_writes_per_s(self) -> float:
        return self.acknowledged_writes / self.writing_s if self.writing_s > 0 else 0.0


class Reader:
    """Reads the lines from a host. ``asked`` holds the tester's options: ``run_id`` and the numbers in its ``ready``
    line."""

    def __init__(self, asked: Mapping[str, object]) -> None:
        self.seen = Seen()
        self._asked = dict(asked)
        self._foreign = 0

    def read(self, line: str, now_ns: int) -> None:
        """Process a line that arrived at the given time. Raises ProtocolError."""
        seen = self.seen
        if seen.ready is None:
            self._begin(line, now_ns)
        elif seen.end:
            self._count_foreign()
        elif found := _ACK.match(line):
            self._acknowledge(int(found[1]), int(found[2]))
        elif found := _TICK.match(line):
            tick_ns = int(found[1])
            seen.ticks = (seen.ticks[0] if seen.ticks else tick_ns, tick_ns)
            if len(seen.delays_ns) < MOST_DELAYS:
                seen.delays_ns.append(now_ns - tick_ns)
        elif found := _END.match(line):
            seen.end = found[1]
        else:
            self._count_foreign()
            return
        if seen.ready is not None:
            if seen.last_ns:
                seen.gap_max_ns = max(seen.gap_max_ns, now_ns - seen.last_ns)
            seen.last_ns = now_ns

    def _begin(self, line: str, now_ns: int) -> None:
        if not line.startswith("ready "):
            self._count_foreign()
            return
        found = _READY.match(line)
        if not found:
            raise ProtocolError(f"the host sent {printable(line[:200])!r}, which is not a line of this tester")
        values = {**found.groupdict(), **{name: int(found[name]) for name in _NUMBERS}}
        for name, wanted in self._asked.items():
            if values[name] != wanted:
                raise ProtocolError(f"the tester says {name} {values[name]}, but it was told {wanted}")
        self.seen.ready = Ready(line=line, **values)  # type: ignore[arg-type]
        self.seen.ready_ns = now_ns

    def _acknowledge(self, number: int, count: int) -> None:
        if self.seen.ready is None or number > self.seen.ready.qm or count >= LARGEST_COUNT:
            raise ProtocolError(f"the host acknowledges {count} writes of queue manager {number}, which no tester does")
        self.seen.counts[number] = max(count, self.seen.counts.get(number, 0))

    def _count_foreign(self) -> None:
        self._foreign += 1
        if self._foreign > MOST_FOREIGN_LINES:
            raise ProtocolError(f"the host sent more than {MOST_FOREIGN_LINES} lines that no tester sends")


def acknowledged_text(seen: Seen) -> str:
    """Return the input of the check: the tester's `ready` line, its first and last time, the last count of each queue
    manager, and the line ``end`` if it arrived."""
    if seen.ready is None:
        return ""
    counts = [f"ack {number} {count}" for number, count in sorted(seen.counts.items())]
    ticks = [f"tick {tick_ns}" for tick_ns in seen.ticks or ()]
    return "\n".join([seen.ready.line, *ticks, *counts, *([f"end {seen.end}"] if seen.end else [])]) + "\n"


@dataclass(frozen=True)
class Sight:
    """What a witness may have missed: the delay of acknowledgements, and the smallest loss at the end that it would
    certainly have noticed."""

    delay_p50_ns: int | None = None
    delay_p99_ns: int | None = None
    gap_max_ns: int | None = None
    silence_ns: int | None = None
    visible_from_ns: int | None = None
    visible_from_writes: int | None = None


def sight_of(seen: Seen, power_end_ns: int, unseen_writes: int) -> Sight:
    """Return what was visible. The clocks of host and witness differ, so delays are measured relative to the fastest
    line.

    ``power_end_ns`` is the latest time at which the host had power, by the clock of the witness. ``unseen_writes`` is
    the number of writes that are known to have returned, but were not acknowledged. A tester that has reported its end
    no longer writes, so a silence after that cannot hide a loss.
    """
    if not seen.delays_ns or not seen.last_ns or not seen.acknowledged_writes:
        return Sight()
    fastest_ns = min(seen.delays_ns)
    delays_ns = sorted(delay_ns - fastest_ns for delay_ns in seen.delays_ns)
    p50_ns, p99_ns = (delays_ns[math.ceil(share * len(delays_ns)) - 1] for share in (0.50, 0.99))
    silence_ns = 0 if seen.end else max(0, power_end_ns - seen.last_ns)
    elapsed_ns = max(1, seen.last_ns - seen.ready_ns)
    unseen_ns = unseen_writes * elapsed_ns // seen.acknowledged_writes
    visible_ns = TICK_NS + max(seen.gap_max_ns, p99_ns + silence_ns, unseen_ns)
    # Each queue manager may have had one write that had returned but had not been counted.
    queue_managers = seen.ready.qm if seen.ready else 1
    visible_writes = -(-seen.acknowledged_writes * visible_ns // elapsed_ns) + queue_managers
    return Sight(p50_ns, p99_ns, seen.gap_max_ns, silence_ns, visible_ns, visible_writes)


CHECK_KEPT, CHECK_LOST = 0, 5
"""The exit statuses of the tester's check: everything was kept, or something was lost."""


@dataclass(frozen=True)
class Checked:
    """The result of the tester's check of the files. ``status`` is None if it did not run or was killed."""

    status: int | None = None
    rows: Sequence[Mapping[str, str]] = ()
    problem: str = ""


MOST_ROWS = 10_000
TABLES = ("run.csv", "durability.csv")


def read_check(answer: Mapping[str, Any]) -> tuple[dict[str, bytes], Checked]:
    """Return the tables in a host's answer, and the result of its check. An answer with a ``problem`` contains
    neither."""
    if answer.get("problem") or "status" not in answer:
        return {}, Checked(problem=str(answer.get("problem") or ""))
    status, said = answer.get("status"), printable(" ".join(str(answer.get("said") or "").split()))[:500]
    packed = as_dict(answer.get("tables"))
    try:
        tables = {name: unpack(name, packed[name]) for name in TABLES if name in packed}
        rows = read_rows(tables["durability.csv"]) if "durability.csv" in tables else []
    except ValueError as error:
        return {}, Checked(problem=str(error))
    if status not in (CHECK_KEPT, CHECK_LOST):
        return tables, Checked(status if isinstance(status, int) else None, rows, said)
    return tables, Checked(status, rows)


def read_rows(content: bytes) -> list[dict[str, str]]:
    """Return the rows of durability.csv. Raises ValueError."""
    try:
        header, *lines = csv.reader(io.StringIO(content.decode("utf-8", "replace"), newline=""), strict=True)
    except csv.Error as error:
        raise ValueError(f"durability.csv cannot be read: {error}") from None
    if len(lines) > MOST_ROWS or any(len(line) != len(header) for line in lines):
        raise ValueError("durability.csv is not a table of the tester")
    return [{printable(name): printable(text) for name, text in zip(header, line, strict=True)} for line in lines]
