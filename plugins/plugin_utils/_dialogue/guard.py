# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guard of a host, which protects it during steps that cut it off or its power; it is made from modules of this
collection and sent to the host's Python."""

from __future__ import annotations

import ast
import contextlib
import functools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .._run.table_reader import printable
from .line_stream import SSH_FAILED, LineStream

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


@functools.cache
def program(name: str) -> bytes:
    """Return a program that calls ``main`` of a module of ``module_utils`` with all of its own arguments except the
    first. It is made only once, because making it would delay the thread that reads what a tester sends."""
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


MODULE = "_host_guard"
"""The module that runs on the host."""
ANSWER_S = 30.0


def guard_command(interpreter: str, mqs_ini: str) -> list[str]:
    """Return the command that starts the guard on a host. ``mqs_ini`` is the file that lists the host's queue
    managers."""
    return [interpreter, "-c", LOADER, str(len(program(MODULE))), mqs_ini]


class Guard:
    """The guard on a host, which ``command`` starts. The caller must end it, which also ends a cut of the network."""

    def __init__(self, command: Sequence[bytes | str]) -> None:
        self._answers: list[tuple[str, str, int]] = []
        self._has_answered = False
        self._stream = LineStream(command, self._take)
        self._stream.send(program(MODULE))

    def refusal(self) -> str:
        """Return the reason if the host must not be cut off or lose power now; otherwise empty. A missing answer is
        also a reason."""
        word, text, _at_ns = self.ask("look")
        if word == "clear":
            return ""
        if word == "refused" and text:
            return text
        return f"it is not known whether queue managers are running on this host{f': {text}' if text else ''}"

    def end(self) -> None:
        """End the program."""
        self._stream.end()

    def never_ran(self) -> bool:
        """Whether the command ended with an error of its own before the program answered, for example because sudo
        requires a password."""
        if self._has_answered or not self._stream.is_over:
            return False
        return 0 < (self._stream.exit_status() or 0) < SSH_FAILED

    def ask(self, line: str) -> tuple[str, str, int]:
        """Return the first word of the answer, the rest of it, and the time of its arrival. If there is no answer, the
        word is empty."""
        self._answers.clear()
        self._stream.send(f"{line}\n".encode("ascii"))
        self._stream.wait_for(lambda: self._answers, ANSWER_S)
        if self._answers:
            return self._answers[0]
        return "", self._stream.why() or "the program on the host did not answer", time.monotonic_ns()

    def _take(self, line: str, at_ns: int) -> None:
        mark, _blank, answer = line.partition(" ")
        if mark != "guard:":
            return  # output of the login
        word, _blank, text = answer.partition(" ")
        self._has_answered = True
        self._answers.append((word, printable(text)[:300], at_ns))


@contextlib.contextmanager
def guarded(command: Sequence[bytes | str]) -> Iterator[Guard]:
    """Start a guard, and end it after the block."""
    guard = Guard(command)
    try:
        yield guard
    finally:
        guard.end()
