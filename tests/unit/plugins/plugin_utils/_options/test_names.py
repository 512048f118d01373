# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.names import distance, meant_by, refusals, warnings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import known_names

OF_AWX = [
    "awx_job_id",
    "awx_job_launch_type",
    "awx_job_template_id",
    "awx_job_template_name",
    "awx_parent_job_schedule_id",
    "awx_parent_job_schedule_name",
    "awx_inventory_id",
    "awx_inventory_name",
    "awx_project_revision",
    "awx_project_scm_branch",
    "awx_schedule_id",
    "awx_schedule_name",
    "awx_user_id",
    "awx_user_name",
    "awx_user_email",
    "awx_user_first_name",
    "awx_user_last_name",
    "awx_webhook_event_guid",
    "awx_webhook_event_type",
    "awx_webhook_payload",
    "awx_workflow_job_id",
    "awx_workflow_job_name",
    "awx_workflow_job_launch_type",
    "awx_execution_node",
    "awx_set_up_data",
    "awx_setup",
]
OF_OTHERS = [
    "ansible_user",
    "ansible_become",
    "ansible_ssh_common_args",
    "http_proxy",
    "env",
    "stage",
    "region",
    "cut_the_power",
    "my_gate_profile",
    "history_path",
    "report_to",
]


@pytest.mark.parametrize(
    ("one", "other", "letters"),
    [
        ("", "", 0),
        ("a", "", 1),
        ("abc", "abc", 0),
        ("abc", "axc", 1),
        ("abc", "acb", 1),
        ("abcd", "acbd", 1),
        ("abcd", "bacd", 1),
        ("abcd", "badc", 2),
    ]
    + [("abc", "cab", 2), ("kitten", "sitting", 3), ("ca", "abc", 3)],
)
def test_the_distance_counts_wrong_missing_added_and_exchanged_letters(one, other, letters):
    assert distance(one, other) == distance(other, one) == letters


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


def test_each_mistyped_extra_variable_is_refused_once_unless_it_is_accepted():
    names = ["workspce_path", "workspce_path", "gate_profil", "gate_colour", "awx_job_id"]
    assert refusals(names, {"workspce_path"}) == [
        "gate_profil is not an option: gate_profile was probably meant. Correct the name of this extra variable, or "
        "list it in logdisk_accept_names"
    ]
    assert len(refusals(names, ())) == 2


def test_names_of_hosts_variables_are_warnings():
    users = {
        "gate_profil": ["a", "b"],
        "observe_colour": ["a"],
        "certify_all": ["c"],
        "history_path": ["a"],
        "sweep_plan": ["a"],
        "observe_mine": ["a"],
    }
    assert warnings(users, {"observe_mine"}) == {
        "gate_profil is not an option, gate_profile was probably meant": ["a", "b"],
        "observe_colour is not an option of this collection; list it in logdisk_accept_names if it is yours": ["a"],
        "certify_all is not an option of this collection; list it in logdisk_accept_names if it is yours": ["c"],
    }
