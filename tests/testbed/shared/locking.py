# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which client gets a lock, and when waiting requests are answered."""

import errno
import fcntl
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from testbed.servers import ServerSpec
from testbed.shared import locks, wire
from testbed.shared.files import Node, Tree
from testbed.shared.leases import Client
from testbed.shared.locks import Lock
from testbed.shared.operations import Request

Answer = Callable[[Request, bytes, int], None]
LOAD_BLOCK = 4096
LOAD_PAUSE_S = 5.0  # longer pauses end a load


@dataclass(eq=False)
class Waiting:
    """A request that has not been answered yet. ``patient``: it is answered only when it gets its lock. ``ready``: the
    time at which it is considered again."""

    request: Request
    node: Node
    lock: Lock
    patient: bool
    ready: float = 0.0


class Locking:
    def __init__(self, spec: ServerSpec, tree: Tree, answer: Answer, log: Callable[[str], None]) -> None:
        self.spec = spec
        self.tree = tree
        self.answer = answer
        self.log = log
        self.waiting: list[Waiting] = []
        self.grace_until = 0.0
        self.load_since = self.load_last = -math.inf

    # Requests

    def obey(self, request: Request) -> None:
        """Answer the request now, or later when the answer is known."""
        node, lock = self.wanted(request)
        if wire.LOCK.unpack_from(request.body)[4] == fcntl.F_UNLCK:
            self.answer(request, b"", 0)
            self.free(node, lock)
            return
        waiting = Waiting(request, node, lock, patient=request.operation == wire.SETLKW)
        if not self.decide(waiting):
            self.waiting.append(waiting)
            self.log(f"{request.client.name}: process {lock.pid} waits for node {node.number}")

    def wanted(self, request: Request) -> tuple[Node, Lock]:
        dummy, owner, start, end, kind, pid, dummy, dummy = wire.LOCK.unpack_from(request.body)
        exclusive = kind == fcntl.F_WRLCK
        return self.tree.node(request.node), Lock((request.client.number, owner), start, end, exclusive, pid)

    def decide(self, waiting: Waiting) -> bool:
        """Try to answer a request, and return whether it was answered."""
        request, node, lock = waiting.request, waiting.node, waiting.lock
        tests = request.operation == wire.GETLK
        if time.monotonic() < self.grace_until and (tests or not locks.holds(node.locks, lock)):
            return False
        found = self.rival(node, lock)
        if tests:
            self.answer(request, shown(found, lock), 0)
            return True
        if found is None:
            self.grant(request, node, lock)
            return True
        if not waiting.patient:
            self.answer(request, b"", errno.EAGAIN)
            return True
        waiting.ready = math.inf if self.spec.character == "late" else 0.0
        return False

    def grant(self, request: Request, node: Node, lock: Lock) -> None:
        if 0 < self.spec.locks_max <= sum(len(one.locks) for one in self.tree.nodes.values()):
            self.answer(request, b"", errno.ENOLCK)
            return
        locks.put(node.locks, lock)
        self.log(f"{request.client.name}: node {node.number} is locked by its process {lock.pid}")
        self.answer(request, b"", 0)

    def rival(self, node: Node, lock: Lock) -> Lock | None:
        if self.spec.character == "grant" or self.is_crowded():
            return None
        return locks.rival(node.locks, lock)

    # Ends of locks

    def free(self, node: Node, gone: Lock) -> None:
        before = list(node.locks)
        locks.remove(node.locks, gone)
        if node.locks != before:
            self.wake(node)

    def free_owner(self, node: Node, owner: tuple[int, int]) -> None:
        self.free(node, Lock(owner, 0, 2**64 - 1, exclusive=True))

    def free_client(self, node: Node, client: Client) -> None:
        for owner in {lock.owner for lock in node.locks if lock.owner[0] == client.number}:
            self.log(f"{client.name}: node {node.number} loses its lock")
            self.free_owner(node, owner)

    def expire(self, client: Client) -> None:
        """End the lease of a client: free its locks, and let its requests fail."""
        for waiting in [one for one in self.waiting if one.request.client is client]:
            self.waiting.remove(waiting)
            self.answer(waiting.request, b"", errno.EIO)
        for node in self.tree.nodes.values():
            self.free_client(node, client)

    def forget_all(self) -> None:
        self.log("all locks are forgotten")
        for node in self.tree.nodes.values():
            node.locks.clear()

    # Requests that wait

    def wake(self, node: Node) -> None:
        if self.spec.character == "late":
            for waiting in self.waiting:
                if waiting.node is node:
                    waiting.ready = time.monotonic() + self.spec.late_s
        self.look()

    def look(self) -> None:
        """Answer the requests that can be answered now."""
        now = time.monotonic()
        for waiting in list(self.waiting):
            if waiting.ready <= now and waiting in self.waiting and self.decide(waiting):
                self.waiting.remove(waiting)

    def interrupt(self, client: Client, unique: int) -> None:
        """Answer the request of a waiting process that has received a signal."""
        for waiting in self.waiting:
            if waiting.request.client is client and waiting.request.unique == unique:
                self.waiting.remove(waiting)
                self.answer(waiting.request, b"", errno.EINTR)
                return

    def disconnect(self, client: Client) -> None:
        """Forget the client's requests, because it repeats them when it is connected again."""
        self.waiting = [waiting for waiting in self.waiting if waiting.request.client is not client]

    # Load

    def note_write(self, size: int) -> None:
        now = time.monotonic()
        if size >= LOAD_BLOCK:
            if now - self.load_last > LOAD_PAUSE_S:
                self.load_since = now
            self.load_last = now

    def is_crowded(self) -> bool:
        now = time.monotonic()
        return (
            self.spec.character == "crowded"
            and now - self.load_last <= LOAD_PAUSE_S
            and now - self.load_since >= self.spec.crowded_s
        )


def shown(found: Lock | None, wanted: Lock) -> bytes:
    """Return the answer to a test: the lock that excludes the wanted one, or that there is none."""
    if found is None:
        return wire.LOCK_OUT.pack(wanted.start, wanted.end, fcntl.F_UNLCK, 0)
    return wire.LOCK_OUT.pack(found.start, found.end, fcntl.F_WRLCK if found.exclusive else fcntl.F_RDLCK, found.pid)
