# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What an observation of a live queue manager is refused for before its run is opened."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import SettingsError

OF_CALLS = ("auto", "bpftrace")
LONGEST_S = 7 * 86400
_CALL = re.compile(r"MQ[A-Z0-9]{1,20}\Z")
_VOLUME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}\Z")
_SECRET = re.compile(r"[@?#]")


def split(command: str) -> list[str]:
    """Return a program and its arguments as a shell reads them. Raises SettingsError."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise SettingsError(f"observe_command: {error}: write it as for a shell") from error


def check_observation(settings: Mapping[str, Any]) -> None:
    """Raise SettingsError if the options of an observation do not fit together."""
    problem = _problem(settings)
    if problem:
        raise SettingsError(problem)


def _problem(settings: Mapping[str, Any]) -> str:
    source, calls, volume = str(settings["observe_source"]), list(settings["observe_calls"]), str(settings["observe_volume"])
    duration_s, interval_s = float(settings["observe_duration"]), float(settings["observe_interval"])
    wrong = next((call for call in calls if not _CALL.match(call)), "")
    if wrong:
        return f"observe_calls: {wrong!r} is not the name of a call to MQ: name calls such as MQPUT and MQCMIT"
    if (calls or split(settings["observe_command"])) and source not in OF_CALLS:
        return f"only bpftrace sees calls of applications and starts programs, but observe_source is {source}: set it to auto or bpftrace"
    if math.isnan(interval_s) or interval_s < 1:
        return f"observe_interval is {interval_s:g}, but must be at least 1 second"
    if math.isnan(duration_s) or duration_s > LONGEST_S:
        return f"observe_duration is {duration_s:g} s, but must be at most {LONGEST_S} s (a week)"
    if duration_s < interval_s:
        return f"observe_duration ({duration_s:g} s) is shorter than observe_interval ({interval_s:g} s): lengthen the one, or shorten the other"
    if not _VOLUME.match(volume):
        return f"observe_volume is {volume!r}, but must be a name of letters, digits, '.', '_' and '-'"
    return ""


def check_endpoint(url: str) -> None:
    """Raise SettingsError, whose message does not show the URL, if observe_url may contain a secret: run.json and the report show it."""
    if _SECRET.search(url):
        raise SettingsError(
            "observe_url must not contain a user, a password or a query, because every report shows it: name an endpoint that needs none of them"
        )
