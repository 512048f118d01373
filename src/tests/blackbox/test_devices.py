# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Block devices as places: which ones are refused without changing a byte, and what a device contains after a test.

The names in /dev/disk/by-id are created in a separate mount namespace for each tester, in which /dev is a tmpfs.
"""

import collections
import contextlib
import hashlib
import os
import re
import signal
import subprocess

from support import (
    BUILD,
    Place,
    consistent,
    contains,
    equal,
    preloaded,
    refused,
    root_test,
    strace,
    traced,
    wait_until_measuring,
)

MIB = 1 << 20
DISK = "/dev/disk/by-id/test-DISK_1"
DB = "--stream=name=db,place=data,pattern=random,size=8K,read=50%,workers=2,pause=500"
OPTIONS = [
    DB,
    "--place=name=data,device=" + DISK,
    "--eraseDevice=" + DISK,
    "--duration=1",
    "--fileSize=1M",
    "--numFiles=4",
]


@contextlib.contextmanager
def loop_device(place, *options, **keywords):
    """Yields the path of a loop device of 8 MiB, and the file behind it."""
    image = os.path.join(place.path, "disk.img")
    with open(image, "wb") as file:
        file.truncate(keywords.get("size", 8 * MIB))
        for at, data in keywords.get("data", {}).items():
            file.seek(at)
            file.write(data)
    loop = subprocess.check_output(
        ["losetup", "-f", "--show"] + list(options) + [image], universal_newlines=True
    ).strip()
    try:
        yield loop, image
    finally:
        subprocess.call(["losetup", "-d", loop])


def named(place, node, commands=""):
    """Returns a command prefix that runs commands in /dev/disk/by-id, after which test-DISK_1 leads to the given
    node."""
    dev = os.path.join(place.path, "dev")
    os.makedirs(dev, exist_ok=True)
    script = """
        mount -t tmpfs none {dev}; mkdir -p {dev}/shm {dev}/disk/by-id
        cp -a /dev/null {node} {dev}; cd {dev}/disk/by-id; ln -s ../../{name} test-DISK_1
        {commands}
        mount --rbind /dev/shm {dev}/shm; mount --rbind {dev} /dev; exec "$@" """.format(
        dev=dev, node=node, name=os.path.basename(node), commands=commands
    )
    return ["unshare", "-m", "sh", "-ec", script, "sh"]


def content(image):
    with open(image, "rb") as file:
        return file.read()


def digest(image):
    return hashlib.sha256(content(image)).hexdigest()


def untouched(place, disk, *parts, **keywords):
    """Checks that the device is refused with a message that contains these parts, and that no byte has changed."""
    loop, image = disk
    subprocess.check_call(["blockdev", "--flushbufs", loop])
    before, node, commands = digest(image), keywords.get("node", loop), keywords.get("commands", "")
    result = place.logdisk(*keywords.get("options", OPTIONS), before=named(place, node, commands))
    subprocess.check_call(["blockdev", "--flushbufs", loop])
    equal(digest(image), before, "content after: " + result.err)
    equal(os.path.exists(place.tables), False, "tables of a refusal")
    equal(result.status, keywords.get("status", 2), result.err)
    contains(result.err, *parts)


@root_test
def device_with_anything_at_its_ends_is_refused(place):
    """Any byte that is not zero leads to a refusal, even the last one, not only signatures and partition tables."""
    for tool in (["mkfs.ext4", "-q", "-F"], ["mkfs.xfs", "-q", "-f"], ["mkswap"]):
        with loop_device(place, size=320 * MIB) as disk:
            subprocess.check_call([*tool, disk[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            untouched(place, disk, "--place data", DISK, "is not empty", "first and last 1 MiB are zeros")
    for at in (0, 510, MIB - 1, 7 * MIB, 8 * MIB - 1):
        with loop_device(place, data={at: b"\x01"}) as disk:
            untouched(
                place,
                disk,
                "is not empty: byte %d is not 0" % at,
                "if nothing on this one is needed",
                "blkdiscard -z -o 7340032 -l 1M " + DISK,
            )


@root_test
def zeroed_ends_are_the_way_out(place):
    """The ends remain empty, as the message promises. The part between them is overwritten."""
    with loop_device(place, data=dict.fromkeys((0, MIB, 8 * MIB - 8), b"old data")) as (loop, image):
        err = place.logdisk(*OPTIONS, before=named(place, loop)).err
        commands = [command.strip() for command in err.split("let its owner zero them: ")[1].split(";")]
        subprocess.check_call(named(place, loop) + ["sh", "-ec", ";".join(commands)])
        result = place.logdisk(*OPTIONS, before=named(place, loop))
        equal((result.status, b"old data" in content(image)), (0, False), result.err)


@root_test
def device_in_use_is_refused(place):
    point = os.path.join(place.path, "point")
    os.mkdir(point)
    with loop_device(place) as disk:
        subprocess.check_call(["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0", disk[0]])
        subprocess.check_call(["mount", "-o", "ro", disk[0], point])
        try:
            untouched(place, disk, "is mounted at " + point, "unmount it if nothing on it is needed")
            untouched(place, disk, "is in use", "another mount namespace", commands="umount " + point)
        finally:
            subprocess.check_call(["umount", point])
    with loop_device(place) as disk:
        subprocess.check_call(["mkswap", disk[0]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.check_call(["swapon", disk[0]])
        try:
            untouched(place, disk, "is swap space", "swapoff")
        finally:
            subprocess.check_call(["swapoff", disk[0]])
    with loop_device(place) as disk:
        other = os.open(disk[0], os.O_RDONLY | os.O_EXCL)
        try:
            untouched(place, disk, "is in use", "name another device")
        finally:
            os.close(other)
        # A device that the kernel allows the tester to open although it is part of a mapped device that another program
        # set up.
        holders = "/sys/block/%s/holders" % os.path.basename(disk[0])
        untouched(place, disk, "is a part of dm-7", commands="mount -t tmpfs none {0}; mkdir {0}/dm-7".format(holders))
    with loop_device(place, "-r") as disk:
        untouched(place, disk, "is read-only")


@root_test
def device_with_partitions_and_a_partition_are_refused(place):
    with loop_device(place) as disk:
        subprocess.check_call(["addpart", disk[0], "1", "4096", "8192"])
        try:
            untouched(place, disk, "has partitions", "wipefs")
            untouched(place, disk, "is a partition", "name a whole disk", node=disk[0] + "p1")
        finally:
            subprocess.check_call(["delpart", disk[0], "1"])


@root_test
def only_a_link_of_udev_is_followed(place):
    with loop_device(place) as disk:
        name = os.path.basename(disk[0])
        number = subprocess.check_output(["stat", "-c", "0x%t 0x%T", disk[0]], universal_newlines=True).split()
        for commands, says in (
            ("ln -sf ../../nowhere test-DISK_1", "leads nowhere"),
            ("rm test-DISK_1", "cannot be found"),
            ("rm test-DISK_1; cp -a ../../%s test-DISK_1" % name, "is not a link"),
            ("ln -sf %s test-DISK_1" % disk[1], "which is not a device in /dev"),
            (
                "mkdir ../../mapper; cp -a ../../%s ../../mapper; ln -sf ../../mapper/%s test-DISK_1" % (name, name),
                "which is not a device in /dev",
            ),
            ("cp %s ../../image; ln -sf ../../image test-DISK_1" % disk[1], "which is not a block device"),
            ("ln -sf ../../null test-DISK_1", "which is not a block device"),
            (
                "mknod ../../disk0 b %d %d; ln -sf ../../disk0 test-DISK_1" % (int(number[0], 16), int(number[1], 16)),
                "not the kernel's name of device",
            ),
        ):
            untouched(place, disk, says, commands=commands)


@root_test
def a_name_that_changes_while_it_is_opened_is_refused(place):
    """The link changes between its own check and that of the device, so that the open device is no longer the named
    one."""
    other = Place("a_name_that_changes.other")
    with loop_device(place) as disk, loop_device(other) as (loop, image):
        move = "ln -sfn ../../%s /dev/disk/by-id/test-DISK_1" % os.path.basename(loop)
        source = (
            """
            #include <fcntl.h>
            #include <stdarg.h>
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <unistd.h>
            int open(const char *path, int flags, ...) {
                va_list rest; va_start(rest, flags);
                unsigned mode = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
                va_end(rest);
                if ((flags & O_PATH) != 0 && system("%s") != 0) { abort(); }
                return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
            }
            int open64(const char *path, int flags, ...) __attribute__((alias("open")));
        """
            % move
        )
        before = digest(disk[1]), digest(image)
        result = place.logdisk(*OPTIONS, before=named(place, disk[0]) + preloaded(place, source))
        refused(place, result, "was changed while it was being opened")
        equal((digest(disk[1]), digest(image)), before)


@root_test
def device_that_does_not_fit_is_refused(place):
    with loop_device(place, size=6 * MIB - 512) as disk:
        untouched(place, disk, "has 6290944 bytes, but the test takes 6291456", "--numFiles")
    with loop_device(place, "-b", "4096") as disk:
        small = [OPTIONS[0].replace("size=8K", "size=4K:50+512:50")] + OPTIONS[1:]
        untouched(
            place,
            disk,
            "operations of 512 bytes are not possible with " + DISK,
            "the next size that works is 4096",
            options=small,
        )
        for options in (OPTIONS, small + ["--direct=no"]):
            result = place.logdisk(*options, before=named(place, disk[0]))
            equal(result.status, 0, result.err)


@root_test
def device_that_is_not_named_twice_is_refused(place):
    """A usage error, before the device is inspected."""
    with loop_device(place) as disk:
        for device, erase, says in (
            (DISK, None, "no --eraseDevice permits that"),
            (DISK, DISK + "x", "no --eraseDevice permits that"),
            (DISK, DISK + "/", "no --eraseDevice permits that"),
            (disk[0], disk[0], "device: '%s' is not allowed" % disk[0]),
            ("/dev/disk/by-id/../../" + os.path.basename(disk[0]),) * 2 + ("a name directly below",),
            (DISK, "all", "no --eraseDevice permits that"),
        ):
            options = [DB, "--place=name=data,device=" + device, "--duration=1"] + (
                ["--eraseDevice=" + erase] if erase else []
            )
            untouched(place, disk, says, options=options, status=1)


@root_test
def streams_on_a_device(place):
    """The part between the ends holds data that was written. Both ends remain empty, so the next run is accepted."""
    log = "--stream=name=log,place=data,pattern=ring,size=4K,workers=2,pause=1000"
    trace = os.path.join(place.path, "operations.csv")
    with loop_device(place) as (loop, image):
        result = place.logdisk(*OPTIONS, log, "--trace=" + trace, before=named(place, loop))
        equal(result.status, 0, result.err)
        run = consistent(result)
        equal(
            (run["directory_1"], run["device_name"], run["device_stack"]),
            (DISK, os.path.basename(loop), os.path.basename(loop)),
        )
        equal((run["filesystem_type"], run["filesystem_free_bytes"], run["mount_point"]), ("", "", ""))
        equal(run["backing_filesystem_type"], "tmpfs", "of the file behind the loop device")
        assert float(run["foreign_io_share"]) < 0.1, (
            run["foreign_io_share"],
            run["device_read_bytes"],
            run["device_written_bytes"],
        )
        data = content(image)
        equal((data[:MIB].count(0), data[-MIB:].count(0)), (MIB, MIB), "the ends")
        sectors = [data[at : at + 512] for at in range(MIB, 5 * MIB, 512)]
        equal(len(set(sectors)), len(sectors), "different sectors")
        assert max(sector.count(0) for sector in sectors) < 50, "zeros in the data"
        equal(data[5 * MIB :].count(0), 3 * MIB, "beyond the capacity")
        stalls = result.rows("stalls.csv")
        equal({row["file"] for row in stalls}, {DISK})
        assert all(MIB <= int(row["offset_bytes"]) < 5 * MIB for row in stalls), stalls
        with open(trace) as file:
            offsets = [int(line.split(",")[9]) for line in file.read().splitlines()[1:]]
        assert min(offsets) == 0 and max(offsets) < 4 * MIB, (min(offsets), max(offsets))
        for kind, way in (("asan", "direct=yes"), ("tsan", "direct=no")):
            again = place.logdisk(
                *[option + "," + way if option.startswith("--place") else option for option in OPTIONS],
                "--stream=name=scan,place=data,pattern=runs,start=0%-50%,run=50%,size=64K,read=100%",
                "--place=name=side,dir=" + place.dir,
                "--stream=name=side,place=side,pattern=random,size=4K,pause=500",
                before=named(place, loop),
                logdisk=os.path.join(BUILD, kind, "logdisk"),
            )
            assert "Sanitizer" not in again.err and "runtime error" not in again.err, again.err
            equal(again.status, 0, again.err)


@root_test
def streams_on_two_devices(place):
    """The place's files are spread evenly over both devices. Each device is checked and claimed, and its ends remain
    empty."""
    second = DISK.replace("DISK_1", "DISK+2")
    other = Place("streams_on_two_devices.other")
    trace = os.path.join(place.path, "operations.csv")
    options = [
        DB,
        "--place=name=data,device=" + DISK + "+" + second,
        "--eraseDevice=" + DISK,
        "--eraseDevice=" + second,
        "--duration=1",
    ]
    options += [
        "--fileSize=1M",
        "--numFiles=8",
        "--stream=name=log,place=data,pattern=ring,size=4K,workers=2,pause=1000",
    ]
    with loop_device(place) as disk, loop_device(other) as (loop, image):
        link = "cp -a %s ../..; ln -s ../../%s test-DISK+2" % (loop, os.path.basename(loop))
        untouched(place, disk, "--place data", second, "cannot be found", options=options)
        result = place.logdisk(*options, "--trace=" + trace, before=named(place, disk[0], link))
        equal(result.status, 0, result.err)
        run = consistent(result)
        equal((run["directory_1"], run["directory_2"]), (DISK, second))
        for data in (content(disk[1]), content(image)):
            equal(
                (data[:MIB].count(0), data[-MIB:].count(0), data[5 * MIB :].count(0)),
                (MIB, MIB, 3 * MIB),
                "the ends and beyond the capacity",
            )
            equal(len({data[at : at + 512] for at in range(MIB, 5 * MIB, 512)}), 8192, "different sectors")
        with open(trace) as file:
            offsets = [int(line.split(",")[9]) for line in file.read().splitlines()[1:]]
        assert min(offsets) < MIB and 7 * MIB < max(offsets) < 8 * MIB, (min(offsets), max(offsets))
        equal({row["file"] for row in result.rows("stalls.csv")} <= {DISK, second}, True)
        again = place.logdisk(
            *options,
            before=named(
                place, disk[0], link.replace(loop, disk[0]).replace(os.path.basename(loop), os.path.basename(disk[0]))
            ),
        )
        refused(place, again, "is in use")


@root_test
def what_reaches_the_device(place):
    """The device is opened exclusively and with the stream's own flags, and each ring has its own part between the
    ends."""
    ring = "--stream=name=log,place=data,pattern=ring,size=4K,workers=2,pause=1000"
    with loop_device(place) as (loop, image):
        result = place.logdisk(ring, *OPTIONS[1:], before=named(place, loop) + strace(place, calls="openat,pwritev"))
        equal(result.status, 0, result.err)
        [opened] = [line for line in traced(place) if "O_EXCL" in line and "/proc/self/fd/" in line]
        contains(opened, "O_RDWR", "O_DSYNC", "O_DIRECT")
        found = [
            re.search(r"^(\d+) .*iov_len=(\d+)\}\], 1, (\d+)", line) for line in traced(place) if "pwritev(" in line
        ]
        writes = [tuple(map(int, match.groups())) for match in found]
        equal((min(at for _, _, at in writes), max(at + length for _, length, at in writes)), (MIB, 5 * MIB))
        by_thread = collections.defaultdict(set)
        for thread, length, at in writes:
            by_thread[thread].add(at)
        [first, second] = sorted(sorted(offsets) for offsets in list(by_thread.values())[-2:])
        equal(
            (first[0], first[1] - first[0], second[0], first[-1] < second[0]),
            (MIB, 4096, 3 * MIB, True),
            "the two rings",
        )


@root_test
def killed_run_leaves_the_ends_empty(place):
    with loop_device(place) as (loop, image):
        command = place.command(
            *OPTIONS[:3], "--duration=60", "--fileSize=1M", "--numFiles=4", "--progress=" + place.path + "/progress"
        )
        process = subprocess.Popen(
            named(place, loop) + command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
        )
        wait_until_measuring(place, process)
        other = place.logdisk(*OPTIONS, "--tables=" + place.path + "/other", before=named(place, loop))
        equal((other.status, "is in use" in other.err), (2, True), other.err)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        data = content(image)
        equal((data[:MIB].count(0), data[-MIB:].count(0)), (MIB, MIB), "the ends")
        equal(place.logdisk(*OPTIONS, before=named(place, loop)).status, 0)
