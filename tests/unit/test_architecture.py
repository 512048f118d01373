# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""docs/architecture.md describes the actual tree."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from ansible_collections.mqops.logdisk.plugins.plugin_utils._tester.sources import FOLDERS

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
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


def test_every_layer_is_in_its_table():
    table = TEXT.partition("| layer |")[2].partition("\n\n")[0]
    layers = {
        path.name
        for path in UTILS.iterdir()
        if path.is_dir() and path.name.startswith("_") and path.name != "__pycache__"
    }
    assert {
        name
        for row in table.splitlines()
        for name in re.findall(r"`(_[a-z]+)", row.split("|")[1] if row.startswith("|") else "")
    } == layers


def layers_of_the_tester():
    """Return what each layer of src/ may include, according to the table."""
    table = TEXT.partition("| layer of `src/` |")[2].partition("\n\n")[0]
    rows = [[re.findall(r"`([\w.]+)/`", cell) for cell in row.split("|")] for row in table.splitlines()[2:]]
    return {row[1][0]: {row[1][0], *row[3]} for row in rows}


def includes():
    """Return the headers that each file of the tester includes. A .c file and its header count as one."""
    included = {}
    for path in (path for folder in FOLDERS for path in (SRC / folder).glob("*.[ch]")):
        names = re.findall(r'^#include "([\w/]+)\.h"', path.read_text(encoding="utf-8"), re.MULTILINE)
        file = str(path.relative_to(SRC).with_suffix(""))
        included.setdefault(file, set()).update(name for name in names if name != file)
    return included


def test_every_layer_of_the_tester_is_in_its_table_and_is_compiled():
    folders = {str(path.parent.relative_to(SRC)) for path in SRC.rglob("*.[ch]")}
    assert {folder for folder in folders if folder.partition("/")[0] not in ("build", "tests")} == set(FOLDERS)
    assert set(layers_of_the_tester()) == set(FOLDERS)
    assert f"\nFOLDERS := {' '.join(FOLDERS)}\n" in (SRC / "Makefile").read_text(encoding="utf-8")


def test_a_file_of_the_tester_includes_only_what_lies_below_it():
    layers = layers_of_the_tester()
    assert [
        f"{file} includes {name}"
        for file, names in sorted(includes().items())
        for name in sorted(names)
        if str(Path(file).parent) != "." and str(Path(name).parent) not in layers.get(str(Path(file).parent), ())
    ] == []


def test_no_file_of_the_tester_includes_itself_by_way_of_others():
    try:
        TopologicalSorter(includes()).prepare()
    except CycleError as error:
        raise AssertionError(" includes ".join(reversed(error.args[1]))) from None
