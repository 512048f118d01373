#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manages the versions of ansible-core with which the collection is tested, each in a virtual environment below
build/venv.

controllers.py list            print what is covered on this machine and what is not
controllers.py names           print the versions that this machine can run, newest first
controllers.py venv            make the environments of the oldest and the newest; versions for which no Python is found
                               are left out
controllers.py venv all        make the environments of all versions
"""

import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[1]
TARGET_PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")


class Core(NamedTuple):
    name: str
    version: str
    oldest_python: str
    newest_python: str

    @property
    def directory(self) -> Path:
        return PROJECT / "build/venv" / f"core-{self.name}"

    @property
    def python(self) -> str:
        """The newest Python on this machine that this version supports, or an empty string."""
        low, high = number(self.oldest_python), number(self.newest_python)
        fitting = [version for version in pythons() if low <= number(version) <= high]
        return pythons()[max(fitting, key=number)] if fitting else ""

    @property
    def is_candidate(self) -> bool:
        return "rc" in self.version

    def make(self) -> bool:
        """Make the environment of this version. Returns False if no Python for it is found."""
        if self.python:
            tool = str(PROJECT / "tools/make-venv")
            subprocess.run(
                [tool, str(self.directory), self.python, f"ansible-core=={self.version}", "ansible-runner==2.4.3"],
                check=True,
            )
        return bool(self.python)


CORES = (
    # The oldest version that the collection supports, and the last one that supports Python 3.6 on hosts.
    Core("2.16", "2.16.19", "3.10", "3.12"),
    Core("2.18", "2.18.19", "3.11", "3.13"),
    # The newest one for Python 3.11, which Debian 12 has; `make certify` installs it there.
    Core("2.19", "2.19.14", "3.11", "3.13"),
    Core("2.20", "2.20.10", "3.12", "3.14"),
    Core("2.21", "2.21.5", "3.12", "3.14"),
    Core("2.22", "2.22.0rc1", "3.13", "3.14"),
)


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@cache
def pythons() -> dict[str, str]:
    """Return the path of every Python 3 that can be run on this machine, by version."""
    lines = subprocess.run(
        [str(PROJECT / "tools/find-python")], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return dict(line.split(maxsplit=1) for line in lines)


def core(name: str) -> Core:
    """Return the core with this name. "newest" stands for the newest one."""
    return newest() if name == "newest" else next(each for each in CORES if each.name == name)


def newest() -> Core:
    """Return the newest core for which there is a Python on this machine."""
    return [each for each in CORES if each.python][-1]


def newest_release() -> Core:
    """Return the newest core for which there is a Python on this machine, and which is not a release candidate."""
    return [each for each in CORES if each.python and not each.is_candidate][-1]


def coverage() -> str:
    lines = [f"ansible-core {each.version}: {each.python or 'NOT COVERED'}{_needs(each)}" for each in CORES]
    missing = [version for version in TARGET_PYTHONS if version not in pythons()]
    lines.append(
        f"Python on targets: Debian's, and {', '.join(version for version in TARGET_PYTHONS if version not in missing)}"
    )
    if missing:
        lines.append(f"Python on targets NOT COVERED (no interpreter found): {', '.join(missing)}")
    return "\n".join(lines)


def _needs(each: Core) -> str:
    return "" if each.python else f" (no Python from {each.oldest_python} to {each.newest_python} found)"


def main(arguments: list[str]) -> int:
    match arguments:
        case ["list"]:
            print(coverage())
        case ["names"]:
            print(" ".join(each.name for each in reversed(CORES) if each.python))
        case ["venv"]:
            for each in {CORES[0], newest()}:
                each.make()
        case ["venv", "all"]:
            for each in CORES:
                each.make()
        case _:
            print(__doc__, file=sys.stderr)
            return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
