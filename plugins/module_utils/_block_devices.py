# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the disks below a mounted file system in sysfs.

Private to this collection; it may change at any time.
"""

import glob
import os
import re

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


def known_number_below(device_number, mount_source):
    """Return the same, or a number that no device has if the source of the mount cannot be inspected."""
    try:
        return number_below(device_number, mount_source)
    except OSError:
        return "none"


def disks_below(number, sysfs="/sys"):
    """Return the sysfs directories of the whole disks below a block device, and below the other devices of its file
    system, if there are any. Empty if there is no such device."""
    return sorted(set().union(*(_disks(device) for device in _devices_of_file_system(number, sysfs))))


def layers_below(number, sysfs="/sys"):
    """Return the devices between a file system on a block device and its disks, each as its name and its kind: the
    prefix of the UUID of a device-mapper device (mpath, LVM, CRYPT), drbd or md."""
    return sorted(set().union(*(_layers(device) for device in _devices_of_file_system(number, sysfs))))


def _layers(directory, depth=0):
    name = os.path.basename(directory)
    kind = next((each for each in ("drbd", "md") if name.startswith(each)), "")
    try:
        uuid = fact(directory, "dm/uuid")
        # A partition of such a device is not a layer of its own.
        kind = "" if re.match(r"part[0-9]+-", uuid) else uuid.partition("-")[0] or "dm"
    except (OSError, UnicodeDecodeError):
        pass  # it is not a device of the device mapper
    found = {(name, kind)} if kind else set()
    for below in _slaves(directory) if depth < _DEEPEST else []:
        found.update(_layers(below, depth + 1))
    return found


def _devices_of_file_system(number, sysfs):
    """Return the sysfs directories of all devices of the mounted file system on a block device. A mount shows only one
    device, but a btrfs file system may be on several. Empty if there is no such device."""
    directory = os.path.realpath(os.path.join(sysfs, "dev", "block", number))
    if not os.path.isdir(directory):
        return []
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
    slaves = _slaves(directory)
    if not slaves or depth == _DEEPEST:
        return {directory}
    return set().union(*(_disks(slave, depth + 1) for slave in slaves))


def _slaves(directory):
    """Return the sysfs directories of the devices that a device consists of."""
    directory = os.path.join(directory, "slaves")
    try:
        return [os.path.realpath(os.path.join(directory, name)) for name in os.listdir(directory)]
    except OSError:
        return []
