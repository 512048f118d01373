# SPDX-License-Identifier: GPL-3.0-or-later
"""The server's answers to requests about files. ``server.py`` handles locks and leases."""

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from testbed.shared import wire
from testbed.shared.files import Node, Tree, failed

if TYPE_CHECKING:
    from testbed.shared.leases import Client

BLOCK = 4096
TYPE_SHIFT = 12  # from the type in a mode to that in a directory entry


@dataclass
class Request:
    """A request of a host's kernel. ``body``: the part after the header."""

    client: "Client"
    operation: int
    unique: int
    node: int
    uid: int
    gid: int
    pid: int
    body: memoryview


Operation = Callable[[Tree, Request], bytes]


def handle(request: Request) -> int:
    """Return the epoch in which the file of the request was opened. If attributes are changed by a file's name, no file
    is open, and the current epoch applies."""
    if request.operation == wire.SETATTR:
        which, dummy, found = wire.SETATTR_IN.unpack_from(request.body)[:3]
        return found if which & wire.SET_BY_HANDLE else request.client.epoch
    return wire.HANDLE.unpack_from(request.body)[0]


def attributes(node: Node) -> bytes:
    seconds, nanoseconds = zip(*(divmod(time_ns, 10**9) for time_ns in node.times_ns))
    size = len(node.data)
    numbers = (node.number, size, -(-size // 512), *seconds, *nanoseconds)
    return wire.ATTRIBUTES.pack(*numbers, node.mode, node.links, node.uid, node.gid, 0, BLOCK, 0)


def entry(node: Node) -> bytes:
    """Return the answer to the lookup of a name. Hosts look up a name again each time, because another host may have
    changed it."""
    return wire.ENTRY.pack(node.number, 0, 0, 0, 0, 0) + attributes(node)


def opened(client: "Client", node: Node) -> bytes:
    """Count the file as open, and return its handle. The handle is the client's epoch, which shows whether the lease
    has expired since the file was opened."""
    node.opens[client.number] += 1
    return wire.OPENED.pack(client.epoch, wire.DIRECT_IO | wire.PARALLEL_WRITES, 0)


def lookup(tree: Tree, request: Request) -> bytes:
    return entry(tree.lookup(tree.node(request.node), *wire.names(request.body, 1)))


def get_attributes(tree: Tree, request: Request) -> bytes:
    return wire.ATTRIBUTES_VALID.pack(0, 0, 0) + attributes(tree.node(request.node))


def set_attributes(tree: Tree, request: Request) -> bytes:
    which, dummy, dummy, size, dummy, atime, mtime, dummy, atime_ns, mtime_ns, dummy, mode, dummy, uid, gid, dummy = (
        wire.SETATTR_IN.unpack_from(request.body)
    )
    node = tree.node(request.node)
    if which & wire.SET_SIZE:
        tree.resize(node, size)
    if which & wire.SET_MODE:
        node.mode = stat.S_IFMT(node.mode) | stat.S_IMODE(mode)
    node.uid = uid if which & wire.SET_UID else node.uid
    node.gid = gid if which & wire.SET_GID else node.gid
    node.touch(2)
    for index, given, now, time_ns in (
        (0, wire.SET_ATIME, wire.SET_ATIME_NOW, atime * 10**9 + atime_ns),
        (1, wire.SET_MTIME, wire.SET_MTIME_NOW, mtime * 10**9 + mtime_ns),
    ):
        if which & now:
            node.touch(index)
        elif which & given:
            node.times_ns[index] = time_ns
    return get_attributes(tree, request)


def read_link(tree: Tree, request: Request) -> bytes:
    return bytes(tree.node(request.node).data)


def symbolic_link(tree: Tree, request: Request) -> bytes:
    name, target = wire.names(request.body, 2)
    node = make(tree, request, name, stat.S_IFLNK | 0o777)
    tree.write(node, 0, memoryview(target))
    return entry(node)


def make(tree: Tree, request: Request, name: bytes, mode: int) -> Node:
    return tree.make(tree.node(request.node), name, mode, request.uid, request.gid)


def make_node(tree: Tree, request: Request) -> bytes:
    mode = wire.MKNOD_IN.unpack_from(request.body)[0]
    if not stat.S_ISREG(mode):
        raise failed(errno.EPERM)
    return entry(make(tree, request, *wire.names(request.body[wire.MKNOD_IN.size :], 1), mode))


def make_directory(tree: Tree, request: Request) -> bytes:
    mode = wire.MKDIR_IN.unpack_from(request.body)[0]
    return entry(make(tree, request, *wire.names(request.body[wire.MKDIR_IN.size :], 1), stat.S_IFDIR | mode))


def remove(tree: Tree, request: Request) -> bytes:
    tree.unlink(tree.node(request.node), *wire.names(request.body, 1))
    return b""


def rename(tree: Tree, request: Request) -> bytes:
    layout = wire.RENAME2_IN if request.operation == wire.RENAME2 else wire.RENAME_IN
    target, flags = (*layout.unpack_from(request.body), 0)[:2]
    old_name, new_name = wire.names(request.body[layout.size :], 2)
    tree.rename(tree.node(request.node), old_name, tree.node(target), new_name, flags)
    return b""


def link(tree: Tree, request: Request) -> bytes:
    node = tree.node(wire.LINK_IN.unpack_from(request.body)[0])
    tree.link(node, tree.node(request.node), *wire.names(request.body[wire.LINK_IN.size :], 1))
    return entry(node)


def create(tree: Tree, request: Request) -> bytes:
    mode = wire.CREATE_IN.unpack_from(request.body)[1]
    node = make(tree, request, *wire.names(request.body[wire.CREATE_IN.size :], 1), stat.S_IFREG | stat.S_IMODE(mode))
    return entry(node) + opened(request.client, node)


def open_file(tree: Tree, request: Request) -> bytes:
    node = tree.node(request.node)
    if wire.OPEN_IN.unpack_from(request.body)[0] & os.O_TRUNC:
        tree.resize(node, 0)
    return opened(request.client, node)


def open_directory(tree: Tree, request: Request) -> bytes:
    tree.node(request.node)
    return wire.OPENED.pack(0, 0, 0)


def read(tree: Tree, request: Request) -> bytes:
    dummy, offset, size = wire.IO_IN.unpack_from(request.body)[:3]
    return bytes(memoryview(tree.node(request.node).data)[offset : offset + size])


def write(tree: Tree, request: Request) -> bytes:
    dummy, offset, size = wire.IO_IN.unpack_from(request.body)[:3]
    tree.write(tree.node(request.node), offset, request.body[wire.IO_IN.size :][:size])
    return wire.WRITE_OUT.pack(size, 0)


def read_directory(tree: Tree, request: Request) -> bytes:
    dummy, offset, size = wire.IO_IN.unpack_from(request.body)[:3]
    directory = tree.node(request.node)
    entries = [(b".", directory), (b"..", directory), *directory.children.items()]
    found = b""
    for number, (name, node) in enumerate(entries[offset:], start=offset + 1):
        one = wire.DIRECTORY_ENTRY.pack(node.number, number, len(name), stat.S_IFMT(node.mode) >> TYPE_SHIFT) + name
        one += bytes(-len(one) % 8)
        if len(found) + len(one) > size:
            break
        found += one
    return found


def file_system(tree: Tree, request: Request) -> bytes:
    free = (tree.size - tree.used) // BLOCK
    return wire.FILE_SYSTEM.pack(tree.size // BLOCK, free, free, 1 << 20, 1 << 19, BLOCK, 255, BLOCK, 0)


def nothing(tree: Tree, request: Request) -> bytes:
    """Data is safe as soon as the server has it."""
    return b""


OPERATIONS: dict[int, Operation] = {
    wire.LOOKUP: lookup,
    wire.GETATTR: get_attributes,
    wire.SETATTR: set_attributes,
    wire.READLINK: read_link,
    wire.SYMLINK: symbolic_link,
    wire.MKNOD: make_node,
    wire.MKDIR: make_directory,
    wire.UNLINK: remove,
    wire.RMDIR: remove,
    wire.RENAME: rename,
    wire.RENAME2: rename,
    wire.LINK: link,
    wire.CREATE: create,
    wire.OPEN: open_file,
    wire.READ: read,
    wire.WRITE: write,
    wire.STATFS: file_system,
    wire.FSYNC: nothing,
    wire.OPENDIR: open_directory,
    wire.READDIR: read_directory,
    wire.RELEASEDIR: nothing,
    wire.FSYNCDIR: nothing,
}
