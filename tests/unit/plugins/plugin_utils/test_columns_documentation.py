# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/columns.md explains every column and key that `logdisk --columns` prints, with its unit, and nothing else."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def printed():
    subprocess.run(["make", "-s", "-C", str(PROJECT / "src")], check=True, capture_output=True)
    done = subprocess.run([PROJECT / "src/build/logdisk", "--columns"], check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert len({(row["table"], row["name"]) for row in rows}) == len(rows) > 150
    return {(row["table"], row["name"]): row["unit"] for row in rows}


def documented():
    """Return the unit of each documented column by table and name; None for keys of run.csv,
    whose units are in their names."""
    columns = {}
    for section in re.split(r"^## ", (PROJECT / "docs/columns.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        table = section.splitlines()[0]
        for cells in re.findall(r"^\| (`.*?) \|(.*)$", section, flags=re.MULTILINE):
            for name in re.findall(r"`(\w+)`", cells[0]):
                columns[table, name] = None if table == "run.csv" else cells[1].split("|")[0].strip()
    return {key: unit for key, unit in columns.items() if key[0].endswith(".csv")}


def test_every_column_is_explained_and_every_explained_one_exists(printed):
    assert set(documented()) == set(printed)


def test_units_agree(printed):
    """The unit of a key column is given once, in results.csv."""
    for (table, name), unit in documented().items():
        wanted = printed["results.csv", name] if unit == "" else unit
        assert wanted in (None, printed[table, name]), (table, name)


def test_units_follow_from_names(printed):
    """Readers derive a column's type from its name."""
    suffixes = {
        "bytes_per_s": "bytes/s",
        "_per_s": "1/s",
        "_ns": "ns",
        "_us": "us",
        "_epoch_s": "s",
        "_duration_s": "s",
        "_bytes": "bytes",
        "_share": "ratio",
        "_ratio": "ratio",
    }
    for (table, name), unit in printed.items():
        for suffix, wanted in suffixes.items():
            if name.endswith(suffix):
                assert unit == wanted, (table, name)
                break
