# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The variables of the first host of a play never affect the other hosts.

Ansible evaluates the keywords of a play, tasks with ``run_once``, and included roles whose name or file is computed
without a loop only once, with the variables of the first host. The test finds the variables that they contain in the
parsed YAML. Each of these variables must be known to be the same for all hosts.
"""

from __future__ import annotations

from pathlib import Path

import jinja2
import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import ROLE_NAMES, playbook_files
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.kinds import KINDS

ROOT = Path(__file__).parents[2]
FILES = sorted([*playbook_files(), *(ROOT / "roles").glob("*/tasks/*.yml")])
OF_PLAYS = ("hosts", "check_mode", "serial", "strategy", "any_errors_fatal", "when")
INCLUDING = ("ansible.builtin.include_role", "ansible.builtin.import_role")

OF_ANSIBLE = {
    "ansible_check_mode",
    "ansible_play_hosts",
    "ansible_play_hosts_all",
    "hostvars",
    "inventory_hostname",
    "omit",
    "role_path",
}
SAME_FOR_ALL = {
    # Variables that the playbook sets for all hosts, from the run that was opened once.
    *(f"{role}_run_{key}" for role in ROLE_NAMES for key in ("id", "path")),
    # Variables of plays, which override those of hosts.
    "gate_run_check_mode",
    "gate_run_role",
    # Variables that the playbooks pass to the tasks of commands.
    "gate_command",
    "gate_title",
    # check_options refuses an inventory that sets it.
    "certify_preflight",
    "gate_run_kind",
    "awx_setup_kind",
    # The results of tasks that run once. Every host begins with the same observe_wait.
    "gate_refused",
    "observe_wait",
    # Opening the run checks that all hosts agree on the options in these facts that concern the whole run.
    *(kind.plan_fact for kind in KINDS.values()),
    # The values in the data of awx_setup.yml.
    "controller_credential_types",
    "controller_inventories",
    "controller_notifications",
    "controller_projects",
    "controller_schedules",
    "controller_templates",
    "controller_workflows",
    "item",
}
SELECTION = {"certify_hosts", "gate_hosts"}
"""The options that select the hosts of a play. They are read in the keywords of the play."""


def parsed(path):
    return yaml.safe_load(path.read_text(encoding="utf-8")) or []


def texts(value, expression=False):
    """Yield the templates in some YAML."""
    if isinstance(value, dict):
        for each in value.values():
            yield from texts(each, expression)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, expression)
    elif isinstance(value, str) and (expression or "{{" in value or "{%" in value):
        yield value if "{{" in value or "{%" in value or not expression else "{{ " + value + " }}"


def names_in(text):
    """Return the variables of a template and the options that its lookups read."""
    tree = jinja2.Environment().parse(text)
    calls = [
        call
        for call in tree.find_all(jinja2.nodes.Call)
        if isinstance(call.node, jinja2.nodes.Name) and call.node.name in ("lookup", "query")
    ]
    options = {call.args[1].value for call in calls if call.args[0].value == "mqops.logdisk.option"}
    stored = {name.name for name in tree.find_all(jinja2.nodes.Name) if name.ctx != "load"}
    return {name.name for name in tree.find_all(jinja2.nodes.Name)} - stored - {
        "lookup",
        "query",
        "range",
        "dict",
    }, options


class Place:
    """Something that is evaluated once: its file, its name, its templates, and the variables that are defined around
    it."""

    def __init__(self, path, name, value, around, conditions=()):
        self.where = f"{path.relative_to(ROOT)}: {name}"
        self.templates = [*texts(value), *texts(list(conditions), expression=True)]
        self.around = around

    def names(self):
        """Return all variables and options that are used, including those in the definitions of other variables."""
        variables, options, left, seen = set(), set(), list(self.templates), set()
        while left:
            found, read = names_in(left.pop())
            options |= read
            for name in found - seen:
                seen.add(name)
                if name in self.around and name not in SAME_FOR_ALL:
                    left += texts(self.around[name])
                else:
                    variables.add(name)
        return variables, options


def role_vars(path):
    found = path.parents[1] / "vars/main.yml"
    return parsed(found) if "roles" in path.parts and found.exists() else {}


def walk(path, tasks, around, run_once=False):
    """Yield each task with the variables around it and whether it runs once.
    The tasks of a block inherit both from the block."""
    for task in tasks:
        known = {**around, **(task.get("vars") or {})}
        once = run_once or task.get("run_once") is True
        yield task, known, once
        for part in ("block", "rescue", "always"):
            yield from walk(path, task.get(part) or [], known, once)


def every_task():
    for path in FILES:
        for entry in parsed(path):
            plays = "hosts" in entry
            tasks = entry.get("tasks") or [] if plays else [entry]
            yield from (
                (path, *found)
                for found in walk(path, tasks, {**role_vars(path), **((entry.get("vars") or {}) if plays else {})})
            )


NOT_ARGUMENTS = ("block", "rescue", "always", "when", "register", "name", "loop_control", "failed_when", "changed_when")


def arguments(task):
    return {key: value for key, value in task.items() if key not in NOT_ARGUMENTS}


def is_computed(task):
    """Return whether a role is included by a name or a file that is computed, and not in a loop,
    which evaluates it for each host."""
    included = next((task[name] for name in INCLUDING if name in task), {})
    return "loop" not in task and any("{{" in str(included.get(key)) for key in ("name", "tasks_from"))


def places():
    for path in FILES:
        for play in parsed(path):
            if "hosts" in play:
                yield Place(path, play["name"], [play.get(key) for key in OF_PLAYS], play.get("vars") or {})
    for path, task, around, once in every_task():
        if once:
            conditions = task.get("when", [])
            yield Place(
                path,
                task.get("name"),
                arguments(task),
                around,
                conditions if isinstance(conditions, list) else [conditions],
            )
        elif is_computed(task):
            yield Place(path, task.get("name"), [task[name] for name in INCLUDING if name in task], around)


def made_once():
    """Return the names that are only set by tasks that run once, so all hosts have the same value."""
    found = {True: set(), False: set()}
    for _path, task, _around, once in every_task():
        found[once] |= {task["register"]} if "register" in task else set()
        found[once] |= set(task.get("ansible.builtin.set_fact") or {})
    return found[True] - found[False]


PLACES = list(places())
MADE_ONCE = made_once()


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.where)
def test_no_variable_of_the_first_host_decides_for_the_others(place):
    variables, options = place.names()
    assert options <= SELECTION
    assert variables - OF_ANSIBLE - MADE_ONCE - SAME_FOR_ALL == set()


def test_the_places_are_found():
    assert len(PLACES) > 60


def test_a_refused_command_fails_the_controller_or_every_host():
    """If a single host failed on behalf of all, a relaunch on failed hosts would be limited to that host, so hosts with
    different values would no longer be detected."""
    tasks = {name: parsed(ROOT / f"roles/gate/tasks/{name}.yml") for name in ("check", "open", "refuse", "refused")}
    (including,) = tasks["refuse"]
    assert including["when"].endswith(".problems | length > 0")
    assert including["run_once"].endswith(".problems | length == 0 or ansible_play_hosts_all | first == 'localhost' }}")
    for name in ("check", "open"):
        first, second, *_more = tasks[name]
        assert second["ansible.builtin.import_tasks"] == "refuse.yml"
        assert second["vars"] == {"gate_refused": f"{{{{ {first['register']} }}}}"}
    (failing,) = [task for task in tasks["refused"] if "ansible.builtin.fail" in task]
    assert "when" not in failing and failing["run_once"] == "{{ gate_refused_by == 'localhost' }}"
    for path in playbook_files():
        tasks = [task for entry in parsed(path) for task in entry.get("tasks", [entry])]
        checks = [task for task in tasks if task.get("mqops.logdisk.command", {}).get("name") == "check_options"]
        refusing = [
            task for task in tasks if (task.get("ansible.builtin.import_role") or {}).get("tasks_from") == "refuse"
        ]
        assert [task["vars"]["gate_refused"] for task in refusing] == [
            f"{{{{ {task['register']} }}}}" for task in checks
        ]


def test_the_controller_is_the_first_host_of_a_play_that_checks_options():
    for path in sorted((ROOT / "playbooks").glob("*.yml")):
        for play in parsed(path):
            checks = [
                task
                for task in play.get("tasks", [])
                if task["name"] == "Check the options" or "gate_command" in task.get("vars", {})
            ]
            assert (
                not checks
                or play["hosts"].startswith(("{{ ['localhost'] + ", "localhost:all"))
                or ("of_controller=true" in play["hosts"])
            )
