# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import early_end_problem

SETTINGS = {"sweep_end_early": "fail", "sweep_mode": "together", "sweep_start_at": "", "gate_baseline": []}


def plan(volumes=1, order="together", mode="together", workload="mq-log", load_target=0, **more):
    volume = {"workload": workload, "load_target": load_target}
    return {"volumes": [volume] * volumes, "sweep_volumes": order, "sweep_mode": mode, "searches": False, **more}


ISOLATED = {"sweep_mode": "isolated"}
ALONE = "only for volumes that are measured alone"


@pytest.mark.parametrize(
    ("settings", "plans", "said"),
    [
        ({}, [plan()], ""),
        ({}, [plan(2)], ALONE),
        ({}, [plan(2, "in_turn")], ""),
        ({}, [plan(), plan()], ALONE),
        (ISOLATED, [plan(mode="isolated"), plan(2, "in_turn", "isolated")], ""),
        (ISOLATED, [plan(mode="isolated"), plan(2, mode="isolated")], ALONE),
        ({}, [plan(discover=True)], ALONE),
        ({}, [plan(order="in_turn", discover=True)], ""),
        ({"sweep_start_at": "2026-11-22T02:00:00Z"}, [plan()], ALONE),  # other runs start at the same time
        ({"sweep_start_at": "2026-11-22T02:00:00Z", **ISOLATED}, [plan(mode="isolated")], ""),
        ({}, [plan(searches=True)], "cannot be used with a search or a target"),
        ({}, [plan(load_target=4)], "cannot be used with a search or a target"),
        ({}, [plan(workload="commit")], "because h0 has another workload"),
        ({"sweep_end_early": "none"}, [plan(2), plan()], ""),
        ({"sweep_end_early": "decided"}, [plan()], ""),
        (
            {"sweep_end_early": "decided", "gate_baseline": ["last"]},
            [plan()],
            "cannot be used in a run that is compared with",
        ),
        ({"gate_baseline": ["last"]}, [plan()], ""),
    ],
)
def test_a_sweep_may_end_early_only_if_nothing_else_measures_meanwhile(settings, plans, said):
    problem = early_end_problem({**SETTINGS, **settings}, {f"h{number}": each for number, each in enumerate(plans)})
    assert said in problem and bool(said) == bool(problem)
