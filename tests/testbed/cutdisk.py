# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk for nbdkit's python plugin whose write cache is the memory of this process, so that SIGKILL is a power cut.

Data that has reached the medium is in the file ``medium=``. All other data is lost with the process. ``character=``
selects the behaviour of the disk:

* honest: a flush writes the whole cache to the medium. honest-garbage: the same, but data that was in the cache at the
  cut is garbage afterwards, as after an interrupted write.
* write-through: there is no cache, as if the disk had a battery.
* drop, misdirect: honest, but some writes of a block are dropped, or go to a place two blocks before their own.
* tail, reorder, torn: disks that ignore flushes but confirm them immediately. Only data that exceeds the cache reaches
the medium: the oldest block first, a random block, or random sectors, respectively.
* unreadable, zero, garbage: like tail, but the lost part contains this instead of the older content.

``cache_blocks=`` is how many blocks the cache holds. ``restarted=1``: the power is back, and lost data is damaged
according to the character.
"""

import builtins
import errno
import itertools
import mmap
import random

import nbdkit

API_VERSION = 2

SECTOR = 512
BLOCK = 4096
EVERY = 97  # on average, one of this many writes of a block is dropped or misdirected

LIARS = ("tail", "reorder", "torn", "unreadable", "zero", "garbage")

settings = {"character": "honest", "restarted": "0", "cache_blocks": "64"}
medium = None
unsettled = None  # one byte per sector, in a file: whether its newest content is only in the cache
cache = {}  # content by sector, in the order of writing
unreadable = set()
blocks_written = 0
chance = random.Random()


def config(key, value):
    settings[key] = value


def get_ready():
    global medium, unsettled
    medium = map_file(settings["medium"])
    unsettled = map_file(settings["medium"] + ".unsettled", len(medium) // SECTOR)
    if settings["restarted"] == "1":
        damage([sector for sector in range(len(unsettled)) if unsettled[sector]])
    unsettled[:] = bytes(len(unsettled))


def map_file(path, size=None):
    with builtins.open(path, "r+b" if size is None else "a+b") as file:
        if size is not None:
            file.truncate(size)
        return mmap.mmap(file.fileno(), 0)


def damage(lost):
    character = settings["character"]
    if character == "unreadable":
        unreadable.update(lost)
    elif character.endswith("garbage") or character == "zero":
        for sector in lost:
            put(sector, bytes(SECTOR) if character == "zero" else chance.randbytes(SECTOR))


def thread_model():
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def open(readonly):  # the names are nbdkit's
    return 1


def get_size(handle):
    return len(medium)


def can_flush(handle):
    return True


def can_fua(handle):
    return nbdkit.FUA_EMULATE


def sectors(offset, count):
    return range(offset // SECTOR, (offset + count) // SECTOR)


def pread(handle, buffer, offset, flags):
    view = memoryview(buffer)
    view[:] = medium[offset : offset + len(buffer)]
    for number, sector in enumerate(sectors(offset, len(buffer))):
        if sector in unreadable:
            nbdkit.set_error(errno.EIO)
            raise OSError(errno.EIO, "lost at the cut")
        if sector in cache:
            view[number * SECTOR : (number + 1) * SECTOR] = cache[sector]


def pwrite(handle, buffer, offset, flags):
    data = bytes(buffer)
    offset = place(offset, len(data))
    if offset is None:
        return
    for number, sector in enumerate(sectors(offset, len(data))):
        cache.pop(sector, None)  # the newest is the last
        cache[sector] = data[number * SECTOR : (number + 1) * SECTOR]
        unsettled[sector] = 1
        unreadable.discard(sector)
    if settings["character"] == "write-through":
        settle(list(cache))
    elif len(cache) > cache_sectors():
        settle(evicted())


def cache_sectors():
    return int(settings["cache_blocks"]) * BLOCK // SECTOR


def place(offset, count):
    """Return the position to which a write goes, or None if it is dropped."""
    global blocks_written
    if count != BLOCK or settings["character"] not in ("drop", "misdirect"):
        return offset
    blocks_written += 1
    if blocks_written % EVERY:
        return offset
    return None if settings["character"] == "drop" else max(offset - 2 * BLOCK, 0)


def evicted():
    """Return the sectors that must leave the cache, because it is full."""
    excess = len(cache) - cache_sectors()
    if settings["character"] == "torn":
        return chance.sample(list(cache), excess)
    oldest = list(cache) if settings["character"] == "reorder" else itertools.islice(cache, excess)
    blocks = list(dict.fromkeys(sector * SECTOR // BLOCK for sector in oldest))
    chosen = (
        chance.sample(blocks, min(len(blocks), -(-excess * SECTOR // BLOCK)))
        if settings["character"] == "reorder"
        else blocks
    )
    return [sector for block in chosen for sector in sectors(block * BLOCK, BLOCK) if sector in cache]


def settle(chosen):
    """Contiguous sectors are written to the medium in one piece, so that a cut during this write does not tear a
    block."""
    for dummy, stretch in itertools.groupby(enumerate(sorted(chosen)), key=lambda item: item[1] - item[0]):
        places = [sector for dummy, sector in stretch]
        put(places[0], b"".join(cache.pop(sector) for sector in places))
        unsettled[places[0] : places[-1] + 1] = bytes(len(places))


def put(sector, content):
    medium[sector * SECTOR : sector * SECTOR + len(content)] = content


def flush(handle, flags):
    if settings["character"] not in LIARS:
        settle(list(cache))
