# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The rooms of plugin_utils import each other in one direction, and everything is imported by its full name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PLUGINS = Path(__file__).resolve().parents[4] / "plugins"
PREFIX = "ansible_collections.mqops.logdisk.plugins.plugin_utils."
MAY_IMPORT = {
    "_run": {"_run"},
    "_estimate": {"_run", "_estimate"},
    "_durability": {"_run", "_durability"},
    "_judge": {"_run", "_numerics", "_estimate", "_durability", "_judge"},
    "_workload": {"_run", "_workload"},
    "_options": {"_run", "_options"},
    "_fleet": {"_run", "_estimate", "_workload", "_observe", "_options", "_fleet"},
    "_tester": {"_tester"},
    "_history": {"_run", "_numerics", "_estimate", "_judge", "_history"},  # what is imported is judged again
    "_numerics": {"_numerics"},
    "_signing": {"_run", "_signing"},
    "_kubernetes": {"_kubernetes"},
    "_observe": {"_run", "_numerics", "_observe"},
    "_report": {"_run", "_judge", "_numerics", "_estimate", "_durability", "_options", "_fleet", "_report"},
}


def imports(path):
    """Return the import statements of a file as (level, module) pairs."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [(node.level, node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)]


def files(folder):
    return sorted(folder.rglob("*.py"))


def test_every_room_has_its_rule():
    rooms = {path.name for path in (PLUGINS / "plugin_utils").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(MAY_IMPORT)


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_a_room_imports_only_what_lies_below_it(room):
    modules = [module for path in files(PLUGINS / "plugin_utils" / room) for _level, module in imports(path)]
    assert {module.removeprefix(PREFIX).split(".")[0] for module in modules if module.startswith(PREFIX)} <= MAY_IMPORT[room]


def test_nothing_is_imported_by_a_relative_name():
    assert [path for path in files(PLUGINS) if any(level for level, _module in imports(path))] == []
