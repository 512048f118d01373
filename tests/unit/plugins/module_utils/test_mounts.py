# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _mounts

MOUNTINFO = r"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 22 0:25 / /proc rw,nosuid - proc proc rw
40 22 254:1 / /var/my\040log rw,noatime - xfs /dev/mapper/vg-log rw,attr2
41 22 254:2 / /var/log rw - nfs4 nas:/export/log rw,vers=4.2
42 22 254:3 / /var/log rw - ext4 /dev/vdb rw
broken line
"""


def test_a_name_with_a_blank_is_decoded():
    points = [mount["mount_point"] for mount in _mounts.parse_mountinfo(MOUNTINFO)]
    assert points == ["/", "/proc", "/var/my log", "/var/log", "/var/log"]


@pytest.mark.parametrize("character", "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
def test_only_a_newline_ends_a_line(character):
    text = MOUNTINFO.replace("/var/my", f"/var{character}my")
    assert [mount["mount_id"] for mount in _mounts.parse_mountinfo(text)] == ["22", "30", "40", "41", "42"]


@pytest.mark.parametrize("text", ["", "\n\n", "a b c - d", "1 2 3 4 5 6 -", "\0\0 - \0 \0"])
def test_lines_of_another_form_are_passed_over(text):
    assert _mounts.parse_mountinfo(text) == []


@pytest.mark.parametrize(
    "kind, local", [("ext4", True), ("xfs", True), ("nfs4", False), ("cifs", False), ("gpfs", False), ("new", False)]
)
def test_an_unknown_file_system_counts_as_shared(kind, local):
    assert _mounts.is_local(kind) is local


def test_a_symlink_on_the_way_is_found(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert _mounts.symlink_in(str(tmp_path / "link" / "x")) == str(tmp_path / "link")
    assert _mounts.symlink_in(str(real / "x" / "y")) is None


@pytest.mark.parametrize(
    "device, size",
    [("8:0", 4096), ("8:1", 4096), ("0:25", None), (None, None)],
    ids=["disk", "partition", "no block device", "unknown"],
)
def test_a_partition_has_the_block_size_of_its_disk(tmp_path, device, size):
    (tmp_path / "sda/queue").mkdir(parents=True)
    (tmp_path / "sda/sda1").mkdir()
    (tmp_path / "sda/queue/logical_block_size").write_text("4096\n")
    (tmp_path / "8:0").symlink_to("sda")
    (tmp_path / "8:1").symlink_to("sda/sda1")
    assert _mounts.logical_block_size(device, str(tmp_path)) == size
