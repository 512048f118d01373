# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reads what a host reports about its files after a power cut, which is untrusted."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from .._run.files import unpack
from .._run.shapes import as_dict
from .._run.table_reader import printable
from .cut import CHECK_KEPT, CHECK_LOST, Checked

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
