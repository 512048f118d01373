# Copyright (c) 2026 mqops contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The steps that an action documents are those that it does."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import pytest
import yaml
from ansible.errors import AnsibleActionFail
from ansible_collections.mqops.logdisk.plugins.plugin_utils import _steps

PLUGINS = "ansible_collections.mqops.logdisk.plugins"


@pytest.mark.parametrize("action", ["command", "step"])
def test_an_action_does_the_steps_that_are_documented(action):
    plugin = import_module(f"{PLUGINS}.action.{action}").ActionModule
    documentation = yaml.safe_load(import_module(f"{PLUGINS}.modules.{action}").DOCUMENTATION)
    assert list(plugin.names) == documentation["options"]["name"]["choices"]
    text = " ".join(documentation["options"]["name"]["description"])
    assert [name for name in plugin.names if f"V({name})" not in text] == []
    assert all(_steps.step_named(name) for name in plugin.names)


def test_an_unknown_step_is_refused():
    plugin = import_module(f"{PLUGINS}.action.step").ActionModule
    action = plugin.__new__(plugin)
    action._task = SimpleNamespace(args={"name": "plans"})
    with pytest.raises(AnsibleActionFail, match=r"name is 'plans', but must be one of plan, open_run"):
        action.run()
