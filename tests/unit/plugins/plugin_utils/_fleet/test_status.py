# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ast

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import host_status, unanswered
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import ENDED


def volumes(answer):
    return {"volumes": {"log": answer}}


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"volumes": None},
        {"volumes": {1: "x", "b": None}},
        volumes({"state": None, "progress": None}),
        volumes({"state": float("nan"), "progress": {"percent": float("inf")}}),
        volumes({"state": ["running"], "progress": {1: {"a": float("nan")}}, "more": float("nan")}),
        {**volumes({"state": "running", "progress": "x"}), "host": "other", "run_id": "other", "failed": True},
    ],
)
def test_no_answer_keeps_the_statuses_of_a_fleet_from_being_a_list(answer):
    """Before ansible-core 2.19 a template over all hosts becomes text, which is read back as literals."""
    status = host_status("db07", "R", answer)
    assert ast.literal_eval(repr([status])) == [status]
    assert (status["host"], status["run_id"]) == ("db07", "R")


@pytest.mark.parametrize(
    "states, expected, unanswered_state",
    [
        (["running"], "running", "unknown"),
        (["finished"], "finished", "finished"),
        (["dead", "finished"], "finished", "finished"),
        (["absent", "dead"], "absent", "absent"),
        (["finished", "running", "dead"], "running", "unknown"),
        (["unknown", "running"], "unknown", "unknown"),
        (["odd"], "running", "unknown"),
        ([], "unknown", "unknown"),
    ],
)
def test_a_host_runs_until_all_of_its_volumes_have_ended(states, expected, unanswered_state):
    status = host_status(
        "db07", "R", {"volumes": {str(number): {"state": state} for number, state in enumerate(states)}}
    )
    assert status["state"] == expected
    silent = unanswered(status, "no route")
    assert (silent["state"], silent["reason"]) == (unanswered_state, "no route")
    assert [volume["state"] for volume in silent["volumes"].values()] == [
        state if state in ENDED else "unknown" for state in states
    ]
