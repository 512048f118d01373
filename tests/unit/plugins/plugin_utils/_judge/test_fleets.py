# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often whole hosts are judged wrongly: four limits, two block sizes and several independent queue managers,
from tables to verdict.

    .venv-dev/bin/pytest tests/unit -m trials -rP

shows the rates, which docs/error_rates.md prints.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge import statistics
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.profile_reader import load_profile
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.host import judge_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import HostRecord
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.tables import parse_tables
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate, simulated_hosts
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import bursty

pytestmark = pytest.mark.trials

HOSTS = 100
PROFILE = load_profile({"name": "simulated", "limits": list(simulated_hosts.LIMITS)})


def judged(name, disks):
    """Return the verdicts of that many hosts, and how often each queue manager's row failed."""
    rng, verdicts, failed = random.Random(name), Counter(), Counter()
    for _ in range(HOSTS):
        result = judge_record(
            HostRecord("db07"), parse_tables(simulated_hosts.tables_of(rng, disks)), PROFILE, fabricate.TODAY
        )
        verdicts[result["verdict"]] += 1
        failed.update({each["worker"] for each in result["judgements"] if each["verdict"] == "fail"})
    print(f"{name}: {', '.join(f'{verdict} {count} %' for verdict, count in sorted(verdicts.items()))}")
    return verdicts, failed


@pytest.fixture(autouse=True)
def _no_bounds(monkeypatch):
    monkeypatch.setattr(
        statistics, "_upper_bound", lambda *_: None
    )  # an outcome does not need its bound, which takes most of the time


@pytest.mark.parametrize(
    ("queue_managers", "burst_s", "passes"),
    [(1, 0.3, 45), (4, 0.3, 90), (16, 0.3, 95), (1, 1, 3), (4, 1, 8), (16, 1, 15)],
)
def test_healthy_hosts_at_half_of_what_is_allowed(queue_managers, burst_s, passes):
    verdicts, _ = judged(
        f"{queue_managers} healthy, bursts of {burst_s} s", [bursty(0.005, 1250, burst_s)] * queue_managers
    )
    assert verdicts["fail"] <= 1
    assert verdicts["pass"] >= passes


@pytest.mark.parametrize(
    ("queue_managers", "healthy", "burst_s", "fails"),
    [(4, 0.002, 0.3, 97), (16, 0.005, 0.3, 97), (4, 0.002, 1, 90), (16, 0.005, 1, 90)],
)
def test_one_bad_queue_manager(queue_managers, healthy, burst_s, fails):
    disks = [bursty(0.03, 1250, burst_s)] + [bursty(healthy, 1250, burst_s)] * (queue_managers - 1)
    verdicts, failed = judged(f"one bad of {queue_managers}, bursts of {burst_s} s", disks)
    assert verdicts["fail"] >= fails and verdicts["pass"] == 0
    assert all(failed[worker] <= 1 for worker in range(2, queue_managers + 1))
