# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk in memory for nbdkit's python plugin whose writes can be made slow, fail, hang or be limited while the disk is
in use.

The file named by ``control=`` is read before every request: ``delay_us errno pause bytes_per_s burst_bytes
read_delay_us``, six integers. The file is replaced, never rewritten, so that it is always complete. If the file does
not exist, the disk is healthy. During a pause, writes and flushes wait. If bytes_per_s is not 0, writes take their
bytes from a bucket of burst_bytes that is filled at this rate, as on a cloud volume. Reads can only be delayed.
"""

import builtins
import mmap
import threading
import time

import nbdkit

API_VERSION = 2

settings = {}
disk = None
bucket = {"kind": None, "due": 0.0}
bucket_lock = threading.Lock()


def config(key, value):
    settings[key] = nbdkit.parse_size(value) if key == "size" else value


def get_ready():
    global disk
    disk = mmap.mmap(-1, settings["size"])


def thread_model():
    # Delays of several writes in flight run in parallel, as on a remote disk.
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
            delay_us, errno, pause, bytes_per_s, burst_bytes, read_delay_us = (
                int(word) for word in control.read().split()
            )
    except FileNotFoundError:
        return 0, 0, 0, (0, 0), 0
    return delay_us, errno, pause, (bytes_per_s, burst_bytes), read_delay_us


def take(count, bytes_per_s, burst_bytes):
    """Take bytes from the bucket, and wait until they are available. A bucket whose settings changed starts full."""
    with bucket_lock:
        now = time.monotonic()
        full = now - burst_bytes / bytes_per_s
        if bucket["kind"] != (bytes_per_s, burst_bytes):
            bucket.update(kind=(bytes_per_s, burst_bytes), due=full)
        bucket["due"] = due = max(bucket["due"], full) + count / bytes_per_s
    time.sleep(max(0.0, due - now))


def obey(count):
    """Apply the controls to a write of that many bytes."""
    delay_us, errno, pause, limit, dummy = controls()
    while pause:
        time.sleep(0.02)
        delay_us, errno, pause, limit, dummy = controls()
    if limit[0]:
        take(count, *limit)
    if delay_us:
        time.sleep(delay_us / 1e6)
    if errno:
        nbdkit.set_error(errno)
        raise OSError(errno, "asked for")


def pread(handle, buffer, offset, flags):
    delay_us = controls()[4]
    if delay_us:
        time.sleep(delay_us / 1e6)
    buffer[:] = disk[offset : offset + len(buffer)]


def pwrite(handle, buffer, offset, flags):
    obey(len(buffer))
    disk[offset : offset + len(buffer)] = bytes(buffer)


def flush(handle, flags):
    while controls()[2]:
        time.sleep(0.02)


def trim(handle, count, offset, flags):
    pass
