# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ast

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.status import host_status


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"state": None, "progress": None},
        {"state": float("nan"), "progress": {"percent": float("inf")}},
        {"state": ["running"], "progress": {1: {"a": float("nan")}}, "more": float("nan")},
        {"state": "running", "progress": "x", "host": "other", "run_id": "other", "failed": True},
    ],
)
def test_no_answer_keeps_the_statuses_of_a_fleet_from_being_a_list(answer):
    """Before ansible-core 2.19 a template over all hosts becomes text, which is read back as literals."""
    status = host_status("db07", "R", answer)
    assert ast.literal_eval(repr([status])) == [status]
    assert (status["host"], status["run_id"]) == ("db07", "R")


def test_a_status_is_what_the_host_answers():
    progress = {"percent": "42.9"}
    assert host_status("db07", "R", {"state": "running", "progress": progress}) == {
        "host": "db07",
        "run_id": "R",
        "state": "running",
        "progress": progress,
        "reason": "",
    }
