# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The result of a cut: kept or lost only if the check reports this, and inconclusive in all other cases."""

from __future__ import annotations

import dataclasses
import re

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.cut import (
    INCONCLUSIVE,
    KEPT,
    LOST,
    Returned,
    Witnessed,
    cut_of,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.protocol import Checked, Reader
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps.cut_plan import NEVER_AN_ARRAY, what_is_tested

READY = b"ready R1 b1 seed=7 bsize=4096 file_size=1048576 files=4 qm=1 prefix=logdisk layout=2\n"
VOLUME = {"filesystem_uuid": "u-1", "mount_point": "/fut", "mount_source": "/dev/sda", "filesystem_type": "xfs"}
BEFORE = {"boot_id": "b1", **VOLUME}
AFTER = {"boot_id": "b2", **VOLUME}


def born(epoch_s):
    return {"filesystem_born_epoch_s": epoch_s}


ROW = {
    "worker": "all",
    "outcome": "kept",
    "metadata_lost": "0",
    "lost_tail_writes": "0",
    "lost_tail_bytes": "0",
    "lost_tail_ns": "",
    "torn_positions": "0",
}
LOST_ROW = {
    **ROW,
    "outcome": "lost",
    "lost_tail_writes": "1063",
    "lost_tail_bytes": "4354048",
    "lost_tail_ns": "1250000000",
    "torn_positions": "2",
}
MS = 1_000_000
BEGUN_NS = 10**12
LAST_NS = BEGUN_NS + 1000 * MS
"""5,000 writes were acknowledged within a second."""
LIMIT_NS = 500 * MS

DONE = CommandResult(status=0, ended_ns=LAST_NS)
BACK = Returned(BEFORE, AFTER, waited_s=12)


def witnessed(stream=READY + b"ack 1 5000\n", broken=True, **more):
    reader = Reader({})
    ready, *lines = stream.decode().splitlines() or [""]
    reader.read(ready, BEGUN_NS)
    for number in range(1, 501):
        reader.read(f"tick {number * 2 * MS}", BEGUN_NS + number * 2 * MS)
    for line in lines:
        reader.read(line, LAST_NS)
    return Witnessed(reader.seen, broken=broken, lost_ns=LAST_NS + 3000 * MS, **more)


def rows(found=5000, total=ROW):
    return [{**total, "worker": "1", "found_writes": str(found)}, total]


def cut(command=DONE, seen=None, returned=BACK, checked=None):
    return cut_of(1, command, seen or witnessed(), returned, checked or Checked(0, rows()), LIMIT_NS)


def test_kept():
    found = cut()
    assert (found.outcome, found.reason) == (KEPT, "all 5,000 acknowledged writes were found")
    assert (found.boot_id_before, found.boot_id_after, found.seed, found.rows) == ("b1", "b2", "7", rows())
    assert (found.silence_ns, found.unacknowledged_writes, found.visible_from_ns, found.visible_from_writes) == (
        0,
        0,
        3 * MS,
        16,
    )


@pytest.mark.parametrize(
    ("changes", "visible_ms", "reason"),
    [
        ({"command": CommandResult(0, ended_ns=LAST_NS + 497 * MS)}, 498, ""),
        # The command takes the network link down, waits, and cuts the power.
        (
            {"command": CommandResult(0, ended_ns=LAST_NS + 2000 * MS)},
            2001,
            "the last acknowledgement came 2 s before it was known that the power was off",
        ),
        # The command was killed and failed, but its whole duration counts.
        (
            {"command": CommandResult(None, problem="killed", ended_ns=LAST_NS + 120_000 * MS)},
            120_001,
            "came 2 min before",
        ),
        # The connection was refused, either by a host that had booted or by a host that still had power.
        ({"seen": dataclasses.replace(witnessed(), lost_ns=LAST_NS + 600 * MS)}, 3, ""),
        ({"seen": dataclasses.replace(witnessed(), lost_ns=LAST_NS + 450 * MS)}, 451, ""),
        # 4,242 more writes, at 5,000 per second; the newest one may not have returned.
        (
            {"checked": Checked(0, rows(9243))},
            849.4,
            "4,243 writes were found that had not been acknowledged, so the connection was lost before the power",
        ),
        ({"checked": Checked(0, rows(6001))}, 201, ""),
        # A tester that has ended does not write any more.
        (
            {
                "seen": witnessed(READY + b"ack 1 5000\nend EIO\n"),
                "command": CommandResult(0, ended_ns=LAST_NS + 2000 * MS),
            },
            3,
            "",
        ),
    ],
)
def test_a_cut_is_kept_only_if_a_loss_at_the_end_would_have_been_seen(changes, visible_ms, reason):
    found = cut(**changes)
    assert found.visible_from_ns == visible_ms * MS
    assert found.outcome == (INCONCLUSIVE if reason else KEPT)
    assert reason in found.reason
    assert not reason or (
        found.reason.startswith("a loss at the end of less than ")
        and "the profile accepts 500 ms (durability.blind_ms)" in found.reason
    )


def test_a_gap_while_it_wrote_counts_as_well():
    late = witnessed()
    late.seen.gap_max_ns = 700 * MS
    assert cut(seen=late).reason.endswith("the host sent nothing for 700 ms while it was writing")


@pytest.mark.parametrize(
    "table", [[ROW], rows("x"), rows(-1), rows(10**16), [{**ROW, "worker": "2", "found_writes": "1"}, ROW]]
)
def test_what_the_table_does_not_say_is_not_known(table):
    found = cut(checked=Checked(0, table))
    assert found.outcome == INCONCLUSIVE and found.reason.startswith(
        "it is not known how long a loss at the end could have gone unnoticed"
    )
    assert found.unacknowledged_writes is None


def test_a_loss_is_a_loss_however_little_was_seen():
    assert (
        cut(command=CommandResult(0, ended_ns=LAST_NS + 10**10), checked=Checked(5, rows(4000, LOST_ROW))).outcome
        == LOST
    )


def test_lost_says_how_much():
    found = cut(checked=Checked(5, [LOST_ROW]))
    assert found.outcome == LOST
    assert found.reason == (
        "1,063 acknowledged writes at the end are gone (4,354,048 bytes, 1.25 s of writing); 2 "
        "blocks hold parts of two writes"
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"seen": witnessed(b"")}, "the files were not complete"),
        ({"seen": witnessed(b"", said="No space left on device")}, r"\(No space left on device\)"),
        ({"seen": witnessed(early=True)}, "broke before the cut"),
        (
            {
                "command": CommandResult(problem="queue managers are running on this host", done=False),
                "seen": witnessed(early=True),
            },
            "queue managers are running",
        ),
        ({"seen": witnessed(problem="the witness cannot write: No space left on device")}, "the witness cannot write"),
        ({"seen": witnessed(READY)}, "no write was acknowledged"),
        ({"seen": witnessed(READY + b"ack 1 5\nend signal\n")}, "orderly shutdown"),
        ({"seen": witnessed(READY + b"ack 1 5\nend time\n")}, "the end of its time"),
        ({"seen": witnessed(broken=False)}, "continued to write after the cut command"),
        (
            {"seen": witnessed(broken=False), "command": CommandResult(1, "no such outlet")},
            r"failed: status 1 \(no such outlet\)",
        ),
        (
            {"returned": Returned(BEFORE, None, "Connection timed out", 600)},
            r"did not come back within 600 s \(Connection timed out\)",
        ),
        (
            {"returned": Returned(BEFORE, None), "command": CommandResult(1, "no power on")},
            r"still there; the cut command failed: status 1 \(no power on\)",
        ),
        ({"returned": Returned(BEFORE, {**AFTER, "boot_id": "b1"})}, "boot id is unchanged"),
        ({"returned": Returned(BEFORE, {**AFTER, "boot_id": ""})}, "does not report its boot ID"),
        ({"returned": Returned(BEFORE, AFTER, "it did not answer within 10 s")}, "cannot be inspected: it did not"),
        ({"returned": Returned(BEFORE, {**AFTER, "filesystem_uuid": "u-2"})}, "filesystem_uuid was u-1 and is u-2"),
        (
            {"returned": Returned(BEFORE, {**AFTER, "filesystem_uuid": "", "mount_point": "/"})},
            "mount_point was /fut and is /",
        ),
        (
            {
                "returned": Returned(
                    {**BEFORE, "filesystem_uuid": ""}, {**AFTER, "filesystem_uuid": "", "mount_source": "/dev/sdb"}
                )
            },
            "mount_source was",
        ),
        (
            {
                "returned": Returned({**BEFORE, **born("5.0")}, {**AFTER, **born("6.0")}),
                "checked": Checked(5, [LOST_ROW]),
            },
            "created again .* with the same UUID",
        ),
        ({"checked": Checked()}, "the tester ended with status None"),
        ({"checked": Checked(2, problem="the mark of another run")}, "could not be checked: the mark of another run"),
        ({"checked": Checked(5, [ROW])}, "status 5 says lost, but its table says kept"),
        ({"checked": Checked(0, [])}, "its table says nothing"),
    ],
)
def test_whatever_else_happened_is_inconclusive(changes, reason):
    found = cut(**changes)
    assert found.outcome == INCONCLUSIVE
    assert re.search(reason, found.reason)


