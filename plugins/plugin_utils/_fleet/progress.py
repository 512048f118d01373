# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Shows the progress of a fleet in one line on the screen, from the last status of each host."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Collection, Mapping
from typing import Any

from ansible import constants

from ...module_utils import _units
from .._run.record import host_label
from .._run.shapes import as_dict
from .finished_steps import new_lines, number, worst_p99_ns
from .messages import is_json, printer, say
from .schedule import ENDED

LINE_INTERVAL_S = 30.0
"""Plain lines are printed at most this often."""
MOST_LINES = 3
"""How many plain lines a run prints until its expected end. Long runs print them less often."""
MOST_HOST_LINES = 40
"""The number of lines that all hosts of an observation together print at each poll, if there are several hosts."""
LINES_OF_ONE = 1000

AUTO, LINES, NONE = "auto", "lines", "none"
"""The ways to show progress: as one line that is rewritten on a terminal, as plain lines, or not at all."""

watched = False
"""Whether a person is watching a terminal. The callback sets this in the main process, and Ansible's workers, which
have no terminal, inherit it."""
shown_as = AUTO
"""How the progress is to be shown. It is set and inherited in the same way."""
reasons_follow = False
"""Whether the callback prints a summary with the reasons of all failures after the recap. It is set and inherited in
the same way."""

JOB_CALLBACK = "awx_display"
JOB_VARIABLE = "AWX_ISOLATED_DATA_DIR"
"""The stdout callback and the environment variable by which a job of ansible-runner, AWX or Automation Platform is
recognized."""


def is_watched(stdout: Any, environment: Mapping[str, str]) -> bool:
    """True if the output is a terminal with a user. The standard output of a job is also a terminal, but each rewritten
    line would be stored as events."""
    in_job = JOB_VARIABLE in environment or str(constants.DEFAULT_STDOUT_CALLBACK).rpartition(".")[2] == JOB_CALLBACK
    return stdout.isatty() and not in_job and not is_json(constants.DEFAULT_STDOUT_CALLBACK)


def fleet_line(statuses: Mapping[str, Mapping[str, Any]], left_s: float, passed_share: float = 0.0) -> str:
    """Return the fleet's progress as one line. ``statuses`` holds the last status of each host, which is untrusted and
    may be old; ``left_s`` is the time to the expected end, and ``passed_share`` is the share of the planned time that
    has passed. If a host has several volumes, the volumes are counted instead of the hosts."""
    volumes = {(host, name): volume for host, status in statuses.items() for name, volume in status["volumes"].items()}
    several = len(volumes) > len(statuses)
    done = sum(volume["state"] in ENDED for volume in volumes.values())
    by_now = 100 * min(0.99, max(0.0, passed_share))
    percent = [
        100.0 if volume["state"] in ENDED else max(by_now, number(volume, "percent") or 0.0)
        for volume in volumes.values()
    ]
    parts = [
        f"{done}/{len(volumes)} {'volumes' if several else 'hosts'} done",
        f"{math.floor(sum(percent) / max(1, len(percent)))} %",
    ]
    parts.append(f"{math.ceil(left_s)} s left" if left_s > 0 else "finishing")
    silent = sum(status.get("state") == "unknown" for status in statuses.values())
    if silent:
        parts.append(f"{silent} did not answer")
    worst = max(
        ((worst_p99_ns(volume), label) for label, volume in volumes.items()),
        default=(0.0, ("", "")),
    )
    if worst[0] > 0:
        host, name = worst[1]
        parts.append(
            f"worst p99 so far {_units.format_duration(worst[0])} on "
            f"{host_label(host, name) if len(statuses[host]['volumes']) > 1 else host}"
        )
    return "logdisk: " + ", ".join(parts)


def room_of(hosts: int) -> int:
    """Return how many separate lines each host may print at each poll. If there are many hosts, the number is 0,
    because nobody could read so many lines."""
    if shown_as == NONE:
        return 0
    return LINES_OF_ONE if hosts == 1 else MOST_HOST_LINES // hosts


def line_times(now: float, wake: float, start: float, end: float, first: bool) -> list[float]:
    """Return the times until ``wake`` at which plain lines are due: at once for the first wait of a sweep, and then at
    equal intervals after its start."""
    interval = max(LINE_INTERVAL_S, (end - start) / MOST_LINES)
    count = max(1, math.ceil(((now + interval if first else now) - start) / interval))
    due = [now] if first else []
    while (moment := start + count * interval) < wake:
        due.append(moment)
        count += 1
    return due


