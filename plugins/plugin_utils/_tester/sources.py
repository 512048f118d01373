# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The tester's sources on the controller: their identity, their archive, and the flags with which they are compiled."""

from __future__ import annotations

import base64
import hashlib
import json
import shlex
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
