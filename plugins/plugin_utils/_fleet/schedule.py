# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines when each host starts, also together with the hosts of other runs, when the controller polls it again, and
which sweeps may end early."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils import _units
from .._run.columns import MQ_LOG
from .._run.moment import MOMENT
from .plan import IN_TURN

LEAD_MIN_S = 2.0
ISOLATED_GAP_S = 2.0
COLLECT_SLACK_S = 1.0
"""The time that a tester needs to write its tables after the last step."""
MAX_POLLS = 60
"""The largest number of polls of one sweep. Each poll adds two levels of nested includes, and every ansible-core from
2.16 to 2.21 aborts the whole playbook at about 220 levels."""
LATE_SHARE = 0.25
"""The wait before an overdue host is polled again, as a share of the time by which it is overdue. For a host that may
end early, the wait is a share of the time for which it has measured."""
EARLY_POLLS = 20
GRACE_S = 30.0
"""How long the controller waits after the deadline for a host that does not answer."""

LEASE_MIN_S = 120.0
LEASE_INTERVALS = 6
LEASE_POLLS = 3
"""An observation continues without a poll for the longest of these times: LEASE_MIN_S, LEASE_INTERVALS intervals of the
observation, and LEASE_POLLS times the expected time between two polls."""
HOST_CALL_S = 1.0
"""How long a call of one host is assumed to take if all hosts share one fork."""

ENDED = ("finished", "dead", "absent")


def lead_s(round_s: float, format_s: float) -> float:
    """Return how far in the future the common start time must be. Before that time, every host must be started in one
    round of calls, and its files must be written in full (``format_s`` on the slowest host). The first round, which
    inspected the hosts, took ``round_s``. The round that starts them took 0.67 to 0.76 times as long with 20, 50 and
    100 hosts (``make scale``)."""
    return LEAD_MIN_S + round_s + format_s


def least_s(hosts: Mapping[str, Mapping[str, Any]]) -> float:
    """Return how long the hosts need until all of them can start. ``hosts`` is the same as for start_times."""
    if not hosts:
        return 0.0
    round_s = max(host["called_s"][1] for host in hosts.values()) - min(host["called_s"][0] for host in hosts.values())
    return lead_s(round_s, max(host["format_s"] for host in hosts.values()))


