# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""A file system with subvolumes, each of which has a separate st_dev, and on several devices."""

from __future__ import annotations

import os

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import (
    _block_devices,
    _queue_managers,
    _volume_identity,
    _workspace,
    _workspaces,
)
from unit.plugins.module_utils.own_namespace import btrfs, in_own_namespace

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may set up loop devices")


@pytest.mark.parametrize("log", ["var/log/QM1", "opt/nested/log/QM1", "all/@var/log/QM1"])
def test_a_running_queue_managers_log_on_another_subvolume_is_noticed(tmp_path, monkeypatch, log):
    """The log is on another subvolume: mounted separately, below the mounted one, or below the whole file system."""
    path = tmp_path / log
    monkeypatch.setattr(_queue_managers, "sees_processes", lambda: True)
    monkeypatch.setattr(_queue_managers, "configured_log_paths", lambda mqs_ini: ({"QM1": str(path)}, []))

    def body():
        subvolumes = {"@var": tmp_path / "var", "@opt": tmp_path / "opt", "@opt/nested": tmp_path / "nested"}
        btrfs(tmp_path / "images", 1, tmp_path / "all", subvolumes)
        (path / "active").mkdir(parents=True)
        monkeypatch.setattr(_queue_managers, "running_queue_managers", lambda: ["QM1"])
        named = _workspace.Preflight(str(tmp_path / "opt/ws"), ()).refusals
        monkeypatch.setattr(_queue_managers, "running_queue_managers", list)
        before = _workspace.Preflight(str(tmp_path / "opt/ws"), ()).refusals
        with open(path / "active/S0000000.LOG", "wb"):
            return [os.stat(path).st_dev == os.stat(tmp_path / "opt").st_dev, named, before] + [
                _workspace.Preflight(str(tmp_path / "opt/ws"), ()).refusals
            ]

    same, (named,), before, (extents,) = in_own_namespace(body)
    assert not same and f"the running queue manager QM1 logs to this file system ({path})" in named
    assert before == [] and "a process has recovery log extents open on this file system" in extents


def test_all_devices_belong_to_the_volume(tmp_path):
    def body():
        devices = btrfs(tmp_path / "images", 2, tmp_path / "all", {"@opt": tmp_path / "opt"})
        facts = _volume_identity.facts_of(str(tmp_path / "opt"))
        disks = _block_devices.disks_below(_block_devices.number_below(facts["device_number"], facts["mount_source"]))
        return [
            [os.path.basename(each) for each in devices],
            _workspaces.disks_of(facts),
            [os.path.basename(each) for each in disks],
        ]

    devices, of_workspace, below = in_own_namespace(body)
    assert len(devices) == 2 and sorted(of_workspace) == sorted(below) == sorted(devices)
