# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk in memory for nbdkit's python plugin whose writes are delayed, failed or held up while it is in use.

The file named by ``control=`` is read before every write: ``delay_us errno pause``, three integers. It is replaced, never
rewritten, so that it is always whole; where it is absent the disk is healthy. A pause holds up writes and flushes until
it is lifted. Reads are never touched.
"""

import builtins
import mmap
import time

import nbdkit

API_VERSION = 2

settings = {}
disk = None


def config(key, value):
    settings[key] = nbdkit.parse_size(value) if key == "size" else value


def get_ready():
    global disk
    disk = mmap.mmap(-1, settings["size"])


def thread_model():
    # Delays of several writes in flight run side by side, as on a disk that is far away.
    return nbdkit.THREAD_MODEL_PARALLEL


def open(readonly):  # the names are nbdkit's
    return 1


def get_size(handle):
    return len(disk)


def can_multi_conn(handle):
    return True


def can_fua(handle):
    return nbdkit.FUA_NATIVE


def controls():
    try:
        with builtins.open(settings["control"]) as control:
            delay_us, errno, pause = (int(word) for word in control.read().split())
    except FileNotFoundError:
        return 0, 0, 0
    return delay_us, errno, pause


def obey():
    """Do to a write what the controls say."""
    delay_us, errno, pause = controls()
    while pause:
        time.sleep(0.02)
        delay_us, errno, pause = controls()
    if delay_us:
        time.sleep(delay_us / 1e6)
    if errno:
        nbdkit.set_error(errno)
        raise OSError(errno, "asked for")


def pread(handle, buffer, offset, flags):
    buffer[:] = disk[offset : offset + len(buffer)]


def pwrite(handle, buffer, offset, flags):
    obey()
    disk[offset : offset + len(buffer)] = bytes(buffer)


def flush(handle, flags):
    while controls()[2]:
        time.sleep(0.02)


def trim(handle, count, offset, flags):
    pass