def start_times(mode: str, first: float, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the start time of each host. ``first`` is the earliest start. For each host, ``hosts`` holds
    ``planned_s``, ``format_s``, ``pool``, and ``called_s`` (when its first call began and ended).

    ``together``: the same time for all hosts. ``isolated``: the hosts of a pool one after the other, all pools at the
    same time.
    """
    if mode == "together":
        return dict.fromkeys(hosts, first)
    free: dict[str, float] = {}
    starts = {}
    for name in sorted(hosts):
        pool = str(hosts[name].get("pool") or "")
        starts[name] = free.get(pool, first)
        free[pool] = starts[name] + hosts[name]["planned_s"] + ISOLATED_GAP_S
    return starts


def time_table(
    mode: str, now: float, hosts: Mapping[str, Mapping[str, Any]], start_at: float = 0.0
) -> dict[str, dict[str, float]]:
    """Return when each host starts, when it is expected to end, and when the controller stops waiting for it. ``hosts``
    is the same as for start_times, with the ``deadline_s`` of each host, and ``ends_early`` if its sweep may end early.

    The first host starts at the time ``start_at`` or, if this is not set, as soon as all hosts can start.
    """
    return {
        name: {
            "start_epoch_s": start,
            "end_epoch_s": start + hosts[name]["planned_s"],
            "give_up_epoch_s": start + hosts[name]["deadline_s"] + GRACE_S,
            "ends_early": bool(hosts[name].get("ends_early")),
        }
        for name, start in start_times(mode, start_at or now + least_s(hosts), hosts).items()
    }


def whole_s(mode: str, plans: Mapping[str, Mapping[str, Any]], steps_key: str) -> float:
    """Return approximately how long it takes to measure all hosts according to their plans. ``steps_key`` names the
    duration of their steps: planned_s or certify_s."""
    hosts = {name: {**plan, "planned_s": plan[steps_key], "called_s": (0, 0)} for name, plan in plans.items()}
    return max(times["end_epoch_s"] for times in time_table(mode, 0, hosts).values())


def duration_text(mode: str, plans: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a sentence about how long it takes to measure all hosts as planned, and in a run that certifies."""
    measuring, certifying = (
        _units.format_duration(whole_s(mode, plans, key) * 1e9, 2) for key in ("planned_s", "certify_s")
    )
    one_by_one = ", the hosts of a pool one after the other" if mode == "isolated" else ""
    longer = f". A run that certifies takes about {certifying}" if certifying != measuring else ""
    return f"Measuring takes about {measuring} in all{one_by_one}{longer}."


def lease_s(interval_s: float, duration_s: float, hosts: int) -> float:
    """Return how long an observation continues without a poll. Hosts are polled in rounds over the whole fleet."""
    poll_s = max(interval_s, duration_s / (MAX_POLLS // 2)) + hosts * HOST_CALL_S
    return max(LEASE_MIN_S, LEASE_INTERVALS * interval_s, LEASE_POLLS * poll_s)


def next_poll_s(
    now: float,
    expected_end_epoch_s: float,
    give_up_epoch_s: float,
    interval_s: float,
    polls_left: int,
    began_epoch_s: float = 0.0,
) -> float:
    """Return how long to wait before the next poll. Until the expected end, this is ``interval_s``. After it, the wait
    is shorter at first, and becomes longer as time passes.

    One half of MAX_POLLS is used before the expected end, and the other half after it. Then there is a single wait
    until the last host's time is over. If a sweep that began at ``began_epoch_s`` may end early, the first
    EARLY_POLLS are used for that, because most broken limits show within the first minutes.
    """
    late_s = now - expected_end_epoch_s - COLLECT_SLACK_S
    if polls_left <= 1:
        return max(1.0, give_up_epoch_s - now)
    if late_s < 0 and began_epoch_s and polls_left > MAX_POLLS - EARLY_POLLS:
        return min(-late_s, max(interval_s, 1.0, LATE_SHARE * (now - began_epoch_s)))
    if late_s < 0:
        return min(-late_s, max(interval_s, 1.0, -late_s / max(1, polls_left - MAX_POLLS // 2)))
    return max(LATE_SHARE * late_s, min(interval_s, max(2.0, interval_s / 6)))


PREPARATION_S = 20.0
"""The shortest time from opening a run until the slowest host is ready to write its files: this is needed to connect
and to install the tester."""
MOST_AHEAD_S = 24 * 3600.0
"""A time that is further ahead is considered a mistake."""
START_AT = "sweep_start_at"
_UTC = datetime.timezone.utc
_LATEST_EPOCH_S = 4102444800.0  # the year 2100, as for the tester


def read_start_at(value: Any) -> float:
    """Return a time in seconds since the epoch, or 0 if none is given. Raises ValueError."""
    text = str("" if value is None else value).strip()
    if not text:
        return 0.0
    try:
        epoch_s = float(text)
    except ValueError:
        epoch_s = _of_iso_8601(text)
    if not (math.isfinite(epoch_s) and 0 < epoch_s < _LATEST_EPOCH_S):
        raise ValueError("it must be a time from 1970 to 2100")
    return epoch_s


def _of_iso_8601(text: str) -> float:
    try:
        moment = datetime.datetime.fromisoformat(re.sub(r"[zZ]\Z", "+00:00", text))
    except ValueError:
        raise ValueError("it must be a time in UTC such as 2026-11-22T02:00:00Z, or seconds since 1970") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=_UTC)).timestamp()


def start_problem(start_at: float, now: float, least_s: float) -> str:
    """Return the reason why hosts that need ``least_s`` from now on cannot all start at ``start_at``. It is empty if
    they can, or if no start time is requested (0)."""
    earliest = now + least_s
    if not start_at or earliest <= start_at <= now + MOST_AHEAD_S:
        return ""
    if start_at > now + MOST_AHEAD_S:
        return f"{START_AT} is {shown(start_at)}, which is more than {_duration(MOST_AHEAD_S)} away: correct the date"
    when = (
        f"{_duration(now - start_at)} ago"
        if start_at <= now
        else f"only {_duration(start_at - now)} away, but the hosts need about {_duration(least_s)}"
    )
    return (
        f"{START_AT} is {shown(start_at)}, which is {when}: the earliest time possible is "
        f"{shown(math.ceil(earliest))}. Give all slices a later time"
    )


def shown(epoch_s: float) -> str:
    """Return a time in the format of run directories, with its fraction of a second, if any."""
    moment = datetime.datetime.fromtimestamp(epoch_s, _UTC)
    fraction = f"{moment.microsecond / 1e6:.3f}"[1:] if moment.microsecond else ""
    return moment.strftime(MOMENT).replace("Z", f"{fraction}Z")


def _duration(seconds: float) -> str:
    return _units.format_duration(seconds * 1e9, 2)


END_EARLY = "sweep_end_early"
NONE, FAIL, DECIDED = "none", "fail", "decided"
ISOLATED = "isolated"


def runs_alone(plan: Mapping[str, Any], hosts: Sequence[str]) -> bool:
    """Return whether each volume of this host is measured alone, so that ending its sweep early does not reduce the
    load on other volumes."""
    return (len(hosts) == 1 or plan.get("sweep_mode") == ISOLATED) and (
        len(plan["volumes"]) == 1 or plan["sweep_volumes"] == IN_TURN
    )


def early_end_problem(settings: Mapping[str, Any], plans: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the reason why sweeps must not end early with these plans; empty if they may, or if an early end was not
    requested."""
    if settings.get(END_EARLY, NONE) == NONE:
        return ""
    if settings[END_EARLY] == DECIDED and settings["gate_baseline"]:
        return (
            f"{END_EARLY}: {DECIDED} cannot be used in a run that is compared with a baseline, because the steps would "
            f"differ in length: set it to {FAIL}, or gate_baseline to none"
        )
    common_start = settings["sweep_start_at"] and settings["sweep_mode"] != ISOLATED
    for host, plan in plans.items():
        if any(volume["workload"] != MQ_LOG for volume in plan["volumes"]):
            return (
                f"{END_EARLY} is only for sweep_workload {MQ_LOG}: set it to {NONE}, because {host} has another "
                "workload"
            )
        if plan["searches"] or any(volume["load_target"] for volume in plan["volumes"]):
            return (
                f"{END_EARLY} cannot be used with a search or a target (sweep_loads: auto, sweep_load_target), which "
                f"need every step: set it to {NONE}"
            )
        # If the volumes still have to be discovered, there may be several.
        unknown = plan.get("discover") and plan["sweep_volumes"] != IN_TURN
        if unknown or common_start or not runs_alone(plan, list(plans)):
            return (
                f"{END_EARLY} is only for volumes that are measured alone, because a volume that ends early reduces "
                f"the load on the others: for several hosts, set sweep_mode: {ISOLATED}, and for several volumes of a "
                f"host, or if they are discovered, sweep_volumes: {IN_TURN}"
            )
    return ""
