# SPDX-License-Identifier: GPL-3.0-or-later
"""The POSIX record locks of one file, as a list."""

from collections.abc import Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Lock:
    """A lock on the bytes ``start`` to ``end``. ``owner``: the client's number, and the kernel's number for a process
    of that client."""

    owner: tuple[int, int]
    start: int
    end: int
    exclusive: bool
    pid: int = 0


def rival(locks: list[Lock], wanted: Lock) -> Lock | None:
    """Return a lock of another owner that excludes the wanted one."""
    for lock in locks:
        if lock.owner != wanted.owner and overlap(lock, wanted) and (lock.exclusive or wanted.exclusive):
            return lock
    return None


def holds(locks: list[Lock], wanted: Lock) -> bool:
    """Return whether the owner has exactly this lock, or a larger one of the same type."""
    return any(
        lock.owner == wanted.owner
        and lock.exclusive == wanted.exclusive
        and lock.start <= wanted.start
        and wanted.end <= lock.end
        for lock in locks
    )


def put(locks: list[Lock], lock: Lock) -> None:
    """Add a lock, which replaces all locks of its owner on these bytes."""
    remove(locks, lock)
    locks.append(lock)


def remove(locks: list[Lock], gone: Lock) -> None:
    """Free the bytes of a lock, whatever locks its owner has on them."""
    locks[:] = [rest for lock in locks for rest in outside(lock, gone)]


def outside(lock: Lock, gone: Lock) -> Iterator[Lock]:
    """Yield the parts of a lock that are left when its owner frees some bytes."""
    if lock.owner != gone.owner or not overlap(lock, gone):
        yield lock
        return
    if lock.start < gone.start:
        yield replace(lock, end=gone.start - 1)
    if lock.end > gone.end:
        yield replace(lock, start=gone.end + 1)


def overlap(one: Lock, other: Lock) -> bool:
    return one.start <= other.end and other.start <= one.end
