# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of dm-log-writes: what reached a disk, in the order in which it was durable.

The kernel's Documentation/admin-guide/device-mapper/log-writes.rst describes it."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAGIC, VERSION = 0x6A736677736872, 1
SECTOR = 512
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8
# The stamp of each sector that the tester writes is a number that contains the number of the queue manager, multiplied
# by this factor. See src/workload/payload.h.
STAMP_STEP = 0x9E3779B97F4A7C15
STAMP_INVERSE = pow(STAMP_STEP, -1, 2**64)


@dataclass
class Entry:
    """One write, flush or mark."""

    offset: int
    flags: int
    data: bytes

    @property
    def is_boundary(self) -> bool:
        """Whether all entries up to this one are durable."""
        return bool(self.flags & (FLUSH | FUA))

    @property
    def mark(self) -> str:
        return self.data.rstrip(b"\0").decode() if self.flags & MARK else ""

    @property
    def writer(self) -> int:
        """The number of the queue manager that wrote this entry; 0 if the tester did not write it."""
        if len(self.data) != 4096 or self.flags & MARK:
            return 0
        number = (struct.unpack_from("<Q", self.data)[0] * STAMP_INVERSE % 2**64) >> 48
        return number if number in (1, 2) else 0


def entries(path: Path) -> Iterator[Entry]:
    with path.open("rb") as log:
        magic, version, count, sector_bytes = struct.unpack("<QQQI", log.read(28))
        if (magic, version) != (MAGIC, VERSION):
            raise SystemExit(f"{path} is no log of dm-log-writes")
        log.seek(sector_bytes)
        for _number in range(count):
            header = log.read(sector_bytes)
            sector, sectors, flags, mark_bytes = struct.unpack_from("<QQQQ", header)
            if flags & MARK:
                yield Entry(0, flags, header[32 : 32 + mark_bytes])
            elif flags & DISCARD:
                yield Entry(sector * SECTOR, flags, b"")
            else:
                data_bytes = sectors * SECTOR
                data = log.read(-(-data_bytes // sector_bytes) * sector_bytes)[:data_bytes]
                yield Entry(sector * SECTOR, flags, data)
