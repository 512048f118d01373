# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hosts that share a directory are tested end to end: an honest file server passes every step, each dishonest
server fails in the expected step, tests that would prove nothing are refused, and nothing is left behind."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible_runs import Controller
from lock_pairs import (
    FILTER,
    HONEST,
    LEASE_S,
    LIES,
    LOAD_S,
    SECOND_NS,
    SMALL,
    TAKEOVER_S,
    broken_before,
    command_of_testbed,
    end_fail_overs,
    filters,
    host_names,
    inventory,
    is_seen,
    left_on,
    liar,
    not_kept,
    pair,
    steps_of,
)
from testbed import Bed, HostSpec, Settings
from testbed.servers import ServerSpec
from testbed.shell import wait_for

COUNTING = """#!/bin/sh
case " $* " in *" -O "*) ;; *) echo call >> {calls} ;; esac
exec ssh "$@"
"""
MOST_CALLS = 8
ALL_LIES = list(LIES)
AT_A_TIME = 8  # on two processors, more servers would be slow
OTHER_RUN = """mkdir -p -m 700 /root/.mqops-logdisk; setsid python3 -c '
import fcntl, time
lock = open("/root/.mqops-logdisk/lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
time.sleep(900)
' > /dev/null 2>&1 < /dev/null &"""


