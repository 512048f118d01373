# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""When each host starts, and when the controller looks again.

All times are seconds of the controller's clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

ROUND_MARGIN = 1.5
"""The round that starts the hosts is taken to last this many times what the first round of calls lasted."""
LEAD_MIN_S = 2.0
ISOLATED_GAP_S = 2.0
COLLECT_SLACK_S = 2.0
"""After its last step a tester still writes its tables."""
MAX_POLLS = 60
"""Polls of one sweep at most, whatever becomes of its hosts: each is two levels of nested includes, and every ansible-core from 2.16 to 2.21 gives up the
whole playbook at some 220 of them."""
LATE_SHARE = 0.25
"""A host that is late is looked at again after this share of the time by which it is late."""
GRACE_S = 30.0
"""How long after its own deadline a host may stay silent before the controller gives it up."""

ENDED = ("finished", "dead", "absent")


def lead_s(round_s: float, format_s: float) -> float:
    """Return how far ahead the common instant must lie: every host is to be started, in one round of calls (the first one
    lasted ``round_s``), and to have written its files in full (``format_s`` on the slowest) before it."""
    return LEAD_MIN_S + ROUND_MARGIN * round_s + format_s


def start_times(mode: str, now: float, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return each host's start. ``hosts`` holds for each its ``planned_s``, ``format_s``, ``pool``, and
    ``called_s``: when its first call began and ended.

    ``together``: one instant for all. ``isolated``: the hosts of a pool one after the other, pools side by side.
    """
    if not hosts:
        return {}
    round_s = max(host["called_s"][1] for host in hosts.values()) - min(host["called_s"][0] for host in hosts.values())
    first = now + lead_s(round_s, max(host["format_s"] for host in hosts.values()))
    if mode == "together":
        return dict.fromkeys(hosts, first)
    free: dict[str, float] = {}
    starts = {}
    for name in sorted(hosts):
        pool = str(hosts[name].get("pool") or "")
        starts[name] = free.get(pool, first)
        free[pool] = starts[name] + hosts[name]["planned_s"] + ISOLATED_GAP_S
    return starts


def time_table(mode: str, now: float, hosts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return when each host starts, when it is expected to end, and when it is given up. ``hosts`` is as for start_times, with each host's ``deadline_s``."""
    return {
        name: {
            "start_epoch_s": start,
            "end_epoch_s": start + hosts[name]["planned_s"],
            "give_up_epoch_s": start + hosts[name]["deadline_s"] + GRACE_S,
        }
        for name, start in start_times(mode, now, hosts).items()
    }


def is_pending(status: Mapping[str, Any], give_up_epoch_s: float, now: float) -> bool:
    """True while there is a reason to look at a host again."""
    return status.get("state") not in ENDED and now < give_up_epoch_s


def next_poll_s(now: float, expected_end_epoch_s: float, give_up_epoch_s: float, interval_s: float, polls_left: int) -> float:
    """Return how long to wait before the next look: ``interval_s`` until the expected end, then shorter, and longer again the later it gets.

    Half of MAX_POLLS serve the time until the expected end, the other half what comes after it; with none left the wait lasts until the last host is given up.
    """
    late_s = now - expected_end_epoch_s - COLLECT_SLACK_S
    if polls_left <= 1:
        return max(1.0, give_up_epoch_s - now)
    if late_s < 0:
        return min(-late_s, max(interval_s, 1.0, -late_s / max(1, polls_left - MAX_POLLS // 2)))
    return max(LATE_SHARE * late_s, min(interval_s, max(2.0, interval_s / 6)))
