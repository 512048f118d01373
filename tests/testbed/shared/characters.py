# SPDX-License-Identifier: GPL-3.0-or-later
"""The characters of a server: three are honest, and each of the others breaks one promise."""

from testbed.shared import wire

CHARACTERS = {
    "honest": "a lock excludes all hosts, and ends with its holder or lease; after the lease, I/O fails with EIO",
    "lazy": "honest, but every lock call takes call_s",
    "visible_late": "honest, but data that a host writes without a lock is visible to the others only after visible_s",
    "local": "locks exclude only processes of the same host",
    "grant": "every lock is granted",
    "stale": "no lease expires",
    "late": "a process that waits for a lock gets it only late_s after the lock is free",
    "unfenced": "reads and writes are accepted even after the lease has expired",
    "reads": "writes are accepted even after the lease has expired, but reads are not",
    "forgets": "a fail-over loses all locks, and there is no grace period",
    "loses": "one in lost_every writes of 4 KiB is acknowledged but lost",
    "crowded": "after crowded_s of writes of 4 KiB or more, every lock is granted",
    "unlocked": "after the lease, I/O fails only on files on which the host had a lock",
    "remount": "a host that mounts again, or returns without its lease, frees the locks of all hosts",
    "close_frees": "if any process closes a file, all locks of its host on the file end",
    "lands_early": "a write that is on its way when the lease expires is carried out late_write_s later",
    "lands_later": "a write after the lease fails with EIO, but is carried out lands_later_s later",
    "undoes": "when a lease expires, the last acknowledged writes of 4 KiB of its host are undone (number: undone)",
    "undoes_failover": "at a fail-over, the last acknowledged writes of 4 KiB of each host are undone (number: undone)",
    "no_failover": "instead of a fail-over, the server only does not answer for fail_over_s",
    "forgets_later": "all locks are lost forget_after_s after a fail-over",
}

NEEDS_LEASE = {wire.READ, wire.WRITE, wire.FSYNC, wire.SETATTR, wire.GETLK, wire.SETLK, wire.SETLKW}
ACCEPTED_AFTER_LEASE = {
    "unfenced": {wire.READ, wire.WRITE, wire.FSYNC, wire.SETATTR},
    "reads": {wire.WRITE, wire.FSYNC, wire.SETATTR},
}


def fenced(character: str) -> set[int]:
    """Return the operations that fail if the lease has expired since the file was opened."""
    return NEEDS_LEASE - ACCEPTED_AFTER_LEASE.get(character, set())
