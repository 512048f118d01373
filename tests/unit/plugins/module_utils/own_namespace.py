# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Real mounts, in the mount namespace of a separate process. They disappear with that process."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _time_limit

_CLONE_NEWNS, _CLONE_NEWUSER = 0x20000, 0x10000000
_MS_NOEXEC, _MS_BIND, _MS_MOVE, _MS_REC, _MS_PRIVATE = 0x8, 0x1000, 0x2000, 0x4000, 0x40000
_LIBC = ctypes.CDLL(None, use_errno=True)


def in_own_namespace(body: Callable[[], Any]) -> Any:
    """Call a function that may mount file systems. Return its result, which JSON must be able to represent."""
    (answer,) = _time_limit.call_all([lambda: [_enter() and body()]], 60)
    if isinstance(answer, _time_limit.TimeLimitError):
        if str(answer) == "no namespace":
            pytest.skip("this machine does not let an unprivileged user mount anything")
        raise AssertionError(str(answer))
    return answer[0]


def tmpfs(source: str, point: Path) -> None:
    """Mount a file system in memory; ``source`` is its name in mountinfo. No program may be run from it."""
    point.mkdir(parents=True, exist_ok=True)
    _mount(source, str(point), "tmpfs", _MS_NOEXEC)


def bind(directory: Path, point: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    point.mkdir(parents=True, exist_ok=True)
    _mount(str(directory), str(point), "", _MS_BIND)


def move(before: Path, after: Path) -> None:
    after.mkdir(parents=True, exist_ok=True)
    _mount(str(before), str(after), "", _MS_MOVE)


def btrfs(images: Path, disks: int, point: Path, subvolumes: Mapping[str, Path]) -> list[str]:
    """Mount a btrfs file system on several loop devices, and subvolumes of it at other places. Return the devices."""
    images.mkdir()
    devices = []
    for number in range(disks):
        with open(images / str(number), "wb") as image:
            image.truncate(128 << 20)
        devices.append(_output("losetup", "--find", "--show", str(image.name)).strip())
    try:
        _output("mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "single", *devices)
        point.mkdir(parents=True)
        _mount(devices[0], str(point), "btrfs", 0)
        for name, place in subvolumes.items():
            _output("btrfs", "subvolume", "create", str(point / name))
            place.mkdir(parents=True)
            _mount(devices[0], str(place), "btrfs", 0, f"subvol={name}")
    finally:
        # The kernel detaches them when the file system is unmounted.
        _output("losetup", "--detach", *devices)
    return devices


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _enter() -> bool:
    user, group = os.geteuid(), os.getegid()
    if _LIBC.unshare(_CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER):
        raise OSError("no namespace")
    if user:
        for name, content in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            Path("/proc/self", name).write_text(content)
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
    return True


def _mount(source: str, point: str, kind: str, flags: int, options: str = "") -> None:
    if _LIBC.mount(*(text.encode() for text in (source, point, kind)), flags, options.encode()):
        error = ctypes.get_errno()
        raise OSError(error, f"mount {source} {point}: {os.strerror(error)}")
