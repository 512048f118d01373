# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The counters of Amazon volumes, read through a simulated ioctl from pages in the layout that Amazon's own tools
use."""

from __future__ import annotations

import ctypes
import errno
import struct

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _volume_counters

EBS = ("Amazon Elastic Block Store", 0x3C23B510)
INSTANCE_STORE = ("Amazon EC2 NVMe Instance Storage", 0xEC2C0D7E)
NULL = "/dev/null"
"""The character device that is used in place of each controller."""


def page(magic, limited_us=(1, 2, 3, 4)):
    """Return a log page of 4 KiB: magic number, operations, bytes and times of reads and writes, time limited,
    queue length, histograms."""
    head = struct.pack("<I4x6Q4QQ416x", magic, 10, 20, 40960, 81920, 5000, 9000, *limited_us, 7)
    histogram = struct.pack("<Q", 1) + struct.pack("<QQII", 0, 8, 12, 0) + bytes(63 * 24)
    return (head + histogram + histogram).ljust(4096, b"\0")


class Device:
    """The simulated ioctl."""

    def __init__(self, content, status=0):
        self.content, self.status = content, status
        self.commands = []

    def ioctl(self, descriptor, request, command):
        assert (request, len(command)) == (0xC0484E41, 72)
        opcode, namespace, address, length, which = struct.unpack_from("=B3xI", command) + struct.unpack_from(
            "=Q4xII", command, 24
        )
        self.commands.append((opcode, namespace, which, length))
        if isinstance(self.content, OSError):
            raise self.content
        ctypes.memmove(address, self.content, len(self.content))
        return self.status


class Machine:
    """A tree like sysfs that has controllers with the names of NVMe controllers and their block devices, and a tree
    like /dev."""

    def __init__(self, root):
        self.root = root
        (root / "dev").mkdir()
        (root / "sys/dev/block").mkdir(parents=True)

    def disk(self, name, model, number, serial="vol0123", controller="", dev="1:3"):
        controller = controller or name[: name.rindex("n")]
        folder = self.root / "sys/devices" / controller
        (folder / name).mkdir(parents=True)
        (self.root / "dev" / controller).symlink_to(NULL)
        facts = {"model": f"{model:<40}\n", "serial": f"{serial}\n", "dev": f"{dev}\n"}
        for fact, text in facts.items():
            (folder / fact).write_text(text)
        (folder / name / "nsid").write_text("1\n")
        (folder / name / "device").symlink_to(folder)
        return self._number(folder / name, number)

    def partition(self, disk, name, number):
        (disk / name).mkdir()
        (disk / name / "partition").write_text("1")
        return self._number(disk / name, number)

    def mapped(self, name, number, *below):
        folder = self.root / "sys/devices/virtual" / name
        (folder / "slaves").mkdir(parents=True)
        for device in below:
            (folder / "slaves" / device.name).symlink_to(device)
        return self._number(folder, number)

    def _number(self, folder, number):
        (self.root / "sys/dev/block" / number).symlink_to(folder)
        return folder

    def read(self, number, device, source="/dev/none"):
        return _volume_counters.read_counters(
            number, source, ioctl=device.ioctl, sysfs=str(self.root / "sys"), dev=str(self.root / "dev")
        )


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def limits_of(reading):
    return {key: value for key, value in reading.items() if key in _volume_counters.LIMITS}


@pytest.mark.parametrize(
    "kind, expected",
    [
        (EBS, {"volume_iops": 1, "volume_throughput": 2, "instance_iops": 3, "instance_throughput": 4}),
        (INSTANCE_STORE, {"volume_iops": 3, "volume_throughput": 4}),
    ],
)
def test_a_volume_says_how_long_it_was_limited(machine, kind, expected):
    model, magic = kind
    machine.disk("nvme1n1", model, "259:1")
    device = Device(page(magic))
    (reading,) = machine.read("259:1", device)
    assert limits_of(reading) == expected
    assert (reading["device"], reading["serial"]) == ("nvme1n1", "vol0123") and reading["monotonic_s"] > 0
    # Get log page, namespace 1, page 0xD0 of 1024 words, the last of which is number 1023.
    assert device.commands == [(0x02, 1, 0xD0 | 1023 << 16, 4096)]


def test_counters_are_64_bits_wide_and_little_endian(machine):
    machine.disk("nvme1n1", EBS[0], "259:1")
    (reading,) = machine.read("259:1", Device(page(EBS[1], (2**64 - 1, 2**40, 0, 0))))
    assert (reading["volume_iops"], reading["volume_throughput"]) == (2**64 - 1, 2**40)


def test_volumes_below_partitions_and_mapped_devices_are_found(machine):
    first = machine.disk("nvme1n1", EBS[0], "259:1", serial="vol1")
    second = machine.disk("nvme2n1", EBS[0], "259:2", serial="vol2")
    machine.mapped(
        "dm-1", "253:1", machine.mapped("dm-0", "253:0", machine.partition(first, "nvme1n1p1", "259:3"), second), second
    )
    assert [reading["serial"] for reading in machine.read("253:1", Device(page(EBS[1])))] == ["vol1", "vol2"]
    assert [reading["serial"] for reading in machine.read("259:3", Device(page(EBS[1])))] == ["vol1"]


@pytest.mark.parametrize("model", ["Amazon Elastic Block Store 2", ""])
def test_no_command_goes_to_a_device_of_another_vendor(machine, model):
    machine.disk("nvme1n1", model, "259:1")
    device = Device(page(EBS[1]))
    assert machine.read("259:1", device) == [] and device.commands == []


@pytest.mark.parametrize("changes", [{"controller": "nvme-subsys0"}, {"controller": "xvda"}, {"dev": "241:1"}])
def test_no_command_goes_to_what_is_not_the_controller_that_sysfs_describes(machine, changes):
    machine.disk("nvme1n1", EBS[0], "259:1", **changes)
    device = Device(page(EBS[1]))
    assert machine.read("259:1", device) == [] and device.commands == []


@pytest.mark.parametrize(
    "device",
    [
        Device(page(INSTANCE_STORE[1])),
        Device(bytes(4096)),
        Device(page(EBS[1]), status=0x4002),
        Device(PermissionError(errno.EACCES, "not permitted")),
        Device(OSError(errno.ENOTTY, "no such command")),
    ],
)
def test_without_the_page_there_is_no_evidence_and_no_error(machine, device):
    machine.disk("nvme1n1", EBS[0], "259:1")
    assert machine.read("259:1", device) == []
    assert len(device.commands) == 1


@pytest.mark.parametrize(
    "number, source",
    [(None, None), ("0:44", "tmpfs"), ("0:44", "/dev/no-such"), ("259:9", "/dev/x")],
)
def test_what_is_no_block_device_has_no_counters(machine, number, source):
    assert machine.read(number, Device(page(EBS[1])), source) == []
