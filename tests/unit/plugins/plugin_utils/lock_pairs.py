# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Made-up results of tests of locks, in the form in which the conductor passes them to the records: a pair whose file
server keeps every promise, and changes to single steps."""

from __future__ import annotations

from ansible_collections.mqops.logdisk.plugins.plugin_utils._kinds.locks.record import lock_record
from ansible_collections.mqops.logdisk.plugins.plugin_utils._records.fleet import GATE, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.lock_steps import (
    BOTH_WAYS,
    HAND_OVER,
    POD_DELETED,
    STEPS,
)
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils import fabricate

S = 10**9
DIRECTORY = "/MQHA/QM1/log"
FIGURES = {
    "second_refused": {"tries": 100, "errno": "EAGAIN"},
    "same_host": {"tries": 100, "errno": "EAGAIN"},
    "concurrent_updates": {"updates_made": 1000, "updates_kept": 1000, "torn": 0},
    "under_load": {
        "load_s": 600,
        "verifications": 300,
        "verification_max_ns": 210_000_000,
        "write_pause_max_ns": 48_000_000,
        "tries": 300,
    },
    "host_lost": {
        "held_ns": 12 * S,
        "takeover_ns": 11 * S,
        "tries": 11,
        "late_writes": 0,
        "late_sectors": 0,
        "unlocked_late_writes": 0,
        "unlocked_late_sectors": 0,
        "acknowledged": 5000,
        "acknowledged_lost": 0,
        "refused_after_return": 24,
    },
    "cut_off": {
        "held_ns": 12 * S,
        "takeover_ns": 12 * S,
        "tries": 12,
        "back_ns": 31 * S,
        "late_writes": 0,
        "late_sectors": 0,
        "unlocked_late_writes": 0,
        "unlocked_late_sectors": 0,
        "acknowledged": 5000,
        "acknowledged_lost": 0,
        "refused_after_return": 24,
        "errno": "EIO",
    },
    "server_failover": {
        "acknowledged": 9000,
        "acknowledged_lost": 0,
        "write_pause_max_ns": 6 * S,
        "verification_max_ns": 7 * S,
        "verifications": 60,
        "tries": 20,
    },
    "lock_count": {"locks_held": 512},
    "pod_deleted": {"held_ns": 5 * S, "takeover_ns": 2 * S, "tries": 11},
}
HANDED_OVER = {"wait_ns": 20_000_000, "poll_ns": 1_500_000_000, "poll_round_ns": 2_001_000_000, "try_ns": 1_000_000}
WAYS = ("unlock", "close", "exit", "kill")


OF_HOSTS = tuple(step for step in STEPS if step != POD_DELETED)


def pair(first="db01", second="db02", directory=DIRECTORY, server="10.1.0.9:/mq", settings=None, made=OF_HOSTS):
    """Return the results of two hosts on a file server that keeps every promise. ``made`` are the steps."""
    steps = []
    for step in made:
        roles = [(first, second), (second, first)] if step in BOTH_WAYS else [(first, second)]
        roles = [(first, first), (second, second)] if step == "same_host" else roles
        for holder, other in roles:
            for way in WAYS if step == HAND_OVER else ("",):
                figures = {"way": way, **HANDED_OVER} if way else FIGURES.get(step, {})
                steps.append(row(step, holder, other, **figures))
    settings = settings or {first: {"vers": "4.2", "lease_s": 10}, second: {"vers": "4.2", "lease_s": 10}}
    return {
        "first": first,
        "second": second,
        "directory": directory,
        "server": server,
        "settings": settings,
        "steps": steps,
    }


def row(step, holder, other, outcome="kept", cause="", **figures):
    return {
        "step": step,
        "holder": holder,
        "other": other,
        "outcome": outcome,
        "cause": cause,
        "figures": dict(figures),
    }


def changed(results, step, outcome="kept", cause="", holder=None, **figures):
    """Return results with another outcome and other figures of a step, in one direction if a holder is given."""
    return {
        **results,
        "steps": [
            {**each, "outcome": outcome, "cause": cause, "figures": {**each["figures"], **figures}}
            if each["step"] == step and holder in (None, each["holder"])
            else each
            for each in results["steps"]
        ],
    }


def without(results, step, holder=None):
    """Return results without the rows of a step."""
    steps = [each for each in results["steps"] if each["step"] != step or holder not in (None, each["holder"])]
    return {**results, "steps": steps}


def run_data(hosts, profile="mq-locks-gold", **keys):
    return fabricate.run_data(hosts, profile, kind="locks", **keys)


def record(*pairs, host="db01", profile="mq-locks-gold", run=None):
    """Return the record of a host with the results of pairs."""
    run = {**(run or run_data(["db01", "db02"], profile)), "run_id": "r"}
    facts = {"filesystem_type": "nfs4", "mount_point": "/MQHA", "mount_source": "10.1.0.9:/mq"}
    return lock_record(run, host, "log", facts, {"path": DIRECTORY}, {"pairs": list(pairs)})


def run_of(base, pairs, profile="mq-locks-gold", unmeasured=(), judge=True, **keys):
    """Create the directory of a run with these pairs, judge it, and return it."""
    hosts = sorted({each[key] for each in pairs for key in ("first", "second")})
    directory = RunDirectory.create(str(base), run_data([*hosts, *unmeasured], profile, **keys))
    for host in hosts:
        own = [each for each in pairs if host in (each["first"], each["second"])]
        directory.records.write(record(*own, host=host, run=directory.run))
    if judge:
        judge_run(directory, GATE)
    return directory
