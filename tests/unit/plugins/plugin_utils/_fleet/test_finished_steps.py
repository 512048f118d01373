# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import progress
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.finished_steps import (
    MOST_LINES,
    MOST_STEPS,
    Figures,
    finished_steps,
    new_lines,
    running_step,
    step_titles,
)
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import fleet_line, host_status

STARTS = {"a": 10.0, "b": 10.0, "c": 10.0}


def volume(*done, **more):
    return {"state": "running", "progress": {"done": ",".join(done), **more}}


def fleet(**volumes):
    return {host: {"state": "running", "volumes": {"log": each}} for host, each in volumes.items()}


def test_the_figures_of_steps_are_read_in_the_order_of_measuring():
    read = finished_steps(volume("65536:4:4200000:9000000", "4096:4:1200000:3000000"))
    assert list(read.items()) == [((65536, 4), Figures(4.2e6, 9e6)), ((4096, 4), Figures(1.2e6, 3e6))]
    now = {"block_size_bytes": "16384", "load_point": "4", "latency_p99_ns": "5", "latency_max_ns": "7"}
    assert running_step(volume("4096:4:1:1", **now)) == ((16384, 4), Figures(5, 7))
    # The last line of a step contains its figures both as current and as finished.
    assert running_step(volume("16384:4:5:7", **now)) is None


@pytest.mark.parametrize(
    "done",
    ["<b>", "4096:1:nan:1", "4096:1:1", "-1:1:1:1", "4096:1:" + "9" * 40 + ":1", ["4096:1:1:1"], None, 7, "::::"],
)
def test_what_a_host_sends_instead_of_figures_is_unknown(done):
    hostile = {"state": "running", "progress": {"done": done, "latency_p99_ns": "x", "block_size_bytes": "1e999"}}
    assert finished_steps(hostile) == {} and running_step(hostile) is None
    assert finished_steps({"state": "running", "progress": done}) == {}


def test_what_a_host_sends_is_bounded():
    many = ",".join(f"{4096 + number}:1:1:1" for number in range(1000))
    answer = {"volumes": {"log": {"state": "running", "progress": {"done": many, "junk": "x" * 100_000}}}}
    kept = host_status("a", "r", answer)["volumes"]["log"]
    assert len(finished_steps(kept)) <= MOST_STEPS and len(str(kept)) < 5000


def test_load_points_are_named_if_there_are_several():
    assert step_titles([(4096, 4), (65536, 4)]) == {(4096, 4): "4 KiB", (65536, 4): "64 KiB"}
    assert step_titles([(4096, 1), (4096, 2)]) == {(4096, 1): "4 KiB, load 1", (4096, 2): "4 KiB, load 2"}
    assert step_titles([(0, 100)]) == {(0, 100): "load 100"}


def test_a_line_is_printed_once_when_all_hosts_have_reported_the_step():
    statuses = fleet(a=volume("4096:1:1200000:1"), b=volume("4096:1:4200000:1"), c=volume())
    assert new_lines(statuses, STARTS, []) == {}
    statuses["c"]["volumes"]["log"] = volume("4096:1:900000:1")
    lines = new_lines(statuses, STARTS, [])
    assert list(lines.values()) == ["logdisk: 4 KiB finished, p99 4.2 ms on b, 1.2 ms on a, 900 us on c"]
    assert new_lines(statuses, STARTS, list(lines)) == {}
    statuses["a"]["volumes"]["log"] = volume("4096:1:1200000:1", "16384:1:3000000:1", "65536:1:1:1")
    lines = new_lines(statuses, STARTS, list(lines))
    assert list(lines.values()) == [
        "logdisk: 16 KiB finished, p99 3 ms on a, not reported yet by b, not reported yet by c"
    ]


def test_a_step_is_reported_without_hosts_that_were_not_polled_since():
    """Hosts are polled one after the other, so a large fleet never reports completely. There is one line for a step,
    regardless of the number of hosts."""
    hosts = [f"h{number}" for number in range(300)]
    statuses = fleet(**dict.fromkeys(hosts, volume()))
    statuses["h7"] = fleet(h7=volume("4096:1:1200000:1"))["h7"]
    starts = dict.fromkeys(hosts, 10.0)
    assert new_lines(statuses, starts, []) == {}
    statuses["h8"] = fleet(h8=volume("4096:1:4200000:1", "16384:1:1:1"))["h8"]
    (line,) = new_lines(statuses, starts, []).values()
    assert line == (
        "logdisk: 4 KiB finished, p99 1.2 ms to 4.2 ms on the 2 of 300 that have reported it, the worst on h8"
    )


def test_hosts_that_start_at_different_times_have_their_own_lines_and_all_lines_are_bounded():
    steps = [f"{4096 * number}:1:1000000:1" for number in range(1, 6)]
    statuses = fleet(a=volume(*steps), b=volume(*steps))
    lines = new_lines(statuses, {"a": 10.0, "b": 900.0}, [])
    assert len(lines) == MOST_LINES and [line[-1] for line in lines.values()] == ["a"] * 5 + ["b"] * 2


def test_the_line_of_the_fleet_names_the_worst_of_all_steps():
    statuses = fleet(a=volume("4096:1:9000000:1", latency_p99_ns="1000000"), b=volume(latency_p99_ns="2000000"))
    assert fleet_line(statuses, 5).endswith("worst p99 so far 9 ms on a")


@pytest.mark.parametrize(("shown_as", "count"), [(progress.AUTO, 1), (progress.NONE, 0)])
def test_finished_steps_are_printed_unless_no_progress_is_to_be_shown(monkeypatch, shown_as, count):
    said = []
    monkeypatch.setattr(progress, "shown_as", shown_as)
    monkeypatch.setattr(progress, "say", lambda display, text: said.append(text))
    told = progress.show_finished(None, fleet(a=volume("4096:1:1:1")), {"a": {"start_epoch_s": 10.0}}, ["x"])
    assert (len(said), len(told)) == (count, 1 + count)
