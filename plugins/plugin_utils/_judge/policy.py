# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The policy of the gate when a run is rendered, merged or collected: the policy that was recorded when the run was
opened, unless the command overrides it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._run.verdicts import DEFAULT_FAIL_ON, FAIL_ON_CHOICES
from .fleet import INSTEAD_OF, check_policy


def given_policy(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a policy that a command sets with its options ``gate_fail_on`` and ``gate_report_only``.
    Raises PolicyError."""
    policy: dict[str, Any] = {}
    if "gate_fail_on" in given:
        policy["fail_on"] = list(check_policy(given["gate_fail_on"]))
    if "gate_report_only" in given:
        policy["report_only"] = given["gate_report_only"]
    return policy


def policy_with(recorded: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the policy that a run recorded, after applying the command's overrides, and the values that these
    replaced."""
    known = {**recorded, "fail_on": _fail_on(recorded), "report_only": bool(recorded.get("report_only"))}
    replaced = {key: known[key] for key, value in given.items() if value != known[key]}
    return {**known, **given, **({INSTEAD_OF: replaced} if replaced else {})}


def merged_policy(recorded: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the policy of a run that is merged from others. The merged run fails at every verdict at which any
    of these runs fails, and it can fail even if they only report."""
    policies = list(recorded)
    stopping = {verdict for policy in policies for verdict in _fail_on(policy)}
    days = [policy["valid_days"] for policy in policies if policy.get("valid_days")]
    return {
        "fail_on": [verdict for verdict in FAIL_ON_CHOICES if verdict in stopping],
        "report_only": False,
        **({"valid_days": min(days)} if days else {}),
    }


def _fail_on(policy: Mapping[str, Any]) -> list[str]:
    return list(DEFAULT_FAIL_ON if policy.get("fail_on") is None else policy["fail_on"])
