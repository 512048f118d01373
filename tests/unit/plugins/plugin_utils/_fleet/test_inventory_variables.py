# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the inventory and the play set, with real objects of Ansible."""

from __future__ import annotations

import json

import pytest
from ansible import context
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.playbook import Playbook
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager
from ansible_collections.mqops.logdisk.plugins.plugin_utils._fleet.command import inventory_variables
from ansible_collections.mqops.logdisk.plugins.plugin_utils._steps import check_options


@pytest.fixture
def inventory(tmp_path, monkeypatch):
    """The path of an inventory with variables in files beside it."""
    path = tmp_path / "hosts.ini"
    path.write_text("h1 workspace_path=/own\nh2 where=/two\n[dev]\nh1\nh2\n")
    for folder, name, content in (
        ("group_vars", "dev", "/dev"),
        ("group_vars", "all", "/all"),
        ("host_vars", "h3", ""),
    ):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.yml").write_text(json.dumps({"workspace_path": content, "of_" + name: 1}))
    monkeypatch.setattr(context, "CLIARGS", {"inventory": [str(path)], "extra_vars": ()})
    return path


def test_what_the_inventory_sets_is_read_without_extra_variables_and_facts(inventory):
    found = inventory_variables(DataLoader(), ["h1", "h2", "added", "localhost"], [str(inventory.parent)])
    assert {host: own.get("workspace_path") for host, own in found.items()} == {
        "h1": "/own",
        "h2": "/dev",
        "added": None,
        "localhost": "/all",
    }
    assert {"of_all", "of_dev"} <= set(found["h1"]) and found["added"] == {}


def test_a_template_in_the_play_uses_the_variables_of_each_host(inventory):
    loader = DataLoader()
    known = InventoryManager(loader, [str(inventory)])
    manager = VariableManager(loader, known)
    hostvars = HostVars(known, manager, loader)
    play = {"hosts": "all", "vars": {"workspace_path": "{{ where }}/x", "other": 1}, "tasks": [{"debug": {}}]}
    playbook = inventory.parent / "play.yml"
    playbook.write_text(json.dumps([play]))
    (play,) = Playbook.load(str(playbook), variable_manager=manager, loader=loader).get_plays()
    step = check_options.Step.__new__(check_options.Step)
    step._templar = Templar(loader=loader)
    names, problems = ["workspace_path", "sweep_files"], []
    task_vars = {"hostvars": hostvars, "workspace_path": "/of the first host"}
    assert step._seen(names, play.get_vars(), "h2", task_vars, problems) == {"workspace_path": "/two/x"}
    assert (step._seen(names, play.get_vars(), "h1", task_vars, problems), len(problems)) == ({}, 1)
    assert problems[0].startswith("workspace_path: 'where' is undefined")
