# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages between a host's kernel, its client and the server: those of linux/fuse.h, version 7.31.

The client passes them on unchanged. It adds one message of its own, RENEW, whose node is the client's number: it
identifies the client on a new connection and renews the lease on an old one.
"""

import struct

RENEW = 0
LOOKUP, FORGET, GETATTR, SETATTR, READLINK, SYMLINK = range(1, 7)
MKNOD, MKDIR, UNLINK, RMDIR, RENAME, LINK, OPEN, READ, WRITE, STATFS, RELEASE = range(8, 19)
FSYNC = 20
FLUSH, INIT, OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, GETLK, SETLK, SETLKW = range(25, 34)
CREATE, INTERRUPT = 35, 36
BATCH_FORGET = 42
RENAME2 = 45

NAMES = {number: name for name, number in list(globals().items()) if isinstance(number, int) and name.isupper()}

MESSAGE_MAX = 2 << 20
WRITE_MAX = 1 << 20
ROOT = 1  # the node of the root directory

REQUEST = struct.Struct("<IIQQIIIHH")  # length, operation, unique, node, uid, gid, pid, 0, 0
REPLY = struct.Struct("<IiQ")  # length, error, unique
UNIQUE = struct.Struct("<Q")

INIT_IN = struct.Struct("<IIII")  # major, minor, readahead, flags
INIT_OUT = struct.Struct("<IIIIHHIIHHI28x")
"""Major, minor, readahead, flags, background, congestion, write, granularity, pages, alignment, more flags."""
ATTRIBUTES = struct.Struct("<QQQQQQIIIIIIIIII")
"""Node, size, blocks, three times in s, three in ns, mode, links, uid, gid, device, block size, flags."""
ATTRIBUTES_VALID = struct.Struct("<QII")
ENTRY = struct.Struct("<QQQQII")  # node, generation, validity of the name and of the attributes
OPENED = struct.Struct("<QII")  # handle, flags
FILE_SYSTEM = struct.Struct("<QQQQQIIII24x")
DIRECTORY_ENTRY = struct.Struct("<QQII")  # node, next offset, length of the name, type

CREATE_IN = struct.Struct("<IIII")  # flags, mode, umask, more flags
MKNOD_IN = struct.Struct("<IIII")  # mode, device, umask, 0
MKDIR_IN = struct.Struct("<II")  # mode, umask
RENAME_IN = struct.Struct("<Q")  # the other directory
RENAME2_IN = struct.Struct("<QII")  # the other directory, flags, 0
LINK_IN = struct.Struct("<Q")  # the linked node
SETATTR_IN = struct.Struct("<IIQQQQQQIIIIIIII")
"""Which, 0, handle, size, lock owner, three times in s, three in ns, mode, 0, uid, gid, 0."""
HANDLE = struct.Struct("<Q")
OPEN_IN = struct.Struct("<I")  # flags
IO_IN = struct.Struct("<QQIIQII")  # handle, offset, size, flags, lock owner, flags of the file, 0
WRITE_OUT = struct.Struct("<II")  # size, 0
RELEASE_IN = struct.Struct("<QIIQ")  # handle, flags of the file, flags, lock owner
FLUSH_IN = struct.Struct("<QIIQ")  # handle, 0, 0, lock owner
LOCK = struct.Struct("<QQQQIIII")  # handle, lock owner, first and last byte, type, pid, flags, 0
LOCK_OUT = struct.Struct("<QQII")  # first and last byte, type, pid

# Flags of INIT.
ASYNC_READ, POSIX_LOCKS, ATOMIC_TRUNCATE, BIG_WRITES = 1 << 0, 1 << 1, 1 << 3, 1 << 5
FLOCK_LOCKS, PARALLEL_DIRECTORIES, MAX_PAGES = 1 << 10, 1 << 18, 1 << 22
# Flags of an opened file: nothing is cached, and several writes may be on their way.
DIRECT_IO, PARALLEL_WRITES = 1 << 0, 1 << 6
RELEASE_FLOCK = 1 << 1
# What SETATTR sets.
SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME, SET_BY_HANDLE = (1 << bit for bit in range(7))
SET_ATIME_NOW, SET_MTIME_NOW = 1 << 7, 1 << 8


def request(operation: int, node: int, unique: int = 0, body: bytes = b"") -> bytes:
    return REQUEST.pack(REQUEST.size + len(body), operation, unique, node, 0, 0, 0, 0, 0) + body


def reply(unique: int, body: bytes = b"", error: int = 0) -> bytes:
    return REPLY.pack(REPLY.size + len(body), -error, unique) + body


def split(received: bytes) -> tuple[list[memoryview], bytes]:
    """Return the complete messages at the beginning of what was received, and the rest. Raises ValueError if a length
    is impossible."""
    view = memoryview(received)
    messages, start = [], 0
    while len(view) - start >= 4:
        (length,) = struct.unpack_from("<I", view, start)
        if not REPLY.size <= length <= MESSAGE_MAX:
            raise ValueError(f"a message of {length} bytes")
        if len(view) - start < length:
            break
        messages.append(view[start : start + length])
        start += length
    return messages, received[start:]


def names(body: memoryview, count: int) -> list[bytes]:
    """Return the names in a request, each of which ends with a zero byte."""
    return bytes(body).split(b"\0")[:count]
