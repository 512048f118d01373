# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run_sources import (
    JobArtifact,
    described,
    job_artifacts,
    workflow_job_of,
)


def test_what_jobs_reported_is_in_the_order_of_their_numbers():
    variables = {
        "logdisk_110": {"run_id": "B", "verdict": "pass"},
        "logdisk_17": {"run_id": "A", "verdict": "fail"},
        "logdisk_9": {"outcome": "usage", "message": "no\x1bprofile"},
        "logdisk_preflight_16": {"run_id": "P", "verdict": None},
        "logdisk_16": {"run_id": "P", "verdict": None},
        "logdisk_local": {"run_id": "L"},
        "logdisk_18": "text",
        "logdisk": {"run_id": "X"},
    }
    assert job_artifacts(variables) == [
        JobArtifact("9", "", "no\\x1bprofile"),
        JobArtifact("17", "A", ""),
        JobArtifact("110", "B", ""),
    ]


@pytest.mark.parametrize("run_id", ["../../etc", "a/b", "", None, ["x"], "x" * 200, "x\n"])
def test_what_is_no_run_id_names_no_run(run_id):
    assert job_artifacts({"logdisk_1": {"run_id": run_id, "message": "m" * 1000}}) == [JobArtifact("1", "", "m" * 300)]


@pytest.mark.parametrize(
    "controller, workflow, text",
    [
        ({"job": {"id": "17", "workflow_job_id": "16"}}, "16", "R (job 17, 2 hosts)"),
        ({"job": {}}, "", "R (2 hosts)"),
        ({"job": "x"}, "", "R (2 hosts)"),
        ({"job": {"id": "\x1b"}}, "", "R (job \\x1b, 2 hosts)"),
        (None, "", "R (2 hosts)"),
    ],
)
def test_a_run_tells_its_job(controller, workflow, text):
    directory = RunDirectory("/r/R", {"run_id": "R", "expected_hosts": ["a", "b"], "controller": controller})
    assert (workflow_job_of(directory), described(directory)) == (workflow, text)
