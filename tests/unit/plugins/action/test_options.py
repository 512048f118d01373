# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""ansible-test compares a module's documentation with the module's code,
but not with the action plugin that replaces it on the controller."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import yaml
from ansible_collections.mqops.logdisk.plugins.plugin_utils._action_base import ControllerAction

PLUGINS = "ansible_collections.mqops.logdisk.plugins"
NAMES = sorted(path.stem for path in (Path(__file__).resolve().parents[4] / "plugins/action").glob("*.py"))
ACTIONS = {name: import_module(f"{PLUGINS}.action.{name}").ActionModule for name in NAMES}
COMPARED = {"type": "str", "elements": None, "required": False, "default": None, "choices": None}


def documented_options(module):
    """Return the options of a module's documentation, and of the fragments that it names (collection.name or
    collection.name.part)."""
    documentation = yaml.safe_load(module.DOCUMENTATION)
    options = dict(documentation.get("options") or {})
    for fragment in documentation["extends_documentation_fragment"]:
        name, _dot, part = fragment.removeprefix("mqops.logdisk.").partition(".")
        text = getattr(
            import_module(f"{PLUGINS}.doc_fragments.{name}").ModuleDocFragment, part.upper() or "DOCUMENTATION"
        )
        options.update(yaml.safe_load(text).get("options") or {})
    return options


def compared(options):
    return {
        name: {key: option.get(key, default) for key, default in COMPARED.items()} for name, option in options.items()
    }


@pytest.mark.parametrize("name", [name for name, action in ACTIONS.items() if issubclass(action, ControllerAction)])
def test_an_action_of_the_controller_takes_the_options_that_are_documented(name):
    assert compared(ACTIONS[name].argument_spec) == compared(
        documented_options(import_module(f"{PLUGINS}.modules.{name}"))
    )
