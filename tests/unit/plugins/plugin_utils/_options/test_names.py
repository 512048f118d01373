# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.names import meant_by
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import known_names

OF_AWX = ["awx_job_id", "awx_parent_job_schedule_name", "awx_workflow_job_launch_type", "awx_set_up_data", "awx_setup"]
OF_OTHERS = ["ansible_become", "http_proxy", "region", "cut_the_power", "my_gate_profile", "history_path", "report_to"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("workspce_path", "workspace_path"),
        ("gate_profil", "gate_profile"),
        ("gate_profiles", "gate_profile"),
        ("gate_porfile", "gate_profile"),
        ("gate-profile", "gate_profile"),
        ("Gate_Profile", "gate_profile"),
        ("gat_profle", "gate_profile"),
        ("gt_profle", ""),
        ("certify_host", "certify_hosts"),
        ("certify_preflihgt", "certify_preflight"),
        ("report_runss", "report_runs"),
        ("cut_cuont", "cut_count"),
        ("ct_cuont", ""),
        ("cut_fil", ""),
        ("awx_setup_dat", "awx_setup_data"),
        ("logdisk_acept_names", "logdisk_accept_names"),
    ],
)
def test_what_was_probably_meant(name, meant):
    """Two letters may be wrong in names of ten letters or more. cut_fil is two letters from cut_files,
    which has nine."""
    assert meant_by(name) == meant


@pytest.mark.parametrize("name", [*sorted(known_names()), *OF_AWX, *OF_OTHERS, "", "x", "ö" * 200])
def test_a_name_that_is_ours_or_like_none_is_accepted(name):
    assert meant_by(name) == ""
