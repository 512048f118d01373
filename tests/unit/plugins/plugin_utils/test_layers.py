# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The layers of plugin_utils import each other in one direction only, by relative names."""

from __future__ import annotations

import pytest
from ansible_collections.mqops.logdisk.tests.unit.plugins.plugin_utils.source_imports import (
    PACKAGE,
    PLUGINS,
    absolute,
    imports,
)

PREFIX = f"{PACKAGE}.plugin_utils."
KINDS = PLUGINS / "plugin_utils" / "_kinds"
"""The folders of the kinds of runs, above all layers. ``_run/kinds.py`` finds their modules by name, like plugins."""
STEPS = PLUGINS / "plugin_utils" / "_steps"
"""The steps, above the kinds. Nothing below may import them."""
MAY_IMPORT = {
    "_run": {"_run"},
    "_estimate": {"_run", "_estimate"},
    "_dialogue": {"_run", "_dialogue"},
    "_durability": {"_run", "_dialogue", "_durability"},
    "_locks": {"_run", "_dialogue", "_locks"},
    "_judge": {"_run", "_numerics", "_estimate", "_durability", "_judge"},
    "_english": {"_run", "_judge", "_english"},
    "_records": {"_run", "_estimate", "_durability", "_judge", "_english", "_records"},
    "_workload": {"_run", "_workload"},
    "_options": {"_run", "_options"},
    "_fleet": {"_run", "_estimate", "_workload", "_observe", "_options", "_fleet"},
    "_tester": {"_tester"},
    "_history": {"_run", "_numerics", "_judge", "_records", "_history"},  # imported runs are judged again
    "_numerics": {"_numerics"},
    "_signing": {"_run", "_signing"},
    "_kubernetes": {"_kubernetes"},
    "_observe": {"_run", "_numerics", "_observe"},
    "_report": {
        "_run",
        "_judge",
        "_english",
        "_records",
        "_numerics",
        "_estimate",
        "_durability",
        "_options",
        "_fleet",
        "_report",
    },
}


def layer_of(module):
    """Return the layer of a module; the folder of a kind of run counts as a separate layer."""
    layer, *rest = module.removeprefix(PREFIX).split(".")
    return f"_kinds/{rest[0]}" if layer == "_kinds" and rest and (KINDS / rest[0]).is_dir() else layer


def files(folder):
    return sorted(folder.rglob("*.py"))


def test_every_layer_has_its_rule():
    layers = {
        path.name for path in (PLUGINS / "plugin_utils").iterdir() if path.is_dir() and path.name != "__pycache__"
    }
    assert layers == {*MAY_IMPORT, KINDS.name, STEPS.name}


@pytest.mark.parametrize("layer", sorted(MAY_IMPORT))
def test_a_layer_imports_only_what_lies_below_it(layer):
    modules = [module for path in files(PLUGINS / "plugin_utils" / layer) for module in imports(path)]
    assert {layer_of(module) for module in modules if module.startswith(PREFIX)} <= MAY_IMPORT[layer]


def test_the_kinds_of_runs_do_not_know_the_steps():
    modules = [module for path in files(KINDS) for module in imports(path)]
    assert {layer_of(module) for module in modules if module.startswith(PREFIX)}.isdisjoint({STEPS.name})


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in KINDS.glob("*/__init__.py")))
def test_a_kind_of_run_does_not_know_the_others(folder):
    modules = [module for path in files(KINDS / folder) for module in imports(path)]
    layers = {layer_of(module) for module in modules if module.startswith(PREFIX)}
    assert {layer for layer in layers if layer.startswith("_kinds/")} <= {f"_kinds/{folder}"}


def test_only_the_fleet_knows_of_the_command_of_ansible():
    of_ansible = {
        path.relative_to(PLUGINS / "plugin_utils").parts[0]
        for layer in MAY_IMPORT
        for path in files(PLUGINS / "plugin_utils" / layer)
        for module in imports(path)
        if module.split(".")[0] == "ansible" and not module.startswith("ansible.module_utils.")
    }
    assert of_ansible == {"_fleet"}


def test_everything_of_this_collection_is_imported_by_a_relative_name():
    assert [path for path in files(PLUGINS) if absolute(path)] == []
