# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Says which volumes became worse between two selections of certificates, from the history alone."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.expectation import ExpectationError, expectation
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import read_margin
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.compare import NON_INFERIOR
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.figures import figure_named
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.fleet_comparison import compare_fleet, statement_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.open import open_history, place_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.selection import select
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.comparison_html import render_comparison
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report.comparison_txt import comparison_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import new_run_id
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import absolute, write_file, write_text

JSON_FILE = "comparison.json"
PAGE = "comparison.html"


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts, and fails unless the fleet is shown not to have become worse."""

    argument_spec = {
        "before": {"type": "list", "elements": "str", "required": True},
        "after": {"type": "list", "elements": "str", "required": True},
        "figure": {"type": "str", "default": "latency_mean"},
        "margin": {"type": "raw", "required": True},
        "hosts": {"type": "raw", "required": True},
        "history": {"type": "str", "default": ""},
        "report_dir": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        report_dir = absolute(options["report_dir"])
        try:
            hosts = expectation(task_vars["groups"], self._loader, options["hosts"], task_vars.get("ansible_limit")).hosts
            figure, margin = figure_named(options["figure"]), read_margin(options["margin"])
            with open_history(place_of(options["history"], report_dir)) as history:
                before, after = (select(history, options[side]) for side in ("before", "after"))
                comparison = compare_fleet(history, before, after, hosts, figure=figure, margin=margin)
            statement = statement_of(comparison)
            folder = os.path.join(report_dir, f"compare-{new_run_id()}")
            if not self._task.check_mode:
                os.mkdir(folder)
                write_file(os.path.join(folder, JSON_FILE), (json.dumps(comparison, indent=1) + "\n").encode("ascii"))
                write_text(os.path.join(folder, PAGE), render_comparison(comparison, statement))
        except (OSError, ValueError, ExpectationError) as error:
            return {"failed": True, "msg": str(error)}
        page = "not written in check mode" if self._task.check_mode else os.path.join(folder, PAGE)
        say(self._display, comparison_text(comparison, statement, page))
        outcome = comparison["outcome"]
        failure = {} if outcome == NON_INFERIOR else {"failed": True, "msg": f"{outcome}: {statement}"}
        return {"outcome": outcome, "page": page, **failure}
