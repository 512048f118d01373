# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines when a directory was created.

Private to this collection; it may change at any time.
"""

import ctypes
import os
import struct

# Constants of linux/fcntl.h and linux/stat.h.
AT_FDCWD = -100
AT_SYMLINK_NOFOLLOW = 0x100
STATX_BTIME = 0x800
STATX_BYTES = 256
BTIME_OFFSET_BYTES = 80


def birth_of(path):
    """Return the birth time of a directory as text; empty if the kernel, the file system or the libc does not report
    it.
    Python has no function for it."""
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    found = ctypes.create_string_buffer(STATX_BYTES)
    if statx is None or statx(AT_FDCWD, os.fsencode(path), AT_SYMLINK_NOFOLLOW, STATX_BTIME, found) != 0:
        return ""
    (known,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, BTIME_OFFSET_BYTES)
    return "%d.%09d" % (seconds, nanoseconds) if known & STATX_BTIME else ""
