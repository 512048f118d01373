# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection works with every ansible-core that it supports, and with every Python on the hosts that this
ansible-core supports."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import COMPILE, Controller
from testbed import Bed, HostSpec
from testbed.shell import TestbedError

DEBIAN = ""
TARGETS = {
    "2.16": ("3.6", "3.7", "3.12", DEBIAN),
    "2.18": ("3.8", "3.13", DEBIAN),
    "2.19": ("3.8", "3.13", DEBIAN),
    "2.20": ("3.9", "3.12", DEBIAN),
    "2.21": ("3.9", "3.10", "3.13", DEBIAN),
    "2.22": ("3.10", "3.13", DEBIAN),
}


def present(python: str) -> bool:
    try:
        return python == DEBIAN or HostSpec("h", python=python).interpreter is not None
    except TestbedError:
        return False


@pytest.mark.thorough
@pytest.mark.parametrize("core", TARGETS)
def test_core_drives(
    core: str, start: Callable[..., Bed], controller_of: Callable[[str], Controller], tmp_path: Path
) -> None:
    controller = controller_of(core)
    bed = start(
        *(
            HostSpec(f"python{python.replace('.', '-') or '-debian'}", python=python)
            for python in TARGETS[core]
            if present(python)
        )
    )
    target = {"message_size": "2K", "messages_per_s": 5000, "clients": 60}
    outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml", variables={"sweep_target": target}), **COMPILE)
    assert outcome.status == 0
    assert {name: record["verdict"] for name, record in outcome.certification.records.items()} == {
        host.name: "pass" for host in bed
    }
    used = {name: record["facts"]["python_version"] for name, record in outcome.certification.records.items()}
    assert all(used[host.name].startswith(host.spec.python) for host in bed)
    facts = {"target_message_bytes": 2048, "target_messages_per_s": 5000.0, "target_clients": 60}
    assert all(record["facts"].items() >= facts.items() for record in outcome.certification.records.values())
    assert outcome.certification.run["controller"]["ansible_version"].startswith(core)
    assert "[WARNING]" not in outcome.words
    assert "DEPRECATION" not in outcome.words
