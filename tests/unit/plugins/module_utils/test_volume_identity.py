# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The facts that identify a volume, read from trees laid out like sysfs, udev's database and /dev."""

from __future__ import annotations

import os
import uuid

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _block_devices, _volume_identity

UUID = "0b5f3c62-2f5e-4a55-8a4f-6f7c2d1e9a10"


class System:
    """The trees of one host."""

    def __init__(self, root):
        self.root = root
        for folder in ("sys/dev/block", "sys/module", "run/udev/data", "dev/disk/by-uuid"):
            (root / folder).mkdir(parents=True)

    def disk(self, number, adapter, files, driver, version="", below="generic"):
        """Make a disk: the adapter's folder below sys/devices, and in it the device's folder with its files."""
        disk = self.root / "sys/devices" / adapter / below / "block" / number.replace(":", "-")
        disk.mkdir(parents=True)
        (disk / "device").symlink_to(disk.parent.parent)
        for name, text in files.items():
            (disk / name).write_text(text + "\n")
        (self.root / "sys/bus" / driver).mkdir(parents=True, exist_ok=True)
        (self.root / "sys/devices" / adapter / "driver").symlink_to(self.root / "sys/bus" / driver)
        if version:
            (self.root / "sys/module" / driver).mkdir(exist_ok=True)
            (self.root / "sys/module" / driver / "version").write_text(version + "\n")
        return self.number(disk, number)

    def number(self, directory, number):
        (self.root / "sys/dev/block" / number).symlink_to(directory)
        return directory

    def facts(self, number, source="/dev/none"):
        trees = {name: str(self.root / name) for name in ("sys", "run", "dev")}
        return _volume_identity.facts(str(self.root), number, source, trees["sys"], trees["run"], trees["dev"])


@pytest.fixture
def system(tmp_path):
    return System(tmp_path)


@pytest.mark.parametrize(
    "files, expected",
    [
        (
            {"wwid": "eui.0025388b", "device/serial": "S4EV", "device/firmware_rev": "1B2QEXM7"},
            ("eui.0025388b", "1B2QEXM7"),
        ),
        ({"device/wwid": "naa.5000c500a1", "device/rev": "0004"}, ("naa.5000c500a1", "0004")),
        ({"serial": "vol 01"}, ("vol_01", "")),
        ({}, ("", "")),
    ],
)
def test_a_disk_shows_its_best_identifier_and_its_firmware(system, files, expected):
    system.disk("259:1", "pci0/nvme", files, "nvme")
    found = system.facts("259:1")
    assert (found["device_ids"], found["device_firmware"]) == expected


def test_the_driver_is_that_of_the_adapter_with_its_version(system):
    disk = system.disk("8:0", "pci0/adapter", {}, "megaraid_sas", "07.719")
    (disk.parent.parent / "driver").symlink_to(system.root / "sys/bus/sd")
    assert system.facts("8:0")["device_driver"] == "megaraid_sas-07.719"


def test_the_layers_between_the_file_system_and_its_disks_are_named(system):
    paths = [system.disk(f"8:{number}", f"pci{number}", {}, "qla2xxx") for number in (1, 2)]

    def above(number, name, uuid, *below):
        device = system.root / "sys/devices/virtual/block" / name
        (device / "slaves").mkdir(parents=True)
        for each in below:
            (device / "slaves" / each.name).symlink_to(each)
        if uuid:
            (device / "dm").mkdir()
            (device / "dm/uuid").write_text(f"{uuid}\n")
        return system.number(device, number)

    multipath = above("253:0", "dm-0", "mpath-360000970000197900216533030364246", *paths)
    partition = above("253:1", "dm-1", "part1-mpath-360000970000197900216533030364246", multipath)
    volume = above("253:2", "dm-2", "LVM-0b5f3c622f5e4a558a4f6f7c2d1e9a10", partition)
    above("147:0", "drbd0", "", volume)
    assert system.facts("147:0")["device_layers"] == "LVM drbd mpath"
    assert system.facts("253:0")["device_layers"] == "mpath"
    assert system.facts("8:1")["device_layers"] == ""
    layers = _block_devices.layers_below("253:2", str(system.root / "sys"))
    assert layers == [("dm-0", "mpath"), ("dm-2", "LVM")]


def test_paths_to_one_disk_count_once_and_several_disks_are_sorted(system):
    paths = [
        system.disk(f"8:{number}", f"pci{number}", {"device/wwid": wwid}, "qla2xxx")
        for number, wwid in ((0, "naa.b"), (16, "naa.a"), (32, "naa.b"))
    ]
    mapped = system.root / "sys/devices/virtual/dm-0"
    (mapped / "slaves").mkdir(parents=True)
    for path in paths:
        (mapped / "slaves" / path.name).symlink_to(path)
    system.number(mapped, "253:0")
    assert system.facts("253:0")["device_ids"] == "naa.a naa.b"


def test_the_uuid_comes_from_udev_or_from_the_links_or_from_the_kernel(system, monkeypatch):
    system.disk("1:3", "pci0", {}, "null")  # the number of /dev/null, which stands in for a disk
    asked = []

    def ioctl(descriptor, request, answer):
        asked.append(request)
        answer[0] = 16
        answer[1:] = type(answer)("B", uuid.UUID(UUID).bytes)

    monkeypatch.setattr(
        _volume_identity, "_of_kernel", lambda directory, real=_volume_identity._of_kernel: real(directory, ioctl)
    )
    assert system.facts("1:3")["filesystem_uuid"] == UUID and asked == [0x80111500]
    os.symlink(os.devnull, system.root / "dev/disk/by-uuid/of-the-link")
    assert system.facts("1:3")["filesystem_uuid"] == "of-the-link"
    (system.root / "run/udev/data/b1:3").write_text("S:disk/by-id/x\nE:ID_FS_UUID_ENC=y\nE:ID_FS_UUID=of-udev\n")
    assert system.facts("1:3")["filesystem_uuid"] == "of-udev"
    assert asked == [0x80111500]


def test_a_file_system_without_a_disk_has_no_identifier(system, monkeypatch):
    monkeypatch.setattr(_volume_identity, "_of_kernel", lambda directory: "another with each mount")
    nothing = {"filesystem_uuid": "", "device_ids": "", "device_firmware": "", "device_driver": "", "device_layers": ""}
    assert system.facts("0:27", "tmpfs") == system.facts(None, None) == system.facts("0:31", "/dev/missing") == nothing
