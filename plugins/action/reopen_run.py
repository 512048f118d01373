# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Finds the directory of an earlier run, from the user's working directory."""

from __future__ import annotations

import os
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import RunDirectory, RunDirectoryError, latest


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    argument_spec = {
        "path": {"type": "str"},
        "report_dir": {"type": "str", "required": True},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        try:
            directory = RunDirectory.open(os.path.expanduser(options["path"] or latest(options["report_dir"])))
        except RunDirectoryError as error:
            raise AnsibleActionFail(f"{error} Name a run directory by -e collect_run=reports/<run id>.") from error
        run = {"run_id": directory.run["run_id"], "path": directory.path, "expected_hosts": directory.expected_hosts}
        if self._task.check_mode:  # nothing is filed then, so that there is nothing to show
            return {"run": run}
        return {"run": run, "logdisk": {"schema": SCHEMA, "kind": "run", "run_id": run["run_id"], "path": run["path"]}}
