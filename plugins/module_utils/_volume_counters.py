# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads how long cloud volumes were throttled, according to their own counters.

Amazon's NVMe volumes have a vendor log page of statistics. Its layout and number are taken from Amazon's own tools:
ebsnvme of amazon-ec2-utils, and the amzn plugin of nvme-cli, which reads the same page from instance stores. Usually
only root may read it.

Private to this collection; it may change at any time.
"""

import array
import fcntl
import os
import re
import stat
import struct
import time

from . import _block_devices, _mounts

LIMITS = ("volume_iops", "volume_throughput", "instance_iops", "instance_throughput")
"""The limits that have separate counters. An instance store has only one limit."""

_MODELS = {
    "Amazon Elastic Block Store": (0x3C23B510, LIMITS),
    "Amazon EC2 NVMe Instance Storage": (0xEC2C0D7E, (None, None, "volume_iops", "volume_throughput")),
}
"""The devices that are queried, by model: the magic number of the page, and the limits to which its four counters
refer. No vendor command is sent to any other device."""

_ADMIN_COMMAND = 0xC0484E41  # NVME_IOCTL_ADMIN_CMD
_GET_LOG_PAGE = 0x02
_STATISTICS_PAGE = 0xD0
_PAGE_BYTES = 4096
# The fields of struct nvme_passthru_cmd: opcode, flags, reserved, nsid, cdw2, cdw3, metadata, addr, metadata_len,
# data_len, cdw10 to cdw15, timeout_ms, result.
_COMMAND = struct.Struct("=BBHIIIQQIIIIIIIIII")
_MAGIC = struct.Struct("<I")
# The counters follow the magic number, 4 reserved bytes, and the operations, bytes and times of reads and writes.
_LIMITED_US = struct.Struct("<56x4Q")

_CONTROLLER_NAME = re.compile(r"\Anvme[0-9]+\Z")


def read_below(path):
    """Return the counters of the volumes below the file system that contains, or would contain, ``path``; see
    :func:`read_counters`."""
    mount = _mounts.mount_of(path)
    return read_counters(mount.get("device_number"), mount.get("mount_source"))


def read_counters(device_number, mount_source, ioctl=fcntl.ioctl, sysfs="/sys", dev="/dev"):
    """Return the counters of the volumes below a mounted file system, a dict for each volume.

    ``device`` and ``serial`` name the volume, ``monotonic_s`` is the time of reading, and each limit has the time in us
    during which it was reached. The list is empty if there is no such volume, or if this user may not query it.
    """
    disks = _block_devices.disks_below(_block_devices.known_number_below(device_number, mount_source), sysfs)
    found = []
    for disk in disks:
        try:
            found.append(_read_volume(disk, ioctl, dev))
        except (OSError, ValueError, KeyError):
            continue  # another device, no permission, or no such page: then there is no evidence
    return found


def _read_volume(disk, ioctl, dev):
    controller = os.path.realpath(os.path.join(disk, "device"))
    magic, limits = _MODELS[_block_devices.fact(controller, "model")]
    name = os.path.basename(controller)
    if not _CONTROLLER_NAME.match(name):
        raise ValueError("%s is not a controller" % name)
    descriptor = os.open(os.path.join(dev, name), os.O_RDONLY)
    try:
        page = _log_page(
            descriptor, _block_devices.fact(controller, "dev"), int(_block_devices.fact(disk, "nsid")), ioctl
        )
    finally:
        os.close(descriptor)
    if _MAGIC.unpack_from(page)[0] != magic:
        raise ValueError("%s sent another page" % name)
    reading = dict(
        device=os.path.basename(disk), serial=_block_devices.fact(controller, "serial"), monotonic_s=time.monotonic()
    )
    reading.update((limit, limited_us) for limit, limited_us in zip(limits, _LIMITED_US.unpack_from(page)) if limit)
    return reading


def _log_page(descriptor, device_number, namespace, ioctl):
    """Return the page of the controller that is open as ``descriptor``, provided that it is the device that sysfs
    describes."""
    status = os.fstat(descriptor)
    if not stat.S_ISCHR(status.st_mode) or _block_devices.number_of(status.st_rdev) != device_number:
        raise ValueError("not the device %s" % device_number)
    page = array.array("B", bytes(_PAGE_BYTES))
    which = _STATISTICS_PAGE | (_PAGE_BYTES // 4 - 1) << 16
    # No timeout is set, because if a command times out, the kernel resets the controller, which affects all writes on
    # it.
    command = bytearray(
        _COMMAND.pack(
            _GET_LOG_PAGE, 0, 0, namespace, 0, 0, 0, page.buffer_info()[0], 0, _PAGE_BYTES, which, 0, 0, 0, 0, 0, 0, 0
        )
    )
    if ioctl(descriptor, _ADMIN_COMMAND, command) != 0:
        raise ValueError("the device refuses the page")
    return page
