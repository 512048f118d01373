# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of hosts that share a directory of a file server, the step that each dishonest server breaks, and what a test
must not leave behind."""

import sys
from pathlib import Path

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
LATE_NS = 6 * SECOND_NS
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
"""For each dishonest server, the step that fails and the cause that is reported. The cause is empty if only the figures
show the problem."""


def command_of_testbed(settings: Settings) -> str:
    return (
        f"PYTHONPATH={PROJECT}/tests LOGDISK_TESTBED_STATE={settings.state_base} {sys.executable} -m testbed "
        f"--prefix {settings.prefix}"
    )


def pair(settings: Settings, one: str, two: str, server: ServerSpec, **variables: object) -> list[HostSpec]:
    """Two hosts with the same file server. The power of both may be cut."""
    command = command_of_testbed(settings)
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


def liar(settings: Settings, character: str, **variables: object) -> list[HostSpec]:
    """Return the hosts ``{character}1`` and ``{character}2``, which share a server with this character."""
    server = ServerSpec(character, character=character, lease_s=LEASE_S, crowded_s=CROWDED_S)
    return pair(settings, f"{character}1", f"{character}2", server, **variables)


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
    name, cause = LIES[character]
    found = [step for step in steps if step["step"] == name]
    if not cause:
        return bool(found) and all(step["figures"]["wait_ns"] > LATE_NS for step in found)
    return (name, "broken", cause) in not_kept(found)


def broken_before(character: str, steps: list[dict]) -> list[dict]:
    """Return the broken steps before the one that is meant to detect a dishonest server."""
    first = next((number for number, step in enumerate(steps) if step["step"] == LIES[character][0]), len(steps))
    return [step for step in steps[:first] if step["outcome"] == "broken"]


def filters(host: Host) -> str:
    """Return the tables of packet filters on a host."""
    return run(*host.command("nft", "list", "tables"))


def left_on(host: Host) -> list[str]:
    files = [path for path in host.files("/fut", "/root/.mqops-logdisk") if "logdisk-2" in path or "/runs/" in path]
    return [*files, *host.pids("logdisk").values(), *([FILTER] if FILTER in filters(host) else [])]
