# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The output on the screen: one line about the progress of a fleet, from the last statuses of its hosts. Nothing is printed between JSON."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible_collections.mqops.logdisk.plugins.module_utils import _units
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.schedule import ENDED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import host_label

LINE_INTERVAL_S = 30.0
"""If the output is not a terminal, a line is printed at most this often."""

on_terminal = False
"""Whether the output is a terminal. The callback sets it in the main process, and Ansible's workers, which have no terminal, inherit it."""

JSON_CALLBACKS = ("json", "jsonl", "ndjson")
"""Stdout callbacks, by the last part of their names, whose output is read by programs: nothing else may be printed."""


_said: set[str] = set()


def first_to_say(what: str) -> bool:
    """Return True once for each ``what``: the callback can be loaded twice in one process, by the configuration and by the shim in the playbooks' folder."""
    first = what not in _said
    _said.add(what)
    return first


def say(display: Any, text: str, color: str | None = None) -> None:
    """Print ``text``, unless standard output belongs to a callback that prints JSON."""
    if not is_json(constants.DEFAULT_STDOUT_CALLBACK):
        display.display(text, color=color)


def is_json(stdout_callback: str | None) -> bool:
    """True if the stdout callback of this name prints JSON."""
    return str(stdout_callback).rpartition(".")[2] in JSON_CALLBACKS


def fleet_line(statuses: Mapping[str, Mapping[str, Any]], left_s: float) -> str:
    """Return the fleet's progress as one line. ``statuses`` holds the last status of each host, which is untrusted;
    ``left_s`` is the time to the expected end. If a host has several volumes, volumes are counted."""
    volumes = {(host, name): volume for host, status in statuses.items() for name, volume in status["volumes"].items()}
    several = len(volumes) > len(statuses)
    done = sum(volume["state"] in ENDED for volume in volumes.values())
    percent = [100.0 if volume["state"] in ENDED else _number(volume, "percent") or 0.0 for volume in volumes.values()]
    parts = [f"{done}/{len(volumes)} {'volumes' if several else 'hosts'} done", f"{math.floor(sum(percent) / max(1, len(percent)))} %"]
    parts.append(f"{math.ceil(left_s)} s left" if left_s > 0 else "finishing")
    silent = sum(status.get("state") == "unknown" for status in statuses.values())
    if silent:
        parts.append(f"{silent} did not answer")
    worst = max(((_number(volume, "latency_p99_ns") or 0.0, label) for label, volume in volumes.items()), default=(0.0, ("", "")))
    if worst[0] > 0:
        host, name = worst[1]
        parts.append(f"worst p99 so far {_units.format_duration(worst[0])} on {host_label(host, name) if len(statuses[host]['volumes']) > 1 else host}")
    return "logdisk: " + ", ".join(parts)


def show(display: Any, statuses: Mapping[str, Mapping[str, Any]], sleep_s: float, end_epoch_s: float) -> None:
    """Sleep for ``sleep_s`` seconds and show the fleet's progress: one line that is rewritten every second on a terminal, otherwise
    a plain line before the first wait and before every long one."""
    wake = time.monotonic() + sleep_s
    if not on_terminal and (sleep_s >= LINE_INTERVAL_S or not any(statuses.values())):
        say(display, fleet_line(statuses, end_epoch_s - time.time()))
    while (remaining := wake - time.monotonic()) > 0:
        if on_terminal:
            _rewrite(display, fleet_line(statuses, end_epoch_s - time.time()))
        time.sleep(min(1.0, remaining))
    if on_terminal:
        _rewrite(display, "")


def _rewrite(display: Any, line: str) -> None:
    display.display("\r\033[K" + line, newline=False, screen_only=True)


def _number(volume: Mapping[str, Any], key: str) -> float | None:
    progress = volume.get("progress")
    try:
        number = float(progress[key]) if isinstance(progress, Mapping) else None
    except (KeyError, TypeError, ValueError):
        return None
    return number if number is not None and math.isfinite(number) else None
