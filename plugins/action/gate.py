# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges the fleet, writes the verdict and renders the report."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _records, _report, _run_directory, _verdict
from ansible_collections.mqops.logdisk.plugins.plugin_utils._remote import SCHEMA


class ActionModule(ActionBase):
    """Runs on the controller alone."""

    _requires_connection = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        result = super().run(tmp, task_vars)
        directory = _run_directory.RunDirectory.open(self._task.args["run_path"])
        try:
            verdict = judge(directory)
            _report.render(directory)
        except (OSError, _run_directory.RunDirectoryError) as error:
            raise AnsibleActionFail(f"the report cannot be written to {directory.path}: {error}") from error
        key = {"schema": SCHEMA, "kind": "gate", "run_id": verdict["run_id"], "path": directory.path, "verdict": verdict["verdict"],
               "certified": verdict["certified"], "gate_failed": verdict["gate_failed"]}
        return {**result, "changed": False, "logdisk": key, "counts": verdict["counts"], "reasons": verdict["reasons"][:100],
                "message": message(verdict), "hosts": {host["host"]: host["verdict"] for host in verdict["hosts"]}}


def judge(directory: _run_directory.RunDirectory) -> dict[str, Any]:
    """Give every host without a record its own, judge the fleet, and write the verdict. Returns it."""
    if not directory.run["controller"].get("check_mode"):
        for host in directory.expected_missing():
            directory.write_record(_records.missing(directory.run, host), None)
    verdict = _verdict.judge_fleet(directory.run, directory.records())
    directory.write_verdict(verdict)
    return verdict


def message(verdict: dict[str, Any]) -> str:
    """Return the sentence with which a play fails."""
    shown = verdict["reasons"][:20]
    more = len(verdict["reasons"]) - len(shown)
    lines = [*shown, *([f"and {more} more, see the report"] if more > 0 else [])]
    return "the gate stops this run (%s): %s" % (verdict["verdict"] or "refused", " | ".join(lines) or "no host was judged")
