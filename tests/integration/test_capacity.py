# SPDX-License-Identifier: GPL-3.0-or-later
"""A search for the capacity of real hosts: the controller selects the load of each round, and the rounds leave nothing
behind."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import Controller
from leftovers import left_on
from testbed import Bed, HostSpec

Start = Callable[..., Bed]

QUEUE_MANAGERS = [f"QM{number}" for number in range(1, 9)]
BLOCK_BYTES, WRITES_PER_S = 4096, 500
PROFILE = {
    "name": "climb",
    "version": 1,
    "qualifies": {"confidence": "none"},
    "limits": [{"metric": "latency_mean", "max": "7 ms"}, {"metric": "capacity", "min": 2}],
}
"""The limited disk takes 2 ms for each write, and processes the writes of all queue managers one after the other. So on
a quiet machine, 3 queue managers keep the limit, and 4 never do."""
SWEEP = {
    "workspace_queue_managers": QUEUE_MANAGERS,
    "sweep_loads": "auto",
    "sweep_load_target": 2,
    "sweep_block_sizes": ["4K"],
    "sweep_duration": 4,
    "sweep_file_size": "256K",
    "gate_profile": PROFILE,
}


@pytest.mark.thorough
def test_each_host_climbs_until_its_storage_is_too_slow(
    start: Start, controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    """With the oldest ansible-core."""
    controller = controller_of("2.16")
    bed = start("fast", HostSpec("limited", disk="slow", alone=True))
    bed["limited"].set_limit(WRITES_PER_S * BLOCK_BYTES, BLOCK_BYTES)
    certification = controller.certify(bed.inventory(tmp_path / "hosts.yml"), **SWEEP).certification
    assert certification.verdicts()["record.json"] == {"fast": "pass", "limited": "pass"}
    capacities = {host: record["capacity"] for host, record in certification.records.items()}
    tried = {host: [point["load_point"] for point in capacity["points"]] for host, capacity in capacities.items()}
    assert tried == {"fast": [2, 4, 8], "limited": [2, 3, 4]}
    assert capacities["fast"]["highest_passed"] == len(QUEUE_MANAGERS)
    assert capacities["limited"]["lowest_not_passed"] == capacities["limited"]["highest_passed"] + 1 <= 4
    assert capacities["limited"]["reason"].startswith("latency_mean")
    for host, loads in tried.items():
        rounds = sorted((certification.path / "hosts" / host / "log").glob("round-*/run.csv"))
        assert len(rounds) == len(loads)
        assert {int(row["step"]) for row in certification.table(host)} == set(range(1, len(rounds) + 1))
    assert {host.name: left_on(host) for host in bed} == {"fast": [], "limited": []}
