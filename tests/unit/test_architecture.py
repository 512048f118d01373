# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/architecture.md describes the tree that is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
UTILS = ROOT / "plugins/plugin_utils"
TEXT = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


def test_every_file_that_it_names_exists():
    named = set(re.findall(r"`([\w.-]+/[\w./-]*)`", TEXT))
    assert len(named) > 40
    assert [
        name
        for name in named
        if not any((folder / name).exists() for folder in (ROOT, UTILS, UTILS / "_report", ROOT / "src"))
    ] == []


def test_every_room_is_in_its_table():
    table = TEXT.partition("| room |")[2].partition("\n\n")[0]
    rooms = {
        path.name
        for path in UTILS.iterdir()
        if path.is_dir() and path.name.startswith("_") and path.name != "__pycache__"
    }
    assert {
        name
        for row in table.splitlines()
        for name in re.findall(r"`(_[a-z]+)", row.split("|")[1] if row.startswith("|") else "")
    } == rooms
