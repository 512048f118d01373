# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The guard, run as the program that is sent to a host. Only the tests on the test bed examine its nftables table."""

from __future__ import annotations

import sys

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _host_guard, _queue_managers
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.guard import Guard, guard_command
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import StepEnd
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.cut_off import Partition

NOT_KNOWN = "it is not known whether queue managers are running on this host"


def guard(*before):
    interpreter, option, text, *arguments = guard_command(sys.executable, "/nonexistent/mqs.ini")
    return Guard([interpreter, "-I", option, "".join(before) + text, *arguments])


def partition(one):
    return Partition("one", one, "10.0.0.1", 2049)


def test_the_program_needs_nothing_on_the_host():
    one = guard("print('Welcome')\n")
    try:
        # Hosts of the test bed may have queue managers, whose processes this machine shows.
        assert one.refusal().startswith(("queue managers are running", "this user cannot see")) or not one.refusal()
        partition(one).heal()
    finally:
        one.end()


def test_a_program_that_does_not_run_refuses():
    one = Guard([sys.executable, "-c", "import sys; sys.exit('sudo: a password is required')"])
    assert one.refusal() == f"{NOT_KNOWN}: sudo: a password is required"
    with pytest.raises(StepEnd):
        partition(one).heal()
    one.end()


@pytest.mark.parametrize("answer", ["refused", "refused ", "", "clearly", "unclear"])
def test_only_a_clear_answer_is_no_refusal(answer):
    one = Guard([sys.executable, "-u", "-c", f"while True: input(); print('guard: {answer}')"])
    assert one.refusal() == NOT_KNOWN
    one.end()


@pytest.mark.parametrize(
    ("code", "outcome", "cause"),
    [
        ("sys.exit('sudo: a password is required')", "not_covered", "no_privilege"),
        ("sys.exit(255)", "undecided", "not_cut"),  # ssh could not connect
        ("input(); print('guard: failed nft hangs'); sys.exit(1)", "undecided", "not_cut"),
        ("os.kill(os.getpid(), 9)", "undecided", "not_cut"),
    ],
)
def test_a_host_on_which_the_guard_cannot_become_root_is_not_covered(code, outcome, cause):
    one = Guard([sys.executable, "-u", "-c", f"import os, sys; {code}"])
    with pytest.raises(StepEnd) as ended:
        partition(one).cut(60)
    assert (ended.value.outcome, ended.value.cause) == (outcome, cause)
    one.end()


ENDS_AFTER_AN_ANSWER = """
while input() != "look":
    pass
print("guard: clear")
input()
raise SystemExit(1)
"""


def test_a_guard_that_ended_after_an_answer_ran_as_root():
    one = Guard([sys.executable, "-u", "-c", ENDS_AFTER_AN_ANSWER])
    assert one.refusal() == ""
    with pytest.raises(StepEnd) as ended:
        partition(one).cut(60)
    assert (ended.value.outcome, ended.value.cause) == ("undecided", "not_cut")
    one.end()


@pytest.fixture
def rules(monkeypatch):
    found = []
    monkeypatch.setattr(_host_guard, "nft", found.append)
    monkeypatch.setattr(_host_guard.os, "geteuid", lambda: 0)
    monkeypatch.setattr(_queue_managers, "why_not_to_cut", lambda mqs_ini: "")
    return found


def test_a_cut_that_the_kernel_ends(rules):
    one = _host_guard.Guard("/mqs.ini")
    assert one.answer("look") == "clear"
    assert one.answer("cut 10.0.0.1 2049 90") == "cut"
    assert "10.0.0.1 . 2049 timeout 90s" in rules[0] and one.seconds == 90
    assert one.answer("heal") == "healed" and one.seconds is None
    assert rules[1].splitlines()[-1].startswith("delete table")
    assert one.answer("cut fd00::1 2049 90") == "cut" and "ip6 daddr . tcp dport" in rules[2]
    assert one.answer("cut 10.0.0.1 2049").startswith("failed")


@pytest.mark.parametrize("address", ['*};include"/tmp/x.nft"#', "fe80::1%eth0", "nas1", "\ufffd"])
def test_only_an_address_gets_into_the_rules(rules, address):
    """nft would execute other text as root."""
    one = _host_guard.Guard("/mqs.ini")
    assert one.answer(f"cut {address} 2049 90") == f"failed {address} is not an IP address"
    assert not [text for text in rules if address in text] and one.seconds is None


def test_what_cannot_be_cut(rules, monkeypatch):
    one = _host_guard.Guard("/mqs.ini")

    def no_nft(text):
        raise FileNotFoundError

    def fails(text):
        raise _host_guard.GuardError("syntax error")

    for nft, answer in ((no_nft, "no_nft"), (fails, "failed syntax error")):
        monkeypatch.setattr(_host_guard, "nft", nft)
        assert one.answer("cut 10.0.0.1 2049 90") == answer
    monkeypatch.setattr(_host_guard.os, "geteuid", lambda: 7)
    assert one.answer("cut 10.0.0.1 2049 90") == "no_privilege"
    monkeypatch.setattr(_queue_managers, "why_not_to_cut", lambda mqs_ini: "QM1 runs")
    assert one.answer("look") == one.answer("cut 10.0.0.1 2049 90") == "refused QM1 runs"
