# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Builds a static tester for hosts without a compiler, once for each architecture, on the controller."""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from .sources import build_name, compiler_flags


class BinaryError(Exception):
    """Raised if there is no binary for a host; the message says what to do."""


def read_binary(path: str) -> bytes:
    """Return the binary at ``path`` on the controller. Raises BinaryError."""
    try:
        return Path(path).expanduser().read_bytes()
    except OSError as error:
        raise BinaryError(f"tester_binary: cannot read {path}: {error.strerror}") from error


def static_binary(sources: dict[str, bytes], extra_flags: str, architecture: str) -> bytes:
    """Return the tester for ``architecture`` (as uname -m names it). It is built if it is not in the cache. Raises
    BinaryError."""
    flags = [*compiler_flags(sources, extra_flags), "-static"]
    compiler = find_compiler(architecture)
    folder = _folder(compiler, flags, architecture)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "logdisk").exists():
            _build(sources, compiler, flags, folder)
    return (folder / "logdisk").read_bytes()


def cached_binaries(sources: dict[str, bytes], extra_flags: str) -> list[bytes]:
    """Return the binaries that :func:`static_binary` has built from these sources, for all architectures. A host can
    run only the binary for its own architecture."""
    flags = [*compiler_flags(sources, extra_flags), "-static"]
    architectures = {path.parent.name.rpartition("-")[2] for path in cache_directory().glob("*-*/logdisk")}
    paths = []
    for architecture in sorted(architectures):
        with contextlib.suppress(BinaryError):
            paths.append(_folder(find_compiler(architecture), flags, architecture) / "logdisk")
    return [path.read_bytes() for path in paths if path.exists()]


def _folder(compiler: str, flags: list[str], architecture: str) -> Path:
    return cache_directory() / f"{build_name([compiler, *flags])}-{architecture}"


def find_compiler(architecture: str) -> str:
    """Return the compiler for ``architecture``: the native compiler of the controller, or a cross compiler with its
    usual name. Raises BinaryError."""
    names = (
        ["cc", "gcc", "clang"]
        if architecture == platform.machine()
        else [f"{architecture}-linux-gnu-gcc", f"{architecture}-linux-musl-gcc"]
    )
    for name in names:
        path = shutil.which(name)
        if path:
            return path
    raise BinaryError(
        f"tester_method: binary: the controller has no compiler for {architecture} (looked for {', '.join(names)}): "
        f"install one, or set tester_binary to a static binary for {architecture}"
    )


def cache_directory() -> Path:
    """Return the directory of the binaries built here."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "mqops-logdisk"


def _build(sources: dict[str, bytes], compiler: str, flags: list[str], folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as aside:
        for name, content in sources.items():
            path = Path(aside) / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        command = [compiler, *flags, "-o", "logdisk", *(name for name in sources if name.endswith(".c")), "-lm"]
        done = subprocess.run(
            command, cwd=aside, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        if done.returncode != 0:
            output = done.stdout.decode("utf-8", "replace").strip()[-2000:]
            raise BinaryError(f"the static tester does not build on the controller with {compiler}: {output}")
        os.rename(Path(aside) / "logdisk", folder / "logdisk")
