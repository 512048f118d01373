# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How often whole hosts are judged wrongly: four limits, seven block sizes and several independent queue managers,
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
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.disks import bursty, freezing

pytestmark = pytest.mark.trials

HOSTS = 200
PROFILE = load_profile({"name": "simulated", "limits": list(simulated_hosts.LIMITS)})


def judged(name, disks, hosts=HOSTS, **sweep):
    """Return the verdicts of that many hosts, and how often each queue manager's row failed, in percent."""
    rng, verdicts, failed = random.Random(name), Counter(), Counter()
    for _ in range(hosts):
        tables = parse_tables(simulated_hosts.tables_of(rng, disks, **sweep))
        result = judge_record(HostRecord("db07"), tables, PROFILE, fabricate.TODAY)
        verdicts[result["verdict"]] += 100 / hosts
        failed.update({each["worker"]: 100 / hosts for each in result["judgements"] if each["verdict"] == "fail"})
    print(f"{name}: {', '.join(f'{verdict} {count:.3g} %' for verdict, count in sorted(verdicts.items()))}")
    return verdicts, failed


@pytest.fixture(autouse=True)
def _no_bounds(monkeypatch):
    monkeypatch.setattr(
        statistics, "_upper_bound", lambda *_: None
    )  # an outcome does not need its bound, which takes most of the time


DISKS = {
    "bursts of 0.3 s": lambda share: bursty(share, 1250, 0.3),
    "bursts of 1 s": lambda share: bursty(share, 1250, 1),
    "freezes of 0.4 s": lambda share: freezing(share, 0.4),
    "freezes of 1 s": lambda share: freezing(share, 1),
}


@pytest.mark.parametrize("queue_managers", [1, 4, 16])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("disk", DISKS)
def test_hosts_that_are_exactly_that_far_from_a_limit(disk, level, queue_managers):
    """At 1.0, the disks are as slow as the limit allows, so neither a fail nor a pass is right."""
    hosts = HOSTS if queue_managers < 16 else HOSTS // 2
    name = f"{queue_managers} with {disk} at {level:g}"
    verdicts, _ = judged(name, [DISKS[disk](0.01 * level)] * queue_managers, hosts)
    assert verdicts["fail"] <= 5
    assert level < 1 or verdicts["pass"] <= 5


@pytest.mark.parametrize(
    ("queue_managers", "healthy", "burst_s", "fails"),
    [(4, 0.002, 0.3, 97), (16, 0.005, 0.3, 97), (4, 0.002, 1, 90), (16, 0.005, 1, 90)],
)
def test_one_bad_queue_manager(queue_managers, healthy, burst_s, fails):
    disks = [bursty(0.03, 1250, burst_s)] + [bursty(healthy, 1250, burst_s)] * (queue_managers - 1)
    verdicts, failed = judged(f"one bad of {queue_managers}, bursts of {burst_s} s", disks)
    assert verdicts["fail"] >= fails and verdicts["pass"] == 0
    assert all(failed[worker] <= 1 for worker in range(2, queue_managers + 1))
