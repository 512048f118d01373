# SPDX-License-Identifier: GPL-3.0-or-later
"""The characters of a server: one is honest, and each of the others breaks one promise."""

from testbed.shared import wire

CHARACTERS = {
    "honest": "a lock excludes all hosts, and ends with its holder or lease; after the lease, I/O fails with EIO",
    "local": "locks exclude only processes of the same host",
    "grant": "every lock is granted",
    "stale": "no lease expires",
    "late": "a process that waits for a lock gets it only late_s after the lock is free",
    "unfenced": "reads and writes are accepted even after the lease has expired",
    "reads": "writes are accepted even after the lease has expired, but reads are not",
    "forgets": "a fail-over loses all locks, and there is no grace period",
    "loses": "one in lost_every writes of 4 KiB is acknowledged but lost",
    "crowded": "after crowded_s of writes of 4 KiB or more, every lock is granted",
}

NEEDS_LEASE = {wire.READ, wire.WRITE, wire.FSYNC, wire.SETATTR, wire.GETLK, wire.SETLK, wire.SETLKW}
ACCEPTED_AFTER_LEASE = {
    "unfenced": {wire.READ, wire.WRITE, wire.FSYNC, wire.SETATTR},
    "reads": {wire.WRITE, wire.FSYNC, wire.SETATTR},
}


def fenced(character: str) -> set[int]:
    """Return the operations that fail if the lease has expired since the file was opened."""
    return NEEDS_LEASE - ACCEPTED_AFTER_LEASE.get(character, set())
