# SPDX-License-Identifier: GPL-3.0-or-later
"""A database with its log on three hosts. Each host breaks a different limit for a different reason, and the report
names the limit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import QUICK, SLOW_MS, Controller, is_undisturbed
from testbed import Bed, HostSpec

MAILBOX = {
    **{key: value for key, value in QUICK.items() if key not in ("gate_profile", "sweep_block_sizes")},
    "gate_profile": {
        "name": "quick",
        "version": 1,
        "extends": "jetstress-2010",
        "qualifies": {"min_duration_s": 1, "confidence": "none"},
    },
    "sweep_target": {"operations_per_s": 10},
    "sweep_workload": "mailbox-2010",
    "sweep_loads": [2],
    "sweep_duration": 3,
    "sweep_warmup": 1,
    "sweep_files": 24,
}


def criterion(judgement: dict) -> str:
    return "{metric} of {stream} {operation}".format(**judgement)


@pytest.mark.thorough
def test_a_slow_part_of_a_database_is_named(start: Callable[..., Bed], controller: Controller, tmp_path: Path) -> None:
    bed = start(
        HostSpec("good", disk="slow", alone=True),
        HostSpec(
            "reads", disk="slow", alone=True, more=("/ram",), variables={"workspace_places": {"log": "/ram/logdisk"}}
        ),
        HostSpec(
            "writes",
            disk="slow",
            alone=True,
            more=("/ram",),
            variables={"workspace_places": {"database": "/ram/logdisk"}},
        ),
    )
    bed["reads"].set_read_delay_ms(SLOW_MS)
    bed["writes"].set_delay_ms(SLOW_MS)
    outcome = controller.certify_until(is_undisturbed, bed.inventory(tmp_path / "hosts.yml"), **MAILBOX)
    assert outcome.status == 2
    certification = outcome.certification
    records = certification.records
    broken = {
        host: {criterion(each) for each in record["judgements"] if each["verdict"] == "fail"}
        for host, record in records.items()
    }
    assert broken == {
        "good": set(),
        "reads": {"latency_mean of database read"},
        "writes": {"latency_mean of log write"},
    }
    assert records["good"]["verdict"] != "fail"
    for verdicts in certification.verdicts().values():
        assert {host: verdicts[host] for host in ("reads", "writes")} == {"reads": "fail", "writes": "fail"}
