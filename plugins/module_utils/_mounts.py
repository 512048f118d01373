# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines the mount that a path is on, as the kernel does.

Private to this collection; it may change at any time.
"""

import os
import re

LOCAL_FILE_SYSTEMS = frozenset(
    (
        "ext2",
        "ext3",
        "ext4",
        "xfs",
        "btrfs",
        "f2fs",
        "jfs",
        "reiserfs",
        "zfs",
        "bcachefs",
        "vfat",
        "overlay",
        "tmpfs",
        "ramfs",
        "fuseblk",
    )
)
"""File systems that belong to one host only. All other types are considered to be shared between hosts."""


def unescape(field):
    """Undo mountinfo's octal escapes (for example, a space is written as \\040)."""
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal.group(1), 8)), field)


def parse_mountinfo(text):
    """Return the mounts of a /proc/<pid>/mountinfo as a list of dicts, in the kernel's order.

    Each has ``mount_id``, ``parent_id``, ``mount_point``, ``filesystem_type``, ``mount_source``, ``mount_options`` and
    ``device_number`` ("major:minor"), which identifies the file system, unlike st_dev, which differs between the
    subvolumes of one file system. Malformed lines are skipped.
    """
    mounts = []
    # splitlines() would also split at characters that the kernel does not escape, such as a carriage return.
    for line in text.split("\n"):
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 2:
            continue
        options = before[5]
        if len(after) > 2 and after[2]:
            options = ",".join(dict.fromkeys((options + "," + after[2]).split(",")))
        mounts.append(
            dict(
                mount_id=before[0],
                parent_id=before[1],
                mount_point=unescape(before[4]),
                device_number=before[2],
                mount_options=options,
                filesystem_type=after[0],
                mount_source=unescape(after[1]),
            )
        )
    return mounts


def mount_of(path):
    """Return the mount that holds ``path`` or, if that does not exist, the nearest directory above it that does. Empty
    if it is unknown.

    Mount points are not compared with the path, because a mount may be hidden by a later one on a directory above it.
    """
    while True:
        try:
            return mount_at(path)
        except (FileNotFoundError, NotADirectoryError):
            if path in ("/", ""):
                return {}
            path = os.path.dirname(path.rstrip("/"))
        except OSError:
            return {}  # this user may not look it up, and the mount of a directory above it would be a guess


def mount_at(path):
    """Return the mount that holds an existing ``path``; empty if the kernel does not show it. Raises OSError."""
    # O_DIRECTORY would trigger an automounter.
    descriptor = os.open(path, os.O_PATH)
    try:
        return mount_of_open(descriptor)
    finally:
        os.close(descriptor)


def mount_of_open(descriptor, pid="self"):
    """Return the mount that holds a file that a process has open; empty if the kernel does not show it."""
    try:
        with open("/proc/%s/fdinfo/%s" % (pid, descriptor)) as stream:
            number = next((line.split()[1] for line in stream if line.startswith("mnt_id:")), None)
    except OSError:
        return {}
    return next((mount for mount in read_mounts(pid) if mount["mount_id"] == number), {})


def mount_by_name(path):
    """Return the mount that holds the absolute ``path``, which contains no symlink, without looking it up, for storage
    that does not answer. Empty if it is unknown.

    As in the kernel, only mounts on the mount found so far count for the next component of the path.
    """
    mounts, found, point = read_mounts(), {}, ""
    for name in [""] + [name for name in path.split("/") if name]:
        point, above = os.path.join(point, name) or "/", True
        while above:
            above = next((each for each in mounts if each["mount_point"] == point and _is_on(each, found, mounts)), {})
            found = above or found
    return found


def _is_on(mount, below, mounts):
    """True if ``mount`` is mounted on the mount ``below`` or, without this, if it is the root of the tree."""
    if below:
        return mount["parent_id"] == below["mount_id"] != mount["mount_id"]
    return mount["parent_id"] == mount["mount_id"] or all(each["mount_id"] != mount["parent_id"] for each in mounts)


def mount_point_of(path):
    """Return the mount point that contains the absolute ``path``. Empty if it is unknown, or if only the automounter is
    there."""
    mount = mount_of(path)
    return mount["mount_point"] if mount and mount["filesystem_type"] != "autofs" else ""


def points_in(text):
    """Return the mount points in a text that separates them by commas, such as workspace_expect_mount."""
    return [os.path.normpath(each.strip()) for each in text.split(",") if each.strip()]


def read_mounts(pid="self"):
    """Return the mounts that a process sees; an empty list if this user may not read them."""
    try:
        with open("/proc/%s/mountinfo" % pid, "rb") as stream:
            return parse_mountinfo(stream.read().decode("utf-8", "surrogateescape"))
    except OSError:
        return []


def space(path):
    """Return the size in bytes of the file system of an existing path, and how many bytes are free for users."""
    status = os.statvfs(path)
    return dict(
        filesystem_size_bytes=status.f_blocks * status.f_frsize, filesystem_free_bytes=status.f_bavail * status.f_frsize
    )


def logical_block_size(device_number, sys_block="/sys/dev/block"):
    """Return the logical block size in bytes of the block device "major:minor", or None if it is not known."""
    device = os.path.join(sys_block, device_number or "none")
    # A partition has no queue directory, but its parent directory has one. The kernel resolves the symlink before "..".
    for queue in (os.path.join(device, "queue"), os.path.join(device, "..", "queue")):
        try:
            with open(os.path.join(queue, "logical_block_size")) as stream:
                return int(stream.read())
        except (IOError, OSError, ValueError):
            continue
    return None


def is_local(filesystem_type):
    """True if the file system belongs to this host only."""
    return filesystem_type in LOCAL_FILE_SYSTEMS


def symlink_in(path):
    """Return the first component of the absolute ``path`` that is a symlink, or None.

    The search ends at a component that does not exist.
    """
    current = "/"
    for part in path.strip("/").split("/"):
        current = os.path.join(current, part)
        if os.path.islink(current):
            return current
        if not os.path.lexists(current):
            return None
    return None
