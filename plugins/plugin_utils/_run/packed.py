# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Unpacks data from hosts, which is compressed with zlib, and encoded in base64 because answers are JSON."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

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
