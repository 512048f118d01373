# SPDX-License-Identifier: GPL-3.0-or-later
"""If a volume is limited because its burst allowance is used up, a note is printed and stored in every record, and no
verdict changes."""

import os
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_runs import Controller
from testbed import Bed, HostSpec, processes
from testbed.host import Host

pytestmark = pytest.mark.thorough

Start = Callable[..., Bed]

BLOCK_BYTES = 16384
# The allowance lasts for 8 s at the rate of the sweep.
WRITES_PER_S, LIMIT_PER_S = 300, 200
BURST_BYTES = 8 * (WRITES_PER_S - LIMIT_PER_S) * BLOCK_BYTES
SWEEP = {"sweep_block_sizes": ["16K"], "sweep_duration": 22, "sweep_rate": WRITES_PER_S}
# At the limit of 200 writes/s, a write takes 5 ms, and most of the writes are throttled.
PROFILE = {
    "name": "fast",
    "version": 1,
    "qualifies": {"confidence": "none"},
    "limits": [{"metric": "latency_p90", "max": "4 ms"}],
}

# Every Python process on the host runs this code first. It makes the disk look like an Amazon volume that was throttled
# for half of the time.
VOLUME = """\
import ctypes, fcntl, os, struct, time
true_ioctl, true_realpath = fcntl.ioctl, os.path.realpath
def ioctl(descriptor, request, command=0, *others):
    if request != 0xC0484E41:
        return true_ioctl(descriptor, request, command, *others)
    limited_us = int(time.monotonic() * 500000)
    page = struct.pack("<I52x4Q", 0x3C23B510, limited_us, 0, 0, 0).ljust(4096, b"\\0")
    ctypes.memmove(struct.unpack_from("=Q", command, 24)[0], page, len(page))
    return 0
def realpath(path, *others, **more):
    return "/volume/nvme1/nvme1n1" if str(path).startswith("/sys/dev/block/") else true_realpath(path, *others, **more)
fcntl.ioctl, os.path.realpath = ioctl, realpath
"""


def make_amazon_volume(host: Host) -> None:
    """Make the disk under test look like an Amazon volume, whose counters only root may read."""
    volume = host.root / "volume/nvme1"
    (volume / "nvme1n1").mkdir(parents=True)
    for name, text in {
        "model": "Amazon Elastic Block Store",
        "serial": "vol0123456789abcdef0",
        "dev": "1:3",
        "nvme1n1/nsid": "1",
    }.items():
        (volume / name).write_text(text + "\n")
    (volume / "nvme1n1/device").symlink_to("/volume/nvme1")
    os.mknod(host.root / "dev/nvme1", 0o600 | 0o020000, os.makedev(1, 3))
    packages = host.root / "usr/lib/python3/dist-packages"
    (packages / "amazon_volume.py").write_text(VOLUME)
    (packages / "amazon_volume.pth").write_text("import amazon_volume\n")


def test_a_burst_allowance_runs_out(start: Start, controller: Controller, tmp_path: Path) -> None:
    bed = start("even", HostSpec("burst", disk="slow", variables={"sweep_nice": -15}), HostSpec("amazon", user="ops"))
    make_amazon_volume(bed["amazon"])
    # On a busy machine, the rate that the limiter allows may vary by more than the 2 % that a plateau may have.
    os.setpriority(os.PRIO_PGRP, os.getpgid(disk_of(bed["burst"])), -15)
    for attempt in range(3):
        bed["burst"].set_limit(LIMIT_PER_S * BLOCK_BYTES, BURST_BYTES + attempt)
        outcome = controller.certify(bed.inventory(tmp_path / "hosts.yml"), gate_profile=PROFILE, **SWEEP)
        certification = outcome.certifications[-1]
        if variation(certification.table("burst", "intervals.csv")) < 0.018:
            break
    else:
        pytest.skip("this machine is too busy for an even rate")

    records = certification.records
    plateaus = {
        name: [note for note in record["notes"] if "the rate stayed at" in note] for name, record in records.items()
    }
    assert plateaus["even"] == []
    check_plateau(plateaus["burst"])
    check_counters(records["amazon"])
    # On a disturbed machine, the result is inconclusive instead of a fail. The note explains both.
    assert records["burst"]["verdict"] in ("fail", "inconclusive")
    assert plateaus["burst"][0] in outcome.words or records["burst"]["disturbances"]
    shown = {host["host"]: host["notes"] for host in certification.report["hosts"]}
    assert all(set(records[name]["notes"]) <= set(notes) for name, notes in shown.items())


def disk_of(host: Host) -> int:
    """Return the process that provides the slow disk of the host."""
    return next(
        pid
        for pid in processes.all_pids()
        if "slowdisk.py" in processes.command_line(pid) and str(host.dir) in processes.command_line(pid)
    )


def variation(intervals: list[dict[str, str]]) -> float:
    """Return the coefficient of variation of the seconds in which the allowance has certainly been used up."""
    rates = [int(second["bytes"]) for second in intervals if second["partial"] == "0" and int(second["second"]) > 9]
    return statistics.pstdev(rates) / statistics.fmean(rates)


def check_plateau(notes: list[str]) -> None:
    (note,) = notes
    assert note.startswith("At 16 KiB with 1 queue manager, from second ")
    assert "the rate stayed at 67 % of the rate before" in note
    assert 5 <= int(note.split("from second ")[1].split(" ")[0]) <= 11


def check_counters(record: dict) -> None:
    """The counters were read with the privilege that the directories needed, which the connecting user does not
    have."""
    assert record["facts"]["user"] == "ops"
    (note,) = (note for note in record["notes"] if "IOPS limit" in note)
    assert note.startswith("The volume's own IOPS limit was reached for 50 % of the time: ") and note.endswith(
        "(nvme1n1 vol0123456789abcdef0)"
    )
    assert record["facts"]["volume_limits_volume_iops_s"] * 2 == pytest.approx(
        record["facts"]["volume_limits_elapsed_s"], rel=0.01
    )
    assert record["facts"]["volume_limits_instance_iops_s"] == 0
