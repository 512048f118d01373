# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines the mount that a path is on, from the kernel's mountinfo.

Private to this collection; it may change at any time.
"""

import os

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
    out = []
    index = 0
    while index < len(field):
        octal = field[index + 1 : index + 4]
        if field[index] == "\\" and len(octal) == 3 and all(c in "01234567" for c in octal):
            out.append(chr(int(octal, 8)))
            index += 4
        else:
            out.append(field[index])
            index += 1
    return "".join(out)


def parse_mountinfo(text):
    """Return the mounts of a /proc/<pid>/mountinfo as a list of dicts, in the kernel's order.

    Each has ``mount_point``, ``filesystem_type``, ``mount_source``, ``mount_options`` and
    ``device_number`` ("major:minor"). Malformed lines are skipped.
    """
    mounts = []
    for line in text.splitlines():
        left, separator, right = line.partition(" - ")
        before, after = left.split(" "), right.split(" ")
        if not separator or len(before) < 6 or len(after) < 2:
            continue
        options = before[5]
        if len(after) > 2 and after[2]:
            options = ",".join(dict.fromkeys((options + "," + after[2]).split(",")))
        mounts.append(
            dict(
                mount_point=unescape(before[4]),
                device_number=before[2],
                mount_options=options,
                filesystem_type=after[0],
                mount_source=unescape(after[1]),
            )
        )
    return mounts


def mount_of(path, mounts):
    """Return the mount of the absolute, resolved ``path``: the longest mount point above it or, if several mounts have
    this mount point, the last one. None if there is no such mount."""
    best = None
    for mount in mounts:
        point = mount["mount_point"]
        inside = point == "/" or path == point or path.startswith(point + "/")
        if inside and (best is None or len(point) >= len(best["mount_point"])):
            best = mount
    return best


def mount_point_of(path, mounts):
    """Return the mount point that contains the absolute ``path``. Empty if it is unknown, or if only the automounter is
    there."""
    mount = mount_of(path, mounts)
    return mount["mount_point"] if mount and mount["filesystem_type"] != "autofs" else ""


def read_mounts():
    """Return the mounts that this process sees; an empty list if /proc is not available."""
    try:
        with open("/proc/self/mountinfo", "rb") as stream:
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
