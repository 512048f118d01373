# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits on cgroups: a quota of processor time on a cgroup above the tester's own, and limits on I/O."""

import contextlib
import os

from support import consistent, equal, mounted, read, root_test, write

PERIOD_US = 100000


def hierarchy(legacy_name, name):
    """Returns the path of the cgroups that have a controller, and whether they are version 1; (None, False) if groups
    with a limit cannot be created."""
    with open("/proc/self/mountinfo") as file:
        mounts = [(line.split()[4], line.split(" - ")[1].split()) for line in file]
    for point, (kind, dummy, options) in mounts:
        if kind == "cgroup" and legacy_name in options.split(",") and os.access(point, os.W_OK):
            return point, True
    for point, (kind, *dummy) in mounts:
        with contextlib.suppress(OSError):
            if (
                kind == "cgroup2"
                and name in read(point + "/cgroup.subtree_control").split()
                and os.access(point, os.W_OK)
            ):
                return point, False
    return None, False


@contextlib.contextmanager
def groups(point, legacy, controller, name):
    """Creates a group and another one inside it. Both are removed at the end of the block."""
    above = os.path.join(point, name)
    own = above + "/own"
    os.mkdir(above)
    try:
        if not legacy:
            write(above + "/cgroup.subtree_control", "+" + controller)
        os.mkdir(own)
        try:
            yield above, own
        finally:
            os.rmdir(own)
    finally:
        os.rmdir(above)


@root_test
def quota_of_a_group_above(place):
    point, legacy = hierarchy("cpu", "cpu")
    if point is None:
        print(
            "quota_of_a_group_above: left out, because this machine lets nobody make a cgroup "
            "with a quota of processor time",
            flush=True,
        )
        return
    with groups(point, legacy, "cpu", "logdisk-test-%d" % os.getpid()) as (above, own):
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


@root_test
def limit_on_io(place):
    point, legacy = hierarchy("blkio", "io")
    if point is None:
        print("limit_on_io: left out, because this machine lets nobody make a cgroup with a limit on I/O", flush=True)
        return
    with mounted(place) as path, groups(point, legacy, "io", "logdisk-test-%d" % os.getpid()) as (above, own):
        device = os.stat(path).st_dev
        number = "%d:%d" % (os.major(device), os.minor(device))
        # A limit of version 1 on the group above does not apply to the groups below it.
        limited = own if legacy else above

        def told(name, key, per_s, block_size):
            file = limited + ("/blkio.throttle.%s_device" % name if legacy else "/io.max")
            write(file, "%s %s" % (number, per_s) if legacy else "%s %s=%s" % (number, key, per_s))
            try:
                result = place.logdisk(
                    "--duration=2",
                    "--bsize=" + block_size,
                    dir=path,
                    preexec=lambda: write(own + "/cgroup.procs", str(os.getpid())),
                )
            finally:
                write(file, "%s 0" % number if legacy else "%s %s=max" % (number, key))
            equal(result.status, 0, result.err)
            consistent(result)
            expected = "%s %s" % (number, per_s) if legacy else "%s %s=%s" % (number, key, per_s)
            shares = set()
            for row in result.rows("results.csv"):
                equal((row["io_limit_file"], row["io_limit"]), (file, expected))
                shares.add(float(row["io_limit_used_share"]))
            (share,) = shares
            return share

        assert told("write_iops", "wiops", 60, "4K") > 0.5
        assert told("write_bps", "wbps", 1 << 20, "64K") > 0.5
        assert told("write_bps", "wbps", 1 << 40, "4K") < 0.1
        result = place.logdisk("--duration=1", dir=path, preexec=lambda: write(own + "/cgroup.procs", str(os.getpid())))
        consistent(result)
        for row in result.rows("results.csv"):
            equal((row["io_limit_used_share"], row["io_limit_file"], row["io_limit"]), ("", "", ""))
