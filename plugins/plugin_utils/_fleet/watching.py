# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks the options of an observation before its run is opened."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from typing import Any

from .settings import SettingsError

OF_CALLS = ("auto", "bpftrace")
LONGEST_S = 7 * 86400
_CALL = re.compile(r"MQ[A-Z0-9]{1,20}\Z")
_VOLUME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}\Z")
_SECRET = re.compile(r"[@?#]")
_OF_ONE = ("queue_manager", "volume", "log_path", "url")
"""The settings that can differ between the queue managers of a host."""


def split(command: str) -> list[str]:
    """Return a program and its arguments, split as a shell does. Raises SettingsError."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingsError(f"observe_command: {error}: write it as for a shell") from error


def observed_of(settings: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the queue managers to observe on a host, each with its name (empty if there is only one), volume, log path
    and endpoint. Raises SettingsError."""
    several = settings["observe_queue_managers"]
    if not several:
        return [{key: str(settings[f"observe_{key}"]) for key in _OF_ONE}]
    found = []
    for each in several:
        unknown = sorted(set(each) - set(_OF_ONE)) if isinstance(each, Mapping) else [str(each)]
        if unknown or not each.get("queue_manager"):
            raise SettingsError(
                "observe_queue_managers: give each one a queue_manager, and volume, log_path and url if needed, not "
                f"{', '.join(unknown) or each}"
            )
        given = {key: str(value) for key, value in each.items() if value}
        found.append({"volume": given["queue_manager"], "log_path": "", "url": str(settings["observe_url"]), **given})
        check_endpoint(found[-1]["url"])
    return found


def check_observation(settings: Mapping[str, Any]) -> None:
    """Raise SettingsError if the options of an observation do not fit together."""
    problem = _problem(settings) or _problem_of_several(settings)
    if problem:
        raise SettingsError(problem)


def _problem_of_several(settings: Mapping[str, Any]) -> str:
    observed = observed_of(settings)
    for each in observed:
        if not _VOLUME.match(each["volume"]):
            return (
                f"the volume {each['volume']!r} must be a name of letters, digits, '.', '_' and '-': set "
                "observe_volume, or volume in the list"
            )
    if not settings["observe_queue_managers"]:
        return ""
    alone = [name for name in ("queue_manager", "log_path", "calls", "pid", "command") if settings[f"observe_{name}"]]
    if alone:
        return f"observe_{alone[0]} is for one queue manager: unset it, or observe_queue_managers"
    for key in ("queue_manager", "volume"):
        if len({each[key] for each in observed}) < len(observed):
            return f"observe_queue_managers has the same {key} twice"
    return ""


def _problem(settings: Mapping[str, Any]) -> str:
    source, calls = str(settings["observe_source"]), list(settings["observe_calls"])
    duration_s, interval_s = float(settings["observe_duration"]), float(settings["observe_interval"])
    wrong = next((call for call in calls if not _CALL.match(call)), "")
    if wrong:
        return f"observe_calls: {wrong!r} is not the name of a call to MQ: name calls such as MQPUT and MQCMIT"
    if (calls or split(settings["observe_command"])) and source not in OF_CALLS:
        return (
            f"only bpftrace can observe calls of applications and start programs, but observe_source is {source}: set "
            "it to auto or bpftrace"
        )
    if math.isnan(interval_s) or interval_s < 1:
        return f"observe_interval is {interval_s:g}, but must be at least 1 second"
    if math.isnan(duration_s) or duration_s > LONGEST_S:
        return f"observe_duration is {duration_s:g} s, but must be at most {LONGEST_S} s (a week)"
    if duration_s < interval_s:
        return (
            f"observe_duration ({duration_s:g} s) is shorter than observe_interval ({interval_s:g} s): increase the "
            "former, or decrease the latter"
        )
    return ""


def check_endpoint(url: str) -> None:
    """Raise SettingsError, whose message does not show the URL, if observe_url may contain a secret. This is refused
    because run.json and the report show the URL."""
    if _SECRET.search(url):
        raise SettingsError(
            "observe_url must not contain a user, a password or a query, because every report shows it: name an "
            "endpoint that needs none of them"
        )
