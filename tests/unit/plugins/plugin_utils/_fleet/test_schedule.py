# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import (
    COLLECT_SLACK_S,
    GRACE_S,
    ISOLATED_GAP_S,
    MAX_POLLS,
    lease_s,
    next_poll_s,
    time_table,
)

HOST = {"planned_s": 10.0, "format_s": 4.0, "called_s": [990.0, 991.0], "pool": "", "deadline_s": 60.0}


def start_times(mode, now, hosts, start_at=0.0):
    return {name: times["start_epoch_s"] for name, times in time_table(mode, now, hosts, start_at).items()}


def test_together_is_one_instant_after_another_round_of_calls():
    hosts = {f"h{n}": {**HOST, "called_s": [990.0 + n, 991.0 + n]} for n in range(20)}
    starts = start_times("together", 1000.0, hosts)
    assert len(set(starts.values())) == 1
    assert starts["h0"] >= 1000.0 + 20.0 + 4.0


def test_isolated_hosts_of_a_pool_never_overlap_and_pools_run_side_by_side():
    hosts = {
        "a": {**HOST, "pool": "p"},
        "b": {**HOST, "pool": "p"},
        "c": {**HOST, "pool": "q"},
        "d": {**HOST, "pool": "p"},
    }
    starts = start_times("isolated", 0.0, hosts)
    of_p = sorted(starts[name] for name in "abd")
    assert all(later - earlier >= HOST["planned_s"] + ISOLATED_GAP_S for earlier, later in zip(of_p, of_p[1:]))
    assert starts["c"] == min(starts.values())


def test_no_host_has_no_start():
    assert start_times("together", 0.0, {}) == {}


def test_a_host_is_given_up_some_time_after_its_deadline():
    times = time_table("together", 0.0, {"a": HOST})["a"]
    assert times["end_epoch_s"] - times["start_epoch_s"] == 10.0
    assert times["give_up_epoch_s"] - times["start_epoch_s"] == 60.0 + GRACE_S


LEFT = MAX_POLLS


@pytest.mark.parametrize(
    "now, end, interval, left, expected",
    [
        (0.0, 100.0, 30.0, LEFT, 30.0),
        (0.0, 10.0, 30.0, LEFT, 10.0 + COLLECT_SLACK_S),
        (105.0, 100.0, 30.0, LEFT, 5.0),
        (500.0 + COLLECT_SLACK_S, 100.0, 30.0, LEFT, 100.0),
        (0.0, 36000.0 - COLLECT_SLACK_S, 30.0, LEFT, 36000.0 / (LEFT / 2)),
        (0.0, 100.0, 30.0, 1, 1000.0),
        (999.9, 100.0, 30.0, 1, 1.0),
    ],
)
def test_the_next_look_comes_at_the_interval_or_when_the_end_is_due(now, end, interval, left, expected):
    assert next_poll_s(now, end, 1000.0, interval, left) == pytest.approx(expected)


@pytest.mark.parametrize("call_s", [0.0, 0.5, 12.0])
@pytest.mark.parametrize("interval_s", [1.0, 30.0, 600.0])
@pytest.mark.parametrize("planned_s", [1.0, 60.0, 300.0, 2100.0, 86400.0])
def test_a_host_that_never_ends_is_given_up_within_the_looks_that_there_are(planned_s, interval_s, call_s):
    """More polls would exceed the depth of nested includes that ansible-core supports, and the playbook would end
    without a report."""
    now, lead_s = 0.0, 40.0
    end = lead_s + planned_s
    give_up = lead_s + 2 * planned_s + 60 + GRACE_S
    polls = 0
    while now < give_up:
        now += next_poll_s(now, end, give_up, interval_s, MAX_POLLS - polls) + call_s
        polls += 1
    assert polls <= MAX_POLLS


@pytest.mark.parametrize("late_s", [1.0, 10.0, 60.0, 600.0])
def test_a_late_host_is_not_kept_waiting_long(late_s):
    now, polls = 0.0, 0
    while now < 300.0 + COLLECT_SLACK_S + late_s:
        now += next_poll_s(now, 300.0, 1000.0, 30.0, MAX_POLLS - polls)
        polls += 1
    assert now - 300.0 - COLLECT_SLACK_S <= max(late_s + 5.0, 1.25 * late_s + 5.0)


@pytest.mark.parametrize(
    ("interval_s", "duration_s", "hosts"), [(10, 60, 1), (60, 600, 1), (10, 86400, 1), (10, 3600, 1000)]
)
def test_an_observation_outlives_two_missed_polls(interval_s, duration_s, hosts):
    """Each round of polls takes time, and a long observation is polled less often."""
    between_s = max(next_poll_s(0, duration_s, duration_s + GRACE_S, interval_s, MAX_POLLS), interval_s) + hosts
    assert lease_s(interval_s, duration_s, hosts) >= max(120, 6 * interval_s, 2 * between_s)
    assert lease_s(10, 60, 1) == 120
