# SPDX-License-Identifier: GPL-3.0-or-later
"""Controls the file system under test of a host: freezes it, and sets the delays, errors, pauses and limits of a slow
disk."""

import errno
import fcntl
import os
from pathlib import Path

FIFREEZE = 0xC0045877
FITHAW = 0xC0045878


def freeze(mount_point: Path) -> None:
    """Freeze a file system: every write hangs, and its process cannot be killed, until thaw()."""
    _freeze_ioctl(mount_point, FIFREEZE)


def thaw(mount_point: Path) -> None:
    """Undo freeze(), even if it was called several times; harmless if nothing is frozen."""
    while True:
        try:
            _freeze_ioctl(mount_point, FITHAW)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT, errno.ESRCH, errno.EOPNOTSUPP, errno.ENOTTY):
                return
            raise


def _freeze_ioctl(mount_point: Path, request: int) -> None:
    descriptor = os.open(mount_point, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, request, 0)
    finally:
        os.close(descriptor)


class SlowDisk:
    """The controls of slowdisk.py."""

    def __init__(self, control: Path) -> None:
        self.control = control
        self.delay_us = 0
        self.errno = 0
        self.pause = False
        self.limit = (0, 0)
        self.read_delay_us = 0

    def set(
        self,
        *,
        delay_us: int | None = None,
        errno: int | None = None,
        pause: bool | None = None,
        limit: tuple[int, int] | None = None,
        read_delay_us: int | None = None,
    ) -> None:
        self.delay_us = self.delay_us if delay_us is None else delay_us
        self.errno = self.errno if errno is None else errno
        self.pause = self.pause if pause is None else pause
        self.limit = self.limit if limit is None else limit
        self.read_delay_us = self.read_delay_us if read_delay_us is None else read_delay_us
        self._write()

    def heal(self) -> None:
        """Make the disk healthy again, regardless of which process changed it."""
        self.delay_us, self.errno, self.pause, self.limit, self.read_delay_us = 0, 0, False, (0, 0), 0
        self.control.unlink(missing_ok=True)

    def _write(self) -> None:
        aside = self.control.with_suffix(".new")
        aside.write_text(
            f"{self.delay_us} {self.errno} {int(self.pause)} {self.limit[0]} {self.limit[1]} {self.read_delay_us}\n"
        )
        aside.rename(self.control)
