# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The witness outlives the process that starts it, ends when its stream or Ansible ends, and reports if it could not
write what it received."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability import witness
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.witness import (
    GONE,
    OVER,
    READY,
    WRITING,
    Files,
    WitnessError,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import small_disk

READY_LINE = "ready R1 b1 seed=7 bsize=4096 file_size=1048576 files=4 qm=1 prefix=logdisk layout=2"
ASKED = {"run_id": "R1", "seed": 7}
ENOUGH_S = 60


def shell(script):
    return ["/bin/sh", "-c", script]


def said(*lines):
    return "; ".join(f"echo {shlex.quote(line)}" for line in lines)


@pytest.fixture
def files(tmp_path):
    files = Files(str(tmp_path / "log"), 1)
    yield files
    witness.stop(files)


def over(files):
    return witness.wait(files, lambda state: state.is_over, ENOUGH_S)


def test_what_is_seen_until_the_stream_ends(files):
    witness.start(
        shell(f"{said(READY_LINE, 'tick 5', 'ack 1 12', 'end EIO')}; echo the disk is gone >&2"),
        ASKED,
        files,
        ENOUGH_S,
        os.getpid(),
    )
    state = over(files)
    assert (state.name, state.problem, state.said) == (OVER, "", "the disk is gone")
    assert (state.seen.counts, state.seen.end, state.seen.ready.boot_id) == ({1: 12}, "EIO", "b1")
    assert Path(files.acknowledged).read_text() == f"{READY_LINE}\ntick 5\ntick 5\nack 1 12\nend EIO\n"
    files.remove()
    assert os.listdir(files.folder) == ["acknowledged-1.txt"]


def test_it_says_how_far_the_tester_is(files, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    witness.start(
        shell(f"{said(READY_LINE)}; read x < {gate}; {said('ack 1 1')}; exec sleep 600"),
        ASKED,
        files,
        ENOUGH_S,
        os.getpid(),
    )
    assert witness.wait(files, lambda state: state.name == READY, ENOUGH_S).name == READY
    gate.write_text("go\n")
    assert witness.wait(files, lambda state: state.name == WRITING, ENOUGH_S).name == WRITING
    state = witness.stop(files)
    assert (state.name, state.seen.counts) == (OVER, {1: 1})


def test_without_a_ready_line_nothing_is_stored(files):
    witness.start(shell("echo no space left >&2; exit 2"), ASKED, files, ENOUGH_S, os.getpid())
    assert (over(files).said, os.path.exists(files.acknowledged)) == ("no space left", False)


def test_a_host_that_lies_is_read_no_further(files):
    witness.start(shell(f"{said(READY_LINE.replace('R1', 'R2'))}; exec sleep 600"), ASKED, files, ENOUGH_S, os.getpid())
    assert "it was told R1" in over(files).problem


def test_it_ends_at_its_longest_time(files):
    witness.start(shell(f"{said(READY_LINE)}; exec sleep 600"), ASKED, files, 0, os.getpid())
    assert "longer than allowed" in over(files).problem


def test_it_ends_with_ansible(files):
    parent = subprocess.Popen(["sleep", "600"])
    witness.start(shell(f"{said(READY_LINE, 'ack 1 3')}; exec sleep 600"), ASKED, files, ENOUGH_S, parent.pid)
    witness.wait(files, lambda state: state.name == WRITING, ENOUGH_S)
    parent.kill()
    parent.wait()
    assert over(files).seen.counts == {1: 3}


def test_a_witness_that_was_killed_claims_nothing(files):
    witness.start(
        shell(f"{said(READY_LINE, 'ack 1 3')}; while echo tick 1; do sleep 0.1; done"),
        ASKED,
        files,
        ENOUGH_S,
        os.getpid(),
    )
    state = witness.wait(files, lambda state: state.name == WRITING, ENOUGH_S)
    os.kill(state.pid, 9)
    state = over(files)
    assert (state.name, state.problem) == (GONE, "the witness on the controller was killed")


def test_there_is_one_witness_of_a_cut(files):
    witness.start(shell("exit 0"), ASKED, files, ENOUGH_S, os.getpid())
    with pytest.raises(WitnessError, match="File exists"):
        witness.start(shell("exit 0"), ASKED, files, ENOUGH_S, os.getpid())


def _on_a_disk_that_becomes_full(directory):
    files = Files(f"{directory}/log", 1)
    command = shell(f"read x < {directory}/gate; {said(READY_LINE, 'ack 1 3')}; exec sleep 600")
    os.mkfifo(f"{directory}/gate")
    witness.start(command, ASKED, files, ENOUGH_S, os.getpid())
    witness.wait(files, lambda state: state.pid, ENOUGH_S)
    small_disk.fill(directory)
    Path(directory, "gate").write_text("go\n")
    state = over(files)
    return state.name, state.problem, os.path.exists(files.acknowledged)


def _on_a_full_disk(directory):
    small_disk.fill(directory)
    try:
        witness.start(shell("exit 0"), ASKED, Files(directory, 1), ENOUGH_S, os.getpid())
    except WitnessError as error:
        return str(error)


def test_a_disk_that_becomes_full_is_named(tmp_path):
    name, problem, stored = small_disk.on_a_small_disk(str(tmp_path), _on_a_disk_that_becomes_full)
    assert (name, stored) == (GONE, False)
    assert "No space left on device" in problem


def test_on_a_full_disk_no_witness_starts(tmp_path):
    assert small_disk.on_a_small_disk(str(tmp_path), _on_a_full_disk).endswith(
        ("No space left on device", "the disk is full")
    )
