# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the log of a tester in a pod: the tables that ``--tables=-`` printed among other lines, and the last error
message."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

MAX_LOG_BYTES = 64 << 20
_MARK = "|"
_HEAD = re.compile(r"= ([a-z][a-z0-9_]{0,39}\.csv) ([0-9]{1,9}) ([0-9a-f]{8})\Z")
_END = re.compile(r"= end ([0-9]{1,2})\Z")
_COMPLAINT = "logdisk: "
_LONGEST = 500


class LogError(ValueError):
    """The log does not contain complete tables. The message says what is wrong."""


def read_tables(log: str, names: Sequence[str]) -> dict[str, bytes]:
    """Return the tables in a log by name, limited to those in ``names``. Raises LogError if a table or the end is
    missing or damaged."""
    if len(log) > MAX_LOG_BYTES:
        raise LogError(f"the log is larger than {MAX_LOG_BYTES >> 20} MiB")
    lines = _marked(log)
    tables: dict[str, bytes] = {}
    for line in lines:
        end, head = _END.match(line), _HEAD.match(line)
        if end:
            if int(end[1]) != len(tables):
                raise LogError(f"the log contains {len(tables)} of {int(end[1])} tables")
            return {name: content for name, content in tables.items() if name in names}
        if not head or head[1] in tables:
            raise LogError(
                "the log contains a line that belongs to no table: lines are missing, or its container wrote them twice"
            )
        tables[head[1]] = _table(head[1], int(head[2]), int(head[3], 16), lines)
    if not tables:
        raise LogError("the log contains no tables")
    raise LogError("the log ends before the end of the tables")


def last_complaint(log: str) -> str:
    """Return the tester's last error message; empty if there is none."""
    found = [
        line.removeprefix(_COMPLAINT)
        for line in log.splitlines()
        if line.startswith(_COMPLAINT) and not line.startswith(f"{_COMPLAINT}warning: ")
    ]
    return found[-1][:_LONGEST] if found else ""


def _marked(log: str) -> Iterator[str]:
    return (line[1:] for line in log.split("\n") if line.startswith(_MARK))


def _table(name: str, size: int, crc: int, lines: Iterator[str]) -> bytes:
    parts, length = [], 0
    for line in lines:
        part = line.replace("\t", "\n").encode("utf-8", "surrogateescape") + b"\n"
        parts.append(part)
        length += len(part)
        if length >= size:
            break
    content = b"".join(parts)
    if length != size or zlib.crc32(content) != crc:
        raise LogError(
            f"{name} is damaged in the log: the node may have rotated the log while it was written (its "
            "containerLogMaxSize is too small)"
        )
    return content
