# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The connection to a tester, with programs that answer correctly, print something else, or do not end."""

from __future__ import annotations

import sys
import time

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks import agent as module
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.agent import Agent, AgentLostError

READY = "ready R1 0a version=1 uid=0 gid=0 age_ns=5"


def agent(text):
    return Agent("one", [sys.executable, "-u", "-c", text], "R1")


def wait_for(found):
    end = time.monotonic() + 30
    while not (got := found()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return got


ECHO = f"""
import sys
print("Welcome to one")
print("{READY}")
for line in sys.stdin:
    number, verb, *arguments = line.split()
    print(number, verb, "done", *(f"a={{each}}" for each in arguments))
sys.exit(0)
"""


def test_a_conversation_in_which_each_locker_has_its_own_answers():
    one = agent(ECHO)
    assert one.ready(30).boot_id == "0a"
    before_ns = one.last_ns
    one.send(2, "open", "lock")
    one.send(1, "start")
    answer = wait_for(lambda: one.take(2))
    assert (answer.verb, answer.values, answer.at_ns >= before_ns) == ("open", {"a": "lock"}, True)
    assert wait_for(lambda: one.take(1)).verb == "start"
    assert one.take(1) is None
    assert one.end() == 0
    assert one.is_over
    with pytest.raises(AgentLostError):
        one.take(1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("import sys; print('no such directory', file=sys.stderr); sys.exit(2)", "no such directory"),
        ("print('ready R2 0a version=1 uid=0 gid=0 age_ns=5', flush=True); input()", "another run"),
        ("print('x\\n' * 2000, flush=True); input()", "none from the tester"),
        ("print('x' * 9999, flush=True); input()", "too long"),
        (f"print('{READY}\\nnonsense', flush=True); input()", "not an answer"),
    ],
)
def test_a_tester_that_is_none_is_lost(text, why):
    one = agent(text)
    with pytest.raises(AgentLostError, match=why):
        wait_for(lambda: one.ready(0.01) and one.take(1))
    one.end()


@pytest.mark.parametrize(
    ("silent_s", "status", "is_closed"),
    [(0, 255, True), (1, 255, False), (1, 1, True)],
    ids=["sshd ended", "power lost", "tester ended"],
)
def test_who_ended_the_connection(monkeypatch, silent_s, status, is_closed):
    monkeypatch.setattr(module, "CLOSED_NS", 500_000_000)
    one = agent(f"import sys, time; print('{READY}', flush=True); time.sleep({silent_s}); sys.exit({status})")
    wait_for(lambda: one.is_over)
    assert one.was_closed() is is_closed


def test_a_tester_that_says_nothing_is_not_waited_for():
    one = agent("input()")
    assert one.ready(0.05) is None
    one.end()


def test_a_tester_that_does_not_end_is_killed():
    one = agent("import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)")
    assert one.end(0.2) is None
