# SPDX-License-Identifier: GPL-3.0-or-later
"""If the disk of a host has become slower, the host fails although it keeps all its limits, and its certificate
ends."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, Outcome, is_undisturbed
from testbed import Bed, HostSpec
from testbed.host import Host

HOSTS = ("h1", "h2", "h3", "h4")
BLOCK_BYTES = 64 << 10
USUAL_MS, SLOWER_MS = 6.0, 7.8
PROFILE = {
    "name": "quick",
    "version": 1,
    "qualifies": {"min_duration_s": 1, "confidence": 0.95},
    "limits": [{"metric": "latency_max", "max": "9 s"}],
}
# The blocks are so large that the writes of other tests to the machine's disk hardly matter.
SWEEP = {
    **QUICK,
    "gate_profile": PROFILE,
    "sweep_block_sizes": ["64K"],
    "sweep_duration": 3,
    "sweep_warmup": 1,
    "sweep_file_size": "1M",
}


def certify(controller: Controller, inventory: Path, **variables: object) -> Outcome:
    return controller.certify_until(is_undisturbed, inventory, **{**SWEEP, **variables})


def set_latency(host: Host, latency_ms: float) -> None:
    """Let the disk process writes at a fixed rate. This hides other delays, because the disk catches up after a
    delay."""
    host.set_limit(round(BLOCK_BYTES / latency_ms * 1000), 64 * BLOCK_BYTES)


def verdicts(outcome: Outcome) -> dict[str, str]:
    return {host["host"]: host["verdict"] for host in outcome.certifications[-1].verdict["hosts"]}


def states(outcome: Outcome) -> dict[str, str]:
    content = json.loads((outcome.directory / "reports/status.json").read_text())
    return {volume["host"]: volume["state"] for volume in content["volumes"]}


@pytest.mark.thorough
def test_a_disk_that_becomes_slower_is_named(start: Callable[..., Bed], controller: Controller, tmp_path: Path) -> None:
    bed = start(*(HostSpec(host, disk="slow", alone=True, size="64M") for host in HOSTS))
    inventory = bed.inventory(tmp_path / "hosts.yml")
    for host in HOSTS:
        set_latency(bed[host], USUAL_MS)
    for _ in range(3):
        assert certify(controller, inventory).status == 0

    set_latency(bed["h4"], SLOWER_MS)
    for more in ("2 more runs", "1 more run"):
        outcome = certify(controller, inventory, gate_baseline="last")
        assert outcome.status == 2
        assert verdicts(outcome) == dict.fromkeys(HOSTS, "inconclusive")
        assert f"{more} should tell" in outcome.words
    sixth = certify(controller, inventory, gate_baseline="last")
    assert sixth.status == 2
    # On a very busy machine, another host may need a seventh run.
    assert [host for host, verdict in verdicts(sixth).items() if verdict == "fail"] == ["h4"]
    assert "pass" in verdicts(sixth).values()
    assert "worse than its baseline: latency_mean is" in sixth.words

    status = controller.run("status", "-i", str(inventory))
    assert (status.status, states(status)) == (2, {"h1": "valid", "h2": "valid", "h3": "valid", "h4": "failed"})
    later = (datetime.date.today() + datetime.timedelta(days=100)).isoformat()
    expired = controller.run("status", "-i", str(inventory), status_today=later)
    assert (expired.status, states(expired)) == (2, {"h1": "expired", "h2": "expired", "h3": "expired", "h4": "failed"})