def show(
    display: Any,
    statuses: Mapping[str, Mapping[str, Any]],
    sleep_s: float,
    start_epoch_s: float,
    end_epoch_s: float,
    first: bool,
) -> None:
    """Sleep for ``sleep_s`` seconds and show the fleet's progress: one line that is rewritten every second if a person
    is watching, otherwise plain lines.

    Returns early if the controller was killed. This worker has its own session and would otherwise continue to sleep.
    """
    now, wake, controller = time.time(), time.monotonic() + sleep_s, os.getppid()
    rewritten = watched and shown_as == AUTO
    due = [] if rewritten or shown_as == NONE else line_times(now, now + sleep_s, start_epoch_s, end_epoch_s, first)
    while (remaining := wake - time.monotonic()) > 0 and os.getppid() == controller:
        now = time.time()
        line = fleet_line(statuses, end_epoch_s - now, (now - start_epoch_s) / max(1.0, end_epoch_s - start_epoch_s))
        if rewritten:
            _rewrite(display, line)
        elif due and due[0] <= now:
            due.pop(0)
            say(display, line)
        time.sleep(min(1.0, remaining))
    if rewritten:
        _rewrite(display, "")


def show_finished(
    display: Any,
    statuses: Mapping[str, Mapping[str, Any]],
    schedule: Mapping[str, Mapping[str, float]],
    told: Collection[str],
) -> list[str]:
    """Print a line for each step that has finished since the lines in ``told``, unless no progress is to be shown.
    Returns the complete list for the next call."""
    starts = {host: times["start_epoch_s"] for host, times in schedule.items()}
    lines = {} if shown_as == NONE else new_lines(statuses, starts, told)
    for line in lines.values():
        say(display, line)
    return [*told, *lines]


def _rewrite(display: Any, line: str) -> None:
    printer(display)("\r\033[K" + line, newline=False, screen_only=True)


COLLECTED = "collected"
"""The key that the status of a host has after its tables were collected. Its value contains the names of the volumes
that sent tables."""
FINISHED, UNKNOWN, RUNNING = "finished", "unknown", "running"
SHOWN = (
    "state",
    "percent",
    "block_size_bytes",
    "load_point",
    "latency_p99_ns",
    "latency_max_ns",
    "done",
    "error",
)
"""What is kept of the progress that a tester reports."""
LONGEST_VALUE = 4096
"""The largest number of characters of each of these values that are kept."""


def host_status(host: str, run_id: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the status of a host from its answer, which is untrusted.

    A template collects the statuses of all hosts. Only text is kept, so that a value from a host cannot make the
    template fail.
    """
    volumes = as_dict(answer.get("volumes"))
    status = {
        "host": host,
        "run_id": run_id,
        "state": "",
        "volumes": {str(name): _volume_status(as_dict(volume)) for name, volume in volumes.items()},
        "reason": str(answer.get("reason") or ""),
        "answered_epoch_s": time.time(),
    }
    status["state"] = _state([volume["state"] for volume in status["volumes"].values()])
    if "ansible_facts" in answer:  # the interpreter that Ansible itself discovered on the host
        status["ansible_facts"] = answer["ansible_facts"]
    return status


def unanswered(known: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return the status of a host that did not answer: volumes that have not ended become unknown."""
    volumes = {
        name: volume if volume["state"] in ENDED else {**volume, "state": UNKNOWN}
        for name, volume in known["volumes"].items()
    }
    return {
        **known,
        "state": _state([volume["state"] for volume in volumes.values()]),
        "volumes": volumes,
        "reason": reason,
    }


def _volume_status(volume: Mapping[str, Any]) -> dict[str, Any]:
    progress = as_dict(volume.get("progress"))
    return {
        "state": str(volume.get("state")),
        "progress": {key: str(progress[key])[:LONGEST_VALUE] for key in SHOWN if key in progress},
    }


def _state(states: list[str]) -> str:
    """Return the state of a host. The host is running until all of its volumes have ended."""
    going_on = [state for state in states if state not in ENDED]
    if going_on or not states:
        return UNKNOWN if UNKNOWN in going_on or not states else RUNNING
    return FINISHED if FINISHED in states else states[0]
