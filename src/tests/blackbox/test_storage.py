# Copyright (c) 2026 mqops contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tester's description of the storage under --dir, and the lock against a second tester."""

import contextlib
import os
import shutil
import subprocess

from support import (
    BASE,
    RUN_ID,
    Place,
    Result,
    consistent,
    contains,
    equal,
    mounted,
    refused,
    root_test,
    tmpfs,
    unmount,
    wait_until_measuring,
    warnings,
    write,
)


@root_test
def identity_of_a_loop_device(place):
    with mounted(place, "xfs", size_mb=320, options="noatime") as point:
        result = place.logdisk("--duration=1", dir=point)
        equal(result.status, 0, result.err)
        run = result.run()
        with open("/proc/self/mountinfo") as file:
            line = [line for line in file if " %s " % point in line][0].split()
        name = os.path.basename(line[line.index("-") + 2])
        equal(
            (run["filesystem_type"], run["mount_point"], run["mount_source"], run["device_number"], run["device_name"]),
            ("xfs", point, "/dev/" + name, line[2], name),
        )
        contains(run["mount_options"], "noatime")
        equal(run["device_stack"], name)
        with open("/sys/block/%s/queue/scheduler" % name) as file:
            contains(file.read(), run["device_scheduler"])
        equal(run["device_logical_block_bytes"], "512")
        holder = os.stat(place.path).st_dev
        equal(
            (run["backing_filesystem_type"], run["backing_unknown"], run["backing_disks"]),
            ("tmpfs", "", "%d:%d" % (os.major(holder), os.minor(holder))),
            "the file behind the loop device",
        )
        for key in ("cpu_steal_share", "run_queue_wait_share", "foreign_io_share"):
            assert 0 <= float(run[key]) <= 1, (key, run[key])
        assert int(run["device_written_bytes"]) >= int(run["own_written_bytes"]), "the device saw less than was written"
    tmpfs_run = place.logdisk("--duration=1").run()
    equal((tmpfs_run["device_name"], tmpfs_run["device_stack"], tmpfs_run["foreign_io_bytes"]), ("", "", ""))
    equal((tmpfs_run["backing_filesystem_type"], tmpfs_run["backing_unknown"]), ("tmpfs", ""))


@root_test
def memory_behind_an_overlay_and_a_loop_device(place):
    """Unknown facts are reported as such, and misleading ones are not trusted."""

    def look(point):
        run = place.logdisk("--duration=1", dir=point).run()
        return run["filesystem_type"], run["backing_filesystem_type"], run["backing_unknown"], run["device_name"]

    hidden = "the upper directory of an overlay"
    with mounted(place, "xfs", size_mb=320) as disk, tmpfs(place, "size=64m") as memory:
        for below, name in (
            (disk, subprocess.check_output(["findmnt", "-no", "SOURCE", disk], universal_newlines=True)),
            (memory, ""),
        ):
            lower, merged = place.path + "/lower", place.path + "/merged"
            upper, work, moved = [below + "/" + kind for kind in ("upper, with a comma", "work", "moved")]
            for directory in (lower, merged, upper, work):
                os.makedirs(directory, exist_ok=True)
            subprocess.check_call(
                [
                    "mount",
                    "-t",
                    "overlay",
                    "overlay",
                    "-o",
                    "lowerdir=%s,upperdir=%s,workdir=%s" % (lower, upper.replace(",", "\\,"), work),
                    merged,
                ]
            )
            try:
                os.mkdir(merged + "/sub")
                name = os.path.basename(name.strip())
                equal(look(merged + "/sub"), ("overlay", "tmpfs", "", name), "the disk's image lies in memory, too")
                os.rename(upper, moved)
                equal(look(merged + "/sub"), ("overlay", "", hidden, ""), "not there")
                os.makedirs(upper + "/sub")
                equal(look(merged + "/sub"), ("overlay", "", hidden, ""), "another one")
            finally:
                subprocess.check_call(["umount", merged])
        image, other = place.path + "/xfs.img", place.path + "/other.img"
        write(other, "another one")
        subprocess.check_call(["mount", "--bind", other, image])
        try:
            equal(look(disk)[1:3], ("xfs", "the file behind a loop device"), "another one")
        finally:
            subprocess.check_call(["umount", image])
        os.unlink(image)
        equal(look(disk)[1:3], ("xfs", "the file behind a loop device"), "not there")


@contextlib.contextmanager
def btrfs(place, disks=2):
    """A btrfs file system on several loop devices, with the subvolumes a and b. Yields its mount point and the
    devices."""
    point, loops = os.path.join(place.path, "btrfs"), []
    os.makedirs(point)
    try:
        for number in range(disks):
            image = "%s/%d.img" % (place.path, number)
            with open(image, "wb") as file:
                file.truncate(160 << 20)
            loops.append(subprocess.check_output(["losetup", "-f", "--show", image], universal_newlines=True).strip())
        subprocess.check_output(["mkfs.btrfs", "-q", "-f", "-d", "single", "-m", "single"] + loops)
        subprocess.check_call(["mount", "-t", "btrfs", loops[0], point])
        try:
            for name in "ab":
                subprocess.check_output(["btrfs", "subvolume", "create", point + "/" + name])
            yield point, loops
        finally:
            unmount(point)
    finally:
        subprocess.call(["losetup", "-d"] + loops)


