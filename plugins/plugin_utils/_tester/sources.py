# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's sources on the controller: their identity, their archive, the flags with which they are compiled, and
the static binaries for hosts without a compiler, built once for each architecture."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path

FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-O2", "-pthread", "-I.")
FOLDERS = (".", "base", "cut", "figures", "host", "lock", "measure", "output", "workload")
"""The folders of the sources. The tests and the build directory are not part of the sources."""


QUICKLY = 4
"""The compression level. Level 9 takes six times as long and saves only 3 %."""


class SourcesError(Exception):
    """The sources cannot be used; the message says what to do."""


def read_sources(directory: str) -> dict[str, bytes]:
    """Return the tester's C files and headers by their paths below ``directory``, sorted. Raises SourcesError."""
    root = Path(directory)
    try:
        paths = sorted(
            path
            for folder in FOLDERS
            for path in (root / folder).iterdir()
            if path.suffix in (".c", ".h") and path.is_file()
        )
        sources = {str(path.relative_to(root)): path.read_bytes() for path in paths}
    except OSError as error:
        raise SourcesError(f"cannot read the tester's sources: {error}; set tester_source_dir") from error
    if "main.c" not in sources:
        raise SourcesError(f"{directory} does not contain the tester's sources (no main.c); set tester_source_dir")
    return sources


def source_hash(sources: dict[str, bytes]) -> str:
    """Return the SHA-256 of the sources, as the tester's own Makefile computes it."""
    return hashlib.sha256(b"".join(sources[name] for name in sorted(sources))).hexdigest()


def compiler_flags(sources: dict[str, bytes], extra: str) -> list[str]:
    """Return the compiler's flags: the required ones, the hash of the sources, and the user's ``extra`` flags in shell
    notation."""
    return [*FLAGS, f'-DLOGDISK_SOURCE_HASH="{source_hash(sources)}"', *shlex.split(extra)]


def build_name(parts: list[str]) -> str:
    """Return the folder name of a build: the beginning of the SHA-256 of everything that affects the result."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def pack(files: dict[str, bytes]) -> str:
    """Return ``files`` as one compressed string that the ``build`` module unpacks: a line of JSON with the name and
    size of each file, and then the contents. It is made again for each host, so the compression has to be fast."""
    names = sorted(files)
    head = json.dumps([[name, len(files[name])] for name in names]).encode()
    content = b"\n".join([head, b"".join(files[name] for name in names)])
    return base64.b64encode(zlib.compress(content, QUICKLY)).decode()


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
