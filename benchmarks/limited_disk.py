# SPDX-License-Identifier: GPL-3.0-or-later
"""A disk in memory for nbdkit's python plugin that completes a known number of operations per second: each of its
servers takes service_us for a request.

The end of a request is computed from its arrival and from the times at which the servers become free, so that a late
wake-up delays only one request and not those behind it.
"""

import heapq
import mmap
import threading
import time

import nbdkit

API_VERSION = 2

settings = {}
disk = None
free_s = []
lock = threading.Lock()


def config(key, value):
    settings[key] = value


def get_ready():
    global disk
    disk = mmap.mmap(-1, nbdkit.parse_size(settings["size"]))
    free_s.extend([0.0] * int(settings["servers"]))


def thread_model():
    return nbdkit.THREAD_MODEL_PARALLEL


def open(readonly):  # the names are nbdkit's
    return 1


def get_size(handle):
    return len(disk)


def can_multi_conn(handle):
    return True


def can_fua(handle):
    return nbdkit.FUA_NATIVE


def serve():
    now = time.monotonic()
    with lock:
        end = max(now, heapq.heappop(free_s)) + int(settings["service_us"]) / 1e6
        heapq.heappush(free_s, end)
    time.sleep(max(0.0, end - time.monotonic()))


def pread(handle, buffer, offset, flags):
    serve()
    buffer[:] = disk[offset : offset + len(buffer)]


def pwrite(handle, buffer, offset, flags):
    serve()
    disk[offset : offset + len(buffer)] = bytes(buffer)


def flush(handle, flags):
    pass


def trim(handle, count, offset, flags):
    pass
