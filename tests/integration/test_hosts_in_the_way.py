# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts on which a certification cannot run. The preflight and the certification explain how to solve the problem, and
the solution works."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller
from testbed import Bed, HostSpec

Start = Callable[..., Bed]
ELSEWHERE = {"tester_dir": "/var/tmp/tester", "sweep_state_dir": "/var/tmp/state"}


@dataclass(frozen=True)
class Case:
    """A condition on a host, the text of the refusal, and the variables that solve the problem."""

    refusal: tuple[str, ...]
    way_out: Mapping[str, object]
    prepare: str = "true"
    variables: Mapping[str, object] = field(default_factory=dict)
    user: str = "root"


CASES = {
    "noexec": Case(
        ("/home", "noexec", "tester_dir"),
        {"tester_dir": "/var/tmp/tester"},
        "sudo mount -t tmpfs -o noexec,mode=777 tmpfs /home/ops",
        user="ops",
    ),
    "homeless": Case(
        ("home directory /nonexistent of nobody", "tester_dir", "sweep_state_dir"),
        ELSEWHERE,
        variables={"workspace_owner": "nobody"},
    ),
    "stateless": Case(
        ("/sys/state", "sweep_state_dir"),
        {"sweep_state_dir": "/var/tmp/state"},
        variables={"sweep_state_dir": "/sys/state"},
    ),
    "odd": Case(
        ("1,000 B", "512", "sweep_block_sizes", "sweep_direct"),
        {"sweep_block_sizes": ["1K"]},
        variables={"sweep_block_sizes": ["1K", "1000"]},
    ),
    "tty": Case(
        ("requiretty", "ansible_pipelining: false"),
        {"ansible_pipelining": False},
        "echo 'Defaults requiretty' | sudo tee -a /etc/sudoers.d/ops > /dev/null",
        user="ops",
    ),
}


@pytest.mark.thorough
def test_each_is_told_the_way_out_and_it_works(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start(*(HostSpec(name, user=case.user, variables=dict(case.variables)) for name, case in CASES.items()))
    for name, case in CASES.items():
        bed.ssh(bed[name], case.prepare)
    inventory = bed.inventory(tmp_path / "hosts.yml", variables=QUICK)
    preflight = controller.run("preflight", "-i", str(inventory))
    assert preflight.status == 2
    for name, record in preflight.certification.records.items():
        (reason,) = record["reasons"]
        assert [word for word in CASES[name].refusal if word not in reason] == [], name

    for name, case in CASES.items():
        bed[name].spec.variables.update(case.way_out)
    outcome = controller.run("certify", "-i", str(bed.inventory(inventory, variables=QUICK)))
    assert {name: record["verdict"] for name, record in outcome.certifications[-1].records.items()} == dict.fromkeys(
        CASES, "pass"
    )
    assert outcome.status == 0
