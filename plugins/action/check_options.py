# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks all options of all hosts before any host is contacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleError
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction, one_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import same_problem_once
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import read_option, read_options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import option_names


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts."""

    argument_spec = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "report": {"type": "bool", "default": False},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        first = task_vars["hostvars"][task_vars["inventory_hostname"]]
        of_the_play = {name: task_vars[name] for name in option_names() if name in task_vars and name not in first}
        problems: dict[str, list[str]] = {}
        report_dir = read_option("gate_report_dir", None)
        for host in options["hosts"]:
            problems[host] = []
            given = evaluated(of_the_play, self._templar.template, problems[host])
            given.update(evaluated(task_vars["hostvars"][host], None, problems[host]))
            values = read_options(given, problems[host])
            report_dir = values.get("gate_report_dir", report_dir)
        if not any(problems.values()):
            return {"problems": []}
        reason = "; ".join(same_problem_once(problems))
        return self.refusal(reason, report_dir, task_vars) if options["report"] else {"failed": True, "msg": reason}


def evaluated(variables: Mapping[str, Any], template: Callable[[Any], Any] | None, problems: list[str]) -> dict[str, Any]:
    """Return the options among variables, which are evaluated as they are taken, or else by ``template``. Adds a problem for each that cannot be."""
    found = {}
    for name in option_names():
        try:
            if name in variables:
                found[name] = template(variables[name]) if template else variables[name]
        except AnsibleError as error:
            problems.append(f"{name}: {one_line(str(error))}")
    return found
