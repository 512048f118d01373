# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The findings that follow from the settings of a host, and the waivers of a profile for them."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import Any

from .._estimate.target import target_of
from .._run.findings import SETTING, Finding, finding
from .._run.kinds import DEFAULT
from .._run.settings import Outcome, catalogue, outcomes_of, outcomes_of_pair, worst_of_each
from .._run.shapes import Facts
from .._run.verdicts import FAIL, WARN
from .profile import Profile, Waiver


def judge_settings(
    facts: Facts, host: str, profile: Profile, today: datetime.date
) -> tuple[list[Outcome], list[Finding]]:
    """Return the outcomes of a host's settings in a measurement, and the findings of those that are wrong."""
    return _judged(outcomes_of(DEFAULT.name, derived(facts)), (host,), profile, today)


def judge_settings_of_pair(
    kind: str, settings: Mapping[str, Facts], profile: Profile, today: datetime.date
) -> tuple[list[Outcome], list[Finding]]:
    """Return the same for the settings of two hosts in a run of a kind, by the name of the host."""
    return _judged(outcomes_of_pair(kind, settings), settings, profile, today)


def derived(facts: Facts) -> dict[str, Any]:
    """Return facts with the time in which the load that the volume must carry fills the primary files of the log. A log
    also contains headers, so it is filled at least as soon."""
    log_bytes, target = facts.get("queue_manager_log_set_bytes"), target_of(facts)
    known = isinstance(log_bytes, int) and target
    log_s = round(log_bytes / (target.message_bytes * target.messages_per_s), 1) if known else None
    return {**facts, "queue_manager_log_s": log_s}


def _judged(
    outcomes: list[Outcome], hosts: Collection[str], profile: Profile, today: datetime.date
) -> tuple[list[Outcome], list[Finding]]:
    waivers = waivers_of(profile, hosts, today)
    judged = [_waived(each, waivers) for each in outcomes]
    return judged, [
        finding(SETTING, each["verdict"], limit_id=each["id"], **{key: each.get(key) or None for key in _OF_FINDING})
        for verdict in (FAIL, WARN)
        for each in worst_of_each(judged, verdict)
    ]


def waivers_of(profile: Profile, hosts: Collection[str], today: datetime.date) -> dict[str, Waiver]:
    """Return the valid waivers for settings of these hosts, by the id of the setting."""
    found = {setting_id: profile.waiver_of(hosts, "", setting_id) for setting_id in catalogue()}
    return {setting_id: waiver for setting_id, waiver in found.items() if waiver and waiver.until >= today}


_OF_FINDING = ("title", "subject", "value", "expected", "others", "waiver")


def _waived(outcome: Outcome, waivers: Mapping[str, Waiver]) -> Outcome:
    waiver = waivers.get(outcome["id"]) if outcome["verdict"] in (FAIL, WARN) else None
    return {**outcome, "verdict": WARN, "waiver": waiver.reason} if waiver else outcome