@root_test
def several_devices_and_subvolumes_are_one_file_system(place):
    """st_dev differs between the subvolumes, and the mount shows only one of the devices."""
    with btrfs(place) as (point, loops):
        dirs = [point + "/a", point + "/b"]
        assert os.stat(dirs[0]).st_dev != os.stat(dirs[1]).st_dev
        place.tables = point + "/tables"
        process = place.start(
            "--duration=3", "--fileSize=4M", "--numFiles=2", "--progress=" + place.path + "/progress", dir=dirs[0]
        )
        wait_until_measuring(place, process)
        with open("/proc/self/mountinfo") as file:
            shown = [line.split(" - ")[1].split()[1] for line in file if " %s " % point in line][0]
        other = [loop for loop in loops if loop != shown][0]
        subprocess.check_call(["dd", "if=" + other, "of=/dev/null", "bs=1M", "count=8", "iflag=direct", "status=none"])
        result = place.finish(process)
        equal(result.status, 0, result.err)
        run = result.run()
        equal(sorted(run["device_stack"].split(" + ")), sorted(os.path.basename(loop) for loop in loops))
        assert int(run["device_read_bytes"]) >= 8 << 20, (run["device_read_bytes"], "of the second device")
        contains(warnings(run), "on a file system under test: --tables")
        place.tables = place.path + "/tables"
        # The files on one of the subvolumes would leave this reserve, but those on both do not.
        space = os.statvfs(point)
        reserve = "--reserve=%d" % (space.f_bavail * space.f_frsize - (20 << 20))
        files = ["--fileSize=4M", "--numFiles=4", reserve, "--duration=1"]
        equal(place.logdisk(*files, dir=dirs[0]).status, 0)
        refused(place, place.logdisk("--qm=2", *files, dir=",".join(dirs)), "bytes free", "--reserve")


@contextlib.contextmanager
def measuring(place, *options, **keywords):
    """A tester that measures for the duration of the with block."""
    tables = place.tables
    place.tables = place.path + "/first"
    process = place.start(
        "--duration=60", "--progress=" + place.path + "/progress", "--runId=first", *options, **keywords
    )
    try:
        wait_until_measuring(place, process)
        place.tables = tables
        yield process
    finally:
        place.tables = tables
        process.kill()
        process.communicate()


@root_test
def another_tester_at_the_disk(place):
    """Uses a separate file system, because the other tests share one."""

    def refused_by_first(*options, **keywords):
        done = place.logdisk("--duration=1", *options, **keywords)
        refused(
            place,
            done,
            "another tester is using the disk under --dir: ",
            "--shareDevice",
            "run first, pid %d, at disk %d:%d;" % (process.pid, os.major(disk), os.minor(disk)),
        )

    with tmpfs(place, "size=64m") as memory:
        disk = os.stat(memory).st_dev
        with measuring(place, dir=memory) as process:
            refused_by_first("--runId=other", dir=memory)
            refused_by_first("--runId=fir", "--qm=2", dir=place.dir + "," + memory)
            equal((os.listdir(memory), os.listdir(place.dir)), ([], []))
            result = place.logdisk("--duration=1", "--runId=first", dir=memory)
            equal((result.status, result.run()["device_shared_with"]), (0, ""), result.err)
            result = place.logdisk("--duration=1", "--runId=other", "--shareDevice", dir=memory)
            run = consistent(result)
            equal((run["option_run_id"], run["option_share_device"]), ("other", "1"))
            contains(run["device_shared_with"], "run first, pid %d" % process.pid)
            contains(warnings(run), "each disturbs the other: run first")
            alone = place.command("--duration=1", dir=memory)
            alone.remove("--runId=" + RUN_ID)
            shutil.rmtree(place.tables)
            done = subprocess.run(alone, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
            refused(place, Result(done.returncode, done.stdout, done.stderr, place.tables), "run first")
        equal(place.logdisk("--duration=1", "--runId=other", dir=memory).status, 0, "the lock was released by SIGKILL")
    for wrong in ("a/b", "a b", "x" * 65):
        result = place.logdisk("--duration=1", "--runId=" + wrong)
        equal(result.status, 1)
        contains(result.err, "--runId", "64 letters")


@root_test
def another_tester_at_the_disk_behind_a_loop_device(place):
    """One tester uses the file system on a loop device, the other the file system that contains the device's file."""
    with tmpfs(place, "size=128m") as memory:
        inner = Place(os.path.relpath(memory + "/inner", BASE))
        with mounted(inner) as point, measuring(place, dir=point):
            refused(place, place.logdisk("--duration=1", dir=memory), "run first")


@root_test
def testers_cannot_be_looked_for(place):
    result = place.logdisk(
        "--duration=1", before=["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /proc/$$/net && exec "$@"', "sh"]
    )
    equal(result.status, 0, result.err)
    contains(warnings(result.run()), "cannot tell whether another tester is using the disk", "/proc/net/unix")
