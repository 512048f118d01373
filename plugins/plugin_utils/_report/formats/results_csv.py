# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""results.csv: the results of all hosts in one table, with one row for each result, and at least one row for each
host."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from ..model import Host, Model

FILE = "results.csv"

LEADING_COLUMNS = ("host", "volume", "host_verdict", "certified", "row_verdict", "reasons", "worker_name")
LAST_COLUMN = "judged_by"

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?\Z")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def render(model: Model) -> Iterator[str]:
    """Yield the table's text piece by piece."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*LEADING_COLUMNS, *_of_tester(model.columns), LAST_COLUMN])
    for host in model.hosts:
        writer.writerows(_rows(host, model.columns))
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def harmless(value: Any) -> Any:
    """Return a cell that a spreadsheet does not interpret as a formula: text that could be a formula is preceded by a
    quote, and numbers are unchanged."""
    if isinstance(value, str) and value.lstrip().startswith(_FORMULA_STARTS) and not _NUMBER.match(value):
        return "'" + value
    return value


def _rows(host: Host, columns: list[str]) -> Iterator[list[Any]]:
    shown, profile = _of_tester(columns), harmless(host.profile)
    leading = [harmless(host.host), harmless(host.volume), host.verdict, str(host.certified).lower()]
    if not host.rows:
        yield [*leading, "", harmless("; ".join(host.reasons)), "", *("" for column in shown), profile]
    for row in host.rows:
        figures = dict(zip(host.columns, row.values, strict=True))
        cells = [harmless(value) if isinstance(value, str) else value for value in map(figures.get, shown)]
        yield [*leading, row.verdict, harmless("; ".join(row.reasons)), harmless(row.worker_name), *cells, profile]


def _of_tester(columns: list[str]) -> list[str]:
    return [column for column in columns if column not in (*LEADING_COLUMNS, LAST_COLUMN)]
