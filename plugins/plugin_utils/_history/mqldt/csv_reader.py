# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Parses the CSV file that IBM's mqldt writes with --csvFile. The bytes are untrusted, and the parser is strict.

The file is a sequence of runs. For each run, mqldt writes a line of titles and then a row for each block size. With
several queue managers, it first writes a line that is not CSV and states their number, and it appends to the file.
Sizes are in bytes, rates in bytes per second, latencies in nanoseconds, all of them whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..._run.table_reader import printable

MAX_BYTES = 4 << 20
"""The largest file that is read; a run with seven block sizes has about 1 KiB."""

BLOCK_SIZE = "Blocksize"
WRITES = "Total writes to files"
BYTES = "Total bytes written to files"
SECOND_MAX = "Max bytes/sec written to files (over 1 sec interval)"
SECOND_MIN = "Min bytes/sec written to files (over 1 sec interval)"
THROUGHPUT = "Avg bytes/sec written to files"
LATENCY_MAX = "Max latency of write (ns)"
LATENCY_MIN = "Min latency of write (ns)"
LATENCY_MEAN = "Avg latency of write (ns)"

_OF_SEVERAL = {
    "Max bytes/sec written to files by a single qm (over 1 sec interval)": SECOND_MAX,
    "Min bytes/sec written to files by a single qm (over 1 sec interval)": SECOND_MIN,
    "Avg bytes/sec written to files by all queue managers": THROUGHPUT,
}
"""Titles in runs with several queue managers, and the corresponding titles for one queue manager."""
_OF_FIRST_VERSION = {"Max bytes/sec written to files": SECOND_MAX, "Min bytes/sec written to files": SECOND_MIN}
_MANDATORY = (BLOCK_SIZE, BYTES, THROUGHPUT, LATENCY_MAX, LATENCY_MIN, LATENCY_MEAN)
_OPTIONAL = (WRITES, SECOND_MAX, SECOND_MIN, "Min bytes/sec (slowest write)", "Max bytes/sec (fastest write)")
_COLUMNS = {**{title: title for title in (*_MANDATORY, *_OPTIONAL)}, **_OF_SEVERAL, **_OF_FIRST_VERSION}
_NOT_ABOVE = ((LATENCY_MIN, LATENCY_MAX), (SECOND_MIN, SECOND_MAX))

_LINE_END = re.compile(r"\r\n|\n|\r")
_SEVERAL = re.compile(r"Running MQLDT over ([1-9][0-9]{0,3}) Queue Managers\Z")
_INTEGER = re.compile(r"[0-9]{1,19}\Z")
_LARGEST = (1 << 63) - 1

Row = dict[str, int]
"""The figures of one block size, by the titles that are used for one queue manager."""


class MqldtError(ValueError):
    """A file is not in the mqldt format. The message names the line and, if known, the column."""


@dataclass
class MqldtRun:
    """One run of mqldt: the number of the line with its first row, how many queue managers wrote,
    and a row for each block size."""

    line: int
    queue_managers: int
    rows: dict[int, Row]


@dataclass(frozen=True)
class _Titles:
    """A line of titles: the number of queue managers, and the meaning of each column."""

    queue_managers: int
    columns: tuple[str, ...]

    def place(self, line: int, title: str) -> str:
        return f'line {line}, column {self.columns.index(title) + 1} ("{title}")'


def parse_mqldt(content: bytes) -> list[MqldtRun]:
    """Return the runs of a file in the order in which they appear. There is at least one. Raises MqldtError.

    Titles begin a run. A block size that the run already has also begins a new run,
    because runs are also appended without their titles.
    """
    if len(content) > MAX_BYTES:
        raise MqldtError(f"it has {len(content)} bytes, more than the {MAX_BYTES} that are read")
    runs: list[MqldtRun] = []
    announced, titles, run = 1, None, None
    for line, fields in _lines(content):
        several = _SEVERAL.match(",".join(fields))
        if several:
            announced, titles = int(several.group(1)), None
        elif fields[0] == BLOCK_SIZE:
            announced, titles, run = 1, _read_titles(line, fields, announced), None
        elif titles is None:
            raise MqldtError(
                f"line {line}, column 1: {_shown(fields[0])} comes before any titles of mqldt, the "
                f"first of which is {BLOCK_SIZE}"
            )
        else:
            row = _read_row(line, fields, titles)
            if run is None or row[BLOCK_SIZE] in run.rows:
                run = MqldtRun(line, titles.queue_managers, {})
                runs.append(run)
            run.rows[row[BLOCK_SIZE]] = row
    if not runs:
        raise MqldtError("it contains no result of mqldt")
    return runs


