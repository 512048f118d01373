# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What run.json says about its hosts: the profile that is to judge each of them, and the options with which it was
measured.

run.json contains ``profile``, the profile that most hosts use, and ``host_profiles``, the profiles of all other hosts;
likewise ``parameters`` and ``host_parameters``. A merged run also has ``other_profiles``: profiles that judged a volume
although the newest run was meant to judge its host by a different one. The record of a volume names the profile that
judged it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .files import fingerprint
from .shapes import Run

_TAKEN_AS_THEY_STAND = "none"
"""The confidence of a profile that never certifies."""


def can_certify(profile: Mapping[str, Any]) -> bool:
    """Return whether a profile can certify. A quick look, which uses figures without confidence bounds, cannot."""
    return (profile.get("qualifies") or {}).get("confidence") != _TAKEN_AS_THEY_STAND


def profile_data(run: Run, host: str) -> dict[str, Any]:
    """Return the profile that is to judge a host: its own profile if it has one, and otherwise the profile of all hosts
    without their own."""
    return (run.get("host_profiles") or {}).get(host) or run.get("profile") or {}


def profile_key(profile: Mapping[str, Any]) -> dict[str, str]:
    """Return the identification of a profile in records, verdicts and certificates: its name, its version and the
    SHA-256 of its canonical text."""
    return {
        "name": str(profile.get("name") or ""),
        "version": str(profile.get("version") or ""),
        "sha256": profile_sha256(profile),
    }


def profile_sha256(profile: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a profile in its canonical text without the ids of its limits.

    An id only names a limit. Therefore, if ids are added to a profile, it is still the profile named in earlier
    certificates.
    """
    limits = profile.get("limits")
    if isinstance(limits, list):
        profile = {
            **profile,
            "limits": [
                {key: value for key, value in limit.items() if key != "id"} if isinstance(limit, dict) else limit
                for limit in limits
            ],
        }
    return fingerprint(profile)


def profiles_by_sha256(run: Run) -> dict[str, dict[str, Any]]:
    """Return all profiles that run.json contains."""
    given = [run.get("profile") or {}, *(run.get("host_profiles") or {}).values(), *(run.get("other_profiles") or [])]
    return {profile_sha256(profile): profile for profile in given if profile}


def of_hosts(profiles: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the keys of run.json for the profile of each host: the profile that most hosts use (among equally
    frequent ones, the profile of the first host), and the profiles of all others."""
    counts = Counter(repr(profile) for profile in profiles.values())
    common = max(profiles.values(), key=lambda profile: counts[repr(profile)], default={})
    return {
        "profile": common,
        "host_profiles": {host: profile for host, profile in profiles.items() if profile != common},
    }


def profile_text(judged_by: Mapping[str, Any] | None) -> str:
    """Return the name and version of the profile that has judged a volume; empty if none has. ``judged_by`` is the
    value in the record of the volume."""
    return f"{judged_by.get('name')} {judged_by.get('version')}".strip() if judged_by else ""


VARIES = "differs between hosts"


def parameters_of_hosts(values: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the keys of run.json for the options of each host, by host and name.
    Values that are None are left out, because the host computes them."""
    names = dict.fromkeys(name for own in values.values() for name in own)
    found = {name: [own.get(name) for own in values.values()] for name in names}
    common = {name: each[0] if each.count(each[0]) == len(each) else VARIES for name, each in found.items()}
    differing = [name for name, value in common.items() if value == VARIES]
    own = {
        host: {name: own[name] for name in differing if own.get(name) not in (None, VARIES)}
        for host, own in values.items()
    }
    return {
        "parameters": {name: value for name, value in common.items() if value is not None},
        "host_parameters": {host: settings for host, settings in own.items() if settings},
    }


def parameters_of(run: Run, host: str) -> dict[str, Any]:
    """Return all options of a host. An option is VARIES if it differs between hosts and the host has no value of it."""
    return {**(run.get("parameters") or {}), **((run.get("host_parameters") or {}).get(host) or {})}


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


LAST = "last"
CERTIFICATES = "certificates"
"""The kinds of baselines: the newest certificates of each volume, or named certificates."""


def compares_with_baseline(run: Run) -> bool:
    """Whether the hosts of a run are to be compared with a baseline. A merged run contains the comparisons of its
    original runs."""
    return bool((run.get("baseline") or {}).get("kind")) and not run.get("merged_from")
