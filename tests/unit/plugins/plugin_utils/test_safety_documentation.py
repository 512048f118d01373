# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[4]


def rows(text):
    """Yield the cells of every row in the tables that have a column for tests."""
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()]
        if "tested by" in lines[0][-1]:
            yield from lines[2:]


def test_every_promise_names_tests_that_exist():
    text = (PROJECT / "docs/safety.md").read_text(encoding="utf-8")
    sources = [
        path.read_text(encoding="utf-8")
        for folder in ("tests", "src/tests")
        for path in (PROJECT / folder).rglob("test_*.py")
    ]
    known = {name for source in sources for name in re.findall(r"^def (\w+)\(", source, re.MULTILINE)}
    promises = list(rows(text))
    assert len(promises) > 30
    for promise in promises:
        named = re.findall(r"`(\w+)`", promise[-1])
        assert named, promise
        assert set(named) <= known, promise