def _lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the fields of each line that is not blank, without characters that editors and spreadsheets
    add.

    Bytes that are not text are replaced, so that their field is refused.
    """
    for number, text in enumerate(_LINE_END.split(content.decode("utf-8", "replace")), start=1):
        fields = [field.strip(" \t") for field in text.lstrip("\ufeff").split(",")]
        while fields and not fields[-1]:
            fields.pop()
        if fields:
            yield number, fields


def _read_titles(line: int, fields: Sequence[str], announced: int) -> _Titles:
    """Return the meaning of each column. ``announced`` is the number of queue managers in the line before the titles,
    or 1 if there is no such line."""
    columns: list[str] = []
    for column, field in enumerate(fields, start=1):
        title = _COLUMNS.get(field)
        if title is None:
            raise MqldtError(f"line {line}, column {column}: {_shown(field)} is not a title that mqldt writes")
        if title in columns:
            raise MqldtError(f"line {line}, column {column}: {_shown(field)} repeats a column")
        columns.append(title)
    for title in _MANDATORY:
        if title not in columns:
            raise MqldtError(f'line {line}, column {len(fields) + 1}: the title "{title}" is missing')
    several = [column for column, field in enumerate(fields, start=1) if field in _OF_SEVERAL]
    if several and announced == 1:
        raise MqldtError(
            f"line {line}, column {several[0]}: {_shown(fields[several[0] - 1])} is a title for several "
            "queue managers, but the line "
            '"Running MQLDT over N Queue Managers" before it is missing'
        )
    if announced > 1 and not several:
        raise MqldtError(
            f"line {line}, column 1: these are the titles for one queue manager, but the line "
            f"before them says {announced}"
        )
    return _Titles(announced, tuple(columns))


def _read_row(line: int, fields: Sequence[str], titles: _Titles) -> Row:
    columns = titles.columns
    if len(fields) > len(columns):
        raise MqldtError(
            f"line {line}, column {len(columns) + 1}: {_shown(fields[len(columns)])} is beyond the last title"
        )
    filled = [*fields, *[""] * (len(columns) - len(fields))]
    row = {title: _read_integer(titles.place(line, title), field) for title, field in zip(columns, filled)}
    for title in (*_MANDATORY, WRITES):
        if row.get(title) == 0:
            raise MqldtError(f"{titles.place(line, title)}: mqldt never writes 0 there")
    _check_row(line, titles, row)
    return row


def _check_row(line: int, titles: _Titles, row: Row) -> None:
    """Refuse a row that contradicts itself, for example because a digit was lost or added. If the first version of
    mqldt wrote the row, fill in the number of writes."""
    block_size, total = row[BLOCK_SIZE], row[BYTES]
    writes = row.setdefault(WRITES, total // block_size)
    if writes * block_size != total:
        raise MqldtError(f"{titles.place(line, BYTES)}: {total} is not {writes} writes of {block_size} bytes")
    for least, most in _NOT_ABOVE:
        if least in row and most in row and row[least] > row[most]:
            raise MqldtError(f"{titles.place(line, least)}: {row[least]} is greater than the maximum, {row[most]}")


def _read_integer(place: str, text: str) -> int:
    if not text:
        raise MqldtError(f"{place}: nothing is there")
    if not _INTEGER.match(text) or int(text) > _LARGEST:
        raise MqldtError(f"{place}: {_shown(text)} is not a whole number as mqldt writes it")
    return int(text)


def _shown(text: str) -> str:
    return '"' + printable(text if len(text) <= 60 else text[:60] + "...") + '"'
