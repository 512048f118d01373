# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Reports which volumes became worse between two selections of certificates, using only the history."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...module_utils._units import format_ratio
from .._fleet.outcome import COMPARED, make_outcome, one_message
from .._fleet.settings import read_margin
from .._history.compare.change import NON_INFERIOR
from .._history.compare.fleet_comparison import compare_fleet, statement_of
from .._history.compare.selection import select
from .._history.figures import figure_named
from .._history_action import (
    CHANGE,
    HISTORY,
    HOSTS,
    PLAY_HOSTS,
    STATUS_PAGE,
    FleetAction,
    existing_pages,
    versions_here,
)
from .._report.history.comparison import comparison_text, render_comparison
from .._run.files import write_json, write_text
from .._run.names import new_run_id

JSON_FILE = "comparison.json"
PAGE = "comparison.html"


class Step(FleetAction):
    """Runs only on the controller, once for all hosts. A later task fails hosts unless the result shows that the fleet
    has not become worse."""

    kind = "comparison"
    argument_spec = {
        **PLAY_HOSTS,
        "before": {"type": "list", "elements": "str"},
        "after": {"type": "list", "elements": "str"},
        **CHANGE,
        **HOSTS,
        **HISTORY,
    }

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if not options["before"] or not options["after"]:
            raise ValueError(
                "specify what to compare: set compare_before and compare_after to certificates, "
                "runs, days or ranges of days"
            )
        hosts = self.expectation(options, task_vars).hosts
        figure, margin = figure_named(options["figure"]), read_margin(options["margin"])
        with self.history(options) as history:
            before, after = (select(history, options[side]) for side in ("before", "after"))
            comparison = compare_fleet(history, before, after, hosts, figure=figure, margin=margin)
        statement = statement_of(comparison)
        folder = os.path.join(options["report_dir"], f"compare-{new_run_id()}")
        if self.write_to(options["report_dir"]):
            os.mkdir(folder)
            write_json(os.path.join(folder, JSON_FILE), comparison)
            others = existing_pages(folder, [(STATUS_PAGE[0], f"../{STATUS_PAGE[1]}")])
            write_text(os.path.join(folder, PAGE), render_comparison(comparison, statement, versions_here(), others))
        page = self.page(os.path.join(folder, PAGE))
        answer = self.tell(comparison_text(comparison, statement, page))
        outcome = comparison["outcome"]
        own = (
            {}
            if outcome == NON_INFERIOR
            else own_failures(
                comparison, {entry.label: entry.host for side in (before, after) for entry in side.entries.values()}
            )
        )
        of_class = [f"{outcome}: {statement}"] if outcome != NON_INFERIOR and not own else []
        told = self.result(
            make_outcome(COMPARED, f"{outcome}: {statement}"), own, of_class, options["play_hosts"], task_vars
        )
        return {"outcome": outcome, "page": page, **told, **answer}


def own_failures(comparison: Mapping[str, Any], hosts: Mapping[str, str]) -> dict[str, str]:
    """Return the messages for hosts that have a volume with the same outcome as the fleet. ``hosts`` maps the displayed
    names of volumes to their hosts."""
    found: dict[str, list[str]] = {}
    for volume in comparison["hosts"]:
        if volume["outcome"] == comparison["outcome"]:
            label = volume["host"]
            reason = volume["reason"] or (
                "" if volume["change"] is None else f"{comparison['figure']} {format_ratio(volume['change'])}"
            )
            host = hosts.get(label.partition(" at ")[0], label)
            found.setdefault(host, []).append(f"{label}: {volume['outcome']}{reason and ': ' + reason}")
    return {host: one_message(messages, JSON_FILE) for host, messages in found.items()}
