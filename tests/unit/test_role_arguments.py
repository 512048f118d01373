# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The defaults in a role's argument_specs are the actual defaults of the role."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._run.record import DEFAULT_VOLUME

ROLES = sorted((Path(__file__).parents[2] / "roles").iterdir())


def load(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_defaults_are_those_that_the_argument_specs_document(role):
    defaults = load(role / "defaults/main.yml")
    # The argument specs describe computed defaults instead of repeating them.
    defaults = {name: value for name, value in defaults.items() if "{{" not in str(value)}
    documented = {}
    for entry in load(role / "meta/argument_specs.yml")["argument_specs"].values():
        for name, option in entry.get("options", {}).items():
            if "default" in option:
                assert documented.setdefault(name, option["default"]) == option["default"], name
    assert documented == defaults


def test_the_volume_without_a_label_is_the_default_one():
    assert load(ROLES[0].parent / "workspace/defaults/main.yml")["workspace_volume"] == DEFAULT_VOLUME


IMPORTING = ("main.yml", "preflight.yml", "watch.yml", "round.yml", "late.yml", "ask.yml", "check.yml", "open.yml")
"""The files that are included only by fixed names. Other files may be included by a name that contains variables, and
ansible-core 2.16 resolves imports in such files without these variables."""


@pytest.mark.parametrize("role", ROLES, ids=lambda path: path.name)
def test_only_files_that_are_included_by_their_own_names_import_others(role):
    importing = [path.name for path in (role / "tasks").iterdir() if "import_tasks" in path.read_text(encoding="utf-8")]
    assert set(importing) <= set(IMPORTING)


PLAYBOOKS = sorted((Path(__file__).parents[2] / "playbooks").rglob("*.yml"))


@pytest.mark.parametrize("playbook", PLAYBOOKS, ids=lambda path: path.name)
def test_playbooks_hold_no_default_of_their_own(playbook):
    """A playbook's fallback value is a role's default, another variable or an empty fact."""
    literal = re.compile(r"default\((?!lookup\(|omit|ansible_check_mode|\{\})(.*?)\)")
    assert literal.findall(playbook.read_text(encoding="utf-8")) == []
