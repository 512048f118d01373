# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of files in memory. Operations that are impossible raise an OSError with the errno for the caller."""

import errno
import stat
import time
from collections import Counter
from dataclasses import dataclass, field

from testbed.shared.locks import Lock

NO_REPLACE = 1  # a flag of renameat2


def failed(number: int) -> OSError:
    return OSError(number, errno.errorcode[number])


def now_ns() -> int:
    return time.time_ns()


@dataclass(eq=False)
class Node:
    """A file, a directory or a symbolic link. ``opens``: how often each client, by its number, has opened it."""

    number: int
    mode: int
    uid: int
    gid: int
    links: int = 1
    data: bytearray = field(default_factory=bytearray)
    children: dict[bytes, "Node"] = field(default_factory=dict)
    locks: list[Lock] = field(default_factory=list)
    opens: Counter[int] = field(default_factory=Counter)
    times_ns: list[int] = field(default_factory=lambda: [now_ns()] * 3)  # of access, content and attributes

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.mode)

    def touch(self, *which: int) -> None:
        now = now_ns()
        for index in which or (1, 2):
            self.times_ns[index] = now


class Tree:
    def __init__(self, size: int) -> None:
        self.size = size
        self.used = 0
        self.last_number = 1
        root = Node(1, stat.S_IFDIR | 0o755, 0, 0, links=2)
        self.nodes = {root.number: root}

    def node(self, number: int) -> Node:
        try:
            return self.nodes[number]
        except KeyError:
            raise failed(errno.ESTALE) from None

    def lookup(self, directory: Node, name: bytes) -> Node:
        try:
            return directory.children[name]
        except KeyError:
            raise failed(errno.ENOENT) from None

    def make(self, directory: Node, name: bytes, mode: int, uid: int, gid: int) -> Node:
        if name in directory.children:
            raise failed(errno.EEXIST)
        self.last_number += 1
        node = Node(self.last_number, mode, uid, gid, links=2 if stat.S_ISDIR(mode) else 1)
        self.nodes[node.number] = node
        directory.children[name] = node
        directory.links += node.is_directory
        directory.touch()
        return node

    def link(self, node: Node, directory: Node, name: bytes) -> None:
        if name in directory.children:
            raise failed(errno.EEXIST)
        directory.children[name] = node
        node.links += 1
        node.touch(2)
        directory.touch()

    def unlink(self, directory: Node, name: bytes) -> None:
        node = self.lookup(directory, name)
        if node.children:
            raise failed(errno.ENOTEMPTY)
        del directory.children[name]
        directory.links -= node.is_directory
        directory.touch()
        node.links -= 2 if node.is_directory else 1
        node.touch(2)
        self.forget(node)

    def rename(self, old: Node, old_name: bytes, new: Node, new_name: bytes, flags: int) -> None:
        node = self.lookup(old, old_name)
        if flags & ~NO_REPLACE:
            raise failed(errno.EINVAL)
        replaced = new.children.get(new_name)
        if replaced is node:
            return
        if replaced is not None:
            if flags & NO_REPLACE:
                raise failed(errno.EEXIST)
            self.unlink(new, new_name)
        new.children[new_name] = old.children.pop(old_name)
        for directory, change in ((old, -1), (new, 1)):
            directory.links += change * node.is_directory
            directory.touch()
        node.touch(2)

    def forget(self, node: Node) -> None:
        """Free a node that has no name if no client has it open."""
        if node.links == 0 and not +node.opens and node.number in self.nodes:
            self.resize(node, 0)
            del self.nodes[node.number]

    def resize(self, node: Node, size: int) -> None:
        grows = size - len(node.data)
        if self.used + grows > self.size:
            raise failed(errno.ENOSPC)
        self.used += grows
        if grows > 0:
            node.data.extend(bytes(grows))
        else:
            del node.data[size:]
        node.touch()

    def write(self, node: Node, offset: int, content: memoryview) -> None:
        end = offset + len(content)
        if end > len(node.data):
            self.resize(node, end)
        node.data[offset:end] = content
        node.touch()
