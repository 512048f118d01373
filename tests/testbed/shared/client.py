# SPDX-License-Identifier: GPL-3.0-or-later
"""A host's client of a shared file system. It is started as ``client.py SERVER LEASE_S HOST_DIR``, and its standard
input is the connection to the kernel for the mount.

It passes the kernel's requests to the server and the answers back. It renews the lease every second, or five times per
lease if that is more often. If the server does not answer, requests wait, as on a hard mount, until the client can
connect again; it then repeats them. If a process receives a signal and its request is not answered within a second, the
request fails with EINTR. The end of a process is reported to the server nevertheless, so that its locks end.
"""

import contextlib
import errno
import os
import secrets
import select
import socket
import struct
import sys
import time

from testbed.servers import PORT
from testbed.shared import wire

KERNEL = 0
TICK_S = 0.1
CONNECT_S = 0.5
GIVE_UP_S = 1.0
RENEW_S_MAX = 1.0
RECEIVE_BYTES = 1 << 18
NO_ANSWER = (wire.FORGET, wire.BATCH_FORGET)


class Client:
    """The state of a client. ``pending``: the requests that have not been answered, in order. ``interrupted``: for each
    request whose process has received a signal, the latest time at which the kernel gets an answer."""

    def __init__(self, server: str, lease_s: float) -> None:
        self.server = server
        self.renew_s = min(RENEW_S_MAX, lease_s / 5)
        self.number = secrets.randbits(63)
        self.socket: socket.socket | None = None
        self.received = b""
        self.unsent = bytearray()
        self.pending: dict[int, bytes] = {}
        self.interrupted: dict[int, float] = {}
        self.heard = self.renewed = 0.0
        self.buffer = bytearray(wire.MESSAGE_MAX)
        self.poller = select.epoll()
        os.set_blocking(KERNEL, False)
        self.poller.register(KERNEL, select.EPOLLIN)

    def run(self) -> None:
        while True:
            for number, events in self.poller.poll(TICK_S):
                if number == KERNEL:
                    self.from_kernel()
                elif self.socket and number == self.socket.fileno():
                    self.with_server(events)
            self.tick()

    def tick(self) -> None:
        now = time.monotonic()
        if self.socket and now - self.heard > 2 * self.renew_s:
            self.disconnect("no answer")
        if not self.socket:
            self.connect()
        elif now - self.renewed > self.renew_s:
            self.renew()
        for unique, until in list(self.interrupted.items()):
            if now > until:
                self.give_up(unique)

    # The kernel

    def from_kernel(self) -> None:
        try:
            size = os.readv(KERNEL, [self.buffer])
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EINTR, errno.ENOENT):
                return  # ENOENT: the request was withdrawn
            raise
        message = bytes(memoryview(self.buffer)[:size])
        dummy, operation, unique = wire.REQUEST.unpack_from(message)[:3]
        if operation in NO_ANSWER:
            return
        if operation == wire.INTERRUPT:
            self.interrupt(message, *wire.UNIQUE.unpack_from(message, wire.REQUEST.size))
            return
        self.pending[unique] = message
        self.send(message)

    def to_kernel(self, message: bytes | memoryview) -> None:
        with contextlib.suppress(FileNotFoundError):  # nobody waits for this answer any more
            os.write(KERNEL, message)

    def interrupt(self, message: bytes, unique: int) -> None:
        if unique not in self.pending:
            return
        self.interrupted[unique] = time.monotonic() + GIVE_UP_S
        if self.operation(unique) == wire.SETLKW:
            self.send(message)

    def operation(self, unique: int) -> int:
        return wire.REQUEST.unpack_from(self.pending[unique])[1]

    def give_up(self, unique: int) -> None:
        del self.interrupted[unique]
        self.to_kernel(wire.reply(unique, error=errno.EINTR))
        if self.operation(unique) != wire.FLUSH:
            del self.pending[unique]

    # The server

    def connect(self) -> None:
        try:
            self.socket = socket.create_connection((self.server, PORT), timeout=CONNECT_S)
        except OSError:
            return
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Data that an abandoned connection has not sent must not be sent later.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.poller.register(self.socket, select.EPOLLIN)
        log("connected")
        self.heard = time.monotonic()
        self.renew()
        for message in list(self.pending.values()):
            self.send(message)

    def disconnect(self, why: str) -> None:
        log(f"disconnected: {why}")
        if self.socket:
            self.poller.unregister(self.socket)
            self.socket.close()
        self.socket = None
        self.received = b""
        self.unsent.clear()

    def renew(self) -> None:
        self.renewed = time.monotonic()
        self.send(wire.request(wire.RENEW, self.number))

    def send(self, message: bytes) -> None:
        if not self.socket:
            return
        waited = bool(self.unsent)
        self.unsent += message
        try:
            with contextlib.suppress(BlockingIOError):
                del self.unsent[: self.socket.send(self.unsent)]
        except OSError as error:
            self.disconnect(str(error))
            return
        if waited != bool(self.unsent):
            self.poller.modify(self.socket, select.EPOLLIN | (select.EPOLLOUT if self.unsent else 0))

    def with_server(self, events: int) -> None:
        if events & select.EPOLLOUT:
            self.send(b"")
        if not self.socket or not events & ~select.EPOLLOUT:
            return
        try:
            received = self.socket.recv(RECEIVE_BYTES)
            if not received:
                raise ConnectionError("the server has closed the connection")
            messages, self.received = wire.split(self.received + received)
        except (OSError, ValueError) as error:
            self.disconnect(str(error))
            return
        self.heard = time.monotonic()
        for message in messages:
            unique = wire.REPLY.unpack_from(message)[2]
            if self.pending.pop(unique, None) is not None:
                self.interrupted.pop(unique, None)
                self.to_kernel(message)


def log(text: str) -> None:
    print(f"{time.monotonic():.3f} {text}", flush=True)


if __name__ == "__main__":
    Client(sys.argv[1], float(sys.argv[2])).run()
