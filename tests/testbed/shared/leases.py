# SPDX-License-Identifier: GPL-3.0-or-later
"""The clients of a server, and their leases."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

ANSWERS_KEPT = 1024


@dataclass(eq=False)
class Client:
    """The state of a host since it last booted. ``epoch`` increases whenever its lease expires. ``lost``: the numbers
    of the files on which it had a lock at that time. ``answers`` contains the last answers by request, because a client
    repeats a request if the answer did not reach it."""

    number: int
    name: str
    epoch: int = 1
    heard: float = field(default_factory=time.monotonic)
    has_lease: bool = True
    lost: set[int] = field(default_factory=set)
    answers: dict[int, bytes] = field(default_factory=dict)

    def keep(self, unique: int, answer: bytes) -> None:
        self.answers[unique] = answer
        if len(self.answers) > ANSWERS_KEPT:
            del self.answers[next(iter(self.answers))]


class Leases:
    def __init__(self, lease_s: float) -> None:
        self.lease_s = lease_s
        self.clients: dict[int, Client] = {}

    def client(self, number: int, name: str) -> Client:
        return self.clients.setdefault(number, Client(number, name))

    def replaced_by(self, client: Client) -> list[Client]:
        """Remove and return what the server still knew about the client's host before it mounted again."""
        gone = [one for one in self.clients.values() if one.name == client.name and one is not client]
        for one in gone:
            del self.clients[one.number]
        return gone

    def renew(self, client: Client) -> None:
        client.heard = time.monotonic()
        client.has_lease = True

    def renew_all(self) -> None:
        for client in self.clients.values():
            client.heard = time.monotonic()

    def expire(self) -> Iterator[Client]:
        """Yield the clients whose leases expire now."""
        for client in self.clients.values():
            if client.has_lease and time.monotonic() - client.heard > self.lease_s:
                yield client
