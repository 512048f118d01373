# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which modules the source files of the plugins import."""

from __future__ import annotations

import ast
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[4] / "plugins"
PACKAGE = "ansible_collections.mqops.logdisk.plugins"


def imports(path, at_once=False):
    """Return the full names of the modules from which a file imports; with ``at_once`` only those that it imports as
    soon as it is imported."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = [*PACKAGE.split("."), *path.relative_to(PLUGINS).parent.parts]
    return [
        ".".join([*(package[: len(package) + 1 - node.level] if node.level else ()), *filter(None, [node.module])])
        for node in (tree.body if at_once else ast.walk(tree))
        if isinstance(node, ast.ImportFrom)
    ]


def absolute(path):
    """Return the modules of this collection from which a file imports by their full names."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    found = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [module for module in found if module.startswith(PACKAGE)]
