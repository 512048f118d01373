# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads the tester's tables as typed rows, strictly and from untrusted bytes.

Columns are read by name, and the type of a column is derived from its name, so there is no list of columns here. A
whole table is refused, with one sentence, if it is incomplete or contains an impossible figure. Text is safe for a
terminal: characters that cannot be printed are escaped.
"""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from .columns import ALL_WORKERS, Row

MAX_BYTES = {
    "run.csv": 1 << 20,
    "results.csv": 16 << 20,
    "intervals.csv": 64 << 20,
    "histogram.csv": 64 << 20,
    "stalls.csv": 16 << 20,
    "over.csv": 64 << 20,
    "batches.csv": 64 << 20,
    "responses.csv": 64 << 20,
    "fidelity.csv": 16 << 20,
}
"""The largest table that is read, in bytes; one hour of seven block sizes needs less than 4 MiB."""

_MAX_OTHER_BYTES = 16 << 20
"""The same for a table that only one kind of run has."""

LARGEST_NUMBER = (1 << 64) - 1
"""The largest number that a table can hold."""
# Several fields at once, one on each line; lines may be empty. A number with 19 digits is always below the largest
# number.
_PLAIN_INTEGERS = re.compile(r"(?:[0-9]{0,19}(?:\n|\Z))*\Z")
_PLAIN_DECIMALS = re.compile(r"(?:(?:[0-9]{1,19}(?:\.[0-9]{1,12})?)?(?:\n|\Z))*\Z")
_INTEGER = re.compile(r"[0-9]{1,20}\Z")
DECIMAL_PATTERN = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,12})?\Z")
"""A plain number."""
# Letters and marks that are printable according to Unicode but not visible: fillers, variation selectors, an empty
# Braille cell.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
KEY_PATTERN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}\Z")
"""The name of a column, or of a key of run.csv."""

_NAMES = ("stream", "operation", "file", "property", "item", "io_limit_file", "io_limit")
"""The columns that hold text. Every other column holds a number, whose unit is in the column's name;
a count or a flag has no unit."""
_WHOLE = frozenset(
    (
        "step",
        "block_size_bytes",
        "load_point",
        "elapsed_ns",
        "operations",
        "bytes",
        "second",
        "partial",
        "batch",
        "over_ns",
        "over_counted",
        "operations_not_started",
    )
)
"""Columns that are used as whole numbers here."""
_NEVER_NEGATIVE = ("_ns", "_bytes", "_s")


class TablesError(ValueError):
    """The tables cannot be trusted. The message is one sentence that names the table."""


def printable(text: str) -> str:
    """Return text in which invisible characters, and characters that change how others are shown, are replaced with
    escapes such as \\x1b or \\u202e."""
    if text.isprintable() and (text.isascii() or not _INVISIBLE.search(text)):
        return text
    return "".join(
        letter if letter.isprintable() and not _INVISIBLE.match(letter) else _escape(letter) for letter in text
    )


def _escape(letter: str) -> str:
    code = ord(letter)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def typed_rows(name: str, content: bytes, mandatory: tuple[str, ...], filled: tuple[str, ...]) -> list[Row]:
    """Return the rows of a table. The header must have the ``mandatory`` columns, and the ``filled`` columns must have
    a value in every row. Raises TablesError."""
    header, *lines = lines_of(name, content)
    if len(set(header)) != len(header):
        raise TablesError(f"{name} has a column twice.")
    for column in header:
        if not KEY_PATTERN.match(column):
            raise TablesError(f"{name} has the malformed column {quoted(column)}.")
    for column in mandatory:
        if column not in header:
            raise TablesError(f"{name} lacks the column {column}.")
    try:
        values = [_column(column, texts) for column, texts in zip(header, zip(*lines, strict=True), strict=False)]
    except ValueError:
        raise _fault(name, header, lines, filled) from None
    if any(None in each for column, each in zip(header, values, strict=False) if column in filled):
        raise _fault(name, header, lines, filled)
    return [dict(zip(header, each, strict=True)) for each in zip(*values, strict=True)]


def _column(name: str, texts: tuple[str, ...]) -> list[Any]:
    """Return the values of a column. Raises ValueError.

    Plain numbers are recognized many at a time, because a fleet has millions of them and few other values.
    """
    reader, together = _reader(name), "\n".join(texts)
    pattern = _PLAIN_INTEGERS if name in _WHOLE else _PLAIN_DECIMALS
    if name not in _NAMES and pattern.match(together) and together.count("\n") == len(texts) - 1:
        return [(float(text) if "." in text else int(text)) if text else None for text in texts]
    known = {text: reader(text) if text else None for text in set(texts)}
    return [known[text] for text in texts]


def _fault(name: str, header: list[str], lines: list[list[str]], filled: tuple[str, ...]) -> TablesError:
    """Return the error about the first wrong line."""
    for number, line in enumerate(lines, start=2):
        for column, text in zip(header, line, strict=True):
            try:
                value = _reader(column)(text) if text else None
            except ValueError as error:
                return TablesError(f"{name} line {number} has {error}.")
            if value is None and column in filled:
                return TablesError(f"{name} line {number} has nothing in the column {column}.")
    raise AssertionError(f"{name} has no fault")


def _reader(column: str) -> Any:
    if column in _NAMES:
        return printable
    if column in _WHOLE:
        return read_integer
    if column == "worker":
        return _read_worker
    return _read_decimal if column.endswith(_NEVER_NEGATIVE) else _read_signed


def read_integer(text: str) -> int:
    """Return a whole number that is not negative. Raises ValueError."""
    if not _INTEGER.match(text) or int(text) > LARGEST_NUMBER:
        raise ValueError(f"{quoted(text)} instead of a whole number")
    return int(text)


def _read_decimal(text: str) -> float | int:
    if not DECIMAL_PATTERN.match(text) or float(text) > LARGEST_NUMBER:
        raise ValueError(f"{quoted(text)} instead of a number")
    return float(text) if "." in text else int(text)


def _read_signed(text: str) -> float | int:
    return -_read_decimal(text[1:]) if text.startswith("-") else _read_decimal(text)


def _read_worker(text: str) -> int | str:
    return text if text == ALL_WORKERS else read_integer(text)


def lines_of(name: str, content: bytes) -> list[list[str]]:
    """Return a table's lines as lists of text, the header first, all with the same number of fields."""
    most = MAX_BYTES.get(name, _MAX_OTHER_BYTES)
    if len(content) > most:
        raise TablesError(f"{name} has {len(content)} bytes, more than the {most} that are read.")
    if b"\0" in content:
        raise TablesError(f"{name} contains a NUL byte.")
    try:
        text = content.decode("utf-8")
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise TablesError(f"{name} is not a CSV table in UTF-8: {error}.") from None
    if not lines:
        raise TablesError(f"{name} is empty.")
    if not text.endswith("\n"):
        raise TablesError(f"{name} is cut off: its last line has no end.")
    for number, line in enumerate(lines, start=1):
        if len(line) != len(lines[0]):
            raise TablesError(f"{name} record {number} has {len(line)} fields, its header has {len(lines[0])}.")
    return lines


def quoted(text: str, longest: int = 60) -> str:
    """Return text from a host for use in messages: shortened, printable and in quotation marks."""
    shortened = text if len(text) <= longest else text[:longest] + "..."
    return '"' + printable(shortened) + '"'
