# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The settings that a host reports for locks."""

from __future__ import annotations

import errno
import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _lock_settings

STATISTICS = """device tmpfs mounted on /tmp with fstype tmpfs
device nas1:/mq mounted on /MQHA with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.1
\tnfsv4:\tbm0=0xfdffbfff,acl=0x3,sessions,pnfs=not configured,lease_time=90,lease_expired=0
device nas2:/home mounted on /home with fstype nfs4 statvers=1.1
\tnfsv4:\tlease_time=30,lease_expired=0
device nas2:/my\\040home mounted on /my\\040home with fstype nfs4 statvers=1.1
\tnfsv4:\tlease_time=20,lease_expired=0
"""


@pytest.mark.parametrize(
    ("source", "mount_point", "lease_s"),
    [
        ("nas1:/mq", "/MQHA", 90),
        ("nas3:/mq", "/MQHA", None),
        ("nas2:/home", "/home", 30),
        ("nas2:/my home", "/my home", 20),
        ("tmpfs", "/tmp", None),
        ("nas1:/mq", "/none", None),
    ],
)
def test_the_lease_of_the_server(source, mount_point, lease_s):
    """Several file systems may be mounted on one mount point, of which only one can be seen."""
    assert _lock_settings.lease_s(STATISTICS, source, mount_point) == lease_s


@pytest.mark.parametrize(
    ("source", "options", "address"),
    [
        ("nas1:/mq", "rw,vers=4.1,addr=10.1.0.1,clientaddr=10.1.0.9", "10.1.0.1"),
        ("10.1.0.2:/mq", "rw", "10.1.0.2"),
        ("[fd00::1]:/mq", "rw", "fd00::1"),
        ("nas1:/mq", "rw", ""),
        ("/dev/sda1", "rw", ""),
        ("nas1:/mq", "rw,addr=$(reboot)", ""),
    ],
)
def test_the_address_of_the_server(source, options, address):
    assert _lock_settings.server_address(source, options) == address


def test_the_settings_of_this_machine(tmp_path):
    found = _lock_settings.settings_of(str(tmp_path / "new"), str(tmp_path))
    assert (found["uid"], found["directory_exists"]) == (os.geteuid(), True)
    assert found["boot_id"] and found["mount_point"] and found["pid_namespace"].startswith("pid:")
    (tmp_path / "link").symlink_to(tmp_path)
    assert not _lock_settings.settings_of(str(tmp_path), str(tmp_path / "link"))["directory_exists"]


def test_why_a_directory_cannot_be_used(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    found = [_lock_settings.errno_of(str(tmp_path / name), 0) for name in ("", "none", "file", "link")]
    assert found == ["", "ENOENT", "ENOTDIR", "ENOTDIR"]

    def refuse(path):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "lstat", refuse)
    assert _lock_settings.errno_of(str(tmp_path), 9) == "EACCES"


def test_a_directory_that_becomes_visible_late(tmp_path, monkeypatch):
    late = tmp_path / "late"
    monkeypatch.setattr(_lock_settings.time, "sleep", lambda seconds: late.mkdir())
    assert _lock_settings.errno_of(str(late), 9) == ""
