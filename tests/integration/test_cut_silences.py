# SPDX-License-Identifier: GPL-3.0-or-later
"""A power cut cannot show everything. If the command interrupts the network of a host before it cuts the power, and the
disk of the host loses acknowledged writes, the cut is not reported as kept, regardless of the size of the disk's cache.
If a disk loses nothing, a command that is as slow as real ones does not make the cut inconclusive.

The witness of the collection is used, over SSH and a network that fails. The figures of these tests are in
docs/power_cut.md.
"""

import os
import secrets
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import (
    INCONCLUSIVE,
    KEPT,
    LOST,
    Cut,
    Returned,
    Witnessed,
    cut_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.power_cut import Witness
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.protocol import (
    Checked,
    acknowledged_text,
    read_rows,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.power_cut.criteria import BLIND_MS
from ansible_collections.mqops.logdisk.plugins.plugin_utils._own_connection import SSH_OPTIONS
from testbed import Bed, HostSpec, power
from testbed.bed import answers
from testbed.host import Host
from testbed.shell import wait_for

Start = Callable[..., Bed]

CUTS = int(os.environ.get("CUTS", "20"))
CACHES = (8, 500, 5000)
DIRECTORY = "--dir=/fut/qm"
QM = "--qm=1"
WORKLOAD = (DIRECTORY, QM, "--createDirs", "--bsize=4K", "--fileSize=16M", "--numFiles=2", "--duration=3600")
ENOUGH_S = 120.0


@dataclass(frozen=True)
class Course:
    """The events of a cut, in seconds from the start of its command: when the host loses its network, when it loses its
    power, and when the command ends."""

    cut_s: float
    ended_s: float
    silent_s: float | None = None


# The number in the name of a host is the number of seconds before the cut for which its network is down.
SILENCES = {"h0": Course(10, 10), "h1": Course(10, 10, silent_s=9), "h10": Course(10, 10, silent_s=0)}
# docs/power_cut.md lists the real commands that these values represent.
COMMANDS = {"virsh": Course(0.35, 0.75), "pdu": Course(0.5, 0.2), "bmc": Course(4.0, 0.2)}


@pytest.mark.acceptance
@pytest.mark.parametrize("cache_blocks", CACHES)
def test_no_liar_is_kept_with_a_bound_that_is_false(
    start: Start, tester: Path, tmp_path: Path, cache_blocks: int
) -> None:
    specs = [HostSpec(name, disk="cut", character="tail", cache_blocks=cache_blocks) for name in SILENCES]
    found = cut_often(start, specs, SILENCES, tester, tmp_path)
    show(f"a cache of {cache_blocks} blocks", found)
    # A loss may remain undetected only if the number of writes whose acknowledgements had not arrived exceeds the size
    # of the cache, and the report contains this number.
    assert [cut for cut in found["h0"] if cut.outcome == KEPT and (cut.visible_from_writes or 0) < cache_blocks] == []
    assert [cut for name in ("h1", "h10") for cut in found[name] if cut.outcome == KEPT] == []


@pytest.mark.acceptance
def test_an_honest_disk_is_kept_however_long_its_command_takes(start: Start, tester: Path, tmp_path: Path) -> None:
    found = cut_often(start, [HostSpec(name, disk="cut") for name in COMMANDS], COMMANDS, tester, tmp_path)
    show("honest disks", found)
    assert [cut.reason for cuts in found.values() for cut in cuts if cut.outcome != KEPT] == []


def cut_often(
    start: Start, specs: list[HostSpec], courses: dict[str, Course], tester: Path, directory: Path
) -> dict[str, list[Cut]]:
    found: dict[str, list[Cut]] = {name: [] for name in courses}
    for number in range(CUTS):
        for name, cut in cut_once(start(*specs), courses, tester, directory / str(number)).items():
            found[name].append(cut)
            print(f"  {name}: {figures(cut)}", flush=True)
    return found


def cut_once(bed: Bed, courses: dict[str, Course], tester: Path, directory: Path) -> dict[str, Cut]:
    """Return the results of the cuts on each host, as the collection judges them."""
    witnesses = {host.name: begin_to_write(bed, host, tester) for host in bed}
    for name, each in witnesses.items():
        assert each.wait(lambda each=each: each.seen.acknowledged_writes, ENOUGH_S), (name, each.said())
    time.sleep(1)
    ended_ns = follow(bed, courses)
    for host in bed:
        host.boot()
    wait_for(lambda: all(answers(host) for host in bed), "the hosts are back")
    return {host.name: judged(host, witnesses[host.name], ended_ns[host.name]) for host in bed}


def begin_to_write(bed: Bed, host: Host, tester: Path) -> Witness:
    seed = secrets.randbits(63)
    shutil.copy(tester, host.root / "root/logdisk")
    words = ("/root/logdisk", "--acknowledge", *WORKLOAD, f"--seed={seed}", "--runId=R1")
    ssh = [
        "ssh",
        *(word for option in SSH_OPTIONS for word in ("-o", option)),
        *bed.ssh_options(host),
        "-T",
        f"root@{host.address}",
        *words,
    ]
    return Witness(ssh, {"run_id": "R1", "seed": seed, "qm": 1})


def follow(bed: Bed, courses: dict[str, Course]) -> dict[str, int]:
    """Apply its scenario to each host. Returns the times at which the commands ended."""
    ended_ns: dict[str, int] = {}
    steps: list[tuple[float, int, Callable[[], None]]] = []
    for name, course in courses.items():
        host = bed[name]
        if course.silent_s is not None:
            steps.append((course.silent_s, 0, partial(power.set_link, host.net, up=False)))
        steps.append((course.cut_s, len(steps), host.cut))
        steps.append((course.ended_s, len(steps), lambda name=name: ended_ns.update({name: time.monotonic_ns()})))
    begun_s = time.monotonic()
    for at_s, _, step in sorted(steps, key=lambda item: item[:2]):
        time.sleep(max(0.0, begun_s + at_s - time.monotonic()))
        step()
    return ended_ns


def judged(host: Host, witness: Witness, ended_ns: int) -> Cut:
    witness.wait(lambda: False, ENOUGH_S)
    assert witness.is_over and not witness.problem, witness.problem
    witness.stop()
    checked = check(host, acknowledged_text(witness.seen))
    done, seen = (
        CommandResult(0, ended_ns=ended_ns),
        Witnessed(witness.seen, broken=True, status=witness.status, lost_ns=witness.lost_ns),
    )
    return cut_of(1, done, seen, Returned({"boot_id": "a"}, {"boot_id": "b"}), checked, BLIND_MS * 1_000_000)


def check(host: Host, acknowledged: str) -> Checked:
    command = host.command("/root/logdisk", "--checkAcknowledged=-", DIRECTORY, "--tables=/root/tables")
    done = subprocess.run(command, input=acknowledged, capture_output=True, text=True, check=False)
    table = host.root / "root/tables/durability.csv"
    return Checked(
        done.returncode, read_rows(table.read_bytes()) if table.exists() else [], "" if table.exists() else done.stderr
    )


def figures(cut: Cut) -> str:
    rate, silence_ms, bound_ms = (
        round(cut.rate_writes_per_s or 0),
        round((cut.silence_ns or 0) / 1e6),
        round((cut.visible_from_ns or 0) / 1e6, 1),
    )
    return (
        f"{rate} writes/s, silent {silence_ms} ms, found beyond {cut.unacknowledged_writes}, bound {bound_ms} ms: "
        f"{cut.outcome}: {cut.reason}"
    )


def show(title: str, found: dict[str, list[Cut]]) -> None:
    """Print the outcomes that docs/power_cut.md sums up. pytest shows them with -rP."""
    for name, cuts in found.items():
        outcomes = Counter(cut.outcome for cut in cuts)
        print(
            f"{title}, {name}: {', '.join(f'{outcomes[outcome]} {outcome}' for outcome in (LOST, INCONCLUSIVE, KEPT))}",
            flush=True,
        )
