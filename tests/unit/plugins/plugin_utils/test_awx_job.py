# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run_sources import MOST_CHARACTERS, job_of


@pytest.mark.parametrize(
    "variables, expected",
    [
        ({"awx_job_id": "", "awx_workflow_job_id": None}, {}),
        (
            {
                "awx_job_id": 17,
                "awx_job_template_name": "certify",
                "awx_workflow_job_id": 16,
                "awx_user_name": "ana",
                "awx_schedule_name": "weekly",
                "awx_inventory_name": "mq",
                "awx_project_revision": "af002e3",
            },
            {
                "id": "17",
                "template": "certify",
                "workflow_job_id": "16",
                "launched_by": "ana",
                "schedule": "weekly",
                "inventory": "mq",
                "project_revision": "af002e3",
            },
        ),
        ({"awx_job_id": 17, "tower_job_id": 17}, {"id": "17"}),
        (
            {"awx_job_id": 17, "awx_inventory_name": "\x1b[31mx" * 100},
            {"id": "17", "inventory": ("\\x1b[31mx" * 100)[:MOST_CHARACTERS]},
        ),
    ],
)
def test_a_job_is_what_is_known_of_it(variables, expected):
    assert job_of(variables) == expected
