# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports are stored where users can find them, and directories that are deleted with a job are recognized."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run import environment
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.environment import in_awx, report_directory, vanishes


@pytest.fixture
def private(tmp_path, monkeypatch):
    """The private directory of a job of ansible-runner, outside AWX."""
    (tmp_path / "runner/project").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "runner/project")
    monkeypatch.delenv("JOB_ID", raising=False)
    monkeypatch.setenv("AWX_ISOLATED_DATA_DIR", str(tmp_path / "runner/artifacts/17"))
    return tmp_path / "runner"


def test_without_a_name_reports_go_to_where_they_come_back_from(private, monkeypatch):
    assert report_directory("") == f"{private}/artifacts/17/logdisk"
    assert report_directory("mine") == f"{private}/project/mine"
    monkeypatch.setenv("JOB_ID", "17")
    assert report_directory("") == f"{private}/project/reports"
    monkeypatch.delenv("AWX_ISOLATED_DATA_DIR")
    assert report_directory("") == f"{private}/project/reports"


def test_what_vanishes_with_a_job_of_awx(private, monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (private / "project/link").symlink_to(other)
    mounts = {}
    monkeypatch.setattr(environment._mounts, "mount_of", lambda path: mounts.get(str(path), {"mount_id": "1"}))
    inside = str(private / "project/reports")
    assert not in_awx() and not vanishes(inside)
    monkeypatch.setenv("JOB_ID", "17")
    assert in_awx() and vanishes(inside) and vanishes(str(private))
    # First a directory in the container that is not on a separate volume, then one that is.
    assert vanishes(str(other)) and vanishes(str(tmp_path / "none"))
    # The volume may be a directory of the same file system.
    mounts[str(other)] = {"mount_id": "2"}
    assert not vanishes(str(other)) and not vanishes(str(private / "project/link"))
    mounts[str(other)] = {}
    assert vanishes(str(other))
