# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which files of a volume are stored compressed with gzip, and reads both forms.

Sizes and hashes in records and certificates are always those of the content. A run directory
may come from anywhere, so the decompressed size is limited to what is allowed for an uncompressed file.
"""

from __future__ import annotations

import re
import zlib

from .files import read_file
from .names import ORDER, RECORD, is_table

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
