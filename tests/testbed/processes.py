# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes as /proc shows them."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def all_pids() -> Iterator[int]:
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            yield int(entry.name)


def command_line(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


def namespace(pid: int, kind: str) -> str:
    try:
        return os.readlink(PROC / str(pid) / "ns" / kind)
    except OSError:
        return ""


def namespace_pids(pid: int) -> list[int]:
    """Return the ID of the process in each PID namespace that it belongs to, beginning with the outermost."""
    try:
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return [int(number) for number in line.split()[1:]]
    except OSError:
        pass
    return []


def is_zombie(pid: int) -> bool:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def kill(pid: int, number: int = signal.SIGKILL) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
