# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The order of a pair's steps, with simulated hosts, and the steps that are left out if something is missing."""

from __future__ import annotations

import contextlib
import os
from types import SimpleNamespace

import pytest
from ansible_collections.mqops.logdisk.plugins.module_utils import _workspace
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks import pair_test
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import Clock
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.pair_test import Order, PairTest, Side
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.pairs import Pair
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import AbandonedError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps import host_lost as module_host_lost
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps import host_lost as module_pod_deleted
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps import server_failover as module_failover
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._locks.simulated import (
    SECOND_NS,
    AtOnce,
    Host,
    Server,
)

PAIR = Pair("one", "two", "one", "pair1")
DONE = CommandResult(0, "", "", 0.1)


class World:
    """A server with two hosts that can be cut off, lose power and come back."""

    def __init__(self, monkeypatch, character="honest"):
        self.server = Server(character)
        self.boots = {"one": 1, "two": 1}
        self.queue_managers = ""
        self.comes_back = True
        self.cuts = []
        monkeypatch.setattr(pair_test, "Agent", self.agent)
        monkeypatch.setattr(pair_test, "guarded", self.guarded)
        monkeypatch.setattr(pair_test, "Partition", self.partition)
        monkeypatch.setattr(module_host_lost, "Background", AtOnce)
        monkeypatch.setattr(module_failover, "Background", AtOnce)

    def agent(self, host, command, run_id):
        if host in self.server.gone and self.comes_back:
            self.server.gone.discard(host)
            self.server.heal(host)
        agent = self.server.agents[host] = Host(self.server, host)
        ready = None if agent.is_over else SimpleNamespace(boot_id=str(self.boots[host]), age_ns=SECOND_NS)
        agent.ready = lambda patience_s: self.server.time.sleep(0.1) or ready
        agent.end = lambda: 0
        return agent

    @contextlib.contextmanager
    def guarded(self, command):
        yield SimpleNamespace(refusal=lambda: self.queue_managers)

    def partition(self, host, guard, address, port):
        return SimpleNamespace(cut=lambda limit_s: self.server.cut(host), heal=lambda: self.server.heal(host))

    def fail_over(self):
        self.server.fail_over()
        return DONE

    def lose(self, host, reboots=True):
        def cut():
            self.cuts.append(host)
            self.boots[host] += reboots
            self.server.lose(host)
            return DONE

        return cut

    def test(self, sides=None, **order):
        settings = {"server_address": "10.1.0.1", "mount_source": "10.1.0.1:/mq", "uid": 0, "gid": 0}
        common = {"guard": ["guard"], "root_guard": ["sudo", "guard"], "is_confirmed": True, "wait_s": 60}
        whole = {
            host: Side(
                host,
                {**settings, "boot_id": host, "hostname": host, "directory_exists": True},
                ["ssh", host],
                **{**common, "cut": self.lose(host), **(sides or {}).get(host, {})},
            )
            for host in ("one", "two")
        }
        given = {"load_s": 5, "takeover_s": 30, "lock_files": 16, "port": 2049, "fail_over": self.fail_over, **order}
        self.said, self.begun = [], []
        order = Order("R1", "/MQHA", **given)
        return PairTest(
            PAIR, whole, order, self.server.time, self.said.append, lambda *step: self.begun.append(step)
        ).run()


@pytest.fixture
def world(monkeypatch):
    return lambda character="honest": World(monkeypatch, character)


def outcomes(result):
    return [(step["step"], step["holder"], step["outcome"], step["cause"]) for step in result["steps"]]


def test_all_steps_in_both_directions(world):
    here = world()
    result = here.test()
    assert [each for each in outcomes(result) if each[2] != "kept"] == []
    names = [(step["step"], step["holder"]) for step in result["steps"]]
    assert names == here.begun
    assert names[0] == ("settings", "one") and names[-2:] == [("host_lost", "one"), ("host_lost", "two")]
    assert here.cuts == ["one", "two"]
    assert (result["directory"], result["server"], set(result["settings"])) == ("/MQHA", "10.1.0.1:/mq", {"one", "two"})
    assert {step["other"] for step in result["steps"] if step["step"] == "same_host"} == {"one", "two"}
    assert all("back_ns" in step["figures"] for step in result["steps"] if step["step"] == "host_lost")
    assert here.said[0] == "one: cutting the host off from 10.1.0.1, port 2049"


def test_nothing_is_cut_if_the_second_host_gets_the_lock_anyway(world):
    here = world("grant")
    result = here.test()
    assert ("second_refused", "one", "broken", "granted") in outcomes(result)
    for name in ("cut_off", "host_lost", "server_failover"):
        assert (name, "one", "not_covered", "second_granted") in outcomes(result)
    assert here.cuts == here.said == []


def test_a_pair_with_a_broken_setting_is_not_tested_further(world):
    result = world("elsewhere").test()
    assert outcomes(result) == [("settings", "one", "broken", "not_shared")]


def test_a_pair_whose_host_could_not_be_prepared(world):
    result = world().test({"two": {"problem": "no space"}})
    assert outcomes(result) == [("settings", "one", "undecided", "not_tested")]
    assert result["steps"][0]["figures"] == {"host": "two", "why": "no space"}


