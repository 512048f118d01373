# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""`make test` covers each promise, playbook, kind of run and verdict, and `make test-changed` has tests for every part
of the project."""

from __future__ import annotations

import ast
import re
import subprocess
from functools import cache
from pathlib import Path

import changed_tests
import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import verdicts
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import CHECK_MODE, KINDS
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.test_safety_documentation import rows

PROJECT = Path(__file__).resolve().parents[2]
SELECTION = yaml.safe_load((PROJECT / "tests/selection.yml").read_text(encoding="utf-8"))
LATER = ("thorough", "acceptance", "trials")
"""The marks of tests that `make test` leaves out."""
WITHOUT_TESTS = (
    "LICENSE",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "changelogs/",
    "benchmarks/",
    ".",
    "molecule/",
    "collections/",
    "pyproject.toml",
    "requirements-dev.txt",
)
"""Parts for which the linters are enough after a change. The scenarios of Molecule are tests themselves."""


def is_later(node: ast.AST) -> bool:
    return any(f"mark.{mark}" in ast.unparse(node) for mark in LATER)


def left_out(function: ast.FunctionDef) -> bool:
    """Return whether all cases of a test are left out. A mark on a single parameter leaves out only that case."""
    return any(
        is_later(decorator) and "parametrize" not in ast.unparse(decorator) for decorator in function.decorator_list
    )


@cache
def in_make_test() -> dict[str, list[str]]:
    """Return the names of the tests that `make test` runs, each with the files that contain a test of this name."""
    found: dict[str, list[str]] = {}
    for folder in ("tests/unit", "tests/integration", "src/tests"):
        for path in sorted((PROJECT / folder).rglob("test_*.py")):
            module = ast.parse(path.read_text(encoding="utf-8"))
            if any(
                isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark" and is_later(node.value)
                for node in module.body
            ):
                continue
            for node in module.body:
                if isinstance(node, ast.FunctionDef) and not left_out(node):
                    found.setdefault(node.name, []).append(str(path.relative_to(PROJECT)))
    return found


def over_ssh(name: str) -> bool:
    return any(path.startswith("tests/integration/") for path in in_make_test().get(name, ()))


@pytest.mark.parametrize(
    ("part", "all_there_is"),
    [
        ("playbooks", {path.name for path in (PROJECT / "playbooks").glob("*.yml")}),
        ("kinds_of_run", {kind.name for kind in (*KINDS.values(), CHECK_MODE)}),
        ("verdicts", set(verdicts.WORST_FIRST)),
    ],
)
def test_make_test_covers_each_over_ssh(part, all_there_is):
    assert set(SELECTION[part]) == all_there_is
    assert [name for name in SELECTION[part].values() if not over_ssh(name)] == []


def test_make_test_covers_each_promise_of_safety():
    promises = list(rows((PROJECT / "docs/safety.md").read_text(encoding="utf-8")))
    assert len(promises) > 30
    assert [promise for promise in promises if not set(re.findall(r"`(\w+)`", promise[-1])) & set(in_make_test())] == []


def test_the_tests_of_changed_parts_exist():
    for part in SELECTION["changed"]:
        for kind, folder in (("unit", changed_tests.UNIT), ("integration", changed_tests.INTEGRATION)):
            assert [name for name in part.get(kind, ()) if not changed_tests.test_file(folder, name).exists()] == []
        assert [path for path in part["paths"] if not (PROJECT / path).exists()] == []


def test_every_part_of_the_project_has_tests():
    files = subprocess.run(["git", "ls-files"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout.split()
    known = tuple(path for part in SELECTION["changed"] for path in part["paths"])
    without = [path for path in files if not path.startswith((*known, *WITHOUT_TESTS))]
    assert [path for path in without if not changed_tests.unit_tests([path], SELECTION)] == []
