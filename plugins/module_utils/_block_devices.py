# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the disks below a mounted file system in sysfs.

Private to this collection; it may change at any time.
"""

import glob
import os

_DEEPEST = 8


def number_of(device):
    """Return the number of a device as text: major:minor."""
    return "%d:%d" % (os.major(device), os.minor(device))


def number_below(device_number, mount_source):
    """Return the number of the block device of a mounted file system; raises OSError if the source of the mount cannot
    be inspected."""
    if (device_number or "").startswith("0:") and (mount_source or "").startswith("/"):  # as with btrfs
        return number_of(os.stat(mount_source).st_rdev)
    return device_number or "none"


def disks_below(number, sysfs="/sys"):
    """Return the sysfs directories of the whole disks below a block device, and below the other devices of its file
    system, if there are any. Empty if there is no such device."""
    directory = os.path.realpath(os.path.join(sysfs, "dev", "block", number))
    if not os.path.isdir(directory):
        return []
    return sorted(set().union(*(_disks(device) for device in _devices_of_file_system(directory, sysfs))))


def _devices_of_file_system(directory, sysfs):
    """Return the sysfs directories of all devices of the mounted file system on a block device. A mount shows only one
    device, but a btrfs file system may be on several."""
    name = glob.escape(os.path.basename(directory))
    (btrfs,) = glob.glob(os.path.join(glob.escape(sysfs), "fs", "btrfs", "*", "devices", name))[:1] or [""]
    devices = glob.glob(os.path.join(glob.escape(os.path.dirname(btrfs)), "*")) if btrfs else []
    return [os.path.realpath(device) for device in devices] or [directory]


def fact(directory, name):
    """Return the content of a short file of sysfs; raises OSError if it cannot be read."""
    with open(os.path.join(directory, name)) as stream:
        return stream.read(256).strip()


def _disks(directory, depth=0):
    if os.path.exists(os.path.join(directory, "partition")):
        directory = os.path.dirname(directory)
    try:
        slaves = os.listdir(os.path.join(directory, "slaves"))
    except OSError:
        slaves = []
    if not slaves or depth == _DEEPEST:
        return {directory}
    below = set()
    for name in slaves:
        below.update(_disks(os.path.realpath(os.path.join(directory, "slaves", name)), depth + 1))
    return below
