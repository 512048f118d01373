# SPDX-License-Identifier: GPL-3.0-or-later
"""The tester finds the acknowledged writes that a disk lost, and reports no loss for an honest disk, which is a disk
that keeps everything that it acknowledged. The file systems are real, and the power of their disks is cut."""

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from testbed import Bed, HostSpec
from testbed.bed import answers
from testbed.host import CHARACTERS, FILE_SYSTEMS, Host
from testbed.shell import run, wait_for

Start = Callable[..., Bed]

KEPT, LOST = 0, 5
QUEUE_MANAGERS = 2
# There are more writes than the caches can hold and than the ring has positions. Therefore, the preformatted data has
# left the caches, and each position has been overwritten.
WRITES = 1200
DIRECTORY = "--dir=/fut/qm"
QM = f"--qm={QUEUE_MANAGERS}"
WORKLOAD = [DIRECTORY, QM, "--createDirs", "--bsize=4K", "--fileSize=1M", "--numFiles=4", "--duration=3600"]

# The losses that the check must find on each kind of disk, and those that it may find as well. For example, if the last
# write before the cut was dropped, a tail is lost. All other disks are honest.
NAMES = {
    "drop": ("lost_out_of_order_writes", ("lost_tail_writes",)),
    "misdirect": ("misdirected_positions", ("lost_out_of_order_writes", "lost_tail_writes")),
    "tail": ("lost_tail_writes", ()),
    "reorder": ("lost_out_of_order_writes", ("lost_tail_writes",)),
    "torn": ("torn_positions", ("lost_out_of_order_writes", "lost_tail_writes")),
    "unreadable": ("unreadable_positions", ()),
    "zero": ("zeroed_positions", ()),
    "garbage": ("corrupt_positions", ()),
}
COUNTS = (
    "lost_tail_writes",
    "lost_out_of_order_writes",
    "torn_positions",
    "misdirected_positions",
    "unreadable_positions",
    "zeroed_positions",
    "corrupt_positions",
    "metadata_lost",
)


@pytest.mark.parametrize(
    "number", [1, *(pytest.param(number, marks=pytest.mark.acceptance) for number in range(2, 12))]
)
@pytest.mark.parametrize(
    "character",
    [name if name in ("honest", "drop") else pytest.param(name, marks=pytest.mark.thorough) for name in CHARACTERS],
)
@pytest.mark.parametrize(
    "file_system",
    ["ext4", *(pytest.param(name, marks=pytest.mark.thorough) for name in FILE_SYSTEMS if name != "ext4")],
)
def test_each_liar_is_named_and_no_honest_disk_is(
    start: Start, tester: Path, tmp_path: Path, file_system: str, character: str, number: int
) -> None:
    named, besides = NAMES.get(character, (None, ()))
    for _ in range(5):
        host = start(HostSpec("h1", disk="cut", character=character, file_system=file_system))["h1"]
        # On a busy machine, a small cache might lose only writes whose acknowledgements were late.
        # The power of an honest disk is cut while the disk is working.
        witnessed = write_until_cut(host, tester, tmp_path, seed=number, settled=named is not None)
        status, found = check(host, witnessed)
        assert status == (LOST if named else KEPT)
        # If another process on this machine calls sync just before the cut, a disk that ignores flushes can lose the
        # file system itself. The check finds that loss, but not the one that the test expects.
        if set(found) != {"metadata_lost"}:
            break
    assert set(found) - set(besides) == ({named} if named else set())


@pytest.mark.thorough
def test_one_write_too_early(start: Start, tester: Path, tmp_path: Path) -> None:
    """If the witness also counted a write that has not returned yet, the check would report a loss on an honest disk.
    If the witness counts one write less, the check reports that everything was kept."""
    host = start(HostSpec("h1", disk="cut"))["h1"]
    for seed in range(1, 21):
        witnessed = write_until_cut(host, tester, tmp_path, seed, settled=True)
        assert check(host, witnessed) == (KEPT, {})
        early = re.sub(
            r"^(ack \d+) (\d+)$", lambda line: f"{line[1]} {int(line[2]) + 1}", witnessed, flags=re.MULTILINE
        )
        status, found = check(host, early)
        if status == LOST:  # unless all writes in flight had reached the medium
            assert found.keys() == {"lost_tail_writes"} and found["lost_tail_writes"] <= QUEUE_MANAGERS
            return
        run(*host.command("/root/logdisk", "--removeAcknowledged", DIRECTORY, QM))
    pytest.fail("no claim was wrong")


def write_until_cut(host: Host, tester: Path, directory: Path, seed: int, settled: bool = False) -> str:
    """Return the lines that the witness has received when the host is back. settled: before the cut, the disk hangs
    until every write that has returned has been acknowledged."""
    shutil.copy(tester, host.root / "root/logdisk")
    kept = directory / "acknowledged"
    with kept.open("wb") as stream, (directory / "log").open("wb") as log:
        writer = subprocess.Popen(
            host.command("/root/logdisk", "--acknowledge", *WORKLOAD, f"--seed={seed}"), stdout=stream, stderr=log
        )
    wait_for(lambda: fewest(kept.read_text()) >= WRITES or writer.poll() is not None, "the tester writes")
    assert writer.poll() is None, (directory / "log").read_text()
    if settled:
        host.hang()
        wait_for(lambda: is_silent(kept.read_text()), "nothing returns any more")
    host.cut()
    writer.wait()
    host.boot()
    wait_for(lambda: answers(host), "the host is back")
    return kept.read_text()


def fewest(witnessed: str) -> int:
    """Return the smallest count of any queue manager."""
    counts = dict(re.findall(r"^ack (\d+) (\d+)$", witnessed, re.MULTILINE))
    return min(map(int, counts.values())) if len(counts) == QUEUE_MANAGERS else 0


def is_silent(witnessed: str) -> bool:
    return re.search(r"\n(tick \d+\n){3}$", witnessed) is not None


def check(host: Host, witnessed: str) -> tuple[int, dict[str, int]]:
    """Return the status of the tester's check, and its findings by column."""
    command = host.command("/root/logdisk", "--checkAcknowledged=-", DIRECTORY, "--tables=/root/tables")
    done = subprocess.run(command, input=witnessed, capture_output=True, text=True, check=False)
    assert done.returncode in (KEPT, LOST), done.stderr
    table = (host.root / "root/tables/durability.csv").read_text()
    shutil.rmtree(host.root / "root/tables")
    (everything,) = (row for row in csv.DictReader(io.StringIO(table)) if row["worker"] == "all")
    return done.returncode, {name: int(everything[name]) for name in COUNTS if int(everything[name])}
