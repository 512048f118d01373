# SPDX-License-Identifier: GPL-3.0-or-later
"""If the volume of a live log became slower than certified, this is reported, and the limits of the profile for live
logs fail."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import QUICK, Controller, is_undisturbed
from testbed import Bed, HostSpec
from testbed.shell import wait_for

LACKING = [path for path in ("/usr/bin/bpftrace", "/sys/kernel/btf/vmlinux") if not Path(path).exists()]
pytestmark = pytest.mark.skipif(bool(LACKING), reason=f"this machine has no {' and no '.join(LACKING)}")

ADDED_MS = 1
LIMIT_US = 600
"""Well below the added delay, so that the verdict is not inconclusive because of a disturbance."""
CERTIFIED = {
    "name": "quick",
    "version": 1,
    "qualifies": {"min_duration_s": 1, "confidence": 0.95},
    "limits": [{"metric": "latency_max", "max": "9 s"}],
}
LIVE = {
    "name": "live",
    "version": 1,
    "observations": "judged",
    "limits": [{"metric": "latency_mean", "max": f"{LIMIT_US} us"}],
}
SWEEP = {
    **QUICK,
    "gate_profile": CERTIFIED,
    "sweep_block_sizes": ["4K", "16K", "64K"],
    "sweep_duration": 3,
    "sweep_warmup": 1,
    "sweep_file_size": "1M",
}
OBSERVE = {
    "observe_source": "bpftrace",
    "observe_queue_manager": "QM1",
    "observe_log_path": "/fut/log",
    "observe_duration": 40,
    "observe_interval": 5,
}

LOGGER = """
    import mmap, os
    os.makedirs("/fut/log/active")
    log = os.open("/fut/log/active/S0000000.LOG", os.O_CREAT | os.O_WRONLY | os.O_DIRECT | os.O_DSYNC, 0o600)
    block = mmap.mmap(-1, 16384)
    while True:
        for number in range(64):
            os.pwrite(log, block, number * len(block))
"""
"""A program that stands in for a queue manager's logger: it writes to its log until it is killed."""


@pytest.mark.thorough
def test_a_volume_that_became_slower_than_certified_is_called_so(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    bed = start(HostSpec("h1", disk="slow", alone=True, size="64M", tracing=True))
    host, inventory = bed["h1"], bed.inventory(tmp_path / "hosts.yml")
    assert controller.certify_until(is_undisturbed, inventory, **SWEEP).status == 0

    host.set_delay_ms(ADDED_MS)
    (host.root / "srv/logger.py").write_text(textwrap.dedent(LOGGER))
    bed.ssh(host, "setsid python3 /srv/logger.py > /dev/null 2>&1 < /dev/null &")
    wait_for((host.root / "fut/log/active/S0000000.LOG").exists, "the log is written")
    outcome = controller.run("observe", "-i", str(inventory), gate_profile=LIVE, **OBSERVE)

    record = outcome.certifications[-1].records["h1"]
    held = record["observation"]["certificate"]
    assert (outcome.status, record["kind"], record["verdict"]) == (2, "observation", "fail")
    assert (held["outcome"], held["state"], held["caveats"]) == ("slower", "valid", [])
    assert held["observed_ns"] >= held["expected_ns"] + 0.9 * ADDED_MS * 1e6
    assert "times slower than certified" in held["text"]
    assert held["text"] in outcome.certifications[-1].html.text and held["text"] in outcome.words
    assert f"latency_mean <= {LIMIT_US} us" in record["judgements"][0]["limit"]

    status = controller.run("status", "-i", str(inventory))
    assert status.status == 0 and "observed today: fail, " in status.words
    assert "times slower than certified" in (status.directory / "reports/status.html").read_text()
