# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The witness reads whole lines until the connection breaks, and claims nothing that it did not receive."""

from __future__ import annotations

import shlex
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.line_stream import LONGEST_LINE
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.power_cut import Witness

READY = "ready R1 b1 seed=7 bsize=4096 file_size=1048576 files=4 qm=1 prefix=logdisk layout=2"
ENOUGH_S = 60


@pytest.fixture
def witness():
    started = []

    def start(script, *lines):
        said = "".join(f"echo {shlex.quote(line)}; " for line in lines)
        started.append(Witness(["/bin/sh", "-c", said + script], {"run_id": "R1", "seed": 7}))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def to_its_end(one):
    one.wait(lambda: False, ENOUGH_S)
    one.stop()
    return one


def test_what_is_seen_until_the_stream_ends(witness):
    begin_ns = time.monotonic_ns()
    one = to_its_end(witness("echo the disk is gone >&2; exit 3", READY, "tick 5", "ack 1 12", "end EIO"))
    assert (one.is_over, one.problem, one.said(), one.status) == (True, "", "the disk is gone", 3)
    assert begin_ns < one.lost_ns <= time.monotonic_ns()
    assert (one.seen.counts, one.seen.end, one.seen.ready.boot_id) == ({1: 12}, "EIO", "b1")


def test_a_line_that_broke_off_acknowledges_nothing(witness):
    assert to_its_end(witness("printf 'ack 1 1234'", READY, "ack 1 5")).seen.counts == {1: 5}


def test_it_waits_until_the_tester_writes_and_ends_when_it_is_stopped(witness):
    one = witness("read x; exec sleep 600", READY, "ack 1 1")
    assert one.wait(lambda: one.seen.acknowledged_writes, ENOUGH_S)
    assert not one.wait(lambda: False, 0.01)
    assert not one.is_over
    one.stop()
    assert (one.is_over, one.lost_ns, one.status, one.seen.counts) == (True, 0, None, {1: 1})


def test_what_is_said_after_it_was_stopped_does_not_count(witness):
    one = witness("(sleep 0.3; echo end signal) & exec sleep 600", READY, "ack 1 1")
    one.wait(lambda: one.seen.acknowledged_writes, ENOUGH_S)
    one.stop()
    assert (one.seen.counts, one.seen.end) == ({1: 1}, "")


@pytest.mark.parametrize(
    ("line", "problem"),
    [(READY.replace("R1", "R2"), "it was told R1"), ("x" * (LONGEST_LINE + 1), "a line of more than")],
)
def test_a_host_that_lies_is_read_no_further(witness, line, problem):
    one = to_its_end(witness("exec sleep 600", line))
    assert problem in one.problem
    assert (one.lost_ns, one.status) == (0, None)


def test_without_a_ready_line_nothing_is_known(witness):
    one = to_its_end(witness("echo no space left >&2; exit 2"))
    assert (one.said(), one.status, one.seen.ready) == ("no space left", 2, None)
