# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Determines which profile is to judge a host, according to run.json, and which profile has judged it, according to its
record.

run.json contains ``profile``, the profile that most hosts use, and ``host_profiles``, the profiles of all other hosts.
A merged run also has ``other_profiles``: profiles that judged a volume although the newest run was meant to judge its
host by a different one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
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
