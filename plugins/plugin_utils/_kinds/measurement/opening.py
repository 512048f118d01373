# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Opens a measurement: when its hosts start, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..._fleet.schedule import LEAD_MIN_S, PREPARATION_S, duration_text, early_end_problem, start_problem
from ..._fleet.schedule import shown as shown_instant
from ..._fleet.settings import SettingsError, shown
from ..._run.shapes import Plan
from .. import facets


class Opening(facets.Opening):
    """All hosts may start at the same time."""

    def check(self, settings: Mapping[str, Any], plans: Mapping[str, Plan]) -> None:
        """Raise SettingsError if the hosts cannot possibly be ready by their start time, if this time is too far in the
        future, or if an early end was requested for sweeps that must not end early."""
        longest_s = PREPARATION_S + LEAD_MIN_S + max(plan["format_s"] for plan in plans.values())
        problem = early_end_problem(settings, plans)
        problem = problem or start_problem(settings["sweep_start_at"], time.time(), longest_s)
        if problem:
            raise SettingsError(problem)

    def announced(self, settings: Mapping[str, Any], plans: Mapping[str, Plan], check_mode: bool) -> list[str]:
        """Return lines that say when the hosts measure, followed by the notes in their plans. In a preflight, the notes
        are in the hosts' records."""
        start = (
            [f"The hosts start at {shown_instant(settings['sweep_start_at'])}."] if settings["sweep_start_at"] else []
        )
        return [_duration(settings["sweep_mode"], plans), *start, *([] if check_mode else _notes(plans))]


def _duration(mode: str, plans: Mapping[str, Plan]) -> str:
    """Return a sentence about how long the run takes. If the run is too short to certify, the sentence also says how
    long a certifying run would take."""
    open_hosts = [host for host in sorted(plans) if plans[host].get("discover")]
    known = {host: plan for host, plan in plans.items() if host not in open_hosts}
    later = (
        f"The time for {shown(open_hosts)} is announced when the volumes there are discovered." if open_hosts else ""
    )
    return " ".join(text for text in (known and duration_text(mode, known), later) if text)


def _notes(plans: Mapping[str, Plan]) -> list[str]:
    """Return the notes in the plans of hosts as sentences. Each
    sentence begins with the hosts to which it applies."""
    hosts_by_notes: dict[tuple[str, ...], list[str]] = {}
    for host in sorted(plans):
        hosts_by_notes.setdefault(tuple(plans[host]["notes"]), []).append(host)
    return [f"{shown(hosts)}: {note}" for notes, hosts in hosts_by_notes.items() for note in notes]
