# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A real file system that can be full: a small tmpfs in the mount namespace of a separate process, which disappears
with that process."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_REC, _MS_PRIVATE = 0x4000, 0x40000
_FILLER = "filler"


def on_a_small_disk(directory: str, body: Callable[..., Any], *arguments: Any, size_bytes: int = 2 << 20) -> Any:
    """Call a function of a module in a process in which a small disk is mounted on a directory;
    return what it returns."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        if not pool.submit(_mount, directory, size_bytes).result():
            pytest.skip("this machine does not let an unprivileged user mount anything")
        return pool.submit(body, directory, *arguments).result()


def fill(directory: str, leave_bytes: int = 0) -> None:
    """Fill the disk except for a few bytes."""
    path = os.path.join(directory, _FILLER)
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as filler:
        while filler.write(b"x" * 4096):
            pass
    os.truncate(path, os.path.getsize(path) - leave_bytes)


def clear(directory: str) -> None:
    """Make room again."""
    os.unlink(os.path.join(directory, _FILLER))


def _mount(directory: str, size_bytes: int) -> bool:
    libc, user, group = ctypes.CDLL(None), os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER):
        return False
    if user:
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path("/proc/self", name).write_text(content)
    return not (
        libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None)
        or libc.mount(b"tmpfs", os.fsencode(directory), b"tmpfs", 0, f"size={size_bytes},mode=1777".encode())
    )
