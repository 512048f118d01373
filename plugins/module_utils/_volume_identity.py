# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts that identify the volume below a directory, and facts about its disks that may change while it remains the same
volume.

Everything is read without privilege. A fact that the system does not show is empty.

Private to this collection; it may change at any time.
"""

import array
import ctypes
import fcntl
import os
import struct

from . import _block_devices, _machine, _mounts, _places

_ID_FILES = ("wwid", "device/wwid", "serial", "device/serial", "device/cid")
"""Files below a disk's directory in sysfs that contain its world-wide identifier or serial number, in order of
preference: NVMe, SCSI, virtio, NVMe, MMC."""

_FIRMWARE_FILES = ("device/firmware_rev", "device/rev")

_GENERIC_DRIVERS = ("sd", "sr")
"""Generic drivers of SCSI disks. For these, the driver of the adapter is more informative."""

_GET_UUID = 0x80111500  # FS_IOC_GETFSUUID, from Linux 6.9 on: struct { u8 length; u8 uuid[16]; }
# Constants of linux/fcntl.h and linux/stat.h.
_AT_FDCWD = -100
_AT_SYMLINK_NOFOLLOW = 0x100
_STATX_BTIME = 0x800
_STATX_BYTES = 256
_BTIME_OFFSET_BYTES = 80


def facts_of(path):
    """Return the facts that identify the volume below ``path``, in the same form as for a certified volume."""
    existing, mount = _places.nearest_existing(path), _mounts.mount_of(path)
    found = dict(
        (key, mount.get(key))
        for key in ("mount_point", "mount_source", "mount_options", "filesystem_type", "device_number")
    )
    found.update(facts(existing, found["device_number"], found["mount_source"]), **_mounts.space(existing))
    return found


def birth_of(path):
    """Return the birth time of a directory as text; empty if the kernel, the file system or the libc does not report
    it. Python has no function for it."""
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    found = ctypes.create_string_buffer(_STATX_BYTES)
    if statx is None or statx(_AT_FDCWD, os.fsencode(path), _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, found) != 0:
        return ""
    (known,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BTIME_OFFSET_BYTES)
    return "%d.%09d" % (seconds, nanoseconds) if known & _STATX_BTIME else ""


def facts(directory, device_number, mount_source, sysfs="/sys", run="/run", dev="/dev"):
    """Return facts about the volume that holds an existing ``directory``: ``filesystem_uuid``, ``device_ids``,
    ``device_firmware``, ``device_driver`` and ``device_layers`` (the kinds of devices above the disks). The values of
    several disks are sorted, and separated by blanks."""
    number = _block_devices.known_number_below(device_number, mount_source)
    disks = _block_devices.disks_below(number, sysfs)
    return dict(
        filesystem_uuid=_of_udev(number, run) or _of_links(number, dev) or (_of_kernel(directory) if disks else ""),
        device_ids=_joined(_first_fact(disk, _ID_FILES) for disk in disks),
        device_firmware=_joined(_first_fact(disk, _FIRMWARE_FILES) for disk in disks),
        device_driver=_joined(_driver(disk, sysfs) for disk in disks),
        device_layers=_joined(kind for dummy, kind in _block_devices.layers_below(number, sysfs)),
    )


def _joined(texts):
    return " ".join(sorted({text for text in texts if text}))


def _first_fact(disk, names):
    for name in names:
        try:
            text = "_".join(_block_devices.fact(disk, name).split())
        except (OSError, UnicodeDecodeError):
            continue
        if text:
            return text
    return ""


def _driver(disk, sysfs):
    """Return the driver of a disk's adapter, with the version of the driver if it has its own."""
    directory = os.path.realpath(os.path.join(disk, "device"))
    while len(directory) > len(sysfs):
        try:
            name = os.path.basename(os.readlink(os.path.join(directory, "driver")))
        except OSError:
            name = ""
        if name and name not in _GENERIC_DRIVERS:
            version = _first_fact(os.path.join(sysfs, "module", name), ("version",))
            return "%s-%s" % (name, version) if version else name
        directory = os.path.dirname(directory)
    return ""


def _of_udev(number, run):
    lines = _machine.read_text(os.path.join(run, "udev", "data", "b" + number)).split("\n")
    return next((line[len("E:ID_FS_UUID=") :] for line in lines if line.startswith("E:ID_FS_UUID=")), "")


def _of_links(number, dev):
    directory = os.path.join(dev, "disk", "by-uuid")
    try:
        for name in sorted(os.listdir(directory)):
            if _block_devices.number_of(os.stat(os.path.join(directory, name)).st_rdev) == number:
                return name
    except OSError:
        pass  # there is no udev, for example in a container
    return ""


def _of_kernel(directory, ioctl=fcntl.ioctl):
    """This is not done for file systems without a disk, because tmpfs and overlay get a new UUID with each mount."""
    answer = array.array("B", bytes(17))
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return ""
    try:
        ioctl(descriptor, _GET_UUID, answer)
    except (IOError, OSError):
        return ""  # an older kernel, or a file system without a UUID
    finally:
        os.close(descriptor)
    digits = answer[1:].tobytes().hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return "-".join(parts) if answer[0] == 16 and any(answer[1:]) else ""
