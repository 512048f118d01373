# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Files that are complete or absent: they are written under a temporary name and renamed. Also: plain data as
text that is always the same, files that are stored compressed, and packed data from hosts."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
import json
import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any

from .names import ORDER, RECORD, is_table


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


def replace_link(path: str, target: str) -> None:
    """Make ``path`` a symbolic link to ``target`` in one step, unless ``path`` exists and is not a link."""
    if os.path.lexists(path) and not os.path.islink(path):
        return
    directory, name = os.path.split(path)
    aside = os.path.join(directory, f".{name}.{secrets.token_hex(6)}")
    os.symlink(target, aside)
    try:
        os.replace(aside, path)
    except OSError:
        os.unlink(aside)
        raise


def canonical(content: Any) -> str:
    """Return plain data as canonical text: JSON in ASCII with sorted keys, indented by one blank, with numbers as
    Python writes them, and a final line end."""
    return json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True, allow_nan=False) + "\n"


def fingerprint(content: Any) -> str:
    """Return the SHA-256 of plain data in its canonical text."""
    return hashlib.sha256(canonical(content).encode("ascii")).hexdigest()


TABLE_MAX_BYTES = 64 << 20


def unpack(name: str, packed: Any, most_bytes: int = TABLE_MAX_BYTES) -> bytes:
    """Return the data that a host packed. Data that is larger than ``most_bytes`` when unpacked is refused. Raises
    ValueError, whose message contains ``name``."""
    try:
        engine = zlib.decompressobj()
        content = engine.decompress(base64.b64decode(str(packed), validate=True), most_bytes)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"{name}: {error}") from error
    if engine.unconsumed_tail:
        raise ValueError(f"{name}: larger than {most_bytes >> 20} MiB")
    return content


SUFFIX = ".gz"

LARGE_RUN_HOSTS = 100
"""If a run expects more hosts than this, more files are compressed, because the files of individual hosts are rarely
opened."""

_OPENED_BY_PEOPLE = re.compile(r"(?:run|results|durability)(?:_[0-9]+)?\.csv\Z")
"""Tables that are short."""
_OF_LARGE_RUNS = (RECORD, ORDER)
_LEVEL = 5
"""With this level, a long histogram takes two thirds of the time of the usual level, and 1 % more space."""
_GZIP = 16 + zlib.MAX_WBITS
"""The gzip format, without a time and a name, so that the same content gives the same bytes."""


def is_compressed(name: str, of_large_run: bool) -> bool:
    """Whether a file is stored compressed."""
    if of_large_run and name in _OF_LARGE_RUNS:
        return True
    return is_table(name) and (of_large_run or not _OPENED_BY_PEOPLE.match(name))


def compress(content: bytes) -> bytes:
    engine = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return engine.compress(content) + engine.flush()


def read_either(path: str, most: int) -> bytes:
    """Return the content of a file that is stored plain, or compressed with a suffix. Raises OSError, for example if
    the content is larger than the limit.

    If both exist, a write was interrupted before it removed the plain file. The record describes the plain file.
    """
    try:
        return read_file(path, most)
    except FileNotFoundError:
        return _decompress(read_file(path + SUFFIX, most), most)


def _decompress(packed: bytes, most: int) -> bytes:
    engine = zlib.decompressobj(wbits=_GZIP)
    try:
        content = engine.decompress(packed, most + 1)
    except zlib.error:
        raise OSError("it is not a gzip file, or it is damaged") from None
    if len(content) > most:
        raise OSError(f"it has more than {most} bytes")
    if not engine.eof or engine.unused_data:
        raise OSError("it is not exactly one complete gzip file")
    return content
