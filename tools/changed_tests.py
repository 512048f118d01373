#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the tests of files that changed since a commit: changed_tests.py COMMIT [ARGUMENT OF pytest...]

It runs the linters on the changed files, the tester's tests if src/ changed, the unit tests in the folders below
tests/unit that correspond to changed folders, and the tests that tests/selection.yml names for changed parts. New files
and uncommitted changes count as well.
"""

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[1]
UNIT, INTEGRATION = PROJECT / "tests/unit", PROJECT / "tests/integration"
TOOLS = Path(sys.executable).parent


def main(since: str, arguments: list[str]) -> int:
    changed = changed_files(since)
    if not changed:
        print(f"changed_tests: nothing differs from {since}")
        return 0
    statuses = [
        run(command)
        for command in commands(changed, yaml.safe_load((PROJECT / "tests/selection.yml").read_text()), arguments)
    ]
    return 1 if any(statuses) else 0


def changed_files(since: str) -> list[str]:
    """Return the paths, relative to the root of the project, of the files that differ from a commit, including removed
    files."""
    differing = git("diff", "--name-only", "-z", since, "--")
    return sorted({*differing, *git("ls-files", "--others", "--exclude-standard", "-z")})


def git(*arguments: str) -> list[str]:
    output = subprocess.run(["git", *arguments], cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in output.split("\0") if name]


def commands(changed: list[str], selection: dict, arguments: list[str]) -> Iterator[list[str]]:
    """Yield the commands to run, with the quickest first."""
    present = [path for path in changed if (PROJECT / path).is_file()]
    python = [path for path in present if path.endswith(".py")]
    data = [path for path in present if path.endswith((".yml", ".yaml"))]
    if python:
        yield [str(TOOLS / "ruff"), "check", "--quiet", *python]
        yield [str(TOOLS / "ruff"), "format", "--check", "--quiet", *python]
    if data:
        yield [str(TOOLS / "yamllint"), "--strict", *data]
    if any(path.startswith(("playbooks/", "roles/", "molecule/")) for path in data):
        yield [str(TOOLS / "ansible-lint"), "--offline", "--nocolor", *data]
    scripts = set(
        subprocess.run(
            [str(PROJECT / "tools/shell-scripts")], cwd=PROJECT, check=True, stdout=subprocess.PIPE, text=True
        ).stdout.split()
    )
    if scripts.intersection(present):
        yield ["shellcheck", *sorted(scripts.intersection(present))]
    units = unit_tests(changed, selection)
    if units:
        yield pytest(["-n", "auto", "-m", "not trials"], units, arguments)
    if any(path.startswith("src/") for path in changed):
        yield ["make", "--no-print-directory", "-C", str(PROJECT / "src"), "test"]
    named = named_tests(changed, selection, "integration", INTEGRATION)
    if named:
        yield pytest(
            [
                "-n",
                "4",
                "-m",
                "not acceptance and not thorough",
                "--reruns",
                "2",
                "--reruns-delay",
                "10",
                "--timeout",
                "1200",
            ],
            named,
            arguments,
        )


def unit_tests(changed: Iterable[str], selection: dict) -> list[Path]:
    """Return the unit tests of changed parts: changed test files, the folders that correspond to changed folders, and
    the tests that the selection names."""
    found = set(named_tests(changed, selection, "unit", UNIT))
    for path in changed:
        if path.startswith("tests/unit/"):
            of_file = PROJECT / path
            found.add(of_file if of_file.name.startswith("test_") else of_file.parent)
        elif path.startswith("plugins/"):
            found.add((UNIT / path).parent)
    return [path for path in sorted(found) if path.exists() and not any(other in path.parents for other in found)]


def named_tests(changed: Iterable[str], selection: dict, kind: str, folder: Path) -> list[Path]:
    """Return the test files of one kind that the selection names for changed files, and the test files of this kind
    that have changed themselves."""
    own = {
        path
        for path in changed
        if Path(path).name.startswith("test_") and folder in (PROJECT / path).parents and (PROJECT / path).exists()
    }
    names = {
        name
        for part in selection["changed"]
        if any(path.startswith(tuple(part["paths"])) for path in changed)
        for name in part.get(kind, ())
    }
    return sorted({PROJECT / path for path in own} | {test_file(folder, name) for name in names})


def test_file(folder: Path, name: str) -> Path:
    """Return the path of the file that a name in the selection, such as container/job, stands for."""
    path = folder / name
    return path.with_name(f"test_{path.name}.py")


def pytest(options: list[str], tests: list[Path], arguments: list[str]) -> list[str]:
    return [sys.executable, "-m", "pytest", *options, *(str(test.relative_to(PROJECT)) for test in tests), *arguments]


def run(command: list[str]) -> int:
    print(f"+ {shlex.join(command)}", flush=True)
    path = os.pathsep.join((str(TOOLS), os.environ["PATH"]))
    status = subprocess.run(command, cwd=PROJECT, check=False, env={**os.environ, "PATH": path}).returncode
    # pytest ends with status 5 if no test was selected.
    return 0 if status == 5 and "pytest" in command else status


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
