# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A quota of processor time on a cgroup above the tester's own."""

import contextlib
import os

from support import consistent, equal, read, root_test, write

PERIOD_US = 100000


def hierarchy():
    """Returns the path of the cgroups that have the cpu controller, and whether they are version 1; (None, False) if
    groups with a quota cannot be created."""
    with open("/proc/self/mountinfo") as file:
        mounts = [(line.split()[4], line.split(" - ")[1].split()) for line in file]
    for point, (kind, dummy, options) in mounts:
        if kind == "cgroup" and "cpu" in options.split(",") and os.access(point, os.W_OK):
            return point, True
    for point, (kind, *dummy) in mounts:
        with contextlib.suppress(OSError):
            if (
                kind == "cgroup2"
                and "cpu" in read(point + "/cgroup.subtree_control").split()
                and os.access(point, os.W_OK)
            ):
                return point, False
    return None, False


@contextlib.contextmanager
def groups(point, legacy, name):
    """Creates a group and another one inside it. Both are removed at the end of the block."""
    above = os.path.join(point, name)
    own = above + "/own"
    os.mkdir(above)
    try:
        if not legacy:
            write(above + "/cgroup.subtree_control", "+cpu")
        os.mkdir(own)
        try:
            yield above, own
        finally:
            os.rmdir(own)
    finally:
        os.rmdir(above)


@root_test
def quota_of_a_group_above(place):
    point, legacy = hierarchy()
    if point is None:
        print(
            "quota_of_a_group_above: left out, because this machine lets nobody make a cgroup "
            "with a quota of processor time",
            flush=True,
        )
        return
    with groups(point, legacy, "logdisk-test-%d" % os.getpid()) as (above, own):
        throttled = {}
        for percent in (None, 5):
            if percent is not None:
                quota = PERIOD_US * percent // 100
                write(
                    above + ("/cpu.cfs_quota_us" if legacy else "/cpu.max"),
                    str(quota) if legacy else "%d %d" % (quota, PERIOD_US),
                )
            result = place.logdisk("--duration=2", preexec=lambda: write(own + "/cgroup.procs", str(os.getpid())))
            equal(result.status, 0, result.err)
            run = consistent(result)
            throttled[percent] = (float(run["cpu_throttled_ns"]) / 1e9, float(run["cpu_throttled_share"]))
    equal(throttled[None], (0, 0))
    seconds, share = throttled[5]
    assert seconds > 1 and 0.5 < share <= 1, throttled
