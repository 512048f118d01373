# SPDX-License-Identifier: GPL-3.0-or-later
"""The server of a shared file system. It is started as ``server.py DIRECTORY``, and reads ``spec.json`` and ``address``
in this directory.

It serves any number of clients in one thread, from memory. SIGHUP starts a fail-over: all connections end, and the
server does not listen for fail_over_s, or until the next SIGHUP. After that, it serves the same files. An honest server
also keeps the locks, and begins with a grace period of one lease, or grace_s.
"""

import contextlib
import errno
import json
import math
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path

from testbed.servers import LISTENS, PORT, ServerSpec, size_bytes
from testbed.shared import wire
from testbed.shared.characters import fenced
from testbed.shared.files import Tree
from testbed.shared.journal import Journal
from testbed.shared.leases import Client, Leases
from testbed.shared.locking import Locking
from testbed.shared.operations import OPERATIONS, Request, handle

TICK_S = 0.1
RECEIVE_BYTES = 1 << 18
RECORD_BYTES = 4096
FLOWS_S = 0.05  # how long writes flow before one is held
VISIBLE_KEPT = 4096
LOCK_CALLS = (wire.GETLK, wire.SETLK, wire.SETLKW)
UNDOES = ("undoes", "undoes_failover")
READS = (wire.READ, wire.READDIR)  # they may be carried out twice


