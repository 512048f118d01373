# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _schedule

HOST = {"planned_s": 10.0, "format_s": 4.0, "called_s": [990.0, 991.0], "pool": ""}


def test_together_is_one_instant_after_another_round_of_calls():
    hosts = {f"h{n}": {**HOST, "called_s": [990.0 + n, 991.0 + n]} for n in range(20)}
    starts = _schedule.start_times("together", 1000.0, hosts)
    assert len(set(starts.values())) == 1
    assert starts["h0"] >= 1000.0 + 20.0 + 4.0


def test_the_slowest_format_decides_the_common_instant():
    slow = _schedule.start_times("together", 0.0, {"a": HOST, "b": {**HOST, "format_s": 100.0}})
    assert slow["a"] == slow["b"] > 100.0


def test_slow_connections_move_the_instant():
    slow = _schedule.start_times("together", 0.0, {"a": HOST, "b": {**HOST, "called_s": [980.0, 1000.0]}})
    assert slow["a"] > 20.0 + 4.0


def test_isolated_hosts_of_a_pool_never_overlap_and_pools_run_side_by_side():
    hosts = {"a": {**HOST, "pool": "p"}, "b": {**HOST, "pool": "p"}, "c": {**HOST, "pool": "q"}, "d": {**HOST, "pool": "p"}}
    starts = _schedule.start_times("isolated", 0.0, hosts)
    of_p = sorted(starts[name] for name in "abd")
    assert all(later - earlier >= 10.0 for earlier, later in zip(of_p, of_p[1:]))
    assert starts["c"] == min(starts.values())


def test_no_host_has_no_start():
    assert _schedule.start_times("together", 0.0, {}) == {}


@pytest.mark.parametrize("state, now, pending", [
    (None, 0.0, True), ("running", 0.0, True), ("unknown", 0.0, True),
    ("finished", 0.0, False), ("dead", 0.0, False), ("absent", 0.0, False), ("running", 100.0, False), ("unknown", 100.0, False),
])
def test_a_host_is_waited_for_until_it_ends_or_is_given_up(state, now, pending):
    assert _schedule.is_pending({"state": state} if state else {}, 100.0, now) is pending


@pytest.mark.parametrize("now, end, interval, span, expected", [
    (0.0, 100.0, 30.0, 100.0, 30.0),
    (0.0, 10.0, 30.0, 10.0, 10.0 + _schedule.COLLECT_SLACK_S),
    (200.0, 100.0, 30.0, 100.0, 5.0),
    (0.0, 36000.0, 30.0, 36000.0, 36000.0 / _schedule.MAX_POLLS),
])
def test_the_next_look_comes_at_the_interval_or_when_the_end_is_due(now, end, interval, span, expected):
    assert _schedule.next_poll_s(now, end, interval, span) == pytest.approx(expected)
