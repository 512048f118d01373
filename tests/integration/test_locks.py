# SPDX-License-Identifier: GPL-3.0-or-later
"""Two hosts that share a directory are tested end to end: an honest file server keeps every step, each lie is seen in
its step, what proves nothing is refused, and nothing is left behind."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from ansible_runs import PROJECT, Controller, Outcome
from testbed import Bed, Host, HostSpec, Settings
from testbed.servers import ServerSpec
from testbed.shell import run, wait_for

SECOND_NS = 10**9
LEASE_S = 3.0
LOAD_S = 12
CROWDED_S = 5.0
TAKEOVER_S = 20
"""On a busy machine, a take-over may need a multiple of the lease."""
PROFILE = {
    "name": "test",
    "version": 1,
    "qualifies": {"min_duration_s": 300, "confidence": "none"},
    "limits": [{"metric": "latency_mean", "max": "9 ms"}],
    "locks": {
        "takeover_s": TAKEOVER_S,
        "load_s": LOAD_S,
        "hand_over_s": 4,
        "steps": ["host_lost", "cut_off", "server_failover", "lock_count"],
    },
}
SMALL = {"workspace_path": "/fut/logdisk", "gate_profile": PROFILE, "tester_method": "binary", "locks_wait": 120}
FILTER = "mqops_logdisk_locks"
COUNTING = """#!/bin/sh
case " $* " in *" -O "*) ;; *) echo call >> {calls} ;; esac
exec ssh "$@"
"""
MOST_CALLS = 8


def testbed(settings: Settings) -> str:
    return (
        f"PYTHONPATH={PROJECT}/tests LOGDISK_TESTBED_STATE={settings.state_base} {sys.executable} -m testbed "
        f"--prefix {settings.prefix}"
    )


def pair(settings: Settings, one: str, two: str, server: ServerSpec, **variables: object) -> list[HostSpec]:
    """Two hosts with one file server. Both may be cut."""
    command = testbed(settings)
    own = {
        "locks_cut_command": f"{command} cut {{{{ inventory_hostname }}}} && ({command} boot "
        "{{ inventory_hostname }} &)",
        "ansible_ssh_timeout": 5,
        **variables,
    }
    fail_over = {"locks_server_command": f"{command} fail-over {server.name}"}
    return [
        HostSpec(
            one,
            disk="shared",
            server=server,
            variables={"locks_pair": [two], "locks_confirm": one, **fail_over, **own},
        ),
        HostSpec(two, disk="shared", server=server, variables={"locks_confirm": two, **own}),
    ]


def inventory(bed: Bed, path: Path, **variables: object) -> str:
    return str(bed.inventory(path / "hosts.yml", variables={**SMALL, **variables}))


def steps_of(outcome: Outcome, host: str) -> list[dict]:
    """The steps of the only pair that a host is in."""
    record = outcome.certifications[-1].records[host]
    (tested,) = record["locks"]["pairs"]
    return tested["steps"]


def not_kept(steps: list[dict]) -> list[tuple[str, str, str]]:
    return [(step["step"], step["outcome"], step["cause"]) for step in steps if step["outcome"] != "kept"]


def filters(host: Host) -> str:
    """The packet filters of a host."""
    return run(*host.command("nft", "list", "tables"))


def left_on(host: Host) -> list[str]:
    files = [path for path in host.files("/fut", "/root/.mqops-logdisk") if "logdisk-2" in path or "/runs/" in path]
    return [*files, *host.pids("logdisk").values(), *([FILTER] if FILTER in filters(host) else [])]


@pytest.mark.long
def test_an_honest_server_keeps_every_step(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """In both directions, with the times of each take-over. A preflight says before that what would be done."""
    bed = start(*pair(settings, "one", "two", ServerSpec(lease_s=LEASE_S)))
    hosts = inventory(bed, tmp_path)

    preflight = controller.run("locks", "-i", hosts, "--check")
    assert preflight.status == 0
    assert "ready: the locks would be tested with two. The host would be cut off from 10." in preflight.words
    assert f"its power would be cut by: {testbed(settings)} cut one" in preflight.words
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


LIES = {
    "local": ("second_refused", "granted"),
    "grant": ("second_refused", "granted"),
    "stale": ("cut_off", "never_taken_over"),
    "late": ("hand_over", ""),
    "unfenced": ("cut_off", "late_write_landed"),
    "reads": ("cut_off", "late_write_landed"),
    "forgets": ("server_failover", "lock_lost_at_failover"),
    "loses": ("concurrent_updates", "updates_lost"),
    "crowded": ("under_load", "granted"),
}
"""The step that sees the lie of a server, and the cause; empty if only the figures show it."""


@pytest.mark.thorough
@pytest.mark.long
def test_each_lie_is_seen_in_its_step(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """All servers in one run, at the same time. Only the steps before the loss of a host are needed."""
    specs = [
        spec
        for character in LIES
        for spec in pair(
            settings,
            f"{character}1",
            f"{character}2",
            ServerSpec(character, character=character, lease_s=LEASE_S, crowded_s=CROWDED_S),
            locks_cut_command="",
        )
    ]
    bed = start(*specs)

    outcome = controller.run("locks", "-i", inventory(bed, tmp_path))

    assert outcome.status == 2
    for character, (name, cause) in LIES.items():
        steps = steps_of(outcome, f"{character}1")
        found = [step for step in steps if step["step"] == name]
        if character == "late":
            assert all(step["figures"]["wait_ns"] > 6 * SECOND_NS for step in found), character
        else:
            assert (name, "broken", cause) in not_kept(steps), character
        earlier = steps[: steps.index(found[0])]
        assert [step for step in earlier if step["outcome"] == "broken"] == [], character
        assert outcome.certification.records[f"{character}1"]["verdict"] == "fail", character
    assert [left for host in bed for left in left_on(host)] == []


def test_what_proves_nothing_is_refused(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path
) -> None:
    """A local file system that is given as shared, two names of one machine, and a host without a partner. The calls to
    each host are counted."""
    bed = start(
        HostSpec("local1", variables={"locks_pair": ["local2"]}),
        HostSpec("local2"),
        HostSpec("twice", variables={"locks_pair": ["again"]}),
    )
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
    assert not_kept(steps_of(outcome, "local1")) == [("settings", "broken", "other_file_system")]
    records = outcome.certifications[-1].records
    assert {host: record["verdict"] for host, record in records.items()} == {
        "local1": "fail",
        "local2": "fail",
        "twice": "error",
        "again": "error",
    }
    assert "are the same machine" in records["twice"]["reasons"][0]
    assert len(calls.read_text().splitlines()) <= MOST_CALLS * 4
    assert left_on(bed["local1"]) == left_on(bed["local2"]) == []


@pytest.mark.thorough
@pytest.mark.long
@pytest.mark.parametrize(
    ("step", "how"), [("hand_over", "Ctrl-C"), ("under_load", "Ctrl-C"), ("cut_off", "Ctrl-C"), ("cut_off", "killed")]
)
def test_an_interrupted_step_leaves_nothing(
    start: Callable[..., Bed], controller: Controller, settings: Settings, tmp_path: Path, step: str, how: str
) -> None:
    """No lock, no process and no packet filter, and after the clean-up no file."""
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
    """Without a partner in the inventory, and beside the log. Nothing is cut without a confirmation."""
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