class Connection:
    """A connection to a client. ``unsent``: answers that the network has not accepted yet."""

    def __init__(self, accepted: socket.socket, name: str) -> None:
        self.socket = accepted
        self.name = name
        self.client: Client | None = None
        self.received = b""
        self.unsent = bytearray()
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Server:
    def __init__(self, spec: ServerSpec, address: str) -> None:
        self.spec = spec
        self.address = address
        self.tree = Tree(size_bytes(spec.size))
        self.leases = Leases(spec.lease_s)
        self.locking = Locking(spec, self.tree, self.answer, log)
        self.fenced = fenced(spec.character)
        self.connections: dict[int, Connection] = {}
        self.of_client: dict[Client, Connection] = {}
        self.records_written = 0
        self.fails_over = False
        self.forgets_at = math.inf
        self.journal = Journal(VISIBLE_KEPT if spec.character == "visible_late" else spec.undone)
        self.later: list[tuple[float, Callable[[], object]]] = []
        self.held: dict[tuple[Client, int], Request] = {}
        self.flows_since: dict[tuple[Client, int], float] = {}
        self.poller = select.epoll()
        self.listener = self.listen()

    # The network

    def listen(self) -> socket.socket:
        listener = socket.create_server((self.address, PORT), backlog=128)
        listener.setblocking(False)
        self.poller.register(listener, select.EPOLLIN)
        self.log_listens()
        return listener

    def log_listens(self) -> None:
        log(f"{LISTENS} {self.address}:{PORT}, {self.spec}")

    def run(self) -> None:
        while True:
            for number, events in self.poller.poll(TICK_S):
                if number == self.listener.fileno():
                    self.accept()
                elif number in self.connections:
                    self.serve(self.connections[number], events)
            self.tick()

    def tick(self) -> None:
        if self.fails_over:
            self.fail_over()
        now = time.monotonic()
        if now > self.forgets_at:
            self.forgets_at = math.inf
            self.locking.forget_all()
        if self.spec.character != "stale":
            for client in list(self.leases.expire()):
                log(f"{client.name}: the lease has expired")
                self.end_lease(client)
        due = [one for one in self.later if one[0] <= now]
        self.later = [one for one in self.later if one[0] > now]
        for dummy, do in due:
            do()
        self.locking.look()

    def end_lease(self, client: Client) -> None:
        """Forget the files that a client has opened, and free its locks."""
        client.has_lease = False
        client.epoch += 1
        for node in list(self.tree.nodes.values()):
            if any(lock.owner[0] == client.number for lock in node.locks):
                client.lost.add(node.number)
            del node.opens[client.number]
            self.tree.forget(node)
        if self.spec.character == "undoes":
            self.journal.undo(client)
        for key in [key for key in self.held if key[0] is client]:
            self.write_in(self.spec.late_write_s, self.held.pop(key))
        self.locking.expire(client)

    def write_in(self, after_s: float, request: Request) -> None:
        """Carry out a write later, and do not answer it."""

        def write() -> None:
            with contextlib.suppress(OSError):  # the file is gone
                OPERATIONS[wire.WRITE](self.tree, request)
                log(f"{request.client.name}: a late WRITE is carried out")

        self.later.append((time.monotonic() + after_s, write))

    def fail_over(self) -> None:
        self.fails_over = False
        if self.spec.character == "no_failover":
            time.sleep(self.spec.fail_over_s)
            self.log_listens()
            return
        for connection in list(self.connections.values()):
            self.close(connection)
        self.poller.unregister(self.listener)
        self.listener.close()
        log("is gone")
        end = time.monotonic() + self.spec.fail_over_s
        while (now := time.monotonic()) < end and not self.fails_over:
            time.sleep(min(TICK_S, end - now))
        self.fails_over = False
        if self.spec.character == "forgets":
            self.locking.forget_all()
        else:
            self.locking.grace_until = now + (self.spec.lease_s if self.spec.grace_s < 0 else self.spec.grace_s)
        if self.spec.character == "forgets_later":
            self.forgets_at = now + self.spec.forget_after_s
        if self.spec.character == "undoes_failover":
            for client in list(self.journal.writes):
                self.journal.undo(client)
        self.leases.renew_all()
        self.listener = self.listen()

    def accept(self) -> None:
        try:
            accepted, (address, port) = self.listener.accept()
        except OSError:
            return  # it is gone again
        connection = Connection(accepted, f"{address}:{port}")
        self.connections[accepted.fileno()] = connection
        self.poller.register(accepted, select.EPOLLIN)

    def close(self, connection: Connection) -> None:
        self.poller.unregister(connection.socket)
        del self.connections[connection.socket.fileno()]
        connection.socket.close()
        client = connection.client
        if client and self.of_client.get(client) is connection:
            del self.of_client[client]
            self.locking.disconnect(client)
            log(f"{client.name}: disconnected")

    def serve(self, connection: Connection, events: int) -> None:
        try:
            if events & select.EPOLLOUT:
                self.send(connection, b"")
            if events & ~select.EPOLLOUT:
                self.receive(connection)
        except (OSError, ValueError, struct.error) as error:
            log(f"{connection.name}: {error!r}")
            if connection.socket.fileno() in self.connections:
                self.close(connection)

    def receive(self, connection: Connection) -> None:
        received = connection.socket.recv(RECEIVE_BYTES)
        if not received:
            self.close(connection)
            return
        messages, connection.received = wire.split(connection.received + received)
        for message in messages:
            self.obey(connection, message)

    def send(self, connection: Connection, message: bytes) -> None:
        waited = bool(connection.unsent)
        connection.unsent += message
        with contextlib.suppress(OSError):  # a broken connection is closed when it is read
            del connection.unsent[: connection.socket.send(connection.unsent)]
        if waited != bool(connection.unsent):
            writable = select.EPOLLOUT if connection.unsent else 0
            self.poller.modify(connection.socket, select.EPOLLIN | writable)

    # Requests

    def obey(self, connection: Connection, message: memoryview) -> None:
        dummy, operation, unique, node, uid, gid, pid, dummy, dummy = wire.REQUEST.unpack_from(message)
        if operation == wire.RENEW:
            self.renew(connection, node)
            return
        client = connection.client
        if client is None:
            raise ValueError("a request before the client has identified itself")
        self.leases.renew(client)
        if unique in client.answers:
            self.send(connection, client.answers[unique])
            return
        request = Request(client, operation, unique, node, uid, gid, pid, message[wire.REQUEST.size :])
        if self.spec.character == "lands_early" and self.is_held(request):
            self.held[client, node] = request
        else:
            self.obey_client(request)

    def obey_client(self, request: Request) -> None:
        try:
            self.dispatch(request)
        except OSError as error:
            self.answer(request, b"", error.errno or errno.EIO)

    def renew(self, connection: Connection, number: int) -> None:
        if connection.client is None:
            client = self.leases.client(number, connection.name.partition(":")[0])
            old = self.of_client.get(client)
            if old:
                self.close(old)
            replaced = self.leases.replaced_by(client)
            for gone in replaced:
                log(f"{client.name}: has mounted again")
                self.end_lease(gone)
            if self.spec.character == "remount" and (replaced or not client.has_lease):
                self.locking.forget_all()
            connection.client = client
            self.of_client[client] = connection
            log(f"{client.name}: connected, {'with' if client.has_lease else 'without'} its lease")
        self.leases.renew(connection.client)
        self.send(connection, wire.reply(0))
        for key in [key for key in self.held if key[0] is connection.client]:
            self.flows_since[key] = time.monotonic()
            self.obey_client(self.held.pop(key))

    def dispatch(self, request: Request) -> None:
        operation = request.operation
        if operation == wire.WRITE and self.spec.write_s:
            time.sleep(self.spec.write_s)
        if self.is_fenced(request):
            log(f"{request.client.name}: {wire.NAMES[operation]} under an old lease is refused")
            if operation == wire.WRITE and self.spec.character == "lands_later":
                self.write_in(self.spec.lands_later_s, request)
            self.answer(request, b"", errno.EIO)
        elif operation in LOCK_CALLS:
            self.locking.obey(request)
        elif operation == wire.INTERRUPT:
            self.locking.interrupt(request.client, *wire.UNIQUE.unpack_from(request.body))
        elif operation == wire.INIT:
            self.answer(request, self.agreed(), 0)
        elif operation == wire.FLUSH:
            self.flush(request)
        elif operation == wire.RELEASE:
            self.release(request)
        elif operation == wire.WRITE and self.is_lost(request):
            self.answer(request, wire.WRITE_OUT.pack(RECORD_BYTES, 0), 0)
        elif operation == wire.READ and self.spec.character == "visible_late":
            self.answer(request, self.seen(request), 0)
        elif operation in OPERATIONS:
            self.answer(request, OPERATIONS[operation](self.tree, request), 0)
        else:
            self.answer(request, b"", errno.ENOSYS)

    def agreed(self) -> bytes:
        flags = wire.ASYNC_READ | wire.ATOMIC_TRUNCATE | wire.BIG_WRITES | wire.PARALLEL_DIRECTORIES | wire.MAX_PAGES
        if self.spec.character != "local":
            flags |= wire.POSIX_LOCKS | wire.FLOCK_LOCKS
        return wire.INIT_OUT.pack(7, 31, wire.WRITE_MAX, flags, 64, 48, wire.WRITE_MAX, 1, wire.WRITE_MAX >> 12, 0, 0)

    def flush(self, request: Request) -> None:
        """End the locks of a process on a file, because it has closed the file or has ended."""
        owner = wire.FLUSH_IN.unpack_from(request.body)[3]
        node = self.tree.node(request.node)
        self.answer(request, b"", 0)
        if self.spec.character == "close_frees":
            self.locking.free_client(node, request.client)
        else:
            self.locking.free_owner(node, (request.client.number, owner))

    def release(self, request: Request) -> None:
        """Handle the close of the last descriptor that an open() created. If the host has not opened the file in
        another way, it cannot hold a lock."""
        node, client = self.tree.node(request.node), request.client
        self.answer(request, b"", 0)
        epoch, dummy, flags, owner = wire.RELEASE_IN.unpack_from(request.body)
        if flags & wire.RELEASE_FLOCK:
            self.locking.free_owner(node, (client.number, owner))
        if epoch == client.epoch:
            node.opens[client.number] -= 1
            if node.opens[client.number] <= 0:
                del node.opens[client.number]
                self.locking.free_client(node, client)
            self.tree.forget(node)

    def is_fenced(self, request: Request) -> bool:
        if request.operation not in self.fenced or handle(request) == request.client.epoch:
            return False
        return self.spec.character != "unlocked" or request.node in request.client.lost

    def is_held(self, request: Request) -> bool:
        """Hold one write to each file until the client renews its lease, so that almost always one is on its way. This
        does not slow down a host that has taken over, or updates of a record, which is at the beginning of its file."""
        if request.operation != wire.WRITE or not all(one.has_lease for one in self.leases.clients.values()):
            return False
        dummy, offset, size = wire.IO_IN.unpack_from(request.body)[:3]
        key = (request.client, request.node)
        if key in self.held:
            return self.held[key].unique == request.unique
        return offset > 0 and size == RECORD_BYTES and time.monotonic() - self.flows_since.get(key, 0.0) > FLOWS_S

    def seen(self, request: Request) -> bytes:
        """Return what the client's host sees of a file. A lock on the file shows it everything, as with NFS."""
        dummy, offset, dummy = wire.IO_IN.unpack_from(request.body)[:3]
        node, client = self.tree.node(request.node), request.client
        content = bytearray(OPERATIONS[wire.READ](self.tree, request))
        if not any(lock.owner[0] == client.number for lock in node.locks):
            self.journal.hide(content, node, offset, time.monotonic() - self.spec.visible_s, client)
        return bytes(content)

    def is_lost(self, request: Request) -> bool:
        dummy, offset, size = wire.IO_IN.unpack_from(request.body)[:3]
        self.locking.note_write(size)
        if self.spec.character == "visible_late" or (self.spec.character in UNDOES and size == RECORD_BYTES):
            self.journal.note(request.client, self.tree.node(request.node), offset, size)
        if self.spec.character != "loses" or size != RECORD_BYTES:
            return False
        self.records_written += 1
        return self.records_written % self.spec.lost_every == 0

    def answer(self, request: Request, body: bytes, error: int) -> None:
        message = wire.reply(request.unique, body, error)
        if request.operation not in READS:
            request.client.keep(request.unique, message)
        if self.spec.character == "lazy" and request.operation in LOCK_CALLS:
            self.later.append((time.monotonic() + self.spec.call_s, lambda: self.tell(request, message)))
        else:
            self.tell(request, message)

    def tell(self, request: Request, message: bytes) -> None:
        connection = self.of_client.get(request.client)
        if connection:
            self.send(connection, message)


def log(text: str) -> None:
    print(f"{time.monotonic():.3f} {text}", flush=True)


def main() -> None:
    directory = Path(sys.argv[1])
    spec = ServerSpec(**json.loads((directory / "spec.json").read_text()))
    server = Server(spec, (directory / "address").read_text())

    def on_hangup(*dummy: object) -> None:
        server.fails_over = True

    signal.signal(signal.SIGHUP, on_hangup)
    (directory / "ready").touch()
    server.run()


if __name__ == "__main__":
    main()
