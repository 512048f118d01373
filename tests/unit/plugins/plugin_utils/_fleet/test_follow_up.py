# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""If the controller fails, the run can be ended and its results can be collected, both from the command line and in
AWX."""

from __future__ import annotations

import pytest
from ansible import context
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.follow_up import commands, without_results
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS


def test_at_a_prompt_they_are_commands(monkeypatch):
    monkeypatch.delenv("AWX_ISOLATED_DATA_DIR", raising=False)
    monkeypatch.setattr(context, "CLIARGS", {"inventory": ("my hosts.yml",)})
    first, stop, collect = commands("/reports/run1").splitlines()
    assert "run run1 continues on its hosts" in first
    assert stop == "  ansible-playbook -i 'my hosts.yml' playbooks/stop.yml -e stop_run_id=run1"
    assert collect.endswith("playbooks/collect.yml -e collect_run=/reports/run1")


def test_a_directory_with_a_blank_is_one_value_for_the_shell_and_for_ansible(monkeypatch):
    monkeypatch.delenv("AWX_ISOLATED_DATA_DIR", raising=False)
    monkeypatch.setattr(context, "CLIARGS", {"inventory": ("hosts.yml",)})
    collect = commands("/my reports/run1").splitlines()[2]
    assert collect == (
        """  ansible-playbook -i hosts.yml playbooks/collect.yml -e '{"collect_run": "/my reports/run1"}'"""
    )


@pytest.mark.parametrize(
    ("kept", "then"),
    [(True, "start one with playbooks/collect.yml and collect_run: run1"), (False, "Its results are lost then.")],
)
def test_in_awx_they_are_jobs(tmp_path, monkeypatch, kept, then):
    monkeypatch.setenv("AWX_ISOLATED_DATA_DIR", str(tmp_path / "artifacts/17"))
    monkeypatch.setenv("JOB_ID", "17")
    stop, collect = commands(str(tmp_path / "project/reports/run1"), kept).splitlines()
    assert stop.endswith("start a job with playbooks/stop.yml and stop_run_id: run1") and then in collect
    assert "ansible-playbook" not in stop + collect


def test_an_observation_ends_by_itself(tmp_path, monkeypatch):
    monkeypatch.delenv("AWX_ISOLATED_DATA_DIR", raising=False)
    monkeypatch.setattr(context, "CLIARGS", {"inventory": ("hosts.yml",)})
    first, cleanup = without_results("/reports/run1", KINDS["observation"].if_interrupted).splitlines()
    assert "run1 end on their hosts by themselves" in first
    assert cleanup == "  ansible-playbook -i hosts.yml playbooks/cleanup.yml -e cleanup_run_id=run1"
    monkeypatch.setenv("AWX_ISOLATED_DATA_DIR", str(tmp_path / "artifacts/17"))
    monkeypatch.setenv("JOB_ID", "17")
    assert without_results("/reports/run1", KINDS["observation"].if_interrupted).endswith(
        "start a job with playbooks/cleanup.yml and cleanup_run_id: run1"
    )
