# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The list of options is complete, and derived from the roles and playbooks."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.command import CHECK_ONLY, READ_BY
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.expectation import SLICED
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options import table
from ansible_collections.mqops.logdisk.plugins.plugin_utils._options.table import (
    HOST,
    OF_COMMANDS,
    OF_PLAYBOOKS,
    ROLES,
    RUN,
    SHOWN,
    VOLUME,
    option_names,
    options,
    own_names,
    playbook_files,
    results,
    settable_names,
)

COLLECTION = Path(__file__).resolve().parents[5]
PLAYBOOKS = sorted(COLLECTION.glob("playbooks/*.yml"))
TASKS = sorted([*playbook_files(), *ROLES.glob("*/tasks/*.yml")])
OF_ANSIBLE = {"hostvars", "inventory_hostname", "item", "omit"}
SET_BY_BOTH = {
    *("awx_setup_api_path", "awx_setup_data", "awx_setup_modules", "certify_preflight"),
}
"""The variables that playbooks set, and that a user may set as well: those of commands."""
OF_AWX = "controller_"
"""The prefixes of the variables that awx_setup.yml reads from its data."""


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def dictionaries(node):
    """Yield each dictionary in the data of a file."""
    if isinstance(node, list):
        for each in node:
            yield from dictionaries(each)
    elif isinstance(node, dict):
        yield node
        for each in node.values():
            yield from dictionaries(each)


def facts(path):
    """Return the variables that the tasks of a file set or register for hosts."""
    found = set()
    for node in dictionaries(read(path)):
        found.update([node["register"]] if "register" in node else [], node.get("ansible.builtin.set_fact", {}))
    return found


def own_variables(path):
    """Return the variables that plays, blocks and tasks of a file set for their tasks, or pass on."""
    return {
        name
        for node in dictionaries(read(path))
        for name in [*(node.get("vars") or {}), *([node["loop_var"]] if "loop_var" in node else [])]
    }


def variables_read(path):
    """Return the variables in the templates of a file, without names of keys, filters, tests and arguments."""
    templates = " ".join(re.findall(r"\{\{(.*?)\}\}", path.read_text(encoding="utf-8"), re.DOTALL))
    words = re.findall(
        r"(?<![\w.'])(?<!\| )(?<!is )([a-z]\w*_\w+|\w+(?=\[))\b(?!\(|=(?!=))", re.sub(r"'[^']*'", "''", templates)
    )
    return {word for word in words if not word.startswith("ansible_")} - OF_ANSIBLE


def test_each_variable_that_a_playbook_reads_is_known():
    found = {
        name for path in PLAYBOOKS for name in variables_read(path) - own_variables(path) if not name.startswith(OF_AWX)
    }
    found |= {CHECK_ONLY, SLICED, *itertools.chain(*READ_BY.values())} - set(option_names())
    of_awx = set(read(COLLECTION / "playbooks/awx_setup.yml")[0]["vars"])
    of_hosts = {"drift_since"}
    assert found - own_names() | of_awx | of_hosts == set(OF_COMMANDS)


def test_no_variable_that_the_playbooks_and_roles_set_may_be_set_by_a_user():
    """A new result or variable of a task is refused as an extra variable without being listed anywhere."""
    set_by_tasks = set().union(*map(facts, TASKS))
    assert {"gate_judged", "gate_asked", "gate_told", "gate_run", "locks_prepared"} <= set_by_tasks
    assert set_by_tasks <= own_names()
    passed_on = set().union(*map(own_variables, TASKS), *map(read, ROLES.glob("*/vars/main.yml")))
    passed_on = {name for name in passed_on if not name.startswith("ansible_")}
    assert {"gate_refused", "power_cut_run_id", "sweep_asked", "_sweep_statuses", "tester_run"} <= passed_on
    assert passed_on - own_names() == passed_on & set(settable_names()) == SET_BY_BOTH
    described = {name for specs, _defaults in table._parsed().values() for name in specs}
    assert own_names() - set_by_tasks - passed_on <= described - set(settable_names())


def test_no_variable_is_both_a_result_and_passed_on():
    """A registered variable or a fact of an earlier playbook overrides a variable of the same name that is passed
    on."""
    passed_on = set().union(*map(own_variables, TASKS), *map(read, ROLES.glob("*/vars/main.yml")))
    assert set().union(*map(facts, TASKS)) & passed_on == set()
    assert set().union(*map(facts, TASKS)) == results()


@pytest.mark.parametrize(
    ("passed_on", "name"),
    [
        ("sweep_stop_run", "stop_run_id"),
        ("workspace_cleanup_run", "cleanup_run_id"),
        ("workspace_uncollected_days", "cleanup_uncollected_days"),
        ("gate_hosts", "certify_hosts"),
        ("workspace_state_dir", "sweep_state_dir"),
        ("sweep_discovered", "workspace_path"),
        ("workspace_collected", "workspace_path"),
    ],
)
def test_an_option_that_a_playbook_passes_on_may_be_set_only_by_the_name_that_is_documented(passed_on, name):
    assert passed_on in own_names() and passed_on in options()
    assert name in settable_names() and passed_on not in settable_names()


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_each_playbook_checks_the_names_of_variables_first(path):
    first = read(path)[0]
    if "ansible.builtin.import_playbook" in first:
        return
    task = first["tasks"][0]
    while imported := task.get("ansible.builtin.import_tasks"):
        task = read(COLLECTION / "playbooks/tasks" / Path(imported).name)[0]
    checks = task.get("mqops.logdisk.command", {}).get("name") == "check_options"
    assert checks or task["ansible.builtin.import_role"] == {
        "name": "mqops.logdisk.gate",
        "tasks_from": "check",
        "rolespec_validate": False,
    }


def test_each_command_of_a_playbook_has_its_variables():
    nodes = [node for path in PLAYBOOKS for node in dictionaries(read(path))]
    assert sorted(node["gate_command"] for node in nodes if "gate_command" in node) == sorted(READ_BY)


def test_whatever_is_said_of_an_option_is_said_of_one_that_exists():
    said = {
        *table._REACH,
        *table.KEYS_OF_VOLUMES.values(),
        *table.SHOWN,
        *table._NOT_REPEATED,
        *table.FROM_HOSTS,
        *OF_PLAYBOOKS.values(),
    }
    assert said <= set(options())


@pytest.mark.parametrize(
    ("name", "reach", "compared", "shown", "repeated"),
    [
        ("gate_sign_key", RUN, False, False, False),
        ("gate_margin", RUN, False, False, True),
        ("gate_profile", HOST, False, False, True),
        ("sweep_nice", HOST, False, False, True),
        ("sweep_mode", RUN, True, True, True),
        ("sweep_verify", HOST, True, False, True),
        ("sweep_file_size", VOLUME, True, True, True),
        ("sweep_devices_erase", HOST, False, False, False),
    ],
)
def test_the_table_says_what_an_option_is_for(name, reach, compared, shown, repeated):
    option = options()[name]
    assert (option.reach, option.compared, name in SHOWN, option.repeated) == (reach, compared, shown, repeated)


def test_the_files_with_tasks_are_all_but_the_data():
    """A playbook in a folder that nobody reads could set variables that users can set as well."""
    data = {COLLECTION / "playbooks/awx/logdisk.yml", COLLECTION / "playbooks/kubernetes/job.yml"}
    read = {path.resolve() for path in playbook_files()}
    assert read == {*COLLECTION.glob("playbooks/**/*.yml")} - data
