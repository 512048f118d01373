# SPDX-License-Identifier: GPL-3.0-or-later
"""What the last writes replaced, so that a server can undo them or hide them from other hosts."""

import time
from collections import defaultdict, deque
from dataclasses import dataclass, field

from testbed.shared.files import Node
from testbed.shared.leases import Client


@dataclass
class Written:
    node: Node
    offset: int
    old: bytes
    at: float = field(default_factory=time.monotonic)


class Journal:
    """``kept``: how many writes of each client are kept."""

    def __init__(self, kept: int) -> None:
        self.writes: dict[Client, deque[Written]] = defaultdict(lambda: deque(maxlen=kept))

    def note(self, client: Client, node: Node, offset: int, size: int) -> None:
        """Keep what a write is going to replace."""
        old = bytes(memoryview(node.data)[offset : offset + size]).ljust(size, b"\0")
        self.writes[client].append(Written(node, offset, old))

    def undo(self, client: Client) -> None:
        for one in reversed(self.writes.pop(client, ())):
            if one.offset + len(one.old) <= len(one.node.data):
                one.node.data[one.offset : one.offset + len(one.old)] = one.old

    def hide(self, content: bytearray, node: Node, offset: int, since: float, reader: Client) -> None:
        """Remove what others than the reader have written since then from the content of a file at an offset."""
        written = [one for client, some in self.writes.items() if client is not reader for one in some]
        for one in sorted(written, key=lambda one: -one.at):
            start = max(one.offset, offset)
            end = min(one.offset + len(one.old), offset + len(content))
            if one.node is node and one.at > since and start < end:
                content[start - offset : end - offset] = one.old[start - one.offset : end - one.offset]
