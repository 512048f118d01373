# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Makes a program for a host's Python from modules of this collection. The program is sent to the standard input of a
loader, so that nothing is installed on the host."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = "ansible_collections.mqops.logdisk.plugins.module_utils"
_FOLDER = Path(__file__).parents[2] / "module_utils"

LOADER = """
import os, sys
length, text = int(sys.argv[1]), b""
while len(text) < length:
    text += os.read(0, length - len(text)) or sys.exit(1)
exec(text.decode())
"""
"""The program that is started on the host. It reads another program from its input and runs it. Its first argument is
the length of that program."""

_FRAME = """
import sys, types
for name, text in {sources!r}:
    module = types.ModuleType(name)
    sys.modules[name] = module
    if text is None:
        module.__path__ = []
    else:
        exec(compile(text, name, "exec"), module.__dict__)
    if "." in name:
        setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], module)
sys.modules[{main!r}].main(sys.argv[2:])
"""


def program(name: str) -> bytes:
    """Return a program that calls ``main`` of a module of ``module_utils`` with all of its own arguments except the
    first."""
    parts = PACKAGE.split(".")
    packages = [(".".join(parts[: number + 1]), None) for number in range(len(parts))]
    modules = [(f"{PACKAGE}.{each}", _source(each)) for each in _needed(name)]
    return _FRAME.format(sources=[*packages, *modules], main=f"{PACKAGE}.{name}").encode("utf-8")


def _needed(name: str) -> list[str]:
    """Return the names of a module and of the modules that it imports, in an order in which each module follows those
    that it imports."""
    found: list[str] = []
    for node in ast.walk(ast.parse(_source(name))):
        if isinstance(node, ast.ImportFrom) and node.level == 1 and not node.module:
            for alias in node.names:
                found += [each for each in _needed(alias.name) if each not in found]
    return [*found, name]


def _source(name: str) -> str:
    return (_FOLDER / f"{name}.py").read_text(encoding="utf-8")
