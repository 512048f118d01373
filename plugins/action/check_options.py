# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Checks all options of all hosts, and the names of variables, before any host is contacted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.errors import AnsibleError
from ansible.utils.vars import load_extra_vars
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import SCHEMA, ControllerAction, one_line
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.selected_hosts import SELECTING, of_the_play, other_selections
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.settings import same_problem_once, shown
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.names import ACCEPTED, refusals, warnings
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.reading import read_option, read_options
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import option_names

CONTROLLER = "localhost"
"""Plays on the controller read its variables, even if it is not under test."""
MOST_WARNINGS = 20


@dataclass
class Said:
    """What variables say before a host is contacted: where the report is to be, what is wrong on each host, which hosts each of them would select, which names
    are accepted, and which hosts have a variable of each name."""

    report_dir: str
    problems: dict[str, list[str]] = field(default_factory=dict)
    selections: dict[str, Any] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    hosts_by_name: dict[str, list[str]] = field(default_factory=dict)


class ActionModule(ControllerAction):
    """Runs on the controller alone, once for all hosts."""

    argument_spec = {
        "hosts": {"type": "list", "elements": "str", "required": True},
        "report": {"type": "bool", "default": False},
    }

    def answer(self, options: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        extra = load_extra_vars(self._loader)
        said = self._said(options["hosts"], task_vars)
        found = [
            *refusals(map(str, extra), said.accepted),
            *([] if SELECTING in extra else self._other_selections(said, task_vars)),  # which is the same for all hosts
            *same_problem_once(said.problems),
        ]
        if not found:
            warned = as_lines(warnings(said.hosts_by_name, said.accepted), extra)
            return {"problems": [], **({"logdisk": {"schema": SCHEMA, "kind": "names", "warnings": warned}} if warned else {})}
        reason = "; ".join(found)
        return self.refusal(reason, said.report_dir, task_vars) if options["report"] else {"failed": True, "msg": reason}

    def _said(self, hosts: Iterable[str], task_vars: Mapping[str, Any]) -> Said:
        """Return what the variables of each host say, and those of the play and of the controller."""
        hostvars = task_vars["hostvars"]
        first = hostvars[task_vars["inventory_hostname"]]
        of_plays = {name: task_vars[name] for name in option_names() if name in task_vars and name not in first}
        said = Said(report_dir=read_option("gate_report_dir", None))
        for host in dict.fromkeys([*hosts, CONTROLLER]):
            own, problems = hostvars[host], said.problems.setdefault(host, [])
            given = evaluated(of_plays, self._templar.template, problems)
            given.update(evaluated(own, None, problems))
            said.selections[host] = given.get(SELECTING) if SELECTING in own else None
            values = read_options(given, problems)
            said.accepted.update(values.get(ACCEPTED) or ())
            if host in hosts:
                said.report_dir = values.get("gate_report_dir", said.report_dir)
                for name in own:
                    said.hosts_by_name.setdefault(str(name), []).append(host)
            else:
                del said.problems[host]
        return said

    def _other_selections(self, said: Said, task_vars: Mapping[str, Any]) -> list[str]:
        """Return what is wrong with variables that would select other hosts than the play has."""
        try:
            seen = self._templar.template(task_vars.get(SELECTING))
            own = task_vars["hostvars"][task_vars["inventory_hostname"]].get(SELECTING)
            return other_selections(of_the_play(seen, own), said.selections)
        except (AnsibleError, ValueError) as error:
            return [one_line(str(error))]


def as_lines(found: Mapping[str, list[str]], extra: Mapping[str, Any]) -> list[str]:
    """Return the first warnings about names, each with the hosts that have such a variable, and how many more there are."""
    lines = [f"{sentence} ({'an extra variable' if sentence.partition(' ')[0] in extra else shown(hosts)})" for sentence, hosts in found.items()]
    more = len(lines) - MOST_WARNINGS
    return [*lines[:MOST_WARNINGS], *([f"{more} more names are like those of options"] if more > 0 else [])]


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
