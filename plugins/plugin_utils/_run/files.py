# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that are complete or absent: they are written under a temporary name and then renamed. Files are read without
following links, and up to a limited size."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from typing import IO, Any


def absolute(path: str) -> str:
    """Return the absolute path for a path that a user specified."""
    return os.path.abspath(os.path.expanduser(path))


@contextlib.contextmanager
def written_aside(path: str) -> Iterator[IO[bytes]]:
    """Open a new file for writing in the same directory. If the block succeeds, rename it to ``path``; otherwise,
    remove it."""
    directory, name = os.path.split(path)
    aside = os.path.join(directory, f".{name[:100]}.{secrets.token_hex(6)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb", buffering=1 << 20) as file:
            yield file
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(aside)
        raise


def write_file(path: str, content: bytes) -> None:
    """Write a whole file under a temporary name, and rename it to ``path``."""
    with written_aside(path) as file:
        file.write(content)


def write_json(path: str, content: Any, compact: bool = False) -> None:
    """Write plain data as JSON in ASCII, either indented by one blank or on one line without blanks, followed by a line
    end."""
    layout: dict[str, Any] = {"separators": (",", ":")} if compact else {"indent": 1}
    write_file(path, (json.dumps(content, **layout) + "\n").encode("ascii"))


def write_text(path: str, pieces: Iterable[str]) -> None:
    """Write a text piece by piece under a temporary name, and rename the file to path."""
    with written_aside(path) as file:
        for piece in pieces:
            file.write(piece.encode("utf-8", "backslashreplace"))


def read_file(path: str, most: int) -> bytes:
    """Return the content of a regular file. Raises OSError if the path is a link, if it is not a regular file, or if
    the file is larger than the limit."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(f"it has more than {most} bytes")
    return content


def replace_link(path: str, target: str) -> bool:
    """Make ``path`` a symbolic link to ``target`` in one step. If ``path`` exists and is not a link, return False and
    change nothing."""
    if os.path.lexists(path) and not os.path.islink(path):
        return False
    directory, name = os.path.split(path)
    aside = os.path.join(directory, f".{name}.{secrets.token_hex(6)}")
    os.symlink(target, aside)
    try:
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise
    return True
