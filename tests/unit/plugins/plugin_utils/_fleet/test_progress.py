# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import functools
import multiprocessing
import time
import types

import pytest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet import messages, progress
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import (
    constants,
    fleet_line,
    is_watched,
    line_times,
    say,
    show,
)


def status(state="running", **progress):
    return host(log=volume(state, **progress))


def volume(state="running", **progress):
    return {"state": state, "progress": progress}


def host(**volumes):
    states = {each["state"] for each in volumes.values()}
    return {"state": "unknown" if "unknown" in states else "running", "volumes": volumes}


def test_a_line_says_how_far_the_fleet_is():
    line = fleet_line({"a": status("finished"), "b": status(percent="50", latency_p99_ns="4200000")}, 35.2)
    assert line == "logdisk: 1/2 hosts done, 75 %, 36 s left, worst p99 so far 4.2 ms on b"


def test_volumes_are_counted_if_a_host_has_several():
    statuses = {
        "a": status("finished"),
        "b": host(log1=volume("dead"), log2=volume(percent="50", latency_p99_ns="4200000"), log3=volume("unknown")),
    }
    assert (
        fleet_line(statuses, 0)
        == "logdisk: 2/4 volumes done, 62 %, finishing, 1 did not answer, worst p99 so far 4.2 ms on b/log2"
    )


@pytest.mark.parametrize(
    "progress", [None, "x", {"percent": "nan", "latency_p99_ns": "inf"}, {"percent": [], "latency_p99_ns": "1e9x"}]
)
def test_what_a_host_says_cannot_break_the_line(progress):
    assert (
        fleet_line({"a": host(log={"state": "running", "progress": progress})}, 0)
        == "logdisk: 0/1 hosts done, 0 %, finishing"
    )


TERMINAL = types.SimpleNamespace(isatty=lambda: True)
FILE = types.SimpleNamespace(isatty=lambda: False)


@pytest.mark.parametrize(
    "stdout, callback, environment, expected",
    [
        (TERMINAL, "default", {}, True),
        (FILE, "default", {}, False),
        (TERMINAL, "json", {}, False),
        # A job runs in a pseudo-terminal.
        (TERMINAL, "awx_display", {}, False),
        (TERMINAL, "default", {"AWX_ISOLATED_DATA_DIR": "/runner/artifacts/7"}, False),
    ],
)
def test_who_watches(monkeypatch, stdout, callback, environment, expected):
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", callback)
    assert is_watched(stdout, environment) is expected


def test_a_running_volume_is_at_least_as_far_as_the_time():
    """The last status may be minutes old. A run in progress is never reported as complete."""
    statuses = {"a": status(percent="10"), "b": status(percent="50")}
    assert "0/2 hosts done, 45 %" in fleet_line(statuses, 60, 0.4)
    assert "0/2 hosts done, 99 %" in fleet_line(statuses, 0, 7.0)


@pytest.mark.parametrize("end, interval", [(90.0, 30.0), (1205.0, 400.0), (4205.0, 1400.0)])
def test_plain_lines_come_at_intervals_whenever_hosts_are_polled(end, interval):
    start, now, due = 5.0, 0.0, []
    for wake in (7.0, 40.0, 41.0, 95.0, end):
        due += line_times(now, wake, start, end, not now)
        now = wake
    assert due[0] == 0.0
    assert all(later - earlier == pytest.approx(interval) for earlier, later in zip(due[1:], due[2:]))
    assert len(due) == 1 or due[1] >= interval
    assert len(due) == 1 + int((end - start - 1e-6) / interval)


@pytest.mark.parametrize(
    "watched, shown_as, expected",
    [
        (True, "auto", "rewritten"),
        (False, "auto", "plain"),
        (True, "lines", "plain"),
        (True, "none", None),
        (False, "none", None),
    ],
)
def test_how_the_progress_is_shown(monkeypatch, watched, shown_as, expected):
    said = []
    display = types.SimpleNamespace(
        display=lambda text, color=None, newline=True, screen_only=False: said.append(
            "plain" if newline else "rewritten"
        )
    )
    monkeypatch.setattr(constants, "DEFAULT_STDOUT_CALLBACK", "default")
    monkeypatch.setattr(progress, "watched", watched)
    monkeypatch.setattr(progress, "shown_as", shown_as)
    show(display, {"a": status()}, 0.01, time.time(), time.time() + 60, True)
    assert set(said) == ({expected} if expected else set())


def test_the_lines_of_hosts_are_bounded_for_the_whole_fleet(monkeypatch):
    monkeypatch.setattr(progress, "shown_as", progress.AUTO)
    assert (
        progress.room_of(1) >= 100
        and 2 * progress.room_of(2) == 40
        and progress.room_of(30) == 1
        and progress.room_of(41) == 0
    )
    monkeypatch.setattr(progress, "shown_as", progress.NONE)
    assert progress.room_of(1) == 0


@pytest.mark.parametrize(("in_worker", "by"), [(True, ["core"]), (False, ["runner", "core"])])
def test_a_worker_prints_past_the_wrapper_of_a_runner(monkeypatch, in_worker, by):
    """The wrapper writes to standard output, which a worker must not use. ansible-core's own wrapper of the method
    remains in use."""
    called = []
    core = {"__name__": messages.ANSIBLE_DISPLAY, "called": called}
    exec("def display(self, text, **how): called.append('core')", core)

    @functools.wraps(core["display"])
    def of_runner(display, text, **how):
        called.append("runner")
        return core["display"](display, text, **how)

    class Display:
        display = of_runner

    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object() if in_worker else None)
    say(Display(), "a line")
    assert called == by
