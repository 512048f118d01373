# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Each step, with an honest server and with the dishonest servers that the step must detect."""

from __future__ import annotations

from functools import partial

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._dialogue.commands import CommandResult
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.locker import Lockers
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.step import outcome_of, undecided
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps import host_lost as module_host_lost
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps import server_failover as module_failover
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.basic import (
    WAYS,
    concurrent_updates,
    hand_over,
    lock_count,
    same_host,
    second_refused,
    under_load,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.cut_off import cut_off
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.host_lost import Return, host_lost
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.server_failover import (
    AT_ONCE_S,
    FAILOVER_S,
    grace_period_s,
    server_failover,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._locks.steps.settings import same_file_system
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils._locks.simulated import (
    LATE_S,
    LEASE_S,
    SECOND_NS,
    AtOnce,
    Host,
    Process,
    Server,
)

OK = CommandResult(0, "", "", 0.1)


@pytest.fixture(autouse=True)
def _commands_end_at_once(monkeypatch):
    for module in (module_host_lost, module_failover):
        monkeypatch.setattr(module, "Background", AtOnce)


class Filter:
    def __init__(self, server, host="one"):
        self._server, self._host = server, host
        self.is_cut = False

    def cut(self, limit_s):
        self.is_cut = True
        return self._server.cut(self._host)

    def heal(self):
        self.is_cut = False
        self._server.heal(self._host)


def made(step, character="honest", server=None):
    """Return the outcome, the cause and the figures of a step."""
    return outcome_of(partial(step, (server or Server(character)).stage()))


@pytest.mark.parametrize("step", [second_refused, same_host])
def test_a_second_process_is_refused_every_time(step):
    outcome, cause, figures = made(step)
    assert (outcome, cause, figures["tries"], figures["errno"]) == ("kept", "", 100, "EAGAIN")
    assert made(step, "grant")[:2] == ("broken", "granted")


def test_a_holder_keeps_its_lock_when_other_processes_of_its_host_close_the_file():
    figures = made(same_host)[2]
    assert (figures["tries_after_close"], figures["tries_after_read"]) == (100, 100)
    outcome, cause, figures = made(same_host, "closes")
    assert (outcome, cause, figures["way"]) == ("broken", "lost_at_close", "close")
    outcome, cause, figures = made(same_host, "reads")
    assert (outcome, cause, figures["way"], figures["tries_after_close"]) == ("broken", "lost_at_close", "read", 100)


def test_an_error_is_not_a_refusal():
    server = Server()
    server.errno = "EIO"
    assert made(second_refused, server=server) == ("undecided", "refused_by_error", {"errno": "EIO"})


@pytest.mark.parametrize("way", WAYS)
def test_a_lock_is_handed_over(way):
    outcome, cause, figures = made(partial(hand_over, way=way))
    assert (outcome, cause, figures["way"]) == ("kept", "", way)
    assert figures["wait_ns"] < SECOND_NS and figures["poll_ns"] < 3 * SECOND_NS
    assert (figures["try_ns"], figures["poll_round_ns"]) == (0, 2 * SECOND_NS)


def test_a_server_that_is_merely_slow_is_told_from_one_that_notifies_late():
    """What one attempt takes can be subtracted from both ways."""
    server = Server()
    server.try_ns = 2 * SECOND_NS
    figures = made(partial(hand_over, way="close"), server=server)[2]
    assert (figures["try_ns"], figures["poll_round_ns"]) == (2 * SECOND_NS, 4 * SECOND_NS)


def test_a_waiter_that_is_told_late_and_one_that_gets_the_lock_too_early():
    outcome, _cause, figures = made(partial(hand_over, way="close"), "late")
    assert outcome == "kept" and figures["poll_ns"] < 3 * SECOND_NS
    assert figures["wait_ns"] == pytest.approx(LATE_S * SECOND_NS, rel=0.01)
    assert made(partial(hand_over, way="close"), "grant")[:2] == ("broken", "granted")


def test_a_lock_that_is_never_released(monkeypatch):
    server = Server()
    monkeypatch.setattr(server, "release", lambda process: None)
    outcome, cause, figures = made(partial(hand_over, way="kill"), server=server)
    assert (outcome, cause, figures) == ("broken", "not_released", {"way": "kill", "wait_ns": 30 * SECOND_NS})


def test_updates_of_both_hosts_are_kept():
    outcome, _cause, figures = made(concurrent_updates)
    assert (outcome, figures["updates_made"], figures["updates_kept"]) == ("kept", 2000, 2000)
    assert made(concurrent_updates, "loses")[1:][0] == "updates_lost"
    assert made(concurrent_updates, "loses")[2]["updates_kept"] == 1996
    assert made(concurrent_updates, "tears")[:2] == ("broken", "torn")


def test_fewer_attempts_and_updates_are_made_if_each_call_takes_long():
    server = Server()
    server.try_ns = 2 * SECOND_NS
    assert made(second_refused, server=server)[2]["tries"] == 6
    figures = made(concurrent_updates, server=server)[2]
    assert figures["updates_made"] == figures["updates_kept"] == 30


def test_updates_that_one_host_makes_after_the_other_show_nothing():
    outcome, cause, figures = made(concurrent_updates, "polled")
    assert (outcome, cause, figures["updates_made"]) == ("undecided", "not_concurrent", 20_000)


def test_locks_are_counted():
    assert made(partial(lock_count, files=20)) == ("kept", "", {"locks_held": 20, "locks_asked": 20, "errno": ""})
    assert made(partial(lock_count, files=512), "few")[2] == {
        "locks_held": 80,
        "locks_asked": 512,
        "errno": "ENOLCK",
    }


def test_only_the_server_can_limit_the_number_of_locks(monkeypatch):
    """Another error, such as a lack of descriptors or of space, does not show how many locks the server grants."""

    def run_out(host, process, prefix, count):
        host.say(process.number, f"many done held={count - 1} errno={'EMFILE' if prefix.endswith('0') else 'ENOLCK'}")

    monkeypatch.setattr(Host, "do_many", run_out)
    outcome, cause, figures = made(partial(lock_count, files=512))
    assert (outcome, cause) == ("undecided", "call_failed")
    assert (figures["host"], figures["errno"], figures["locks_held"]) == ("one", "EMFILE, ENOLCK", 504)


def test_a_holder_under_load_keeps_its_lock():
    outcome, cause, figures = made(partial(under_load, load_s=30))
    assert (outcome, cause) == ("kept", "")
    assert figures["load_s"] == pytest.approx(30, abs=0.1) and figures["tries"] > 50
    assert figures["verifications"] >= 14 and figures["verification_max_ns"] == 5_000_000
    assert made(partial(under_load, load_s=30), "slow")[2]["verification_max_ns"] == 3 * SECOND_NS


def test_a_holder_that_sees_its_lock_with_another_process():
    """The process that has the lock may be on a third host."""
    server = Server()
    stranger = Process("three", 1)
    server.time.due.append(lambda: server.time.ns > 12 * SECOND_NS and server.owner.update({"pair1-lock": stranger}))
    assert made(partial(under_load, load_s=30), server=server)[:2] == ("broken", "granted")


def test_a_load_during_most_of_which_the_other_host_does_not_answer_shows_nothing(monkeypatch):
    honest = Host.do_lock

    def hang(host, process, name, mode, number=0):
        hangs = mode == "try" and host.server.time.ns > 5 * SECOND_NS
        return None if hangs else honest(host, process, name, mode, number)

    monkeypatch.setattr(Host, "do_lock", hang)
    assert made(partial(under_load, load_s=30))[:2] == ("undecided", "deadline")


def test_a_verification_that_hangs_counts_with_the_time_that_has_passed():
    server = Server()
    server.time.due.append(lambda: server.time.ns > 12 * SECOND_NS and server.cut_ns.setdefault("one", server.time.ns))
    figures = made(partial(under_load, load_s=15), server=server)[2]
    assert figures["verification_max_ns"] > SECOND_NS


def test_a_holder_that_is_cut_off_loses_its_lock_and_cannot_write():
    server = Server()
    partition = Filter(server)
    outcome, cause, figures = made(partial(cut_off, partition=partition), server=server)
    assert (outcome, cause, figures["errno"], figures["late_sectors"]) == ("kept", "", "EIO", 0)
    assert figures["takeover_ns"] == pytest.approx(LEASE_S * SECOND_NS, rel=0.1)
    assert figures["back_ns"] > figures["takeover_ns"] and figures["own_sectors"] > 0
    assert (figures["unlocked_late_sectors"], figures["late_writes"], figures["acknowledged_lost"]) == (0, 0, 0)
    assert figures["acknowledged"] > 0 and figures["refused_after_return"] > 20


@pytest.mark.parametrize(
    ("character", "outcome", "cause"),
    [
        ("unfenced", "broken", "late_write_landed"),
        ("unlocked", "broken", "late_write_landed"),
        ("edge", "broken", "late_write_landed"),
        ("echo", "broken", "late_write_landed"),
        ("undoes", "broken", "acknowledged_lost"),
        ("mounts", "broken", "lost_at_return"),
        ("silent", "broken", "not_fenced"),
        ("stale", "broken", "never_taken_over"),
        ("grant", "broken", "granted"),
        ("connected", "undecided", "still_connected"),
    ],
)
def test_what_a_cut_host_must_not_be_able_to_do(character, outcome, cause):
    server = Server("stale" if character == "connected" else character)
    partition = Filter(server)
    if character == "connected":
        server.character = "connected"
        server.expire = lambda: None
    assert made(partial(cut_off, partition=partition), server=server)[:2] == (outcome, cause)
    assert not partition.is_cut


@pytest.mark.parametrize(
    ("character", "log", "when", "locked", "unlocked"),
    [
        ("unfenced", "locked", "later", True, True),
        ("unlocked", "unlocked", "later", False, True),
        ("edge", "locked", "takeover", True, True),
        ("echo", "locked", "end", True, True),
    ],
)
def test_a_late_write_is_seen_wherever_and_whenever_it_lands(character, log, when, locked, unlocked):
    server = Server(character)
    figures = made(partial(cut_off, partition=Filter(server)), server=server)[2]
    assert (figures["log"], figures["when"]) == (log, when)
    assert (figures["late_writes"] > 0, figures["unlocked_late_writes"] > 0) == (locked, unlocked)
    assert figures["late_sectors"] == 8 * figures["late_writes"]


def test_a_late_write_that_lands_before_the_new_holder_writes():
    """It lands after the logs were read at the takeover, in a page that the new holder overwrites."""
    server = Server()
    stage = server.stage()
    honest = Server.expire

    def expire():
        is_first = not server.expired
        honest(server)
        if is_first and server.expired:
            for process in server.agents["one"].processes.values():
                if process.writes == "pair1-log":
                    server.land_later(process, 3)

    server.expire = expire
    outcome, cause, figures = outcome_of(partial(cut_off, stage, Filter(server)))
    assert (outcome, cause, figures["late_writes"]) == ("broken", "late_write_landed", 1)


class WritesEndEarly(Filter):
    """The writes of the holder fail when it is cut off, and not because it has lost its lock."""

    def cut(self, limit_s):
        agent = self._server.agents["one"]
        (process,) = (each for each in agent.processes.values() if each.writes == "pair1-log")
        process.writes = ""
        agent.say(process.number, f"write failed errno=ENOSPC count={process.count}")
        return super().cut(limit_s)


def test_writes_that_ended_before_the_takeover_could_not_land_after_it():
    server = Server("unfenced")
    outcome, cause, figures = made(partial(cut_off, partition=WritesEndEarly(server)), server=server)
    assert (outcome, cause, figures) == ("undecided", "nothing_pending", {"errno": "ENOSPC"})


def test_a_log_in_which_writes_of_the_new_holder_are_missing_decides_nothing(monkeypatch):
    def scan(host, process, name, *numbers):
        nothing = "a_sectors=0 b_sectors=0 a_write_max=0 late_sectors=0 late_writes=0 lost=0"
        host.say(process.number, f"scan done {nothing} other_sectors=32768")

    monkeypatch.setattr(Host, "do_scan", scan)
    server = Server()
    assert made(partial(cut_off, partition=Filter(server)), server=server)[:2] == ("undecided", "log_incomplete")


class HealsBadly(Filter):
    def heal(self):
        raise undecided("not_healed", host="one")


def test_a_proven_fault_is_reported_although_the_host_could_not_be_reconnected():
    server = Server("stale")
    assert made(partial(cut_off, partition=HealsBadly(server)), server=server)[:2] == ("broken", "never_taken_over")


def lost(server, result=OK, refusal="", is_lost=True, lose=Server.lose, lease_s=0.0, **returns):
    def cut():
        if is_lost:
            lose(server, "one")
        return result

    step = partial(host_lost, refusal=lambda: refusal, cut=cut, bring_back=lambda: back(server, **returns))
    return made(partial(step, lease_s=lease_s), server=server)


def back(server, problem="", after_s=60, booted_s=5):
    """Let a host come back that has booted for some time."""
    server.time.sleep(after_s)
    server.gone.discard("one")
    server.heal("one")
    server.agents["one"] = Host(server, "one")
    return Return(problem, Lockers(server.agents["one"], "pair1", server.time), server.time.ns - booted_s * SECOND_NS)


def test_a_host_without_power_loses_its_lock():
    outcome, cause, figures = lost(Server())
    assert (outcome, cause, figures["status"]) == ("kept", "", 0)
    assert figures["takeover_ns"] == pytest.approx(LEASE_S * SECOND_NS, rel=0.2)
    assert figures["held_ns"] > 0 and figures["tries"] > 1
    assert figures["back_ns"] > 60 * SECOND_NS and figures["refused_after_return"] > 20
    assert (figures["late_writes"], figures["unlocked_late_writes"], figures["acknowledged_lost"]) == (0, 0, 0)
    assert lost(Server("stale"))[:2] == ("broken", "never_taken_over")


def test_a_cut_that_is_none():
    assert lost(Server(), is_lost=False)[:2] == ("undecided", "not_cut")
    failed = CommandResult(1, "no such outlet", "", 0.1)
    outcome, cause, figures = lost(Server(), failed, is_lost=False)
    assert (outcome, cause, figures["status"], figures["output"]) == (
        "undecided",
        "command_failed",
        1,
        "no such outlet",
    )
    assert lost(Server(), refusal="QM1 runs")[1:] == ("queue_managers", {"why": "QM1 runs"})


@pytest.mark.parametrize(
    ("character", "cause"),
    [("mounts", "lost_at_return"), ("undoes", "acknowledged_lost"), ("edge", "late_write_landed")],
)
def test_what_a_server_must_not_do_when_a_host_is_lost_and_comes_back(character, cause):
    assert lost(Server(character))[:2] == ("broken", cause)
    assert lost(Server(character), problem="did_not_come_back")[:2] == (
        ("broken", cause) if character == "undoes" else ("undecided", "did_not_come_back")
    )


def test_a_takeover_after_the_host_had_booted_again_proves_nothing():
    """The host may have released its lock itself when it mounted the directory again."""
    outcome, cause, figures = lost(Server(), booted_s=75)
    assert (outcome, cause) == ("undecided", "seen_again")
    assert figures["back_before_ns"] > 0
    assert lost(Server(), problem="did_not_come_back")[:2] == ("undecided", "did_not_come_back")


def released(server, host):
    """The server releases the lock of a lost host at once, as if its process had ended."""
    server.lose(host)
    for process in list(server.agents[host].processes.values()):
        server.release(process)


def test_a_host_that_releases_its_lock_itself_did_not_lose_its_power():
    assert lost(Server("stale"), lose=Server.shut_down)[:2] == ("undecided", "orderly_end")
    assert lost(Server("stale"), lose=released, lease_s=10)[:2] == ("undecided", "orderly_end")
    assert lost(Server(), lease_s=10)[:2] == ("kept", "")


def test_a_tester_that_ends_before_the_cut_takes_effect():
    def end_lockers(server, host):
        for process in list(server.agents[host].processes.values()):
            server.agents[host].finish(process, "kill ended signal=KILL")
        server.lose(host)

    assert lost(Server("stale"), lose=end_lockers)[:2] == ("undecided", "orderly_end")


def test_a_lock_that_is_granted_while_its_holder_has_power():
    """The holder's connection breaks some seconds after the other host got the lock."""
    server = Server()

    def give_away(server, host):
        server.owner.clear()
        begin_ns = server.time.ns
        server.time.due.append(lambda: server.time.ns > begin_ns + 5 * SECOND_NS and server.lose(host))

    assert lost(server, lose=give_away)[:2] == ("broken", "granted")


def failed_over(server, during, result=OK, grace_s=20.0):
    def fail_over():
        during()
        return result

    return made(partial(server_failover, fail_over=fail_over, grace_s=grace_s), server=server)


def test_a_server_that_fails_over():
    server = Server()
    outcome, cause, figures = failed_over(server, server.fail_over)
    assert (outcome, cause) == ("kept", "") and figures["tries"] >= 10
    assert figures["write_pause_max_ns"] > 2 * SECOND_NS
    assert 0 <= figures["pause_after_ns"] < SECOND_NS and figures["earlier_pause_max_ns"] == 900
    assert figures["acknowledged"] > 0 and figures["acknowledged_lost"] == 0
    assert figures["refused_s"] == pytest.approx(20, abs=1)
    failed = CommandResult(None, "", "the command had not ended", 120.0)
    assert failed_over(Server(), lambda: None, failed)[:2] == ("undecided", "command_failed")


@pytest.mark.parametrize(("lease_s", "watched_s"), [(0, 90), (10, 20), (45, 45), (300, 120)])
def test_refusals_are_watched_for_the_grace_period(lease_s, watched_s):
    assert grace_period_s(lease_s) == watched_s


def test_an_ordinary_stall_is_no_failover():
    assert failed_over(Server(), lambda: None)[:2] == ("undecided", "no_failover_seen")
    stalls = Server()
    assert failed_over(stalls, lambda: stalls.fail_over(0.6))[:2] == ("undecided", "no_failover_seen")


def test_a_pause_like_those_before_is_no_failover():
    server = Server()
    server.after(5, partial(server.fail_over, 2))
    outcome, cause, figures = failed_over(server, lambda: server.fail_over(4))
    assert (outcome, cause) == ("undecided", "no_failover_seen")
    assert figures["earlier_pause_max_ns"] >= 2 * SECOND_NS


def test_a_pause_that_begins_long_after_the_command_is_no_failover():
    server = Server()
    late = partial(server.after, 119, server.fail_over)
    assert failed_over(server, late)[:2] == ("kept", "")
    server = Server()
    too_late = partial(server.after, 125, server.fail_over)
    assert failed_over(server, too_late)[:2] == ("undecided", "no_failover_seen")


def test_a_failover_that_never_ends_is_a_fault():
    server = Server()
    outcome, cause, figures = failed_over(server, lambda: server.fail_over(10_000))
    assert (outcome, cause) == ("broken", "pause_not_ended")
    assert figures["write_pause_max_ns"] > (FAILOVER_S - 10) * SECOND_NS


def test_a_failover_that_never_ends_is_a_fault_although_the_command_was_stopped(monkeypatch):
    """A command may wait until the file server answers again."""
    server = Server()

    class Stopped:
        result = None

        def __init__(self, function):
            stopped = function()
            server.after(120, lambda: setattr(self, "result", stopped))

    monkeypatch.setattr(module_failover, "Background", Stopped)
    stopped = CommandResult(None, "", "the command had not ended", 120.0)
    assert failed_over(server, lambda: server.fail_over(10_000), stopped)[:2] == ("broken", "pause_not_ended")


def test_a_verification_that_hangs_when_the_failover_step_ends_counts_with_its_age(monkeypatch):
    server = Server()
    honest = Host.work

    def work(host, process):
        if server.paused_until_ns:
            process.next_verify_ns = server.time.ns + SECOND_NS
        return honest(host, process)

    monkeypatch.setattr(Host, "work", work)
    figures = failed_over(server, server.fail_over, grace_s=60.0)[2]
    assert figures["verification_max_ns"] > 55 * SECOND_NS


def test_locks_that_are_lost_at_a_failover_or_after_it():
    forgets = Server()
    assert failed_over(forgets, forgets.owner.clear)[:2] == ("broken", "lock_lost_at_failover")
    later = Server()

    def fail_over():
        later.fail_over()
        later.after(3 + 15, later.owner.clear)

    outcome, cause, figures = failed_over(later, fail_over)
    assert (outcome, cause) == ("broken", "lock_lost_after_failover")
    assert AT_ONCE_S < figures["after_ns"] / SECOND_NS < 17


def test_acknowledged_writes_that_a_failover_undoes():
    server = Server("rolls_back")
    outcome, cause, figures = failed_over(server, server.fail_over)
    assert (outcome, cause, figures["acknowledged_lost"]) == ("broken", "acknowledged_lost", 400)


def test_acknowledged_writes_that_are_visible_late_after_a_failover():
    server = Server()

    def fail_over():
        server.fail_over()
        server.visible_ns = server.time.ns + 9 * SECOND_NS

    outcome, cause, figures = failed_over(server, fail_over)
    assert (outcome, cause, figures["acknowledged_lost"]) == ("kept", "", 0)


def test_what_one_host_writes_is_read_by_the_other():
    settings = {"two": {"path": "/MQHA", "uid": 1001}}
    read = partial(same_file_system, settings=settings)
    assert made(read) == ("kept", "", {})
    assert made(read, "elsewhere") == ("broken", "not_shared", {"host": "two", "path": "/MQHA"})
    assert made(read, "drops") == ("broken", "write_lost", {"host": "one"})


def test_data_that_become_visible_late_are_no_fault():
    server = Server()
    server.visible_ns = server.time.ns + SECOND_NS // 3
    outcome, cause, figures = made(same_file_system, server=server)
    assert (outcome, cause) == ("kept", "") and figures["visible_after_ns"] == pytest.approx(SECOND_NS / 3, rel=0.2)


@pytest.mark.parametrize(
    ("errno", "outcome", "cause"),
    [
        ("ENOENT", "broken", "not_shared"),
        ("EACCES", "undecided", "not_permitted"),
        ("EPERM", "undecided", "not_permitted"),
        ("EIO", "undecided", "call_failed"),
    ],
)
def test_a_file_that_the_other_host_cannot_open(monkeypatch, errno, outcome, cause):
    honest = Host.do_open

    def do_open(host, process, name):
        return (
            host.say(process.number, f"open failed errno={errno}")
            if host.host == "two"
            else honest(host, process, name)
        )

    monkeypatch.setattr(Host, "do_open", do_open)
    found = made(partial(same_file_system, settings={"two": {"path": "/MQHA", "uid": 1001}}))
    assert found[:2] == (outcome, cause)
    if cause == "not_permitted":
        assert found[2] == {"host": "two", "path": "/MQHA", "user": "1001", "errno": errno}


def test_a_host_that_is_lost_or_silent_decides_nothing():
    server = Server()
    stage = server.stage()
    server.lose("two")
    assert outcome_of(partial(second_refused, stage))[:2] == ("undecided", "agent_lost")
    silent = Server()
    stage = silent.stage()
    silent.agents["two"].send = lambda *arguments: None
    assert outcome_of(partial(second_refused, stage)) == ("undecided", "deadline", {"host": "two", "verb": "start"})


def test_a_lock_that_never_becomes_free_decides_nothing():
    server = Server()
    stage = server.stage()
    stage.hold(stage.other, "lock")
    assert outcome_of(partial(second_refused, stage))[:2] == ("undecided", "lock_not_free")


def test_an_unexpected_error_ends_only_its_step():
    def step():
        raise UnicodeEncodeError("ascii", "x", 0, 1, "no")

    outcome, cause, figures = outcome_of(step)
    assert (outcome, cause) == ("undecided", "internal_error") and figures["said"].startswith("UnicodeEncodeError: ")


def test_lockers_that_ended_can_be_used_again():
    server = Server()
    stage = server.stage()
    for _ in range(40):
        stage.hold(stage.holder, "lock")
        stage.open(stage.other, "lock")
        stage.end()
    assert not server.agents["one"].processes and not server.agents["two"].processes


def test_the_lock_is_free_again_although_its_holder_was_lost():
    server = Server()
    stage = server.stage()
    step = partial(host_lost, stage, lambda: "", lambda: server.lose("one") or OK, lambda: back(server))
    assert outcome_of(step)[0] == "kept"
    assert server.owner["pair1-lock"].host == "two"
    stage.end()
    assert server.owner["pair1-lock"] is None
