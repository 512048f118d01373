# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Packs a run directory into a compressed archive, and unpacks it.

The archive may come from anyone. Only plain files and directories below the run directory are accepted, and nothing is
written under the run's name until the whole archive has been read. Only the plain ustar format is accepted, so that no
header can request more memory than a block.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO

from .directory import RunDirectory
from .files import read_file
from .names import is_run_id

MOST_PACKED_BYTES = 50 << 20
MOST_BYTES = 2 << 30
MOST_FILE_BYTES = 256 << 20
MOST_MEMBERS = 200_000

_BLOCK = tarfile.BLOCKSIZE
_CHUNK_BYTES = 1 << 20
_PART = re.compile(r"[A-Za-z0-9_~][A-Za-z0-9_.~-]*\Z")
"""A part of a path that is allowed in a run directory. Names that begin with a dot belong to files that are still being
written."""


class ArchiveError(OSError):
    """A run directory cannot be packed, or an archive is not accepted. The message is one sentence without a full
    stop."""


def pack(path: str) -> bytes:
    """Return a run directory as an archive; the same content gives the same bytes. Raises ArchiveError."""
    packed = io.BytesIO()
    try:
        with (
            gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=6, mtime=0) as stream,
            tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive,
        ):
            for name in _names(path):
                _add(archive, os.path.dirname(path), name)
                if packed.tell() > MOST_PACKED_BYTES:
                    break
    except (OSError, ValueError) as error:
        raise ArchiveError(f"{path} cannot be packed: {getattr(error, 'strerror', None) or error}") from None
    if packed.tell() > MOST_PACKED_BYTES:
        raise ArchiveError(f"{path} is larger than {MOST_PACKED_BYTES >> 20} MB when it is packed")
    return packed.getvalue()


def unpack(packed: bytes, base: str, run_id: str) -> RunDirectory:
    """Create the directory of a run below ``base`` from its archive, which is untrusted. Raises ArchiveError, for
    example if the directory already exists."""
    if not is_run_id(run_id):
        raise ArchiveError(f"{run_id!r} is not a run ID")
    path, aside = os.path.join(base, run_id), os.path.join(base, f".{run_id}.{secrets.token_hex(6)}")
    try:
        os.makedirs(base, exist_ok=True)
        os.mkdir(aside)
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            _write_members(stream, aside, run_id)
        if RunDirectory.open(aside).run["run_id"] != run_id:
            raise ArchiveError("it contains another run")
        os.rename(aside, path)
    except (OSError, EOFError, ValueError, zlib.error, tarfile.HeaderError) as error:
        raise ArchiveError(
            f"the archive of the run {run_id} cannot be unpacked to {path}: {getattr(error, 'strerror', None) or error}"
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return RunDirectory.open(path)


def _names(path: str) -> Iterator[str]:
    """Yield the names of the directories and files of a run, relative to the parent directory. They are sorted, with
    each directory before its content."""
    above = os.path.dirname(path)
    for folder, folders, files in os.walk(path):
        folders[:] = sorted(
            name for name in folders if _PART.match(name) and not os.path.islink(os.path.join(folder, name))
        )
        yield os.path.relpath(folder, above)
        yield from (os.path.relpath(os.path.join(folder, name), above) for name in sorted(files) if _PART.match(name))


def _add(archive: tarfile.TarFile, above: str, name: str) -> None:
    member, path = tarfile.TarInfo(name), os.path.join(above, name)
    if os.path.isdir(path):
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        archive.addfile(member)
    else:
        try:
            content = read_file(path, MOST_FILE_BYTES)
        except OSError as error:
            raise ArchiveError(f"{name}: {error.strerror or error}") from None
        member.size, member.mode = len(content), 0o644
        archive.addfile(member, io.BytesIO(content))


def _write_members(stream: IO[bytes], directory: str, run_id: str) -> None:
    """Write every file of an archive below a temporary directory for the run. Raises ArchiveError and OSError."""
    left, members = MOST_BYTES, 0
    while (block := _read(stream, _BLOCK)).strip(b"\0"):
        member = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        members, left = members + 1, left - member.size
        if members > MOST_MEMBERS or left < 0:
            raise ArchiveError(f"it has more than {MOST_MEMBERS} files or {MOST_BYTES >> 30} GiB")
        first, *parts = member.name.split("/")
        if first != run_id or not all(len(part) <= 255 and _PART.match(part) for part in parts):
            raise ArchiveError(f"{member.name[:200]!r} is not the name of a file of this run")
        path = os.path.join(directory, *parts)
        if member.type == tarfile.REGTYPE and parts and 0 <= member.size <= MOST_FILE_BYTES:
            _write_file(stream, path, member.size)
        elif member.type == tarfile.DIRTYPE and member.size == 0:
            os.makedirs(path, exist_ok=True)
        else:
            raise ArchiveError(
                f"{member.name!r} is neither a plain file of at most {MOST_FILE_BYTES >> 20} MiB nor a directory"
            )


def _write_file(stream: IO[bytes], path: str, size: int) -> None:
    with open(path, "xb") as file:
        for start in range(0, size, _CHUNK_BYTES):
            file.write(_read(stream, min(_CHUNK_BYTES, size - start)))
    _read(stream, -size % _BLOCK)


def _read(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) != size:
        raise ArchiveError("it ends too early")
    return content