@pytest.mark.long
def test_an_honest_server_keeps_every_step(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """The locks are tested in both directions, and the times of each take-over are reported. Before that, a preflight
    reports what would be done."""
    bed = start(*pair(settings, "one", "two", ServerSpec(lease_s=LEASE_S)))
    hosts = inventory(bed, tmp_path)

    preflight = controller.run("locks", "-i", hosts, "--check")
    assert preflight.status == 0
    assert "ready: the locks would be tested with two. The host would be cut off from 10." in preflight.words
    assert f"its power would be cut with: {command_of_testbed(settings)} cut one" in preflight.words
    assert left_on(bed["one"]) == left_on(bed["two"]) == []

    outcome = controller.run("locks", "-i", hosts)

    steps = steps_of(outcome, "one")
    assert not_kept(steps) == []
    assert outcome.status == 0
    assert [step["step"] for step in steps].count("hand_over") == 8
    assert {(step["step"], step["holder"]) for step in steps} >= {
        (name, host)
        for name in ("second_refused", "same_host", "hand_over", "under_load", "cut_off", "host_lost")
        for host in ("one", "two")
    }
    for step in steps:
        figures = step["figures"]
        if step["step"] in ("cut_off", "host_lost"):
            assert 1 * SECOND_NS < figures["takeover_ns"] < TAKEOVER_S * SECOND_NS
        if step["step"] == "cut_off":
            assert (figures["errno"], figures["late_sectors"]) == ("EIO", 0)
        if step["step"] == "under_load":
            assert figures["load_s"] >= LOAD_S and figures["tries"] > 5 and figures["verifications"] > 2
        if step["step"] == "concurrent_updates":
            assert figures["updates_kept"] == figures["updates_made"] == 2000
        if step["step"] == "lock_count":
            assert figures["locks_held"] == 512
        if step["step"] == "server_failover":
            assert figures["write_pause_max_ns"] > SECOND_NS // 2
    assert left_on(bed["one"]) == left_on(bed["two"]) == []


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize("lies", [ALL_LIES[start : start + AT_A_TIME] for start in range(0, len(LIES), AT_A_TIME)])
def test_each_lie_is_seen_in_its_step(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path, lies: list[str]
) -> None:
    """Several servers are tested in one run, at the same time."""
    bed = start(*(spec for character in lies for spec in liar(settings, character)))

    outcome = controller.run("locks", "-i", inventory(bed, tmp_path))

    assert outcome.status == 2
    for character in lies:
        host = host_names(character)[0]
        steps = steps_of(outcome, host)
        assert is_seen(character, steps), (character, not_kept(steps))
        if character != "crowded":  # on a busy machine, the updates of two hosts are already load enough
            assert broken_before(character, steps) == [], character
        assert outcome.certification.records[host]["verdict"] == LIES[character].verdict, character
    end_fail_overs(bed)
    assert [left for host in bed for left in left_on(host)] == []


@pytest.mark.thorough
@pytest.mark.long
def test_an_honest_server_may_be_slow(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    bed = start(*(spec for character in HONEST for spec in liar(settings, character)))

    outcome = controller.run("locks", "-i", inventory(bed, tmp_path))

    for character in HONEST:
        assert not_kept(steps_of(outcome, host_names(character)[0])) == [], character
    assert outcome.status == 0


def test_what_proves_nothing_is_refused(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """A test is refused on a local file system that is declared as shared, on two names of one machine, on two hosts
    with one kernel, and on a host without a partner. The calls to each host are counted."""
    bed = start(
        HostSpec("local1", variables={"locks_pair": ["local2"]}),
        HostSpec("local2"),
        HostSpec("twice", variables={"locks_pair": ["again"]}),
        HostSpec("pod1", variables={"locks_pair": ["pod2"]}),
        HostSpec("pod2"),
    )
    for name in ("pod1", "pod2"):
        bed.ssh(bed[name], "umount /proc/sys/kernel/random/boot_id")
    hosts = bed.inventory(tmp_path / "hosts.yml", variables=SMALL)
    content = yaml.safe_load(hosts.read_text())
    named = content["all"]["hosts"]
    named["again"] = {name: value for name, value in named["twice"].items() if name != "locks_pair"}
    hosts.write_text(yaml.safe_dump(content))

    alone = controller.run("locks", "-i", str(hosts), "--limit", "local2")
    assert alone.status == 2
    assert "shares a directory with local2: no queue manager was discovered" in alone.words

    counting, calls = tmp_path / "ssh", tmp_path / "calls"
    counting.write_text(COUNTING.format(calls=calls))
    counting.chmod(0o755)
    outcome = controller.run("locks", "-i", str(hosts), env={"ANSIBLE_SSH_EXECUTABLE": str(counting)})

    assert outcome.status == 2
    assert not_kept(steps_of(outcome, "local1")) == [("settings", "broken", "not_shared")]
    assert not_kept(steps_of(outcome, "pod1")) == [("settings", "broken", "one_kernel")]
    records = outcome.certifications[-1].records
    assert {host: record["verdict"] for host, record in records.items()} == {
        "local1": "fail",
        "local2": "fail",
        "pod1": "fail",
        "pod2": "fail",
        "twice": "error",
        "again": "error",
    }
    assert "are the same machine" in records["twice"]["reasons"][0]
    assert len(calls.read_text().splitlines()) <= MOST_CALLS * 6
    assert left_on(bed["local1"]) == left_on(bed["local2"]) == []


@pytest.mark.thorough
def test_a_host_that_refuses_the_test_keeps_no_directory(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    """Another run is measuring on the host. This is noticed only after the directory was created."""
    bed = start(HostSpec("one", variables={"locks_pair": ["two"]}), HostSpec("two"))
    bed.ssh(bed["one"], OTHER_RUN)

    outcome = controller.run("locks", "-i", inventory(bed, tmp_path))

    assert outcome.status == 2
    assert "another certification is running" in outcome.certification.records["one"]["reasons"][0]
    assert left_on(bed["one"]) == left_on(bed["two"]) == []


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize(
    ("step", "how"), [("hand_over", "Ctrl-C"), ("under_load", "Ctrl-C"), ("cut_off", "Ctrl-C"), ("cut_off", "killed")]
)
def test_an_interrupted_step_leaves_nothing(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path, step: str, how: str
) -> None:
    """No lock, process or packet filter is left behind, and after the clean-up no file either."""
    bed = start(*pair(settings, "one", "two", ServerSpec(lease_s=LEASE_S)))
    load_s = 3600 if step == "under_load" else 1
    hosts = inventory(bed, tmp_path, locks_seconds=load_s)
    seen = {
        "hand_over": lambda: len(bed["two"].pids("logdisk")) > 1,
        "under_load": lambda: "-many7-" in " ".join(bed["one"].files("/fut")),
        "cut_off": lambda: FILTER in filters(bed["one"]),
    }
    running = controller.start("locks", "-i", hosts)
    wait_for(seen[step], f"the step {step} goes on", 300)
    if how == "killed":
        running.kill()
        running.wait()
    else:
        assert controller.interrupt(running) != 0
    for host in bed:
        wait_for(lambda host=host: not host.pids("logdisk"), f"the tester of {host.name} ends")
        wait_for(lambda host=host: FILTER not in filters(host), f"{host.name} is no longer cut off")
    assert controller.run("cleanup", "-i", hosts).status == 0
    assert left_on(bed["one"]) == left_on(bed["two"]) == []


@pytest.mark.thorough
def test_hosts_are_paired_by_the_queue_manager_that_they_share(
    start: Callable[..., Bed], controller: Controller, tmp_path: Path
) -> None:
    """Without a partner in the inventory, hosts are paired, and the test uses a directory beside the log. Nothing is
    cut without a confirmation."""
    server = ServerSpec(lease_s=LEASE_S)
    bed = start(*(HostSpec(name, disk="shared", server=server) for name in ("one", "two")))
    for host in bed:
        mqs_ini = host.root / "var/mqm/mqs.ini"
        qm_ini = mqs_ini.parent / "qmgrs/QM1/qm.ini"
        qm_ini.parent.mkdir(parents=True)
        mqs_ini.write_text("QueueManager:\n   Name=QM1\n   Prefix=/var/mqm\n   Directory=QM1\n")
        qm_ini.write_text("Log:\nLogPath=/fut/log/QM1/\n")
    bed.ssh(bed["one"], "mkdir -p /fut/log/QM1 && touch /fut/log/QM1/amqhlctl.lfh")

    outcome = controller.run("locks", "-i", inventory(bed, tmp_path, workspace_path="/fut/elsewhere", locks_seconds=1))

    (tested,) = outcome.certification.records["one"]["locks"]["pairs"]
    assert tested["directory"] == "/fut/log/logdisk"
    assert not_kept(tested["steps"]) == [
        ("cut_off", "not_covered", "no_confirm"),
        ("cut_off", "not_covered", "no_confirm"),
        ("server_failover", "not_covered", "no_command"),
        ("host_lost", "not_covered", "no_confirm"),
        ("host_lost", "not_covered", "no_confirm"),
    ]
    assert left_on(bed["one"]) == left_on(bed["two"]) == []
