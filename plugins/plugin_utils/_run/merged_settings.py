# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The keys about hosts in run.json of a merged run. Runs that were measured differently can be merged, and each host
keeps its own settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .parameters import parameters_of, parameters_of_hosts
from .profiles import of_hosts, profile_data, profile_sha256, profiles_by_sha256

_OF_HOSTS = ("host_array_settings", "host_targets", "host_classes")
"""The keys of run.json that contain values by host."""
COMMON = ("collection_version", "baseline")
"""The keys that a merged run has only if its runs agree."""


def merged_settings(
    runs: Sequence[Mapping[str, Any]],
    runs_of_hosts: Mapping[str, Mapping[str, Any]],
    judged_by: Iterable[Mapping[str, Any] | None],
) -> dict[str, Any]:
    """Return the keys of run.json that say how hosts were measured and which criteria judge them.

    ``runs`` holds the content of run.json for each run, oldest first; ``runs_of_hosts`` holds that of the run whose
    settings a host keeps; ``judged_by`` holds the profiles named in the merged records.
    """
    profiles = of_hosts({host: profile_data(run, host) for host, run in runs_of_hosts.items()})
    known = {sha256: profile for run in runs for sha256, profile in profiles_by_sha256(run).items()}
    named = {profile_sha256(profile) for profile in (profiles["profile"], *profiles["host_profiles"].values())}
    others = sorted({each["sha256"] for each in judged_by if each} & set(known) - named)
    return {
        **profiles,
        "other_profiles": [known[sha256] for sha256 in others],
        **parameters_of_hosts({host: parameters_of(run, host) for host, run in runs_of_hosts.items()}),
        **{
            key: {host: run[key][host] for host, run in runs_of_hosts.items() if host in (run.get(key) or {})}
            for key in _OF_HOSTS
        },
        **{
            key: runs[-1][key]
            for key in COMMON
            if key in runs[-1] and all(run.get(key) == runs[-1][key] for run in runs)
        },
    }
