# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The parts before and after the hosts in every format for people: counts, parameters, and the requirements of the
profile in addition to its limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._units import format_size
from .._run.columns import Step
from .._run.host_settings import can_certify
from .._run.kinds import UNJUDGED
from .._run.table_reader import printable
from .._run.verdicts import WORST_FIRST
from .figures import step_text
from .model import Model


def counts_of(model: Model) -> list[tuple[str, int]]:
    """Return every verdict with its count, worst first, and the hosts that were not measured, or were observed without
    a verdict."""
    counts = model.fleet.get("counts") or {}
    without = [(word, sum(host.verdict == word for host in model.hosts)) for word in UNJUDGED]
    return [(verdict, counts.get(verdict, 0)) for verdict in WORST_FIRST] + [
        (word, count) for word, count in without if count
    ]


def steps_of(model: Model) -> tuple[list[Step], list[str]]:
    """Return every load point and block size that was measured, and their titles."""
    steps = model.steps
    several = len({step[0] for step in steps}) > 1
    return steps, [step_text(step, several, model.words) for step in steps]


def parameters_of(model: Model) -> list[tuple[str, str]]:
    """Return the run's parameters and its controller as pairs of text."""
    run = model.run
    controller = dict(run.get("controller") or {})
    job = {f"controller_job_{key}": value for key, value in (controller.pop("job", None) or {}).items()}
    groups = [run.get("parameters") or {}, {f"controller_{key}": value for key, value in controller.items()}, job]
    pairs = [(printable(str(key)), _text(value)) for group in groups for key, value in group.items()]
    policy = model.fleet.get("policy") or {}
    pairs.append(("gate_fail_on", _text(policy.get("fail_on") or "nothing")))
    pairs.append(("gate_report_only", _text(bool(policy.get("report_only")))))
    pairs.append(("collection_version", _text(run.get("collection_version", ""))))
    if run.get("merged_from"):
        pairs.append(("merged_from", _text(run["merged_from"])))
    return pairs


def qualifies_of(model: Model) -> str:
    """Return a sentence for each profile with its conditions for certification."""
    if not model.can_certify:
        return ""
    several = len(model.profiles) > 1
    return " ".join(
        _qualifies(model, profile.data.get("qualifies") or {}, f"{profile.text}: " if several else "")
        for profile in model.profiles
    )


def _qualifies(model: Model, asked: Mapping[str, Any], whose: str) -> str:
    if not can_certify({"qualifies": asked}):
        return f"{whose}This profile never certifies, because it compares single figures with its limits."
    parts = [f"{whose}A run certifies if the tester {model.words.does}"]
    if asked.get("min_duration_s"):
        parts.append(f"for at least {asked['min_duration_s']:g} s per row")
    if asked.get("min_footprint"):
        parts.append(f"to at least {format_size(asked['min_footprint'])} of files{model.words.for_each}")
    if asked.get("block_sizes"):
        parts.append(f"and measured {', '.join(map(format_size, asked['block_sizes']))}")
    return ", ".join(parts) + "."


def waivers_of(model: Model) -> list[str]:
    """Return the waivers of all profiles, one sentence each."""
    waivers = (waiver for profile in model.profiles for waiver in profile.data.get("waivers") or [])
    sentences = (
        f"{waiver.get('host')}: {waiver.get('metric') or waiver.get('id')} until "
        f"{waiver.get('until')}: {waiver.get('reason')}"
        for waiver in waivers
    )
    return list(dict.fromkeys(map(printable, sentences)))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(printable(str(item)) for item in value)
    return "" if value is None else printable(str(value))