def test_an_orderly_end_outranks_what_the_check_says():
    assert cut(seen=witnessed(READY + b"ack 1 5\nend signal\n"), checked=Checked(5, [LOST_ROW])).outcome == INCONCLUSIVE


def test_a_disk_that_died_before_its_host_is_checked():
    assert cut(seen=witnessed(READY + b"ack 1 5000\nend EIO\n")).outcome == KEPT


@pytest.mark.parametrize("births", [("5.0", "5.0"), ("", "6.0"), ("5.0", "")])
def test_a_file_system_is_the_same_unless_both_births_are_known_and_differ(births):
    assert cut(returned=Returned({**BEFORE, **born(births[0])}, {**AFTER, **born(births[1])})).outcome == KEPT


def test_a_device_may_get_another_name_if_its_uuid_is_known():
    assert cut(returned=dataclasses.replace(BACK, after={**AFTER, "mount_source": "/dev/sdb"})).outcome == KEPT


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("virsh destroy db01", "process of its hypervisor"),
        ("ssh db01 'echo b > /proc/sysrq-trigger'", "drives and its controller keep their power"),
        ("ipmitool -H bmc chassis power off", "local drives"),
        ("./pull-the-cable", "depends on what it cuts"),
    ],
)
def test_what_a_command_tests(command, part):
    assert part in what_is_tested(command)
    assert what_is_tested(command).endswith(NEVER_AN_ARRAY)
