# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks whether the tester's binary on this host is the one that was installed, and from which sources it was built.

Private to this collection; it may change at any time.
"""

import hashlib
import os
import re

_HASH_NAME = "logdisk.sha256"
_VERSION = re.compile(r"\Alogdisk \S+ (\S+)\Z")


def file_sha256(path):
    """Return the SHA-256 of a file in hexadecimal digits. Raises OSError."""
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        for part in iter(lambda: stream.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


def write_hash(path):
    """Store the SHA-256 of a binary beside it. Raises OSError."""
    with open(os.path.join(os.path.dirname(path), _HASH_NAME), "w") as stream:
        stream.write(file_sha256(path) + "\n")


def read_hash(path):
    """Return the hash that :func:`write_hash` stored beside the binary at ``path``; empty if there is none."""
    try:
        with open(os.path.join(os.path.dirname(path), _HASH_NAME), "rb") as stream:
            return stream.read(100).decode("ascii", "replace").strip()
    except (IOError, OSError):
        return ""


def source_hash(version):
    """Return the hash of the sources, from the line that the tester prints as its version; empty if the line is not
    that of the tester."""
    match = _VERSION.match(version.strip())
    return match.group(1) if match else ""
