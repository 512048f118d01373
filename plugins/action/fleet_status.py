# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Says which volumes are certified today, from the history alone."""

from __future__ import annotations

import os
from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.expectation import ExpectationError, expectation
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.progress import say
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.open import open_history, place_of
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.overview import encode, open_metrics, problems_of, status_json, status_text
from ansible_collections.mqops.logdisk.plugins.plugin_utils._history.states import Today, day_of, fleet_status
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import write_file

JSON_FILE = "status.json"
METRICS_FILE = "status.prom"


class ActionModule(ActionBase):
    """Runs on the controller alone, once for all hosts, and fails if the fleet is not certified."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        dummy, options = self.validate_argument_spec(
            argument_spec={
                "hosts": {"type": "raw", "required": True},
                "history": {"type": "str", "default": ""},
                "report_dir": {"type": "str", "required": True},
                "expiring_days": {"type": "int", "required": True},
                "today": {"type": "str"},
            }
        )
        variables = task_vars or {}
        report_dir = os.path.abspath(os.path.expanduser(options["report_dir"]))
        try:
            today = Today(day_of(options["today"]), options["expiring_days"])
            expected = expectation(variables["groups"], self._loader, options["hosts"], variables.get("ansible_limit")).hosts
            with open_history(place_of(options["history"], report_dir)) as history:
                revocations = history.revocations()
                lines = fleet_status(history.newest(), revocations, today)
            problems = problems_of(lines, expected)
            if not self._task.check_mode:
                write_file(os.path.join(report_dir, JSON_FILE), encode(status_json(lines, expected, problems, today, revocations)))
                write_file(os.path.join(report_dir, METRICS_FILE), open_metrics(lines, expected, problems))
        except (OSError, ValueError, ExpectationError) as error:
            return {**result, "failed": True, "msg": str(error)}
        say(self._display, status_text(lines, expected, problems, today))
        answer = {**result, "changed": False, "problems": problems}
        return {**answer, "failed": True, "msg": " | ".join(shortened(problems))} if problems else answer


def shortened(problems: list[str], most: int = 20) -> list[str]:
    """Return the first problems, and how many more there are."""
    more = len(problems) - most
    return problems[:most] + ([f"and {more} more, see {JSON_FILE}"] if more > 0 else [])