def test_what_needs_a_command_or_a_confirmation_is_not_covered(world, monkeypatch):
    here = world()
    here.lose = lambda host: None
    result = here.test(fail_over=None)
    assert ("host_lost", "two", "not_covered", "no_command") in outcomes(result)
    assert ("server_failover", "one", "not_covered", "no_command") in outcomes(result)
    alone = world()
    assert outcomes(alone.test({host: {"is_confirmed": False, "root_guard": []} for host in ("one", "two")}))[-5:] == [
        ("cut_off", "one", "not_covered", "no_confirm"),
        ("cut_off", "two", "not_covered", "no_confirm"),
        ("server_failover", "one", "kept", ""),
        ("host_lost", "one", "not_covered", "no_confirm"),
        ("host_lost", "two", "not_covered", "no_confirm"),
    ]
    assert alone.cuts == []


def test_a_host_with_a_queue_manager_is_not_cut(world):
    here = world()
    here.queue_managers = "queue managers are running on this host (QM1)"
    result = here.test()
    assert ("host_lost", "one", "undecided", "queue_managers") in outcomes(result)
    assert here.cuts == []


def test_a_host_that_does_not_come_back(world):
    here = world()
    here.comes_back = False
    result = outcomes(here.test())
    assert ("host_lost", "one", "undecided", "did_not_come_back") in result
    assert ("host_lost", "two", "undecided", "agent_lost") in result and here.cuts == ["one"]


def test_nothing_more_is_done_once_nobody_waits_for_the_result(world, monkeypatch):
    here = world()
    parent_pid = os.getppid()
    monkeypatch.setattr(os, "getppid", lambda: parent_pid + 1 if here.server.time.ns > 5 * SECOND_NS else parent_pid)
    simulated = here.server.time.sleep

    def sleep(seconds):
        Clock.sleep(here.server.time, 0)
        simulated(seconds)

    monkeypatch.setattr(here.server.time, "sleep", sleep)
    with pytest.raises(AbandonedError):
        here.test()
    assert here.cuts == here.said == []


def test_a_host_that_was_only_disconnected(world):
    here = world()
    lose, here.boots = here.lose, {"one": 1, "two": 1}
    here.lose = lambda host: lose(host, reboots=False)
    assert ("host_lost", "one", "undecided", "not_cut") in outcomes(here.test())


def test_a_host_that_was_only_disconnected_rightly_keeps_its_lock(world):
    here = world("stale")
    lose = here.lose
    here.lose = lambda host: lose(host, reboots=False)
    assert ("host_lost", "one", "undecided", "not_cut") in outcomes(here.test())


def test_the_files_of_a_pair_are_removed_although_their_host_lost_power():
    """The workspace removes them by their names."""
    assert all(_workspace.LOCKED_FILE.match(f"{PAIR.label}-{name}") for name in pair_test.FILES)


class Pods(World):
    """Two pods on two nodes, which are replaced when they are deleted."""

    def __init__(self, monkeypatch, character):
        super().__init__(monkeypatch, character)
        self.boots = {"one": 1, "two": 2}

    def delete(self, host):
        def run():
            self.cuts.append(host)
            self.server.shut_down(host)
            return DONE

        return run

    def test(self, **sides):
        given = {host: {"is_confirmed": False, "delete": self.delete(host), **sides} for host in ("one", "two")}
        return super().test(given)


@pytest.fixture
def pods(monkeypatch):
    monkeypatch.setattr(module_pod_deleted, "Background", AtOnce)
    return lambda character="honest": Pods(monkeypatch, character)


def test_both_pods_are_deleted_and_replaced_and_nothing_else_is_cut(pods):
    here = pods()
    found = outcomes(here.test())
    assert [each for each in found if each[2] != "kept"] == [
        (name, host, "not_covered", "is_pod")
        for name, host in (
            ("cut_off", "one"),
            ("cut_off", "two"),
            ("server_failover", "one"),
            ("host_lost", "one"),
            ("host_lost", "two"),
        )
    ]
    assert [each[1] for each in found if each[0] == "pod_deleted"] == here.cuts == ["one", "two"]


def test_a_pod_that_is_not_replaced(pods):
    here = pods()
    here.comes_back = False
    found = outcomes(here.test())
    assert ("pod_deleted", "one", "undecided", "did_not_come_back") in found
    assert here.cuts == ["one"]


def test_a_pod_that_cannot_be_deleted(pods):
    here = pods()
    here.delete = lambda host: lambda: CommandResult(None, "", "forbidden", 0.1)
    result = here.test()
    assert ("pod_deleted", "one", "undecided", "command_failed") in outcomes(result)
    assert next(step for step in result["steps"] if step["step"] == "pod_deleted")["figures"]["problem"] == "forbidden"


def test_a_replacement_on_the_node_of_the_other_pod_shows_nothing(pods):
    here = pods()
    delete = here.delete

    def moved(host):
        def run():
            here.boots[host] = here.boots["two"]
            return delete(host)()

        return run

    here.boots, here.delete = {"one": 1, "two": 2}, moved
    found = outcomes(here.test())
    assert [each[1:] for each in found if each[0] == "pod_deleted"] == [
        ("one", "kept", ""),
        ("two", "undecided", "same_node"),
    ]
    assert here.cuts == ["one"]
