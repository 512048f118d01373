# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Renders a run directory again, or several as one."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, ControllerAction
from ansible_collections.mqops.logdisk.plugins.plugin_utils._judge.fleet import REPORT, judge_run
from ansible_collections.mqops.logdisk.plugins.plugin_utils._report import render
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.directory import MANIFEST, RunDirectory, RunDirectoryError, latest
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.files import absolute
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.surroundings import report_directory
from ansible_collections.mqops.logdisk.plugins.plugin_utils._signing.run_signature import sign_run


class ActionModule(ControllerAction):
    """Runs on the controller alone."""

    argument_spec = {
        "runs": {"type": "list", "elements": "str"},
        "report_dir": {"type": "str", "required": True},
        "sign_key": {"type": "str", "default": ""},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        report_dir = report_directory(options["report_dir"])
        runs = [path for path in options["runs"] or [] if path] or [latest(report_dir)]
        paths = [absolute(path) for path in runs]
        try:
            directory = self._directory(paths, report_dir)
            if directory.is_signed:
                raise RunDirectoryError(f"{directory.path} is signed, so it may not change; to render a copy of it, remove {MANIFEST} from the copy")
            if directory.verdict() is None:
                judge_run(directory, REPORT)
            render(directory)
            if options["sign_key"] and not directory.is_check_mode:
                sign_run(directory, absolute(options["sign_key"]))
        except (OSError, RunDirectoryError) as error:
            raise AnsibleActionFail(f"cannot render {', '.join(paths)}: {error}") from error
        key = {"schema": SCHEMA, "kind": "run", "run_id": directory.run["run_id"], "path": directory.path}
        return {"changed": True, "logdisk": key, "path": directory.path}

    def _directory(self, paths: list[str], base: str) -> RunDirectory:
        if len(paths) == 1:
            return RunDirectory.open(paths[0])
        return RunDirectory.merge(paths, base)
