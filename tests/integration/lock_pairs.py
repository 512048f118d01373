# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of hosts that share a directory of a file server, the step that each dishonest server breaks, and what a test
must not leave behind."""

import sys
from pathlib import Path
from typing import NamedTuple

from ansible_runs import PROJECT, Outcome
from testbed import Bed, Host, HostSpec, Settings
from testbed.servers import ServerSpec
from testbed.shell import run

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
    "limits": [
        {"metric": "latency_mean", "max": "9 ms"},
        {"metric": "lock_takeover", "max": f"{TAKEOVER_S} s"},
        {"metric": "lock_hand_over", "max": "4 s"},
    ],
    "locks": {
        "load_s": LOAD_S,
        "steps": ["host_lost", "cut_off", "server_failover", "lock_count"],
    },
}
SMALL = {"workspace_path": "/fut/logdisk", "gate_profile": PROFILE, "tester_method": "binary", "locks_wait": 120}
FILTER = "mqops_logdisk_locks"
BOOT_AFTER_LEASE_S = 5.0
"""How long after its lease a host is switched on again, so that the boot does not free its locks."""


class Lie(NamedTuple):
    """The step in which a server is detected, and the cause that is reported. The cause is empty if only a ``figure``
    shows the problem: it is above ``over_s``."""

    step: str
    cause: str = ""
    outcome: str = "broken"
    figure: str = ""
    over_s: float = 0.0

    @property
    def verdict(self) -> str:
        return "fail" if self.outcome == "broken" else "inconclusive"


LIES = {
    "local": Lie("second_refused", "granted"),
    "grant": Lie("second_refused", "granted"),
    "stale": Lie("cut_off", "never_taken_over"),
    "late": Lie("hand_over", figure="wait_ns", over_s=6),
    "unfenced": Lie("cut_off", "late_write_landed"),
    "reads": Lie("cut_off", "late_write_landed"),
    "forgets": Lie("server_failover", "lock_lost_at_failover"),
    "loses": Lie("concurrent_updates", "updates_lost"),
    "crowded": Lie("under_load", "granted"),
    "unlocked": Lie("cut_off", "late_write_landed"),
    "remount": Lie("cut_off", "lost_at_return"),
    "close_frees": Lie("same_host", "lost_at_close"),
    "lands_early": Lie("cut_off", "late_write_landed"),
    "lands_later": Lie("cut_off", "late_write_landed"),
    "undoes": Lie("cut_off", "acknowledged_lost"),
    "undoes_failover": Lie("server_failover", "acknowledged_lost"),
    "no_failover": Lie("server_failover", "no_failover_seen", "undecided"),
    "forgets_later": Lie("server_failover", "lock_lost_after_failover"),
    "slow_failover": Lie("server_failover", figure="write_pause_max_ns", over_s=55),
    "slow_grace": Lie("server_failover", figure="verification_max_ns", over_s=55),
    "endless_failover": Lie("server_failover", "pause_not_ended"),
    "boots_early": Lie("host_lost", "seen_again", "undecided"),
}
"""The servers and hosts that a test must detect."""
HONEST = ("lazy", "visible_late")
"""Servers that are slow, but keep every promise."""
ENDLESS_S = 1e6
SPECS: dict[str, dict] = {
    "slow_failover": {"character": "honest", "fail_over_s": 60.0},
    "slow_grace": {"character": "honest", "grace_s": 59.0},
    "endless_failover": {"character": "honest", "fail_over_s": ENDLESS_S},
    "undoes_failover": {"undone": 8044},
    "no_failover": {"fail_over_s": 0.3},
    "boots_early": {"character": "honest", "lease_s": 12.0},
}
"""The properties of these servers that are not implied by their names."""


def command_of_testbed(settings: Settings) -> str:
    return (
        f"PYTHONPATH={PROJECT}/tests LOGDISK_TESTBED_STATE={settings.state_base} {sys.executable} -m testbed "
        f"--prefix {settings.prefix}"
    )


def pair(
    settings: Settings, one: str, two: str, server: ServerSpec, *, boots_early: bool = False, **variables: object
) -> list[HostSpec]:
    """Two hosts with the same file server. The power of both may be cut. They are switched on again only after another
    host must have taken over, unless they boot early."""
    off_s = 0.0 if boots_early else server.lease_s + BOOT_AFTER_LEASE_S
    command = command_of_testbed(settings)
    own = {
        "locks_cut_command": f"{command} cut {{{{ inventory_hostname }}}} && (sleep {off_s:g} && {command} boot "
        "{{ inventory_hostname }}) > /dev/null 2>&1 &",
        "ansible_ssh_timeout": 5,
        **variables,
    }
    wait = " --no-wait" if server.fail_over_s == ENDLESS_S else ""
    fail_over = {"locks_server_command": f"{command} fail-over {server.name}{wait}"}
    return [
        HostSpec(
            one,
            disk="shared",
            server=server,
            variables={"locks_pair": [two], "locks_confirm": one, **fail_over, **own},
        ),
        HostSpec(two, disk="shared", server=server, variables={"locks_confirm": two, **own}),
    ]


def host_names(name: str, number: int = 0) -> tuple[str, str]:
    """Return the names of the hosts that share one of LIES or HONEST. ``number`` is for several pairs of a kind."""
    plain = server_name(name, number)
    return f"{plain}1", f"{plain}2"


def server_name(name: str, number: int) -> str:
    return name.replace("_", "") + ("abcdefghijklmnopqrstuvwxyz"[number - 1] if number else "")


def liar(settings: Settings, name: str, number: int = 0, write_s: float = 0.0, **variables: object) -> list[HostSpec]:
    """Return the hosts that share one of LIES or HONEST. Their power can be cut only if this is needed to detect it."""
    figures = {
        "character": name,
        "lease_s": LEASE_S,
        "crowded_s": CROWDED_S,
        "write_s": write_s,
        **SPECS.get(name, {}),
    }
    if name in LIES and LIES[name].step != "host_lost":
        variables = {"locks_cut_command": "", **variables}
    server = ServerSpec(server_name(name, number), **figures)
    return pair(settings, *host_names(name, number), server, boots_early=name == "boots_early", **variables)


def inventory(bed: Bed, path: Path, **variables: object) -> str:
    return str(bed.inventory(path / "hosts.yml", variables={**SMALL, **variables}))


def steps_of(outcome: Outcome, host: str) -> list[dict]:
    """Return the steps of the only pair to which a host belongs."""
    record = outcome.certifications[-1].records[host]
    (tested,) = record["locks"]["pairs"]
    return tested["steps"]


def not_kept(steps: list[dict]) -> list[tuple[str, str, str]]:
    return [(step["step"], step["outcome"], step["cause"]) for step in steps if step["outcome"] != "kept"]


def is_seen(character: str, steps: list[dict]) -> bool:
    """Return whether a dishonest server was detected in the step that is meant to detect it. A server that loses writes
    may also lose the first one, which ends the test."""
    if character == "loses" and not_kept(steps)[:1] == [("settings", "broken", "write_lost")]:
        return True
    lie = LIES[character]
    found = [step for step in steps if step["step"] == lie.step]
    if lie.figure:
        return bool(found) and all(step["figures"].get(lie.figure, 0) > lie.over_s * SECOND_NS for step in found)
    return (lie.step, lie.outcome, lie.cause) in not_kept(found)


def broken_before(character: str, steps: list[dict]) -> list[dict]:
    """Return the broken steps before the one that is meant to detect a dishonest server."""
    first = next((number for number, step in enumerate(steps) if step["step"] == LIES[character].step), len(steps))
    return [step for step in steps[:first] if step["outcome"] == "broken"]


def end_fail_overs(bed: Bed) -> None:
    """End the fail-overs that do not end by themselves. Until then, the files of their hosts cannot be listed."""
    for server in bed.servers.values():
        if server.spec.fail_over_s == ENDLESS_S:
            server.fail_over()


def filters(host: Host) -> str:
    """Return the tables of packet filters on a host."""
    return run(*host.command("nft", "list", "tables"))


def left_on(host: Host) -> list[str]:
    files = [path for path in host.files("/fut", "/root/.mqops-logdisk") if "logdisk-2" in path or "/runs/" in path]
    return [*files, *host.pids("logdisk").values(), *([FILTER] if FILTER in filters(host) else [])]
