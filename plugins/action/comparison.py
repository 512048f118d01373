# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Says which volumes became worse between two selections of certificates, from the history alone."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import read_margin
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import NON_INFERIOR
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.figures import figure_named
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.fleet_comparison import compare_fleet, statement_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.selection import select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history_action import CHANGE, HISTORY, HOSTS, HistoryAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.comparison_html import render_comparison
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.comparison_txt import comparison_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import new_run_id
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import write_json, write_text

JSON_FILE = "comparison.json"
PAGE = "comparison.html"


class ActionModule(HistoryAction):
    """Runs on the controller alone, once for all hosts, and fails unless the fleet is shown not to have become worse."""

    argument_spec = {
        "before": {"type": "list", "elements": "str"},
        "after": {"type": "list", "elements": "str"},
        **CHANGE,
        **HOSTS,
        **HISTORY,
    }

    def consult(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        if not options["before"] or not options["after"]:
            raise ValueError("name what to compare: set compare_before and compare_after to certificates, runs, days or ranges of days")
        hosts = self.expectation(options, task_vars).hosts
        figure, margin = figure_named(options["figure"]), read_margin(options["margin"])
        with self.history(options) as history:
            before, after = (select(history, options[side]) for side in ("before", "after"))
            comparison = compare_fleet(history, before, after, hosts, figure=figure, margin=margin)
        statement = statement_of(comparison)
        folder = os.path.join(options["report_dir"], f"compare-{new_run_id()}")
        if not self._task.check_mode:
            os.mkdir(folder)
            write_json(os.path.join(folder, JSON_FILE), comparison)
            write_text(os.path.join(folder, PAGE), render_comparison(comparison, statement))
        page = self.page(os.path.join(folder, PAGE))
        say(self._display, comparison_text(comparison, statement, page))
        outcome = comparison["outcome"]
        failure = {} if outcome == NON_INFERIOR else {"failed": True, "msg": f"{outcome}: {statement}"}
        return {"outcome": outcome, "page": page, **failure}
