# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.role_options import option_problem, option_specs, role_defaults

SPECS = option_specs()


def variables(**changes):
    return {**role_defaults(), **changes, "somebody_elses": "x"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sweep_duration": "60", "sweep_block_sizes": "4K, 64K", "workspace_queue_managers": "QM1,QM2", "sweep_verify": "true", "sweep_rate": "0.5"},
        {"workspace_queue_managers": ["QM1", "QM2"], "sweep_queue_managers": [1, 2]},
        {"sweep_block_sizes": 4096, "sweep_queue_managers": 1},
    ],
)
def test_options_as_users_and_surveys_give_them(changes):
    assert option_problem(variables(**changes), SPECS) == ""


@pytest.mark.parametrize(
    "changes, word",
    [
        ({"sweep_duration": "5m"}, "sweep_duration"),
        ({"sweep_rate": "fast"}, "sweep_rate"),
        ({"sweep_mode": "alone"}, "sweep_mode"),
        ({"sweep_sync": "maybe"}, "sweep_sync"),
        ({"sweep_nice": "very"}, "sweep_nice"),
        ({"sweep_direct": "perhaps"}, "sweep_direct"),
        ({"workspace_become": "sometimes"}, "workspace_become"),
        ({"workspace_allow": ["everything"]}, "workspace_allow"),
        ({"tester_method": "magic"}, "tester_method"),
    ],
)
def test_an_option_that_a_role_would_refuse_on_the_host_is_named(changes, word):
    assert word in option_problem(variables(**changes), SPECS)
