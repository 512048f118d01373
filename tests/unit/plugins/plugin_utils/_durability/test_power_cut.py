# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The course of a cut, with programs in place of the tester, the guard and the command: when the power is cut, and when
a host counts as back."""

from __future__ import annotations

import time

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import call
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability import power_cut
from ansible_collections.mqops.logdisk.plugins.plugin_utils._durability.power_cut import Host, PowerCut

READY = "ready R1 b1 seed=7 bsize=4096 file_size=1048576 files=4 qm=1 prefix=logdisk layout=2"
VOLUME = {"filesystem_uuid": "u-1", "mount_point": "/fut", "mount_source": "/dev/sda", "filesystem_type": "xfs"}
BEFORE = {"boot_id": "b1", **VOLUME}
AFTER = {"boot_id": "b2", **VOLUME, "problem": ""}
GUARD = 'while read line; do [ "$line" = look ] && {}; done'
CLEAR = GUARD.format("echo guard: clear")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(power_cut, "PAUSE_S", 0.01)
    monkeypatch.setattr(power_cut, "BREAK_S", 30)


def shell(script):
    return ["/bin/sh", "-c", script]


class Bed:
    """A host whose tester writes until its power is cut, which the file ``cut`` shows."""

    def __init__(self, path):
        self.cut, self.said = path / "cut", []

    def tester(self, *lines, until=""):
        said = "".join(f"echo {line}; " for line in lines or (READY, "tick 5", "'ack 1 9'"))
        return shell(f"echo {READY!r}; {said}{until or f'while [ ! -e {self.cut} ]; do sleep 0.02; done'}")

    def run(self, looks=((AFTER, ""),), abandoned=False, times=None, **more):
        looks = iter(looks)
        last = [(None, "it was not asked")]

        def look():
            last[0] = next(looks, last[0])
            return last[0]

        parts = {"stream": self.tester(), "guard": shell(CLEAR), "asked": {"seed": 7}, **more}
        host = Host(BEFORE, lambda: call(f"touch {self.cut}", 60), look, *(times or (30, 0.3, 1.0)), **parts)
        cut = PowerCut(host, self.said.append, lambda: abandoned)
        return cut.run()


@pytest.fixture
def bed(tmp_path):
    return Bed(tmp_path)


def test_the_power_is_cut_at_once_after_the_last_look(bed):
    command, witnessed, returned = bed.run()
    assert (command.done, command.status, command.problem, bed.cut.exists()) == (True, 0, "", True)
    assert 0 < command.ended_ns <= time.monotonic_ns()
    assert (witnessed.broken, witnessed.early, witnessed.seen.counts) == (True, False, {1: 9})
    assert witnessed.lost_ns >= command.ended_ns - 10**9
    assert (returned.before, returned.after, returned.problem) == (BEFORE, AFTER, "")
    assert bed.said == ["the connection is lost; waiting for the host for up to 1 s"]


@pytest.mark.parametrize(
    ("guard", "problem"),
    [
        (GUARD.format("echo 'guard: refused queue managers are running on this host (QM1)'"), "on this host (QM1)"),
        ("echo no Python >&2; exit 127", "it is not known whether queue managers are running on this host: no Python"),
    ],
)
def test_nothing_is_cut_if_a_queue_manager_has_started_or_the_host_does_not_answer(bed, guard, problem):
    command, witnessed, returned = bed.run(guard=shell(guard))
    assert problem in command.problem
    assert (command.done, bed.cut.exists(), witnessed.early, witnessed.broken) == (False, False, True, False)
    assert returned.after == AFTER


@pytest.mark.parametrize(
    ("tester", "times", "problem"),
    [
        ({"until": "exit 255"}, None, "broke before the cut"),
        ({"until": "sleep 0.5; exit 255"}, (30, 1.0, 1), "broke before the cut"),
        ({"lines": ["tick 5"]}, None, "no write was acknowledged"),
    ],
)
def test_nothing_is_cut_if_nobody_is_seen_to_write(bed, tester, times, problem):
    command, witnessed, _returned = bed.run(stream=bed.tester(*tester.pop("lines", ()), **tester), times=times)
    assert problem in command.problem
    assert (command.done, bed.cut.exists(), witnessed.early) == (False, False, True)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"stream": shell("exec sleep 600"), "times": (0.1, 0, 1)}, "had not written its files after 0 s"),
        ({"asked": {"seed": 8}}, "it was told 8"),
        ({"problem": "queue managers are running"}, "queue managers are running"),
        ({"stream": ["/nonexistent/ssh"]}, "the connection to the tester cannot be started: No such file"),
        ({"abandoned": True}, "Ansible ended before the cut"),
    ],
)
def test_nothing_is_cut_if_the_tester_does_not_start_or_the_controller_has_ended(bed, more, problem):
    command, witnessed, _returned = bed.run(**more)
    assert problem in command.problem
    assert (command.done, bed.cut.exists(), witnessed.early) == (False, False, True)


def test_a_host_that_writes_on_was_not_cut(bed, monkeypatch):
    monkeypatch.setattr(power_cut, "BREAK_S", 0.3)
    command, witnessed, returned = bed.run(stream=bed.tester(until="exec sleep 600"))
    assert (command.done, witnessed.broken, witnessed.lost_ns, witnessed.status) == (True, False, 0, None)
    assert returned.after == AFTER


SAME = {**AFTER, "boot_id": "b1"}
UNMOUNTED = {**AFTER, "mount_point": "/", "filesystem_uuid": ""}


@pytest.mark.parametrize(
    ("looks", "after", "problem"),
    [
        ([(None, "no route"), (SAME, ""), (UNMOUNTED, ""), (AFTER, ""), (SAME, "")], AFTER, ""),
        ([(None, "no route")], None, "no route"),
        ([(SAME, "")], SAME, ""),
        ([(UNMOUNTED, "")], UNMOUNTED, ""),
        ([({**AFTER, "problem": "it hangs"}, "")], {**AFTER, "problem": "it hangs"}, "it hangs"),
        ([(SAME, ""), (None, "no route")], SAME, "no route"),
    ],
)
def test_when_a_host_is_back(bed, looks, after, problem):
    _command, _witnessed, returned = bed.run(looks)
    assert (returned.after, returned.problem) == (after, problem)
    assert returned.waited_s < 30
